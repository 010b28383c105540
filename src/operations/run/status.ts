import * as v from 'valibot';
import { historyLines } from '../../core/brief/sections/history.ts';
import type { Claim, Effect, Handoff, Item, Run, Session, State, Usage } from '../../core/fold/state.ts';
import {
  agoShown,
  COPIED,
  clock,
  type Fixed,
  joined,
  type Line,
  line,
  id as ownId,
  type Part,
  time,
  word,
} from '../../core/line.ts';
import { isPast } from '../../core/time.ts';
import { type SessionLabel, sessionLabel } from '../../core/views/labels.ts';
import { type Liveness, leaseEnd } from '../../core/views/liveness.ts';
import { type MessageView, messageView } from '../../core/views/mail.ts';
import { owedByPeople, type Waiting, waitsForPerson } from '../../core/views/needs-you.ts';
import { planView } from '../../core/views/plan.ts';
import { type SessionStateWord, sessionWordOf, stateOfRun } from '../../core/views/run-state.ts';
import { describeRewound, type Rewound } from '../../engine/rewound.ts';
import { hostName } from '../../workspace/process.ts';
import { currentState } from '../act.ts';
import { version } from '../fields.ts';
import { lookAtHistory } from '../journal/parts/known-heads.ts';
import { defineOperation, described, lineText, type Pen, shaped } from '../operation.ts';
import { foldedTree, progressLine } from '../plan/parts/folded.ts';
import { livenessAt, planTree, StepLine, stepLines } from '../plan/show.ts';
import { LabelledState, labelled, whyShown } from './parts/labelled.ts';
import { RecordedRun } from './parts/recorded-run.ts';

const Only = v.picklist(['effects', 'claims']);

const Status = v.object({
  run: RecordedRun,
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
  /** What the last session wrote as its next action. */
  next: v.nullable(v.object({ text: v.string(), by: v.nullable(v.string()), at: v.string() })),
  /** Where it was worked on last, and the machine that answers. */
  place: v.object({
    machine: v.nullable(v.string()),
    tree: v.nullable(v.string()),
    branch: v.nullable(v.string()),
    here: v.string(),
  }),
  /** How much there is of what has a view of its own. */
  totals: v.object({ decisions: v.number(), sessions: v.number(), usage: v.number() }),
  standing: LabelledState,
  /** What cannot continue until a person acts. */
  waiting: v.array(shaped<Waiting>({ kind: v.string(), id: v.string(), text: v.string() })),
  steps: v.array(StepLine),
  sessions: v.array(
    shaped<Session & { until: string; standing: SessionStateWord; label: SessionLabel }>({
      id: v.string(),
      agent: v.string(),
      until: v.string(),
      standing: v.string(),
      label: v.string(),
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
  owed: v.array(lineText),
  usage: v.array(shaped<Usage>({ agent: v.string() })),
  /** Acknowledged events that are no longer in the store; only where there are any. */
  rewound: v.optional(
    v.array(shaped<Rewound>({ run: v.string(), first: v.number(), last: v.number(), at: v.string() })),
  ),
  /** What is gone of the record of this workspace, until a person accepts it; only where something is. */
  history: v.optional(v.array(lineText)),
  /** The whole plan was asked for. */
  all: v.optional(v.boolean()),
  only: v.optional(Only),
});
type Status = v.InferOutput<typeof Status>;

export const status = defineOperation({
  name: 'status',
  summary: 'Show the run at a glance: progress, plan, who holds what, what is open.',
  scope: 'read',
  examples: ['holdfast status', 'holdfast status --watch'],
  input: v.object({
    all: v.optional(
      described(v.boolean(), 'The whole plan: finished phases and those that cannot be reached yet, too.'),
    ),
    only: v.optional(described(Only, 'Show nothing but effects of unknown outcome, or claims on files.')),
    watch: v.optional(described(v.boolean(), 'Show it again whenever something happens.')),
    at: v.optional(described(version, 'The run as it was after this version.')),
  }),
  watches: ({ watch }) => watch === true,
  output: Status,
  async run(context, { at, all, only }) {
    const state = await currentState(context, at);
    const rewound = (await context.engine()).rewound(state.run?.id);
    const liveness = await livenessAt(await context.engine(), state, at);
    const history = await lookAtHistory(context);
    return {
      data: {
        ...statusOf(state, liveness),
        ...(all ? { all } : {}),
        ...(only ? { only } : {}),
        ...(rewound.length > 0 ? { rewound: [...rewound] } : {}),
        ...(history ? { history: historyLines(history, liveness.now) } : {}),
      },
    };
  },
  say,
});

function statusOf(state: State, liveness: Liveness): Status {
  const plan = planView(state);
  return {
    // What was loaded has a run.
    run: state.run as Run,
    version: state.version,
    now: liveness.now,
    progress: plan.progress,
    escalated: plan.escalated,
    next: nextOf(state),
    place: placeOf(state),
    totals: { decisions: state.totals.decisions, sessions: state.totals.sessions, usage: state.usage.size },
    standing: labelled(stateOfRun(state, liveness)),
    waiting: waitsForPerson(state),
    steps: stepLines(plan, state, liveness),
    sessions: [...state.sessions.values()].map((session) => ({
      ...session,
      until: leaseEnd(session, liveness),
      standing: sessionWordOf(state, session, liveness),
      label: sessionLabel(sessionWordOf(state, session, liveness)),
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

function nextOf({ next, steps }: State): Status['next'] {
  if (!next) return null;
  const step = next.step === null ? undefined : steps.get(next.step);
  const by = step && step.lastSession === next.session ? step.lastAgent : null;
  return { text: next.text, by, at: next.at };
}

function placeOf({ last }: State): Status['place'] {
  const { machine, tree, branch } = last.place;
  return { machine: machine?.split(' ')[0] ?? null, tree, branch, here: hostName().split(' ')[0] ?? '' };
}

function say(data: Status, pen: Pen): Line {
  const {
    run,
    all = false,
    progress,
    standing,
    steps,
    sessions,
    items,
    claims,
    mail,
    uncertain,
    owed,
    usage,
    now,
    rewound = [],
    history = [],
  } = data;
  const name = (text: string): Part => pen.quote(text, 'name');
  const section = (title: Line, lines: Line[]): (Line | '')[] =>
    lines.length > 0 ? ['', pen.bold(title), ...lines] : [];
  const late = (overdue: unknown): Part => (overdue ? pen.bad(line`, overdue`) : '');
  const copied = run['isCopied'] === true ? line` ${COPIED}` : '';
  const bar: Part = progress.total === 0 ? '' : line`  ${progressLine(progress)}`;
  const why = whyShown(standing.label, standing.why, pen);
  const held = section(
    line`Claims`,
    claims.map(({ id, agent, files, until }) => {
      const claimed = joined(files.map((file) => pen.quote(file, 'path', 60)));
      return line`  ${ownId(id)} ${name(agent)}: ${claimed}${until ? line` until ${clock(until, now)}` : ''}`;
    }),
  );
  const unknown = section(
    line`Outcome unknown: check before repeating`,
    uncertain.map(
      (effect) => line`  ${ownId(effect.id)} ${word(effect.class)}: ${pen.quote(effect.name, 'title', 80)}`,
    ),
  );
  if (data.only === 'claims') return held.length > 0 ? joined(held.slice(1), '\n') : line`No files are claimed.`;
  if (data.only === 'effects')
    return unknown.length > 0 ? joined(unknown.slice(1), '\n') : line`Every side effect has a recorded outcome.`;
  const parts = [
    line`${pen.bold(pen.quote(run.title, 'title', 60))}${copied}${bar}`,
    line`${word(standing.label)}${why}`,
    ...(all ? planTree(steps, pen) : foldedTree(steps, pen)),
    ...section(line`Lost`, [
      ...history.map((sentence) => line`  ${pen.bad(sentence)}`),
      ...rewound.map((lost) => line`  ${pen.bad(pen.quote(describeRewound(lost), 'text'))}`),
    ]),
    ...section(
      line`Sessions`,
      sessions.map(
        ({ agent, id, seenAt, label }) =>
          line`  ${name(agent)} (${ownId(id)}) ${word(label)}, last seen ${agoShown(seenAt, now)}`,
      ),
    ),
    ...held,
    ...unknown,
    ...section(
      line`Open`,
      items.map((item) => {
        const by = item.kind === 'commitment' ? line` by ${name(item.by)}` : '';
        const to = item.to ? line` to ${name(item.to)}` : '';
        const due = item.due ? line`, due ${time(item.due)}` : '';
        return line`  ${ownId(item.id)} ${word(item.kind)}${by}${to}${due}${late(item.overdue)}: ${pen.quote(item.text, 'title', 100)}`;
      }),
    ),
    ...section(
      line`Mail`,
      mail.map(
        ({ id, priority, from, to, status: is, overdue, subject }) =>
          line`  ${ownId(id)} ${word(priority)} ${name(from)} to ${name(to)}, ${word(is)}${late(overdue)}: ${pen.quote(subject, 'title', 80)}`,
      ),
    ),
    ...(owed.length > 0 ? (['', line`${pen.warn(line`Needs you:`)} ${joined(owed)}`] as const) : []),
    ...readyLine(steps, run['kind'] === 'planned', pen),
    ...usageLine(usage, pen),
  ];
  return joined(parts, '\n');
}

function readyLine(steps: readonly StepLine[], isPlanned: boolean, pen: Pen): (Line | '')[] {
  if (steps.length === 0)
    return [
      isPlanned
        ? line`There is no plan yet: \`holdfast add "Title"\` adds a step, \`holdfast import FILE\` many.`
        : line`\`holdfast log\` shows requests, files and commands.`,
    ];
  const parents = new Set(steps.map((step) => step.parent));
  const ready = steps.filter(
    (step) => !parents.has(step.key) && step.status === 'pending' && step.obstacles.length === 0,
  );
  if (ready.length === 0) return [];
  const more = ready.length > 6 ? line` and ${ready.length - 6} more` : '';
  const keys = joined(ready.slice(0, 6).map((step) => pen.quote(step.key, 'name')));
  return ['', line`${pen.bold(line`Ready:`)} ${keys}${more}`];
}

/** `Tokens: 1.21 M in (62 % cached), 96 k out · claude 71 %, codex 29 %`. */
function usageLine(usage: readonly Usage[], pen: Pen): Line[] {
  const sum = (field: 'input' | 'output' | 'cached') => usage.reduce((total, one) => total + (one[field] ?? 0), 0);
  const read = sum('input');
  const all = read + sum('output');
  if (all === 0) return [];
  const shares = usage.map((one) => {
    const part = Math.round((((one.input ?? 0) + (one.output ?? 0)) / all) * 100);
    return line`${pen.quote(one.agent, 'name')} ${part} %`;
  });
  const cached = read > 0 ? line` (${Math.round((sum('cached') / read) * 100)} % cached)` : '';
  return [line`Tokens: ${amount(read)} in${cached}, ${amount(sum('output'))} out · ${joined(shares)}`];
}

function amount(tokens: number): Fixed {
  if (tokens >= 1e6) return `${(tokens / 1e6).toFixed(2)} M` as Fixed;
  return (tokens >= 1e4 ? `${Math.round(tokens / 1e3)} k` : String(tokens)) as Fixed;
}
