export type StepStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'skipped';

/** The status that a cell or a line states in the words of any tool; null where it states none. */
export function stepStatus(words: string): StepStatus | null {
  const plain = words
    .slice(0, 200)
    .replace(/[*_`~]/g, '')
    .trim()
    .toLowerCase();
  if (plain === '' || plain === '-' || plain === '—') return null;
  for (const [status, pattern] of table) if (pattern.test(plain)) return status;
  return null;
}

/** The order matters: `not complete` before `complete`, `ready for verification` before `ready`. */
const table: readonly (readonly [StepStatus, RegExp])[] = [
  [
    'pending',
    /^\W*(?:not[ _-]?(?:started|complete|yet)|pending|planned|todo|to do|open|upcoming|queued|backlog|scheduled|não iniciad|pendente|a fazer|sin iniciar|pendiente|未开始|待开始|待办|计划中|대기|시작 전|미시작|未着手|未開始|nicht begonnen|ausstehend|à faire|pas commencé|не начат|ожида|⬜|🔲|☐|📋)/u,
  ],
  [
    'skipped',
    /^\W*(?:skipped|dropped|cancel+ed|removed|superseded|won'?t do|pulad|cancelad|已取消|跳过|건너뜀|übersprungen|пропущен)/u,
  ],
  ['failed', /^\W*(?:failed|error|falhou|fall[oó]|失败|실패|失敗|fehlgeschlagen|échoué|❌)/u],
  [
    'completed',
    /^\W*(?:completed?\b|done\b|finished\b|closed\b|shipped\b|verified\b|conclu[ií]d|complet[oa]\b|finalizad|完成|已完成|완료|完了|abgeschlossen|erledigt|fertig|terminé|завершен|готово|✅|☑|✔|✓)/u,
  ],
  [
    'in_progress',
    /^\W*(?:in[ _-]?progress|executing|active|started|ongoing|working|wip|verifying|blocked|paused|partial|planning|discussing|researching|em andamento|em progresso|en progreso|进行中|执行中|진행 ?중|進行中|in arbeit|läuft|en cours|в процессе|в работе|🔄|🚧|⏳|🟡)/u,
  ],
  ['completed', /\b(?:phase|plan|milestone|project) complete\b|— completed?\b|\bshipped\b/u],
  ['in_progress', /\bin progress\b|\bexecuting\b/u],
  ['pending', /\bready (?:to|for)\b|^ready\b|\bnot started\b|\bawaiting\b/u],
];
