import { describe, expect, it } from 'vitest';
import type { Account } from '../../core/account.ts';
import { formatSuite, richAccount } from '../format.suite.ts';
import type { Files, Found } from '../format.ts';
import { gsd } from './format.ts';
import { folder, pages, samples } from './samples.suite.ts';

const now = '2026-07-01T12:00:00.000Z';
const main = '.planning/STATE.md';
const found: Found = { format: 'gsd', main, files: [main] };
const files = (text: string): Files => new Map([[main, text]]);
const parse = (text: string) => gsd.parse(found, files(text));
const account = (text: string): Account => {
  const parsed = parse(text);
  if (!parsed.account) throw new Error('There is no account.');
  return parsed.account;
};
const page = (name: string): string => pages[name] as string;

const steps: Account['steps'] = [
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

const rich = richAccount(steps);
const second: Account = {
  ...rich,
  run: { title: 'Second', status: 'completed', alias: 'v2.0', reason: 'Why not' },
  decisions: [
    { decision: 'None', status: 'active', supersedes: 'D001' },
    { decision: '- begins like a list', reason: 'It may', status: 'retracted' },
    { decision: 'Two\nlines', context: 'About ] brackets', status: 'superseded' },
  ].map((one) => ({ ...one, context: one.context?.replace(']', ')') })) as Account['decisions'],
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
  accounts: [
    { name: 'rich', account: { ...rich, position: { step: 'p1.2.1' } } },
    { name: 'second', account: second },
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
    expect(account(page('G1')).decisions).toEqual([
      { step: '1', decision: 'Queue in SQLite', reason: 'one file, no server', status: 'active' },
      { step: '2', decision: 'Retry with backoff\n- first after a second\n- then doubling', status: 'active' },
      { decision: '**Ordering:** by sender, not by time', status: 'active' },
      { context: 'Roadmap', decision: 'Ship without attachments', status: 'active' },
      { decision: 'Sign letters with Ed25519', status: 'active' },
    ]);
    expect(account(page('G0')).decisions).toEqual([
      {
        step: '1',
        decision: 'Store berths as rows, not as | joined text',
        reason: 'Queries stay simple',
        status: 'active',
      },
      { step: '2', decision: 'Poll every minute', reason: 'Too many requests', status: 'superseded' },
    ]);
    expect(account('## Decisions\n\n- **Auth:**\n  - JWT\n  - no cookies\n\n**Storage:**\n\n- S3\n').decisions).toEqual(
      [
        { context: 'Auth', decision: 'JWT', status: 'active' },
        { context: 'Auth', decision: 'no cookies', status: 'active' },
        { context: 'Storage', decision: 'S3', status: 'active' },
      ],
    );
  });

  it('keeps blockers that begin with a none and drops those that say none', () => {
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
      expect(account(`## Blockers\n\n${words}\n\n## Session\n\nStopped at: x\n`).items, words).toEqual([]);
    for (const words of [
      'None of the retries work',
      'Nonexistent index',
      'No CI on main',
      'Nothing works without the key',
    ])
      expect(account(`## Blockers\n\n- ${words}\n`).items, words).toMatchObject([
        { kind: 'blocker', text: words, status: 'active' },
      ]);
  });

  it('tells what is resolved from what must be', () => {
    const items = account(
      '## Blockers\n\n- ✅ Key arrived\n- ~~Old~~\n- Port — RESOLVED (08-02)\n- must be resolved soon\n- [x] ticked\n',
    ).items;
    expect(items.map(({ status }) => status)).toEqual(['resolved', 'resolved', 'resolved', 'active', 'resolved']);
  });

  it('finds the position in every encoding', () => {
    const positions = Object.fromEntries(
      Object.entries(pages).map(([name, text]) => [name, account(text).position?.step]),
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

  it('names each dialect', () => {
    for (const name of ['G0', 'G1', 'G2', 'G3', 'G4', 'legacy', 'gsd-2'])
      expect(parse(page(name)).version, name).toBe(name);
  });

  it('takes nothing from fences and comments', () => {
    const text = '## Decisions\n\n```\n- not one\n```\n<!--\n- nor this\n-->\n- this one\n';
    expect(account(text).decisions.map(({ decision }) => decision)).toEqual(['this one']);
  });

  it('brings roadmap, plans, summaries and handoffs together', () => {
    const { account: run } = gsd.parse(folder.found, folder.files);
    expect(run?.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      '1 completed',
      '2 in_progress',
      '02-01 completed',
      '02-02 in_progress',
      '02-03 pending',
      '3 pending',
      '02-02.1 completed',
      '02-02.2 pending',
    ]);
    expect(run?.steps.find(({ key }) => key === '2')?.after).toEqual(['1']);
    expect(run?.decisions.map(({ decision }) => decision)).toEqual([
      'Mute by relay',
      'Start with the small bell, because it is loud',
    ]);
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

  it('name a handoff that is older than the state or hands over what is done', () => {
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
    const run = account(`# State\n\n${text}`);
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
  ])('takes words that only say that there is nothing for nothing: %s', (words) => {
    expect(account(`# State\n\n## Blockers\n\n- ${words}\n- No key\n`).items.map(({ text }) => text)).toEqual([
      'No key',
    ]);
  });
});

describe('gsd: writing in place', () => {
  const render = (text: string, change: (run: Account) => void): string => {
    const run = structuredClone(account(text));
    change(run);
    return gsd.render(run, found, files(text), now).get(main) ?? text;
  };
  const diff = (before: string, after: string): string[] => {
    const there = new Set(before.split('\n'));
    return after.split('\n').filter((line) => !there.has(line));
  };

  it('puts a decision into a list, a table, and in the place of a none', () => {
    const add = (run: Account) =>
      void run.decisions.push({ decision: 'Go', reason: 'Wind', step: '2', status: 'active' });
    expect(diff(page('G1'), render(page('G1'), add))).toEqual(['- [Phase 2]: Go — Wind']);
    expect(diff(page('G0'), render(page('G0'), add))).toEqual(['| 2 | Go | Wind |']);
    expect(diff(page('G2'), render(page('G2'), add))).toEqual([`last_updated: "${now}"`, '- [Phase 2]: Go — Wind']);
    expect(render(page('G2'), add)).not.toContain('None yet.');
  });

  it('moves milestone, slice and task of the newer tool, and the signs of its registry', () => {
    const done = (run: Account) => {
      for (const step of run.steps) step.status = 'completed';
      run.steps.push(
        { key: 'M003', title: 'Third harvest', kind: 'phase', status: 'in_progress' },
        { key: 'M003.S01', title: 'Ladders', kind: 'plan', parent: 'M003', status: 'in_progress' },
      );
    };
    const after = render(page('gsd-2'), done);
    expect(diff(page('gsd-2'), after).filter((line) => !line.startsWith('|'))).toEqual(
      expect.arrayContaining([
        '**Active Milestone:** M003: Third harvest',
        '**Active Slice:** S01: Ladders',
        '**Active Task:** None',
        '- ✅ **M002:** Second harvest',
      ]),
    );
    const next = (run: Account) => {
      for (const step of run.steps) if (step.kind === 'task') step.status = 'completed';
      run.steps.push({ key: 'M002.S03.T02', title: 'Dye', kind: 'task', parent: 'M002.S03', status: 'pending' });
    };
    expect(diff(page('gsd-2'), render(page('gsd-2'), next))).toEqual(
      expect.arrayContaining(['**Active Task:** T02: Dye', '**Phase:** planning']),
    );
    const dashed = page('gsd-2').replace('T01: Weave', 'T01 — Weave');
    expect(render(dashed, next)).toContain('**Active Task:** T02 — Dye');
  });

  it('stays at a phase that claims to be running when all its plans are done', () => {
    const state = '# Project State\n\n## Current Position\n\nPhase: 2 (Rigging) — EXECUTING\nPlan: Not started\n';
    const roadmap =
      '# Roadmap\n\n## Phase 1: Hull\n\nPlans:\n- [ ] 01-01: Planks\n\n## Phase 2: Rigging\n\nPlans:\n- [x] 02-01: Ropes\n';
    const there = new Map([
      [main, state],
      ['.planning/ROADMAP.md', roadmap],
    ]);
    const place = { ...found, files: [...there.keys()] };
    const run = gsd.parse(place, there).account as Account;
    expect(run.steps.find(({ key }) => key === '2')?.status).toBe('in_progress');
    const derived = run.steps.map((step) => (step.key === '2' ? { ...step, status: 'completed' as const } : step));
    expect([...gsd.render({ ...run, steps: derived }, place, there, now).keys()]).toEqual([]);
  });

  it('strikes a blocker that was resolved and ticks a box', () => {
    const settle = (run: Account) => {
      for (const item of run.items) Object.assign(item, { status: 'resolved', resolution: undefined });
    };
    expect(diff(page('G1'), render(page('G1'), settle))).toEqual([
      '- [x] Write the runbook',
      '- ~~No test mailbox~~ RESOLVED',
      '- ~~[Phase 4]: Nonexistent index makes none of the retries work~~ RESOLVED',
    ]);
    expect(diff(page('G4'), render(page('G4'), settle))).toContain('- [x] Supplier is closed until 2026-07-01');
  });

  it('moves position, counters and bar when a plan is done, and nothing else', () => {
    const text = page('G2');
    const after = render(text, (run) => {
      for (const step of run.steps) if (step.key === '02-02') step.status = 'completed';
    });
    expect(diff(text, after)).toEqual([
      `last_updated: "${now}"`,
      '  completed_plans: 4',
      '  percent: 67',
      'Plan: 3 of 3',
      'Status: Ready to execute',
      'Progress: [███████░░░] 67%',
    ]);
  });

  it('ticks the roadmap', () => {
    const { account: run } = gsd.parse(folder.found, folder.files);
    const changed = structuredClone(run as Account);
    for (const step of changed.steps) if (step.key.startsWith('02-02')) step.status = 'completed';
    changed.steps.push(
      { key: '02-04', title: 'Ring again', kind: 'plan', parent: '2', status: 'pending' },
      { key: '4', title: 'Paint', kind: 'phase', status: 'pending' },
    );
    const roadmap = gsd.render(changed, folder.found, folder.files, now).get('app/.planning/ROADMAP.md') ?? '';
    expect(diff(folder.files.get('app/.planning/ROADMAP.md') ?? '', roadmap)).toEqual([
      '- [ ] **Phase 4: Paint**',
      '- [x] 02-02-PLAN.md — Mute the bells',
      '- [ ] 02-04: Ring again',
    ]);
  });

  it('leaves a percentage alone that never followed from the counters', () => {
    const text = page('G2').replace('percent: 50', 'percent: 15').replace('] 50%', '] 15% (by feel)');
    const after = render(text, (run) => {
      for (const step of run.steps) if (step.key === '02-02') step.status = 'completed';
    });
    expect(after).toContain('percent: 15');
    expect(after).toContain('15% (by feel)');
  });

  it('writes the end of a session and what is next where they stand', () => {
    const after = render(page('G4'), (run) => {
      run.sessions.push({ agent: 'coder', status: 'completed', endedAt: now, workingOn: 'The second wick' });
      run.next = 'Light it';
    });
    expect(diff(page('G4'), after)).toEqual([
      'stopped_at: The second wick',
      `last_updated: "${now}"`,
      '## Next Action',
      'Light it',
      `**Last Date:** ${now}`,
      '**Stopped At:** The second wick',
    ]);
  });

  it('writes nothing into a page with conflict markers', () => {
    const text = page('G1').replace('## Session', '<<<<<<< HEAD\n=======\n>>>>>>> x\n## Session');
    expect(parse(text).writable).toBe(false);
    expect(gsd.render(account(page('G1')), found, files(text), now).size).toBe(0);
  });
});

describe('gsd: finding and salvaging', () => {
  const tree = (all: Files) => ({ paths: [...all.keys()].sort(), read: (path: string) => all.get(path) ?? null });

  it('finds nested folders, workstreams and loose pages, and leaves others alone', () => {
    const all = new Map([
      ['.planning/STATE.md', page('G1')],
      ['.planning/workstreams/api/STATE.md', page('G2')],
      ['packages/web/.planning/STATE.md', page('G3')],
      ['packages/web/.planning/phases/01-a/01-01-PLAN.md', ''],
      ['.gsd/STATE.md', page('gsd-2')],
      ['STATE.md', page('G1')],
      ['docs/STATE.md', '# The state of things\n\nProse.\n'],
      ['tool/STATE.md', 'initiative: init-1\ntitle: T\n'],
      ['lost/.planning/HANDOFF.json', '{}'],
    ]);
    expect(gsd.detect(tree(all)).map((one) => one.main)).toEqual([
      '.gsd/STATE.md',
      '.planning/STATE.md',
      '.planning/workstreams/api/STATE.md',
      'STATE.md',
      'lost/.planning/STATE.md',
      'packages/web/.planning/STATE.md',
    ]);
  });

  it('puts a run together from what lies around a page that is gone', () => {
    const all = new Map(folder.files).set(folder.found.main, '\0\0\0');
    const salvaged = gsd.salvage(folder.found, tree(all));
    expect(salvaged?.confidence.find(({ step }) => step === '02-01')).toEqual({
      step: '02-01',
      confidence: 'high',
      from: 'app/.planning/phases/02-quiet-hours/02-01-SUMMARY.md',
    });
    expect(salvaged?.confidence.find(({ step }) => step === '1')?.confidence).toBe('medium');
    expect(salvaged?.account.decisions.length).toBe(2);
    expect(gsd.salvage(found, tree(new Map([[main, '']])))).toBeNull();
  });
});
