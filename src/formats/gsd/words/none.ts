/**
 * Whether a text only means "none": `None.`, `- (none)`, `*(none)*`, `None yet.`, `None — milestone complete`, `Nenhum
 * bloqueio identificado.`. `None of the retries worked` and `No CI on main` do not.
 */
export function isNone(text: string): boolean {
  // Most lines have content; their first letter shows it.
  const first = /[A-Za-z0-9\u0080-\uffff]/.exec(text.slice(0, 400))?.[0];
  if (first !== undefined && first < '\u0080' && !/[neatskr]/i.test(first)) return false;
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
    // A word for "no" with a known noun; with any other noun it says what is missing.
    '^(?:ainda )?(?:nenhuma?|nada|não há|sem)(?: (?:bloqueios?|bloqueadores?|decis(?:ão|ões)|pendências?|impedimentos?|ite(?:m|ns)|preocupações|ativ[oa]s?|conhecid[oa]s?|identificad[oa]s?|registrad[oa]s?|tomadas?|pendentes?|ainda|atualmente|em aberto|no momento|por enquanto|até (?:agora|o momento)))*[^\\p{L}\\p{N}]*$',
    '^(?:ningun[oa]|nada|no hay|sin)(?: (?:bloqueos?|bloqueadores?|decisi(?:ón|ones)|pendientes?|impedimentos?|activ[oa]s?|conocid[oa]s?|identificad[oa]s?|registrad[oa]s?|todavía|aún|actualmente|por ahora|por el momento))*[^\\p{L}\\p{N}]*$',
    '^(?:无|暂无|没有|目前无|目前没有|尚无|暂时没有)(?:任何|已知|活跃|当前|明显|的|新|阻塞|阻碍|障碍|风险|决策|决定|待办|问题|事项|项|因素|关注|记录|内容)*[\\s。.！!]*$',
    '^(?:(?:현재|아직|차단|블로커|결정|이슈|할 ?일|요소|사항|특별한|해당)\\S*\\s+)*(?:없음|없습니다)[^\\p{L}\\p{N}]*$',
    '^(?:特に|現在|まだ)?(?:なし|ありません|無し)[\\s。]*$',
    '^kein(?:e|en)?(?: (?:blocker|hindernisse|entscheidungen|fragen|risiken|bedenken|offenen?|bekannten?|aktiven?|aktuell|derzeit|bisher|bekannt|offen|vorhanden))*[^\\p{L}\\p{N}]*$',
    '^(?:aucune?|néant|rien)(?: (?:blocages?|bloquants?|décisions?|risques?|questions?|connue?s?|identifiée?s?|actuellement|pour (?:l.instant|le moment)|à signaler))*[^\\p{L}\\p{N}]*$',
    '^(?:пока )?(?:нет|отсутствуют)(?: (?:блокеров|решений|вопросов|рисков|открытых|известных|активных))*[^\\p{L}\\p{N}]*$',
  ].join('|'),
  'iu',
);
