import { type Field, fieldOf, type KnownRun, type Viewer } from '../../../core/choice/candidate.ts';
import { FACTS_FORMAT, type RunFacts, runFactsOf } from '../../../core/views/run-facts.ts';
import { runStateOf } from '../../../core/views/run-state.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Head } from '../../../store/journal.ts';
import { hostName } from '../../../workspace/process.ts';
import { chosenRun, readPasses } from '../../../workspace/run-presence.ts';
import type { Context } from '../../context.ts';
import { runsOfThisClone } from '../../journal/parts/known-heads.ts';
import { treeMark } from '../../working-tree.ts';
import { mayBeChosen } from './may-be-chosen.ts';

const RUNS_LIMIT = 300;

/** The runs of the workspace with their states now, from their heads alone. */
export async function knownRuns(context: Context): Promise<KnownRun[]> {
  const engine = await context.engine();
  const workspace = context.workspace()?.ids;
  const heads = await engine.heads({ ...(workspace === undefined ? {} : { workspace }), limit: RUNS_LIMIT });
  const own = await runsOfThisClone(context);
  const runs: KnownRun[] = [];
  for (const head of heads) {
    const known = await knownRun(engine, head);
    runs.push(own === null || own.has(head.run) ? known : { ...known, isImported: true });
  }
  return runs;
}

export async function knownRun(engine: Engine, head: Head): Promise<KnownRun> {
  const { run, title, openedAt, updatedAt } = head;
  const facts = await factsOf(engine, head);
  const liveness =
    facts.sessions.length > 0
      ? await engine.watch(run, facts.sessions)
      : { now: engine.now(), beats: new Map(), owners: new Map() };
  const isImported = !mayBeChosen(head);
  return {
    run,
    title,
    openedAt,
    updatedAt,
    facts,
    state: runStateOf(facts, liveness),
    isImported,
    isCopied: head.position.isCopied === true,
  };
}

/** What another version of the program wrote is folded again. */
async function factsOf(engine: Engine, { run, updatedAt, position }: Head): Promise<RunFacts> {
  const facts = position.facts?.format === FACTS_FORMAT ? position.facts : runFactsOf(await engine.load(run));
  // Events that the head does not show renew the lease too.
  const sessions = facts.sessions.map((session) =>
    session.id === facts.last?.session && session.seenAt < updatedAt ? { ...session, seenAt: updatedAt } : session,
  );
  return { ...facts, sessions };
}

/** Who looks: this working tree on this machine, in these conversations. */
export function viewerOf(context: Context, conversations: readonly string[] = []): Viewer {
  const workspace = context.workspace();
  const mark = treeMark(context);
  const tree = mark?.tree ?? '';
  return {
    now: context.now(),
    machine: hostName(),
    clone: context.here().clone,
    tree,
    branch: mark?.branch ?? null,
    pid: context.identity.owner?.pid ?? null,
    conversations,
    chosen: workspace ? chosenRun(workspace.files, tree) : null,
    passes: workspace ? readPasses(workspace.files) : new Map(),
  };
}

/** The candidates as they are seen from here. */
export async function lookAround(
  context: Context,
  conversations: readonly string[] = [],
): Promise<{ field: Field; viewer: Viewer }> {
  const viewer = viewerOf(context, conversations);
  return { viewer, field: fieldOf(await knownRuns(context), viewer) };
}
