import { Fault } from '../../../core/fault.ts';
import type { Session } from '../../../core/fold/state.ts';
import { mustBeOwn } from '../../../core/rules/session-proof.ts';
import type { Context } from '../../context.ts';
import { knownRuns, viewerOf } from '../../run/parts/known-runs.ts';

export interface OwnSession {
  run: string;
  session: string;
}

/**
 * The caller's session: the one it names, that of its connection or conversation, else the only session of that agent in
 * this working tree with an open turn; in each case only if it is shown to be the caller's. Null for a caller without one.
 */
export async function ownSession(context: Context): Promise<OwnSession | null> {
  const { actor, session } = context.identity;
  if (actor.kind !== 'agent') return null;
  if (session !== null && context.run !== undefined) return { run: context.run, session };
  const runs = await knownRuns(context);
  const open = runs.flatMap(({ run, facts }) => facts.sessions.map((one) => ({ run, facts, ...one })));
  const { client } = context.identity;
  const current = [...((await context.clients())?.current ?? []), ...(client ? [client.id] : [])];
  const { tree } = viewerOf(context);
  const named = open.filter(({ id, conversation }) => session !== null && (id === session || conversation === session));
  const same = open.filter(({ conversation }) => conversation !== null && current.includes(conversation));
  const here = open.filter((one) => one.agent === actor.name && one.isOpen && one.facts.place.tree === tree);
  for (const found of [named, same, here]) {
    const own = await ownAmong(context, found);
    if (own.length === 1 && own[0]) return { run: own[0].run, session: own[0].id };
  }
  if (context.identity.evidence !== 'agent-shell' || here.length === 0) return null;
  throw new Fault('usage', `Which of the ${here.length} sessions of ${actor.name} here is yours is not known.`, {
    hints: here.slice(0, 8).map(({ run, id }) => `\`--run ${run} --session ${id}\``),
    data: { sessions: here.map(({ run, id }) => ({ run, session: id })) },
  });
}

async function ownAmong<T extends { run: string; id: string }>(context: Context, found: readonly T[]): Promise<T[]> {
  const engine = await context.engine();
  const own: T[] = [];
  for (const one of found) {
    const session = (await engine.load(one.run)).sessions.get(one.id);
    if (session && isOwn(context, session)) own.push(one);
  }
  return own;
}

function isOwn({ identity }: Context, session: Session): boolean {
  try {
    mustBeOwn(session, identity);
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault) return false;
    throw thrown;
  }
}
