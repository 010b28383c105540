/**
 * Whether words only say that there is nothing: `None.`, `- (none)`, `*(none)*`, `None yet.`, `None — milestone
 * complete`, `Nenhum bloqueio identificado.`. `None of the retries worked` and `No CI on main` say something.
 */
export function isNone(text: string): boolean {
  // Most lines say something; they are told by the letter they begin with.
  const first = /[A-Za-z0-9\u0080-\uffff]/.exec(text.slice(0, 400))?.[0];
  if (first !== undefined && first < '\u0080' && !/[neatsk]/i.test(first)) return false;
  const words = text
    .slice(0, 400)
    .replace(/<!--.*?-->/g, '')
    .replace(/[*_`~()[\]{}<>"'“”（）]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^[-–—•✅☑✓✔🎉]+\s*/u, '');
  if (words === '' || /^(?:[-–—.…]+|n\/?a\.?|tbd\.?|empty\.?|nil)$/i.test(words)) return true;
  if (/^none\b/i.test(words)) return !/^none (?:of|but|the|that|which|who)\b/i.test(words);
  return nothing.test(words);
}

const nothing = new RegExp(
  [
    '^nothing(?: (?:yet|pending|recorded|blocking|open|currently|deferred|outstanding|at (?:this|the) (?:time|moment)))*\\W*$',
    '^no (?:\\w+[ /-]){0,3}(?:blockers?|concerns?|decisions?|todos?|issues?|items?|questions?|risks?|actions?|tasks?|constraints?|deferrals?)(?:/\\w+)?(?: or \\w+)?(?: (?:yet|identified|recorded|found|made|pending|known|active|currently|open|remaining|remain|logged|captured|at this time|at the moment|so far|for .*))*\\W*$',
    '^(?:ainda )?(?:nenhum|nenhuma|nada|não há|sem (?:bloqueios|decisões|pendências))(?:\\s|\\W|$)',
    '^(?:ninguno|ninguna|no hay|sin (?:bloqueos|decisiones|pendientes))(?:\\s|\\W|$)',
    '^(?:无|暂无|没有|目前无|目前没有|尚无|暂时没有)',
    '^(?:없음|없습니다|해당 없음|아직 없음)',
    '^(?:keine?|aucune?|néant)(?:\\s|\\W|$)',
  ].join('|'),
  'iu',
);
