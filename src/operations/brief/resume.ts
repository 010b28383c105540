import * as v from 'valibot';
import type { BriefFields } from '../../core/brief/fields.ts';
import { fieldOf } from '../../core/choice/candidate.ts';
import { type Explanation, explainChoice, explanationLines } from '../../core/choice/explain.ts';
import { Fault } from '../../core/fault.ts';
import type { State } from '../../core/fold/state.ts';
import { joined, type Line, line } from '../../core/line.ts';
import { currentState, inRun } from '../act.ts';
import type { Context } from '../context.ts';
import { label } from '../fields.ts';
import { defineOperation, described, type Pen, typed } from '../operation.ts';
import { knownRuns, lookAround, viewerOf } from '../run/parts/known-runs.ts';
import { superviseRun } from '../session/parts/supervision.ts';
import { briefFor } from './parts/compose.ts';
import { beginGitStatus } from './parts/evidence.ts';
import { Budget, briefFields } from './parts/fields.ts';
import { otherRuns } from './parts/other-runs.ts';
import { type ProbeOutcome, repeatProbes } from './parts/probe.ts';
import { saveBrief } from './parts/resume-file.ts';

const List = v.array(v.looseObject({}));

type Resumed = Omit<BriefFields, 'budgetTokens'> & {
  probes: ProbeOutcome[];
  budget: Budget;
  text: Line;
  explanation?: Explanation;
};

const Resumed = typed<Resumed>(
  v.object({
    run: v.looseObject({ id: v.string(), title: v.string() }),
    headline: v.string(),
    freshness: v.looseObject({ text: v.string() }),
    offers: List,
    uncertain: List,
    conflicts: List,
    evidence: v.nullable(
      v.looseObject({ holds: v.number(), drifted: v.number(), unknown: v.number(), accepted: v.number(), files: List }),
    ),
    position: v.looseObject({ step: v.nullable(v.string()), checkpoint: v.nullable(v.string()) }),
    asked: List,
    said: v.nullable(v.looseObject({ text: v.string() })),
    nextAction: v.looseObject({ text: v.string(), basis: v.string() }),
    errors: List,
    blockers: List,
    mail: v.object({ unread: List, pendingAcks: List, replies: List, unanswered: List }),
    commitments: List,
    others: List,
    owed: v.array(v.string()),
    decisions: List,
    decisionsTotal: v.number(),
    files: List,
    questions: List,
    findings: List,
    constraints: List,
    deadEnds: List,
    results: List,
    values: List,
    contextFiles: v.number(),
    probes: List,
    role: v.string(),
    budget: Budget,
    text: v.string(),
    explanation: v.optional(v.looseObject({ run: v.string(), chosenBy: v.string(), candidates: List })),
  }),
);

export const resume = defineOperation({
  name: 'resume',
  summary: 'Show the brief that the next session gets: what was asked, what changed, what is next.',
  scope: 'read',
  local: ['probe'],
  examples: ['holdfast resume', 'holdfast resume 76c215', 'holdfast resume --budget 1000 --json'],
  words: ['run'],
  input: v.object({
    run: v.optional(
      described(label, 'A run by id, digits or title, or `new`: an agent moves its session there, others only look.'),
    ),
    ...briefFields,
    probe: v.optional(
      described(
        v.boolean(),
        'Repeat the commands that verified steps, after they were shown and agreed to at a terminal.',
      ),
    ),
    explain: v.optional(
      described(v.boolean(), 'Also why this run was chosen, and what a new session here may continue, in order.'),
    ),
    strict: v.optional(described(v.boolean(), 'Exit with 1 while conflicts are open.')),
  }),
  output: Resumed,
  async run(caller, { budget, role, probe, explain, run: name }) {
    const status = beginGitStatus(caller);
    const given = name === undefined ? caller : await inNamedRun(caller, name);
    const context = { ...(await runToResume(given)), leavesTree: true };
    // Resuming records the crashed sessions it finds, and nothing else.
    const found = await currentState(context);
    const before = (await superviseRun(context, status, found))?.state ?? found;
    const edits = before.mirrors.size > 0 ? await absorbEdits(context, before) : [];
    await warnOfEdited(context, before);
    const probes = probe ? await repeatProbes(context, before) : [];
    const state = probe || before.mirrors.size > 0 ? await currentState(context) : before;
    const { actor, session } = context.identity;
    const mine = [...state.sessions.values()].find((one) => (session ? one.id === session : one.agent === actor.name));
    const runs = await knownRuns(context);
    const answer = await briefFor(context, state, status, {
      form: mine?.kind === 'agent' ? 'joined' : 'shown',
      session: mine?.id ?? session,
      agent: mine?.agent ?? actor.name,
      person: (mine?.kind ?? actor.kind) === 'person',
      isAtWork: mine !== undefined && mine.seenAt > mine.startedAt,
      role: role ?? mine?.role,
      budget,
      edits,
      others: await otherRuns(await context.engine(), fieldOf(runs, viewerOf(context)), context.run),
    });
    const { fields, text, usedTokens, omitted } = answer;
    await saveBrief(context, state, runs, { answer, isWhole: budget === undefined });
    const { budgetTokens, ...rest } = fields;
    const explanation = explain ? await explained(given, context.run) : undefined;
    const why = explanation ? { explanation } : {};
    return { data: { ...rest, ...why, probes, budget: { limit: budgetTokens, used: usedTokens, omitted }, text } };
  },
  say: ({ text, explanation }, pen) =>
    explanation ? line`${painted(text, pen)}\n\n${explanationLines(explanation)}` : painted(text, pen),
  verdict: ({ conflicts }, { strict }) => (strict && conflicts.length > 0 ? 1 : 0),
});

async function explained(context: Context, run: string): Promise<Explanation> {
  const { currentRunBy } = await import('../run/parts/current-run.ts');
  const { field, viewer } = await lookAround(context, (await context.clients())?.current ?? []);
  const { why } = await currentRunBy({ ...context, warn: () => undefined });
  return explainChoice(run, why, field, viewer);
}

async function warnOfEdited(context: Context, state: State): Promise<void> {
  if (!context.workspace() || state.run?.stated === undefined) return;
  const { editedSince } = await import('../files/parts/mirror-files.ts');
  for (const { path, found } of await editedSince(context, state)) context.warn(`${path} ${found}.`);
}

/** Beside another tool's state and without a run, the answer is how to adopt it. */
async function runToResume(context: Context): Promise<Context & { run: string }> {
  try {
    return await inRun(context);
  } catch (thrown) {
    const { namingForeign } = await import('../files/parts/foreign-here.ts');
    throw await namingForeign(context, thrown);
  }
}

/** An agent in a session of its own moves it to the run; anyone else only looks at the run. */
async function inNamedRun(context: Context, name: string): Promise<Context> {
  const { namedRun } = await import('../run/parts/current-run.ts');
  const { ownSession } = await import('../session/parts/own-session.ts');
  const own = context.identity.scope === 'read' ? null : await ownSession(context);
  if (!own) {
    if (name === 'new') {
      throw new Fault('usage', 'There is no session here that a new run could be opened for.', {
        hints: ['An agent calls it in its session; a person opens a run with `holdfast init`.'],
      });
    }
    return { ...context, run: (await namedRun(context, name, true)).run };
  }
  const { moveTo } = await import('../session/parts/move-to.ts');
  const { run, session } = await moveTo(context, own, name);
  return { ...context, run, isRunKnown: true, identity: { ...context.identity, session } };
}

/** Edits of mirrored files are part of the current position. */
async function absorbEdits(context: Context, state: State): Promise<{ path: string; found: string }[]> {
  const { editsOf } = await import('../files/parts/mirror-words.ts');
  const { syncMirrors } = await import('../files/parts/mirrors.ts');
  try {
    return editsOf(await syncMirrors(context, state, { write: false }));
  } catch (thrown) {
    context.warn(`The mirrors could not be read: ${(thrown as Error).message}`);
    return [];
  }
}

/** The same text for people: what must not be overlooked is red, what comes next is green. */
function painted(text: Line, pen: Pen): Line {
  // Each is a line of the brief.
  const lines = text.trimEnd().split('\n') as Line[];
  const all = lines.map((line, index) => {
    if (index === 0) return pen.dim(line);
    if (/^(?:Resuming from|Run) /.test(line)) return pen.bold(line);
    if (/^(?:Uncertain|Failed): /.test(line)) return pen.bad(line);
    if (line.startsWith('Open: ')) return pen.warn(line);
    return /^Next[:,]/.test(line) ? pen.good(line) : line;
  });
  return joined(all, '\n');
}
