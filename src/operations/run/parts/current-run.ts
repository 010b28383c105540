import type { CurrentRule } from '../../../core/choice/explain.ts';
import { runsNamed } from '../../../core/choice/run-name.ts';
import { Fault, nearest, quoted } from '../../../core/fault.ts';
import { oneLine } from '../../../core/text.ts';
import { FACTS_FORMAT } from '../../../core/views/run-facts.ts';
import { missingRun } from '../../../engine/drop.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Head } from '../../../store/journal.ts';
import type { Context } from '../../context.ts';
import { viewerOf } from './known-runs.ts';
import { mayBeChosen } from './may-be-chosen.ts';

/**
 * The run that a command means: the one named; the one of the session named; the only one that is not over; the one
 * chosen in this working tree; the one last recorded in from here; the one last recorded in. If there were several, a
 * warning names it.
 */
export const findRun = async (context: Context): Promise<string> => (await currentRunBy(context)).run;

/** The same, with the rule that chose it. */
export async function currentRunBy(context: Context): Promise<{ run: string; why: CurrentRule }> {
  const engine = await context.engine();
  if (context.run !== undefined) {
    const { run } = await namedRun(context, context.run, context.onlyReads);
    return { run, why: 'named' };
  }
  const workspace = context.workspace()?.ids;
  const mine = workspace === undefined ? {} : { workspace };
  const ofStatus = (status: string) => engine.heads({ ...mine, status, limit: RUNS_LIMIT });
  const active = await ofStatus('active');
  const chosen = active.filter(mayBeChosen);
  // A program works in its own runs; others name them.
  const ofPeople = chosen.filter(({ position }) => position.facts?.source === undefined);
  const own = ofPeople.length > 0 ? ofPeople : chosen;
  const heads = own.length > 0 ? own : (await ofStatus('completed')).filter(mayBeChosen);
  const [first, second] = heads;
  if (!first) {
    throw new Fault('not_found', 'There is no run in this workspace that is not archived.', {
      hints: [
        'Open one with `holdfast init --title … --plan FILE`; `holdfast runs` shows archived ones.',
        ...(active.length > 0
          ? ['A run that was imported, or came with a copied folder, is used only when it is named: `--run ID`.']
          : []),
      ],
    });
  }
  if (!second) return { run: first.run, why: 'only' };
  const ofSession = await runOfSession(context, engine, heads);
  if (ofSession !== null) return { run: ofSession, why: 'session' };
  const { chosen: used, tree } = viewerOf(context);
  const ofAgent = await runOfAgent(context, heads, tree);
  if (ofAgent !== null) return { run: ofAgent, why: 'conversation' };
  const ofUse = heads.find((head) => head.run === used);
  const ofTree = heads.find((head) => treeOf(head) === tree);
  const run = ofUse ?? ofTree ?? first;
  const unfinished = heads.filter(({ position }) => position.facts?.isTrivial !== true).length;
  if (unfinished > 1) context.warn(`Using run ${run.run}, one of ${unfinished} (change with \`holdfast use\`).`);
  return { run: run.run, why: ofUse ? 'chosen' : ofTree ? 'worktree' : 'latest' };
}

const RUNS_LIMIT = 50;

function treeOf({ position: { facts } }: Head): string | null {
  return facts?.format === FACTS_FORMAT ? facts.place.tree : null;
}

/** Ids of sessions are counted in each run: several runs may have one of the same name. */
async function runOfSession(context: Context, engine: Engine, heads: readonly Head[]): Promise<string | null> {
  const { session } = context.identity;
  if (session === null) return null;
  const found: string[] = [];
  for (const { run } of heads) {
    const rows = await engine.recall(run, [session]);
    if (rows.some((row) => row.kind === 'session')) found.push(run);
  }
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** The run of the conversation that an agent's shell belongs to, else of its only session here with an open turn. */
async function runOfAgent(context: Context, heads: readonly Head[], tree: string): Promise<string | null> {
  const { actor } = context.identity;
  if (actor.kind !== 'agent') return null;
  const current = (await context.clients())?.current ?? [];
  const own = heads.find(({ position }) => position.facts?.conversations.some((one) => current.includes(one)));
  if (own) return own.run;
  const working = heads.filter(
    (head) =>
      treeOf(head) === tree &&
      head.position.facts?.sessions.some(({ agent, isOpen }) => agent === actor.name && isOpen),
  );
  return working.length === 1 ? (working[0]?.run ?? null) : null;
}

const LISTED = 8;

/** The run that a name means. Fault `not_found`: none; `usage`: several. */
export async function namedRun(context: Context, name: string, toRead = false): Promise<Head> {
  const engine = await context.engine();
  const workspace = context.workspace()?.ids;
  const [exact] = await engine.heads({ run: name });
  if (exact) return followMoved(engine, exact);
  // Who names a run that was dropped does not mean another one.
  const [dropped] = await engine.dropped({ runs: [name] });
  if (dropped) throw await missingRun(engine, name, engine.place);
  const heads = context.isRunExact ? [] : await engine.heads(workspace === undefined ? {} : { workspace });
  const [only, another] = runsNamed(name, heads, toRead);
  if (only && !another) return followMoved(engine, only);
  if (!only) {
    const near = nearest(
      name,
      heads.map((head) => head.run),
    );
    throw new Fault('not_found', `There is no run ${quoted(name)}.`, {
      hints: [
        ...near.map((other) => `Did you mean \`${other}\`?`),
        ...(near.length === 0 ? heads.slice(0, 4).map(choice) : []),
        'See the runs with `holdfast runs`.',
      ],
      data: { run: name },
    });
  }
  const several = runsNamed(name, heads, toRead);
  throw new Fault('usage', `${several.length} runs are called ${quoted(name)}. Choose one.`, {
    hints: several.slice(0, LISTED).map(choice),
    data: { runs: several.slice(0, LISTED).map(({ run, title, status }) => ({ id: run, title, status })) },
  });
}

/** The command that chooses a run, and its title. An id that a shell would read as more is only named. */
const choice = ({ run, title }: Head): string =>
  `${/^[\w.-]+$/.test(run) ? `\`holdfast use ${run}\`` : quoted(run)}  ${oneLine(title, 60)}`;

const HOPS = 8;

/** The name of a run whose session was moved stands for the run it was moved to. */
async function followMoved(engine: Engine, head: Head): Promise<Head> {
  let found = head;
  for (let hops = 0; hops < HOPS && found.status === 'moved'; hops++) {
    const to = (await engine.load(found.run)).run?.movedTo;
    const [next] = to ? await engine.heads({ run: to }) : [];
    if (!next) break;
    found = next;
  }
  return found;
}
