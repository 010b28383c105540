import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { formatSuite } from '../format.suite.ts';
import { richModel } from '../models.suite.ts';
import { gsd } from './format.ts';
import { files, found, model, page, pages, parse } from './pages.suite.ts';
import { folder, samples } from './samples.suite.ts';

const steps: RunModel['steps'] = [
  {
    key: 'p1',
    title: 'Read the vault',
    kind: 'phase',
    status: 'in_progress',
    agents: ['coder'],
    parallel: true,
    gate: { state: 'open' },
  },
  {
    key: 'p1.1',
    title: 'List the tokens',
    kind: 'plan',
    parent: 'p1',
    status: 'completed',
    startedAt: 'x',
    endedAt: 'y',
    retries: 1,
    summary: 'Listed',
    built: ['A list'],
    artifacts: [{ path: 'a.ts' }],
  },
  {
    key: 'p1.2',
    title: 'Check **each** one',
    kind: 'plan',
    parent: 'p1',
    after: ['p1.1'],
    wave: 2,
    status: 'in_progress',
    context: ['a.md'],
    checkpoints: ['one'],
    checkpoint: 'one',
  },
  { key: 'p1.2.1', title: 'Look', kind: 'task', parent: 'p1.2', status: 'in_progress' },
  { key: '2', title: 'Rotate', kind: 'phase', after: ['p1'], status: 'in_progress', alias: '02' },
  { key: '02-01', title: 'Write the job', kind: 'plan', parent: '2', status: 'failed' },
  { key: '3', title: 'Clean up', kind: 'step', status: 'skipped', reason: 'Not needed' },
];

const rich = richModel(steps);
const second: RunModel = {
  ...rich,
  run: { title: 'Second', status: 'completed', alias: 'v2.0', reason: 'Why not' },
  decisions: [
    { decision: 'None', status: 'active', supersedes: 'D001' },
    { decision: '- begins like a list', reason: 'It may', status: 'retracted' },
    { decision: 'Two\nlines', context: 'About ] brackets', status: 'superseded' },
  ].map((one) => ({ ...one, context: one.context?.replace(']', ')') })) as RunModel['decisions'],
  items: [
    { kind: 'commitment', text: 'Call back', status: 'deferred', to: 'mara', due: 'Friday' },
    {
      kind: 'blocker',
      text: 'Waiting',
      status: 'bypassed',
      workaround: 'Go round',
      followUp: ['2'],
      settledAt: 'then',
    },
    { kind: 'blocker', text: 'Solved', status: 'resolved', resolution: 'By waiting' },
    { kind: 'question', text: '[x] is this a box?', status: 'withdrawn' },
  ],
  position: { step: '02-01', words: 'Phase two' },
};

formatSuite(gsd, {
  models: [
    { name: 'rich', model: { ...rich, position: { step: 'p1.2.1' } } },
    { name: 'second', model: second },
  ],
  samples,
  long: (bytes) => {
    const line = '- [Phase 1]: Something was decided about the berths in the outer harbour — it was windy\n';
    const text = page('G1').replace(
      '- [Phase 1]: Queue',
      `${line.repeat(Math.ceil(bytes / line.length))}- [Phase 1]: Queue`,
    );
    return { found, files: files(text) };
  },
});

describe('gsd: reading', () => {
  it('finds decisions in bullets, numbers, tables and groups', () => {
    expect(model(page('G1')).decisions).toEqual([
      { step: '1', decision: 'Queue in SQLite', reason: 'one file, no server', status: 'active' },
      { step: '2', decision: 'Retry with backoff\n- first after a second\n- then doubling', status: 'active' },
      { decision: '**Ordering:** by sender, not by time', status: 'active' },
      { context: 'Roadmap', decision: 'Ship without attachments', status: 'active' },
      { decision: 'Sign letters with Ed25519', status: 'active' },
    ]);
    expect(model(page('G0')).decisions).toEqual([
      {
        step: '1',
        decision: 'Store berths as rows, not as | joined text',
        reason: 'Queries stay simple',
        status: 'active',
      },
      { step: '2', decision: 'Poll every minute', reason: 'Too many requests', status: 'superseded' },
    ]);
    expect(model('## Decisions\n\n- **Auth:**\n  - JWT\n  - no cookies\n\n**Storage:**\n\n- S3\n').decisions).toEqual([
      { context: 'Auth', decision: 'JWT', status: 'active' },
      { context: 'Auth', decision: 'no cookies', status: 'active' },
      { context: 'Storage', decision: 'S3', status: 'active' },
    ]);
  });

  it('keeps blockers that begin with "none" and drops those that mean none', () => {
    const said = [
      'None',
      'None.',
      '- None',
      '- None.',
      'None yet.',
      '(none)',
      '- (none)',
      '*(none)*',
      '- None currently',
      'None — milestone complete',
      'None. All resolved.',
      'None currently recorded.',
      'N/A',
      'No blockers.',
      'Nenhum bloqueio.',
      '暂无',
      '없음',
      '—',
    ];
    for (const words of said)
      expect(model(`## Blockers\n\n${words}\n\n## Session\n\nStopped at: x\n`).items, words).toEqual([]);
    for (const words of [
      'None of the retries work',
      'Nonexistent index',
      'No CI on main',
      'Nothing works without the key',
    ])
      expect(model(`## Blockers\n\n- ${words}\n`).items, words).toMatchObject([
        { kind: 'blocker', text: words, status: 'active' },
      ]);
  });

  it('distinguishes resolved from to be resolved', () => {
    const items = model(
      '## Blockers\n\n- ✅ Key arrived\n- ~~Old~~\n- Port — RESOLVED (08-02)\n- must be resolved soon\n- [x] ticked\n',
    ).items;
    expect(items.map(({ status }) => status)).toEqual(['resolved', 'resolved', 'resolved', 'active', 'resolved']);
  });

  it('finds the position in every notation', () => {
    const positions = Object.fromEntries(
      Object.entries(pages).map(([name, text]) => [name, model(text).position?.step]),
    );
    expect(positions).toEqual({
      G0: '02-01',
      G1: '03-02',
      G2: '02-02',
      G3: '5',
      G4: '08-01',
      legacy: '02-03',
      'gsd-2': 'M002.S03.T01',
      Portuguese: '2',
      Chinese: '3',
      Korean: '2',
    });
  });

  it('names each variant', () => {
    for (const name of ['G0', 'G1', 'G2', 'G3', 'G4', 'legacy', 'gsd-2'])
      expect(parse(page(name)).version, name).toBe(name);
  });

  it('ignores fences and comments', () => {
    const text = '## Decisions\n\n```\n- not one\n```\n<!--\n- nor this\n-->\n- this one\n';
    expect(model(text).decisions.map(({ decision }) => decision)).toEqual(['this one']);
  });

  it('combines roadmap, plans, summaries and handoffs', () => {
    const { model: run } = gsd.parse(folder.found, folder.files);
    expect(run?.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      '1 completed',
      '2 in_progress',
      '02-01 completed',
      '02-02 in_progress',
      '02-03 pending',
      '3 pending',
    ]);
    // STATE.md is newer than the handoff: its tasks are history.
    expect(run?.sessions.flatMap(({ notes = [] }) => notes)).toContain('Done: Find the relay: commit abc1234');
    expect(run?.steps.find(({ key }) => key === '2')?.after).toEqual(['1']);
    expect(run?.decisions.map(({ decision }) => decision)).toEqual(['Mute by relay', 'Start with the small bell']);
    expect(run?.items.map(({ kind }) => kind)).toEqual(['blocker', 'commitment']);
    expect(run?.notes.map(({ kind }) => kind)).toContain('constraint');
    expect(run?.files).toEqual([{ path: 'src/relay.ts' }]);
  });
});

describe('gsd: contradictions', () => {
  const codes = (text: string) => parse(text).problems.map(({ code, line }) => `${code}:${line}`);

  it('are warnings with their lines', () => {
    expect(codes(page('G3'))).toEqual([
      'unknown_status:5',
      'completed_above_total:11',
      'percent_disagrees:12',
      'percent_disagrees:12',
    ]);
    expect(codes(page('G2').replace('percent: 50', 'percent: 150'))).toEqual([
      'percent_above_100:14',
      'percent_disagrees:14',
      'percent_disagrees:14',
    ]);
    expect(codes(page('G4').replace('Phase: 08', 'Phase: 07'))).toContain('position_disagrees:5');
    expect(codes(`${page('G1')}\n## Current Position\n`)).toContain('duplicate_heading:58');
    expect(codes(`---\na: 1\n---\n\n${page('G2')}`)).toContain('front_matter_stacked:5');
  });

  it('report a handoff that is older than the state or about completed work', () => {
    const { problems } = gsd.parse(folder.found, folder.files);
    expect(problems.filter(({ code }) => code === 'stale_handoff').map(({ path }) => path)).toEqual([
      'app/.planning/phases/02-quiet-hours/.continue-here.md',
      'app/.planning/HANDOFF.json',
    ]);
  });
});

describe('gsd: other languages', () => {
  const pages: Record<string, string> = {
    German:
      '## Aktuelle Position\n\nPhase: 3 von 5 (Anmeldung)\nStatus: In Arbeit\n\n## Entscheidungen\n\n1) Seile\n2) Kein Tau\n\n## Hindernisse\n\n- Kein Schlüssel\n\n## Nächste Schritte\n\nKnoten\n',
    French:
      '## Position actuelle\n\nPhase : 3 sur 5 (Connexion)\nStatut : En cours\n\n## Décisions\n\n- Cordes\n- Aucun câble\n\n## Blocages\n\n- Pas de clé\n\n## Prochaine action\n\nNœud\n',
    Russian:
      '## Текущая позиция\n\nФаза: 3 из 5 (Вход)\nСтатус: В процессе\n\n## Решения\n\n- Канаты\n- Нет троса\n\n## Блокеры\n\n- Нет ключа\n\n## Следующий шаг\n\nУзел\n',
    Japanese:
      '## 現在位置\n\nフェーズ: 3 / 5 (認証)\nステータス: 進行中\n\n## 決定事項\n\n- ロープ\n- 綱は使わない\n\n## ブロッカー\n\n- 鍵がない\n\n## 次のアクション\n\n結ぶ\n',
    Chinese:
      '## 当前位置\n\n阶段：3 / 5（登录）\n状态：进行中\n\n## 关键决策\n\n1、绳子\n2、没有缆绳\n\n## 阻塞项\n\n* 没有密钥\n\n## 下一步\n\n打结\n',
    Spanish:
      '## Posición actual\n\nFase: 3 de 5 (Acceso)\nEstado: En progreso\n\n## Decisiones\n\n- Cuerdas\n- Nada de cables\n\n## Bloqueos\n\n- No hay llave\n\n## Próximos pasos\n\nNudo\n',
  };

  it.each(Object.entries(pages))('reads position, decisions, blockers and the next step: %s', (_, text) => {
    const run = model(`# State\n\n${text}`);
    expect(run.position?.step).toBe('3');
    expect(run.steps.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'in_progress',
      'pending',
      'pending',
    ]);
    expect([run.decisions.length, run.items.length]).toEqual([2, 1]);
    expect(run.next).toBeTruthy();
  });

  it.each([
    'Keine.',
    'Keine Blocker bekannt',
    'Aucun blocage pour l’instant',
    'Нет',
    'Пока нет открытых вопросов',
    'なし',
    '暂无阻塞项。',
    '현재 차단 요소 없음',
    'Nenhum bloqueio identificado.',
    'No hay bloqueos activos',
  ])('reads as none: %s', (words) => {
    expect(model(`# State\n\n## Blockers\n\n- ${words}\n- No key\n`).items.map(({ text }) => text)).toEqual(['No key']);
  });
});
