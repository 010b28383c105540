export type SectionKind = keyof typeof table;

/**
 * The topic of a heading of a state file, in the spellings that occur. Headings are compared without marks, emoji,
 * leading numbers and trailing brackets: `### Decisions (preserved from v1.18)` is about decisions.
 */
export function sectionKind(title: string): SectionKind | null {
  const words = plainTitle(title);
  const exact = spellings.get(words);
  if (exact) return exact;
  for (const [kind, pattern] of patterns) if (pattern.test(words)) return kind;
  return null;
}

/** Whether a heading marks its section as settled: `Blocker (RESOLVED)`. */
export function isSettledTitle(title: string): boolean {
  return /\bresolved\b|\bcleared\b|\bresolvid[oa]s?\b|已解决|해결됨/i.test(title) && !/\bunresolved\b/i.test(title);
}

export function plainTitle(title: string): string {
  return title
    .replace(/[*_`~]/g, '')
    .replaceAll("'", '’')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .replace(/^\d+[.)]\s+/, '')
    .replace(/\s*[(（[].*$/u, '')
    .replace(/[:：]\s*$/u, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

const table = {
  position:
    'current position|position|current phase|current status|current state|status|where we are|active work|current milestone|estado atual|posição atual|estado actual|posición actual|当前位置|当前状态|当前进度|目前状态|현재 위치|현재 상태|현재 단계|現在位置|現在の位置|現在の状態|現状|aktuelle position|aktueller stand|stand|position actuelle|état actuel|текущая позиция|текущее состояние|текущий статус',
  decisions:
    'decisions|decision|decisions made|recent decisions|key decisions|decisions log|decision log|key decisions made|architectural decisions|architecture decisions|design decisions|technical decisions|important decisions|accumulated decisions|active decisions|locked decisions|open decisions|key technical decisions|milestone decisions|decisões tomadas|decisões|decisões recentes|decisões-chave|decisiones|decisiones tomadas|decisiones clave|决策|决定|关键决策|已做决策|决策记录|最近决策|결정|결정 사항|결정사항|주요 결정|entscheidungen|décisions|主な決定|決定事項|決定|wichtige entscheidungen|getroffene entscheidungen|décisions prises|décisions clés|решения|принятые решения|ключевые решения',
  blockers:
    'blockers|blocker|blockers/concerns|blockers / concerns|blockers and concerns|blockers & concerns|concerns|known blockers|active blockers|current blockers|open blockers|known risks|risks|current issues/blockers|blockers/issues|issues/blockers|blockers/risks|risks/blockers|blockers/concerns carried forward|blockers carried forward|concerns carried forward|blocking issues|bloqueios|bloqueios ativos|bloqueadores|impedimentos|bloqueos|bloqueios/preocupações|阻塞|阻碍|阻塞项|阻塞问题|阻塞/关注|障碍|风险|阻塞因素|차단 요소|차단|장애물|블로커|이슈/블로커|blocker/bedenken|bloquants|blocages|hindernisse|risiken|points bloquants|blocages/risques|ブロッカー|障害|阻害要因|懸念事項|блокеры|препятствия|риски',
  todos:
    'pending todos|todos|todo|pending|pending items|pending work|open todos|pendências|tarefas pendentes|pendientes|待办|待办事项|未完成事项|할 일|할일|open threads|open items|commitments',
  human: 'pending human actions|human actions pending|human actions|user actions|waiting on user|manual actions',
  deferred:
    'deferred items|deferred|deferred issues|deferred work|itens adiados|adiados|diferidos|延期事项|推迟事项|보류 항목|보류',
  questions:
    'open questions|questions|unresolved questions|perguntas em aberto|questões em aberto|questões abertas|preguntas abiertas|未决问题|待解决问题|开放问题|미해결 질문|열린 질문|offene fragen|questions ouvertes|未解決の質問|未解決事項|открытые вопросы',
  issues:
    'known issues|open issues|issues|findings|open findings|problemas conhecidos|已知问题|알려진 문제|알려진 이슈',
  errors: 'errors|open errors|erros|错误|오류',
  constraints:
    'constraints|known constraints|blocking constraints|guardrails|user constraints|restrições|restricciones|约束|约束条件|제약 사항',
  'dead-ends':
    'dead ends|dead-ends|anti-patterns|critical anti-patterns|do not repeat|what did not work|failed approaches|becos sem saída|死胡同|막다른 길',
  session:
    'session continuity|session|session handoff|session info|last session|session state|continuidade da sessão|sessão|continuidade|continuidad de sesión|会话连续性|会话|会话信息|세션 연속성|세션|セッション|セッション継続|sitzung|continuité de session|сессия',
  next: 'next action|next actions|next steps|next step|next up|next|operator next steps|what is next|what’s next|immediate next steps|próximos passos|próxima ação|próximo passo|próximos pasos|siguiente paso|下一步|下一步行动|后续步骤|다음 단계|다음 작업|다음 액션|次のアクション|次のステップ|次にやること|nächste schritte|nächster schritt|prochaine action|prochaines étapes|prochaine étape|следующий шаг|следующие шаги|следующее действие',
  phases:
    'phase progress|phases status|phase status|phases|phase overview|roadmap summary|phase map|milestone registry|roadmap progress|roadmap|progresso por fase|fases|progreso por fase|阶段进度|阶段状态|阶段|단계별 진행|단계',
  reference:
    'project reference|project summary|referência do projeto|referencia del proyecto|项目参考|项目概述|프로젝트 참조|프로젝트 개요',
  files: 'files|modified files|recent files',
  metrics: 'performance metrics|métricas|性能指标|성능 지표',
} as const;

const spellings = new Map<string, SectionKind>(
  (Object.entries(table) as [SectionKind, string][]).flatMap(([kind, words]) =>
    words.split('|').map((word) => [word, kind] as const),
  ),
);

/** For variations: `Key Decisions for v2`, `v1.3 Known Blockers`, `Blockers — Phase 7`. */
const patterns: readonly (readonly [SectionKind, RegExp])[] = [
  [
    'decisions',
    /^(?:[\w.]+ ){0,3}decisions\b(?! pending| needed| required| to make)|^(?:[\w.]+ ){1,3}decision$|decisões|决策|결정/,
  ],
  ['blockers', /^(?:[\w.]+ ){0,3}blockers?\b|^blocked\b|bloqueios|阻塞|블로커/],
  ['questions', /^open questions\b/],
  ['deferred', /^deferred\b/],
  ['dead-ends', /anti-patterns\b/],
  ['constraints', /^(?:blocking |known |hard )?constraints\b/],
  ['session', /^session continuity\b/],
  ['position', /^current position\b/],
  ['todos', /^pending todos\b/],
  ['next', /^(?:operator |immediate )?next (?:action|step)s?\b/],
  ['phases', /\bphase (?:map|progress|status)\b|\broadmap summary\b/],
];
