import { emptyRunModel, ModelSession, type RunModel } from '../core/model/run-model.ts';
import { ItemKind, MessageStatus, NoteKind, Severity } from '../core/words.ts';

const SessionStatus = ModelSession.entries.status;

/** Run models with every value of every list, and every field of a step, over the given steps. Long: it is mostly one literal. */
export function wholeModels(steps: RunModel['steps']): RunModel[] {
  const [first] = steps;
  const here = steps.findLast(({ status }) => status === 'in_progress');
  const at = '2026-03-01T10:00:00Z';
  const rich = richModel(steps);
  const items = ItemKind.options.flatMap((kind) =>
    (kind === 'blocker'
      ? (['active', 'bypassed', 'resolved'] as const)
      : (['open', 'resolved', 'deferred', 'withdrawn'] as const)
    ).map((status): RunModel['items'][number] => ({
      alias: `${kind}-${status}`,
      kind,
      text: `A ${kind} that is ${status}`,
      status,
      severity: 'must_fix',
      type: 'runtime',
      affects: ['auth'],
      ...(first ? { step: first.key, followUp: [first.key] } : {}),
      workaround: 'Go round it',
      to: 'mara',
      due: '2026-04-01',
      by: 'worker-1',
      raisedAt: at,
      ...(status === 'resolved' ? { settledAt: at, resolution: 'It went away' } : {}),
    })),
  );
  const graded = Severity.options.map((severity): RunModel['items'][number] => ({
    kind: 'finding',
    text: `A finding that is ${severity}`,
    status: 'open',
    severity,
  }));
  const whole: RunModel = {
    ...rich,
    run: { ...rich.run, alias: 'init-7', reason: 'It was asked for' },
    steps: steps.map((step) => ({
      ...step,
      retries: 1,
      ...(steps.some(({ parent }) => parent === step.key) ? {} : everyField),
    })),
    decisions: (['superseded', 'retracted', 'active'] as const).flatMap((status) => [
      {
        ...(rich.decisions[0] as RunModel['decisions'][number]),
        alias: `D-${status}`,
        status,
        decision: `Was ${status}`,
      },
      { alias: `P-${status}`, decision: `Plainly ${status}`, status },
    ]),
    items: [...items, ...graded, { kind: 'finding', text: 'A finding of no grade', status: 'open' }],
    notes: NoteKind.options.map((kind) => ({
      alias: `note-${kind}`,
      kind,
      text: `A note of kind ${kind}`,
      by: 'worker-1',
      at,
      ...(first ? { step: first.key } : {}),
    })),
    sessions: SessionStatus.options.map((status, index) => ({
      alias: `session-${String(index + 1).padStart(3, '0')}`,
      agent: `worker-${index}`,
      role: 'worker',
      status,
      startedAt: at,
      ...(status === 'active' ? {} : { endedAt: '2026-03-01T11:00:00Z' }),
      completed: ['Read the code'],
      workingOn: 'The vault',
      notes: ['It is slow'],
      issues: ['It fell asleep'],
      contextUsage: 45,
      next: 'Wake it',
      why: 'It was late',
    })),
    messages: MessageStatus.options.map((status) => ({
      ...(rich.messages[0] as RunModel['messages'][number]),
      alias: `MSG-20260301-00${MessageStatus.options.indexOf(status) + 1}`,
      status,
      subject: `One that is ${status}`,
      ...(status === 'closed' ? { disposition: 'resolved' } : {}),
    })),
    claims: [{ alias: 'lock-1', agent: 'worker-2', files: ['src/rotate.ts'], reason: 'Rewriting it', since: at }],
    files: (['created', 'modified', 'deleted'] as const).map((change) => ({
      path: `src/${change}.ts`,
      change,
      note: 'Why',
    })),
    position: { step: here?.key ?? null, words: 'In the middle' },
  };
  return [whole, ...(['completed', 'abandoned', 'archived'] as const).map((status) => ended(whole, status))];
}

const everyField: Partial<RunModel['steps'][number]> = {
  wave: 2,
  agents: ['coder'],
  parallel: true,
  gate: { state: 'open', by: 'mara', at: '2026-03-01T08:00:00Z' },
  context: ['docs/a.md'],
  checkpoints: ['one', 'two'],
  contextRead: ['docs/read.md'],
  reason: 'Someone asked',
  summary: 'It was done',
  built: ['The clock is read once'],
  artifacts: [{ path: 'docs/out.md', change: 'created', note: 'The result' }],
};

function ended(model: RunModel, status: RunModel['run']['status']): RunModel {
  const { next: _next, ...rest } = model;
  const steps = model.steps.map((step) => ({
    ...step,
    status: status === 'completed' ? ('completed' as const) : step.status,
  }));
  return { ...rest, run: { ...rest.run, status }, steps };
}

/** A run model with something in every field, over the given steps. Long: it is one literal. */
export function richModel(steps: RunModel['steps']): RunModel {
  const step = steps[0]?.key;
  const at = '2026-03-01T10:00:00Z';
  return {
    ...emptyRunModel('Rotate the tokens'),
    run: {
      title: 'Rotate the tokens',
      goal: 'Every token is younger than a day.',
      status: 'active',
      openedAt: '2026-03-01T09:00:00Z',
      design: { path: 'docs/design.md', approvedBy: 'mara' },
      plan: 'docs/plan.md',
      branch: 'tokens',
    },
    steps: [...steps],
    decisions: [
      {
        alias: 'D001',
        key: 'store',
        type: 'technology',
        context: 'Where sessions live',
        decision: 'Use Redis: it expires keys',
        reason: 'No sweeper is needed',
        alternatives: ['PostgreSQL: needs a sweeper'],
        irreversible: true,
        affects: ['auth'],
        ...(step ? { step } : {}),
        by: 'worker-1',
        at,
        status: 'active',
      },
      { alias: 'D002', decision: 'Rotate at midnight', reason: 'Least traffic', at, status: 'active' },
    ],
    items: [
      {
        alias: 'block-001',
        kind: 'blocker',
        text: 'No access to the vault',
        status: 'active',
        affects: step ? [step] : ['auth'],
        workaround: 'Use the test vault',
        by: 'worker-1',
        raisedAt: at,
      },
      { alias: 'OQ-001', kind: 'question', text: 'Who owns the vault?', status: 'open', by: 'worker-1', raisedAt: at },
      { kind: 'finding', text: 'Tokens are logged', status: 'open', severity: 'must_fix' },
      {
        kind: 'error',
        text: 'The build timed out',
        status: 'resolved',
        type: 'timeout',
        ...(step ? { step } : {}),
        by: 'coder',
        raisedAt: at,
        resolution: 'Ran it again',
      },
    ],
    notes: [{ kind: 'worklog', text: 'Read the old rotation code', by: 'worker-1', at }],
    sessions: [
      {
        alias: 'session-001',
        agent: 'worker-1',
        status: 'completed',
        startedAt: '2026-03-01T09:00:00Z',
        endedAt: '2026-03-01T10:30:00Z',
        completed: ['Read the code'],
        notes: ['The vault is slow'],
        issues: ['Context exceeded 50%'],
        contextUsage: 45,
      },
      { alias: 'session-002', agent: 'worker-2', status: 'active', startedAt: at, continues: 'session-001' },
    ],
    messages: [
      {
        alias: 'MSG-20260301-001',
        from: 'worker-1',
        to: 'worker-2',
        type: 'request',
        priority: 'P1',
        status: 'acknowledged',
        subject: 'Review the rotation',
        body: 'Please look at the clock skew.',
        at: '2026-03-01',
        respondBy: 'next session',
        acks: [{ by: 'worker-2', at: '2026-03-01', note: 'Will do' }],
        replies: [{ from: 'worker-2', body: 'Skew is bounded.' }],
      },
    ],
    claims: [{ alias: 'lock-1', agent: 'worker-2', files: ['src/rotate.ts'], reason: 'Rewriting it' }],
    usage: [{ agent: 'coder', input: 1200, output: 340, cached: 0 }],
    files: [{ path: 'src/rotate.ts', change: 'modified' }],
    next: 'Write the test for the clock skew',
  };
}
