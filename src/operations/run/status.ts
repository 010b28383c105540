import * as v from 'valibot';
import type { Claim, Effect, Handoff, Item, Session, State, Usage } from '../../core/fold/state.ts';
import { oneLine } from '../../core/text.ts';
import { clockTime, isPast } from '../../core/time.ts';
import { type Liveness, leaseEnd } from '../../core/views/liveness.ts';
import { type MessageView, messageView } from '../../core/views/mail.ts';
import { owedByPeople, type Waiting, waitsForPerson } from '../../core/views/needs-you.ts';
import { planView } from '../../core/views/plan.ts';
import { type RunState, runStateOf, type SessionStateWord, sessionStateOf } from '../../core/views/run-state.ts';
import { currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { version } from '../fields.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { planTree, StepLine, stepLines } from '../plan/show.ts';

const Status = v.object({
  run: v.looseObject({ id: v.string(), title: v.string(), status: v.string() }),
  version: v.number(),
  now: v.string(),
  progress: v.object({
    percent: v.number(),
    done: v.number(),
    total: v.number(),
    rootsDone: v.number(),
    rootsTotal: v.number(),
  }),
  escalated: v.boolean(),
  standing: shaped<RunState>({ word: v.string(), why: v.string() }),
  /** What cannot continue until a person acts. */
  waiting: v.array(shaped<Waiting>({ kind: v.string(), id: v.string(), text: v.string() })),
  steps: v.array(StepLine),
  sessions: v.array(
    shaped<Session & { until: string; standing: SessionStateWord }>({
      id: v.string(),
      agent: v.string(),
      until: v.string(),
      standing: v.string(),
    }),
  ),
  items: v.array(
    shaped<Item & { overdue: boolean }>({ id: v.string(), kind: v.string(), text: v.string(), overdue: v.boolean() }),
  ),
  claims: v.array(shaped<Claim & { until: string | null }>({ id: v.string(), until: v.nullable(v.string()) })),
  /** Open messages, answered or not. */
  mail: v.array(shaped<MessageView>({ id: v.string(), from: v.string(), to: v.string(), status: v.string() })),
  /** Offered, in clarification, or accepted and not finished. */
  handoffs: v.array(shaped<Handoff>({ id: v.string(), from: v.string(), to: v.string(), status: v.string() })),
  uncertain: v.array(shaped<Effect>({ id: v.string() })),
  owed: v.array(v.string()),
  usage: v.array(shaped<Usage>({ agent: v.string() })),
});
type Status = v.InferOutput<typeof Status>;

export const status = defineOperation({
  name: 'status',
  summary: 'Show the run at a glance: progress, plan, who holds what, what is open.',
  scope: 'read',
  examples: ['holdfast status', 'holdfast status --watch'],
  input: v.object({
    watch: v.optional(described(v.boolean(), 'Show it again whenever something happens.')),
    at: v.optional(described(version, 'The run as it was after this version.')),
  }),
  watches: ({ watch }) => watch === true,
  output: Status,
  async run(context, { at }) {
    const state = await currentState(context, at);
    return { data: statusOf(state, await livenessAt(context, state, at)) };
  },
  say,
});

function statusOf(state: State, liveness: Liveness): Status {
  const plan = planView(state);
  const { run } = state;
  return {
    run: { ...run, id: run?.id ?? '', title: run?.title ?? '', status: run?.status ?? '' },
    version: state.version,
    now: liveness.now,
    progress: plan.progress,
    escalated: plan.escalated,
    standing: runStateOf(state, liveness),
    waiting: waitsForPerson(state),
    steps: stepLines(plan),
    sessions: [...state.sessions.values()].map((session) => ({
      ...session,
      until: leaseEnd(session, liveness),
      standing: sessionStateOf(state, session, liveness),
    })),
    items: [...state.items.values()].map((item) => ({
      ...item,
      overdue: item.due !== undefined && isPast(item.due, liveness.now),
    })),
    claims: [...state.claims.values()].map((claim) => {
      const holder = state.sessions.get(claim.session);
      return { ...claim, until: holder ? leaseEnd(holder, liveness) : null };
    }),
    mail: [...state.messages.values()].map((message) => messageView(message, liveness.now)),
    handoffs: [...state.handoffs.values()],
    uncertain: [...state.effects.values()],
    owed: owedByPeople(state, plan),
    usage: [...state.usage.values()],
  };
}

function say(data: Status, pen: Pen): string {
  const { run, progress, steps, sessions, items, claims, mail, uncertain, owed, usage, now } = data;
  const cells = Math.floor((progress.percent / 100) * 16);
  const bar = `${'█'.repeat(cells)}${'░'.repeat(16 - cells)}`;
  const section = (title: string, lines: string[]): string[] =>
    lines.length > 0 ? ['', pen.bold(title), ...lines] : [];
  return [
    `${pen.bold(oneLine(run.title, 60))}  ${bar} ${progress.percent} %   ${progress.done} of ${progress.total} steps${run.status === 'active' ? '' : `   ${run.status}`}`,
    ...planTree(steps, pen),
    ...section(
      'At work',
      sessions.map((session) => `  ${session.agent} (${session.id}) until ${clockTime(session.until, now)}`),
    ),
    ...section(
      'Claims',
      claims.map(
        (claim) =>
          `  ${claim.id} ${claim.agent}: ${claim.files.map((file) => oneLine(file, 60)).join(', ')}${claim.until ? ` until ${clockTime(claim.until, now)}` : ''}`,
      ),
    ),
    ...section(
      'UNCERTAIN, look before repeating',
      uncertain.map((effect) => `  ${effect.id} ${effect.class}: ${oneLine(effect.name, 80)}`),
    ),
    ...section(
      'Open',
      items.map((item) => {
        const whom = item.kind === 'commitment' ? ` by ${item.by}` : '';
        const to = `${whom}${item.to ? ` to ${item.to}` : ''}${item.due ? `, due ${oneLine(item.due, 40)}` : ''}`;
        return `  ${item.id} ${item.kind}${to}${item.overdue ? pen.bad(', overdue') : ''}: ${oneLine(item.text, 100)}`;
      }),
    ),
    ...section(
      'Mail',
      mail.map(
        (message) =>
          `  ${message.id} ${message.priority} ${message.from} to ${message.to}, ${message.status}${message.overdue ? pen.bad(', overdue') : ''}: ${oneLine(message.subject, 80)}`,
      ),
    ),
    ...(owed.length > 0
      ? ['', `${pen.warn('Waits for a person:')} ${owed.map((what) => oneLine(what, 80)).join(', ')}`]
      : []),
    ...readyLine(steps, pen),
    ...usageLine(usage),
  ].join('\n');
}

/** Heartbeats and processes are known for the present only. */
async function livenessAt(context: Context, state: State, at: number | undefined): Promise<Liveness> {
  const engine = await context.engine();
  if (at === undefined) return engine.liveness(state);
  return { now: state.run?.updatedAt ?? engine.now(), beats: new Map(), owners: { get: () => undefined } };
}

function readyLine(steps: readonly StepLine[], pen: Pen): string[] {
  if (steps.length === 0) return ['There is no plan yet: `holdfast plan add KEY TITLE`.'];
  const parents = new Set(steps.map((step) => step.parent));
  const ready = steps.filter(
    (step) => !parents.has(step.key) && step.status === 'pending' && step.obstacles.length === 0,
  );
  if (ready.length === 0) return [];
  const more = ready.length > 6 ? ` and ${ready.length - 6} more` : '';
  return [
    '',
    `${pen.bold('Ready:')} ${ready
      .slice(0, 6)
      .map((step) => step.key)
      .join(', ')}${more}`,
  ];
}

/** `Tokens: 1.21 M in (62 % cached), 96 k out · claude 71 %, codex 29 %`. */
function usageLine(usage: readonly Usage[]): string[] {
  const sum = (field: 'input' | 'output' | 'cached') => usage.reduce((total, one) => total + (one[field] ?? 0), 0);
  const all = sum('input') + sum('cached') + sum('output');
  if (all === 0) return [];
  const read = sum('input') + sum('cached');
  const shares = usage.map((one) => {
    const part = Math.round((((one.input ?? 0) + (one.cached ?? 0) + (one.output ?? 0)) / all) * 100);
    return `${one.agent} ${part} %`;
  });
  const cached = read > 0 ? ` (${Math.round((sum('cached') / read) * 100)} % cached)` : '';
  return [`Tokens: ${amount(read)} in${cached}, ${amount(sum('output'))} out · ${shares.join(', ')}`];
}

function amount(tokens: number): string {
  if (tokens >= 1e6) return `${(tokens / 1e6).toFixed(2)} M`;
  return tokens >= 1e4 ? `${Math.round(tokens / 1e3)} k` : String(tokens);
}
