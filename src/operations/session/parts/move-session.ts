import { Fault, quoted } from '../../../core/fault.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import type { Event } from '../../../core/journal/event.ts';
import { oneLine } from '../../../core/text.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Identity } from '../../../engine/execute.ts';
import type { Context } from '../../context.ts';
import { commandFor, type Names } from './moved-command.ts';

export interface Moved {
  run: string;
  session: string;
  /** How many facts were recorded in the target, and how many of them as notes. */
  facts: number;
  notes: number;
}

/**
 * Moves a session with its subagents to another run, in one transaction: its facts are decided again there and keep
 * their time, and do not count in the first run any more. What a rule refuses there is kept as a note.
 */
export async function moveSession(context: Context, source: string, id: string, target: string): Promise<Moved> {
  const engine = await context.engine();
  const clock = { at: engine.now() };
  const moved = await engine.together((held) => move(context, held, clock, { source, id, target }), {
    now: () => clock.at,
    // What was alive then is not known, and nothing is taken over.
    probe: () => 'alive',
  });
  return moved;
}

interface Asked {
  source: string;
  id: string;
  target: string;
}

async function move(context: Context, engine: Engine, clock: { at: string }, asked: Asked): Promise<Moved> {
  const { source, id, target } = asked;
  const now = context.now();
  const rows = (await engine.rows(source, { kind: 'session', limit: SESSIONS })).map((row) => row.doc as Session);
  const sessions = conversationOf(rows, id);
  const [first] = sessions;
  const last = sessions.at(-1);
  if (!first || !last) throw new Fault('not_found', `There is no session ${quoted(id)} in run ${quoted(source)}.`);
  clock.at = now;
  const started = await start(context, engine, target, last, { run: source, session: last.id });
  const into = new Map(sessions.map((session) => [session.id, started]));
  const counts = { facts: 0, notes: 0 };
  const names: Names = new Map();
  for await (const page of engine.eventPages(source)) {
    for (const event of page) {
      if (event.type === 'session.started' && into.has(event.body.parent ?? '')) {
        clock.at = event.at;
        await startBelow(context, engine, target, rows, event.body.id, into);
      }
      const session = event.session === null ? undefined : into.get(event.session);
      if (session === undefined) continue;
      clock.at = event.at;
      await copy(context, engine, { target, source, session, event, names, counts });
    }
  }
  clock.at = now;
  await close(context, engine, target, started, last);
  for (const [from, to] of [...into].reverse()) {
    const identity = { ...context.identity, session: null, key: null };
    await engine.execute(source, { type: 'session.move', session: from, to: { run: target, session: to } }, identity);
  }
  return { run: target, session: started, ...counts };
}

const SESSIONS = 500;

/** The sessions of one conversation, in order: it may have been resumed. */
function conversationOf(rows: readonly Session[], id: string): Session[] {
  const meant = rows.find((session) => session.id === id);
  if (!meant) return [];
  const own = rows.filter(
    (session) => session.id === id || (meant.client !== null && session.client?.id === meant.client.id),
  );
  return own.filter(({ status }) => status !== 'moved').sort((a, b) => a.startedVersion - b.startedVersion);
}

async function start(
  context: Context,
  engine: Engine,
  run: string,
  session: Session,
  movedFrom?: { run: string; session: string },
  parent?: string,
): Promise<string> {
  const { role, leaseMs, client, owner, mark } = session;
  const done = await engine.execute(
    run,
    {
      type: 'session.start',
      role,
      leaseMs,
      parent,
      client: client ?? undefined,
      owner: owner ?? undefined,
      mark: mark ?? undefined,
      movedFrom,
    },
    identityOf(context, session, null),
  );
  return done.session ?? '';
}

async function startBelow(
  context: Context,
  engine: Engine,
  run: string,
  rows: readonly Session[],
  id: string,
  into: Map<string, string>,
): Promise<void> {
  const below = rows.find((session) => session.id === id);
  if (!below || into.has(id)) return;
  into.set(id, await start(context, engine, run, below, undefined, into.get(below.parent ?? '')));
}

interface Copied {
  target: string;
  source: string;
  session: string;
  event: Event;
  names: Names;
  counts: { facts: number; notes: number };
}

async function copy(context: Context, engine: Engine, copied: Copied): Promise<void> {
  const { target, source, session, event, names, counts } = copied;
  const state = await engine.load(target);
  const command = commandFor(event, state, names);
  if (command === undefined) return;
  const identity = {
    ...identityOf(context, sessionIn(state, session), session),
    key: `moved:${source}:${event.version}`,
  };
  if (command !== null) {
    try {
      const done = await engine.execute(target, command, identity);
      for (const made of done.events)
        if ('id' in made.body && 'id' in event.body) names.set(event.body.id, made.body.id);
      counts.facts += 1;
      return;
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code === 'unavailable' || thrown.code === 'conflict') throw thrown;
    }
  }
  // Nothing is dropped: what cannot be recorded as it was is kept in words.
  const text = `Moved from run ${source}, event ${event.version} (${event.type}): ${oneLine(JSON.stringify(event.body), 2000)}`;
  await engine.execute(target, { type: 'note.add', kind: 'deviation', text }, identity);
  counts.notes += 1;
}

const sessionIn = (state: State, id: string): Pick<Session, 'agent' | 'kind'> =>
  state.sessions.get(id) ?? { agent: 'unknown', kind: 'agent' };

function identityOf(
  context: Context,
  { agent, kind }: Pick<Session, 'agent' | 'kind'>,
  session: string | null,
): Identity {
  // Whose session it is was checked before.
  return { ...context.identity, actor: { kind, name: agent }, session, key: null, proof: undefined };
}

/** A session that had ended ends in the same way. */
async function close(context: Context, engine: Engine, run: string, id: string, former: Session): Promise<void> {
  const { status } = former;
  if (status === 'active' || status === 'moved') return;
  const reason = status === 'crashed' || status === 'timeout' ? status : 'completed';
  const session = (await engine.load(run)).sessions.get(id);
  if (session)
    await engine.execute(
      run,
      { type: 'session.recover', reason, lastSeenAt: former.seenAt },
      identityOf(context, session, id),
    );
}
