import type { Session, State } from '../core/fold/state.ts';
import type { Owner } from '../core/journal/event.ts';
import { returnOf } from '../core/rules/session.ts';
import type { Engine } from '../engine/engine.ts';
import type { Context } from '../operations/context.ts';
import { mayBeChosen } from '../operations/run/parts/may-be-chosen.ts';
import type { McpIdentity } from './identity.ts';

/**
 * The context of one call: its identity, and the session of its conversation if there is one. A client's hooks may have
 * started it; otherwise the rules open one when the first step is taken.
 */
export async function sessionContextFor(context: Context, identity: McpIdentity, operation: string): Promise<Context> {
  const { agent, owner } = identity;
  const client = clientOf(identity);
  const here: Context = {
    ...context,
    identity: {
      ...context.identity,
      actor: { kind: 'agent', name: agent },
      evidence: context.token ? context.identity.evidence : 'agent-shell',
      owner: owner ?? context.identity.owner,
      client,
      // One process answers many calls.
      key: context.token ? context.identity.key : null,
    },
  };
  if (here.identity.session !== null) return here;
  const found = await findSession(here, identity, client?.id ?? null, operation);
  if (!found) return here;
  return { ...here, run: found.run, identity: { ...here.identity, session: found.session.id, proof: undefined } };
}

/** If a client sends no id, its process stands for the conversation: that is inferred, and marked so. */
function clientOf({ agent, conversation, owner }: McpIdentity): NonNullable<Session['client']> | undefined {
  if (conversation !== null) return { name: agent, id: conversation };
  if (!owner?.startedAt) return undefined;
  return { name: agent, id: `${agent} in process ${owner.pid} of ${owner.startedAt}`.slice(0, 120), inferred: true };
}

interface Found {
  run: string;
  session: Session;
}

async function findSession(
  context: Context,
  identity: McpIdentity,
  conversation: string | null,
  operation: string,
): Promise<Found | null> {
  const engine = await context.engine();
  const runs = await runsToLookIn(context, engine, identity.conversation);
  for (const run of runs) {
    const session = activeSession(await engine.load(run), identity, conversation);
    if (session) return { run, session };
  }
  if (identity.conversation === null) return null;
  for (const run of runs) {
    const session = await lostSession(engine, run, identity.conversation);
    if (!session) continue;
    const mayReturn = returnOf(await engine.load(run), session) === 'may return';
    // Continuing a step that another session holds now is refused; anything else may happen in a new session.
    if (mayReturn || onHeldStep.has(operation)) return { run, session };
  }
  return null;
}

const RUNS_LIMIT = 50;

/** Of several active runs, those that know the conversation; a single run is not worth a query. */
async function runsToLookIn(context: Context, engine: Engine, conversation: string | null): Promise<string[]> {
  if (context.run !== undefined) return (await engine.heads({ run: context.run })).map((head) => head.run);
  const workspace = context.workspace()?.ids;
  const mine = workspace === undefined ? {} : { workspace };
  const heads = (await engine.heads({ ...mine, status: 'active', limit: RUNS_LIMIT })).filter(mayBeChosen);
  const runs = heads.map((head) => head.run);
  if (runs.length <= 1 || conversation === null) return runs;
  const known = await Promise.all(runs.map((run) => engine.rows(run, { ...sessionsOf(conversation), limit: 1 })));
  return runs.filter((_, index) => known[index]?.length !== 0);
}

const sessionsOf = (conversation: string) => ({ kind: 'session', tag: `client:${conversation}` }) as const;

/** By conversation id; without one by process, else the newest session of unknown process. */
function activeSession(state: State, { agent, ...identity }: McpIdentity, conversation: string | null): Session | null {
  const sessions = [...state.sessions.values()].reverse();
  const named = sessions.find((session) => conversation !== null && session.client?.id === conversation);
  if (named || identity.conversation !== null) return named ?? null;
  const mine = sessions.filter((one) => one.parent === null && one.agent === agent && one.kind === 'agent');
  const { owner } = identity;
  return mine.find((session) => isSame(session.owner, owner)) ?? mine.find((one) => !one.owner || !owner) ?? null;
}

function isSame(one: Owner | null | undefined, other: Owner | undefined): boolean {
  return !!one && !!other && one.pid === other.pid && one.host === other.host && one.startedAt === other.startedAt;
}

/** Operations on a step or session that the agent believes to hold. */
const onHeldStep: ReadonlySet<string> = new Set([
  'checkpoint',
  'complete',
  'fail',
  'release',
  'session.end',
  'handoff',
]);

/** The last session of the conversation if it did not end itself, or its work went to another. */
async function lostSession(engine: Engine, run: string, conversation: string): Promise<Session | null> {
  const found = await engine.rows(run, { ...sessionsOf(conversation), limit: 20 });
  const sessions = found.map((row) => row.doc as Session);
  const [last] = sessions.sort((a, b) => Number(b.id.slice(2)) - Number(a.id.slice(2)));
  return last && (last.status === 'crashed' || last.status === 'superseded' || last.unannounced) ? last : null;
}
