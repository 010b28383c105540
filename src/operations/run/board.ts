import * as v from 'valibot';
import { oneLine } from '../../core/text.ts';
import { type RunLabel, sessionLabel } from '../../core/views/labels.ts';
import { type Waiting, waitsForPerson } from '../../core/views/needs-you.ts';
import { type PlanView, planView } from '../../core/views/plan.ts';
import { runFactsOf } from '../../core/views/run-facts.ts';
import { type SessionStateWord, sessionWordOf, stateOfRun } from '../../core/views/run-state.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Head } from '../../store/journal.ts';
import { limit } from '../fields.ts';
import { hereName, hostOf } from '../history/parts/activity.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { LabelledState, labelled } from './parts/labelled.ts';

const sessionWords = [
  'working',
  'idle',
  'not responding',
  'cut off',
  'gone',
] as const satisfies readonly SessionStateWord[];

const Row = v.object({
  id: v.string(),
  title: v.string(),
  status: v.string(),
  version: v.number(),
  updatedAt: v.string(),
  standing: LabelledState,
  kind: v.picklist(['ad-hoc', 'planned']),
  /** The program that keeps it, and where that said it is. */
  source: v.optional(v.string()),
  reached: v.optional(v.string()),
  /** Hardly anything was done in it, or it was moved: listed only with `all`. */
  isTrivial: v.boolean(),
  /** The machine and the agent that recorded last. */
  host: v.nullable(v.string()),
  agent: v.nullable(v.string()),
  /** That machine is not the one that answers. */
  isElsewhere: v.boolean(),
  /** How many files it changed lately, and the command that failed last. */
  changed: v.number(),
  failed: v.nullable(v.object({ name: v.string(), exitCode: v.nullable(v.number()) })),
  progress: shaped<PlanView['progress']>({ percent: v.number(), done: v.number(), total: v.number() }),
  /** Open sessions, their states and the steps they hold. */
  sittings: v.array(
    v.object({
      session: v.string(),
      agent: v.string(),
      standing: v.picklist(sessionWords),
      label: v.string(),
      host: v.nullable(v.string()),
      seenAt: v.string(),
      steps: v.array(v.object({ key: v.string(), title: v.string() })),
    }),
  ),
  /** What cannot continue until a person acts. */
  waiting: v.array(shaped<Waiting>({ kind: v.string(), id: v.string(), text: v.string() })),
});
type Row = v.InferOutput<typeof Row>;

export const board = defineOperation({
  name: 'board',
  summary: 'Show all runs at a glance: their states, who works on what, what needs a person.',
  scope: 'read',
  input: v.object({
    all: v.optional(described(v.boolean(), 'Also archived runs, and those in which hardly anything was done.')),
    limit: limit(100),
  }),
  output: v.object({ runs: v.array(Row), more: v.number(), now: v.string() }),
  async run(context, { all, limit: wanted = 100 }) {
    const engine = await context.engine();
    const workspace = context.workspace()?.ids;
    const heads = await engine.heads(workspace === undefined ? {} : { workspace });
    const shown = all ? heads : heads.filter((head) => head.status !== 'archived');
    const runs: Row[] = [];
    // One after the other: each may have to be folded, and many at once would block everything else.
    for (const head of shown.slice(0, wanted)) {
      const row = await rowOf(engine, head);
      if (all || !row.isTrivial) runs.push(row);
    }
    return { data: { runs, more: Math.max(0, shown.length - wanted), now: engine.now() } };
  },
  say: ({ runs, more }, pen) =>
    runs.length === 0
      ? 'There are no runs yet: `holdfast init`.'
      : [
          ...runs.flatMap((row) => sayRow(row, pen)),
          ...(more > 0 ? [`${more} more: \`holdfast board --limit ${runs.length + more}\``] : []),
        ].join('\n'),
});

async function rowOf(engine: Engine, { run, title, status, updatedAt }: Head): Promise<Row> {
  const state = await engine.load(run);
  const liveness = await engine.liveness(state);
  const host = state.last.place.machine?.split(' ')[0] ?? null;
  const standing = labelled(stateOfRun(state, liveness));
  const sittings = [...state.sessions.values()].map((session) => ({
    session: session.id,
    agent: session.agent,
    standing: sessionWordOf(state, session, liveness),
    label: sessionLabel(sessionWordOf(state, session, liveness)),
    host: hostOf(session),
    seenAt: session.seenAt,
    steps: [...state.steps.values()]
      .filter((step) => step.holder?.session === session.id)
      .map(({ key, title: name }) => ({ key, title: name })),
  }));
  return {
    id: run,
    title,
    status,
    version: state.version,
    updatedAt,
    standing,
    kind: state.run?.kind ?? 'planned',
    ...(state.run?.source === undefined ? {} : { source: state.run.source }),
    ...(state.run?.reached === undefined ? {} : { reached: state.run.reached.name }),
    isTrivial: status === 'moved' || (standing.state !== 'working' && runFactsOf(state).isTrivial),
    host,
    isElsewhere: host !== null && host !== hereName(),
    agent: state.last.session?.agent ?? null,
    changed: state.tally.changed.length,
    failed: state.commands.failed && {
      name: state.commands.failed.name,
      exitCode: state.commands.failed.exitCode ?? null,
    },
    progress: planView(state).progress,
    sittings,
    waiting: status === 'active' ? waitsForPerson(state) : [],
  };
}

const isFine = (label: RunLabel): boolean => label === 'working' || label === 'finished' || label === 'idle';

function sayRow({ id, title, standing, progress, waiting }: Row, pen: Pen): string[] {
  const { label, why } = standing;
  const paint = isFine(label) ? pen.good : label === 'cut off' ? pen.bad : pen.warn;
  return [
    `${pen.bold(id)} ${paint(label)}${why ? pen.dim(` ${oneLine(why, 80)}`) : ''}  ${progress.total > 0 ? `${progress.done} of ${progress.total} steps  ` : ''}${oneLine(title, 60)}`,
    ...waiting.map(({ kind, id: what, text }) => `    ${pen.warn('needs you:')} ${kind} ${what} ${oneLine(text, 80)}`),
  ];
}
