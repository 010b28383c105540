import { mustBeAgentName } from '../agent-name.ts';
import { UNKNOWN } from '../evidence.ts';
import { Fault, notFound } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { Session, State } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { isAtRest, isGone, leaseEnd } from '../views/liveness.ts';
import { claimOn } from './claim.ts';
import { finishHandoffsOf, snapshotOf } from './handoff.ts';
import { escalateMail, escalateOnLeaving } from './mail.ts';
import { draft, mustBeActive, mustHaveSession, type RuleContext } from './rule-context.ts';

export const LEASE_MS = 30 * 60 * 1000;
const CRASHES_THAT_BLOCK = 3;

export function startSession(context: RuleContext, command: CommandOf<'session.start'>): Draft[] {
  const returns = command.movedFrom !== undefined && context.state.run?.status === 'moved';
  if (!returns) mustBeActive(context);
  const { role, leaseMs, continues, parent, client, owner, mark, atRest, movedFrom } = command;
  // A session may open one for another agent, such as its subagent.
  const other = command.agent !== undefined && command.agent !== context.actor.name ? command.agent : undefined;
  const agent = other ?? context.actor.name;
  const known = (id: string): Session => {
    const found = context.state.sessions.get(id) ?? context.recall('session', id);
    if (!found)
      throw notFound('session', id, context.state.sessions.keys(), 'See the sessions with `holdfast sessions`.');
    return found;
  };
  const before = sameConversation(context.state, client);
  const continued = continues ? known(continues).id : before ? before.id : interruptedSessionOf(context.state, agent);
  if (other !== undefined || context.actor.kind === 'agent')
    mustBeNewName(context, agent, continues ? known(continues) : before);
  const id = nextId(context.state, 'S');
  const left = before ? [...context.state.steps.values()].filter((step) => step.holder?.session === before.id) : [];
  const claims = before ? [...context.state.claims.values()].filter((claim) => claim.session === before.id) : [];
  return [
    ...(returns ? [draft('run.reopened', { reason: 'A session was moved back.' })] : []),
    ...(before ? [draft('session.ended', { id: before.id, reason: 'superseded' }, 'verified')] : []),
    draft('session.started', {
      id,
      agent,
      kind: other ? 'agent' : context.actor.kind,
      role: role ?? 'worker',
      leaseMs: leaseMs ?? LEASE_MS,
      continues: continued,
      parent: parent ? known(parent).id : undefined,
      client,
      owner,
      mark,
      ...(atRest ? { atRest } : {}),
      ...(movedFrom ? { movedFrom } : {}),
    }),
    ...left.map((step, index) =>
      draft('step.started', {
        step: step.key,
        session: id,
        claim: nextId(context.state, 'L', index),
        takenOverFrom: before?.id,
      }),
    ),
    ...claims.map(({ files, reason }, index) =>
      draft('claim.taken', {
        id: nextId(context.state, 'L', left.length + index),
        session: id,
        files: [...files],
        ...(reason === null ? {} : { reason }),
      }),
    ),
    ...escalateMail(context),
  ];
}

/** Refuses a name that passes for a person, unless the agent continues a session of its own. */
function mustBeNewName({ state, evidence, people = [] }: RuleContext, name: string, continued?: Session): void {
  if (continued?.agent === name || (name === UNKNOWN && evidence === 'none')) return;
  const known = [...state.sessions.values()].filter((session) => session.kind === 'person').map(({ agent }) => agent);
  const opener = state.run?.openedBy.kind === 'person' ? [state.run.openedBy.name] : [];
  mustBeAgentName(name, [...people, ...known, ...opener]);
}

/** A client conversation has one session at a time: a new one supersedes the one before. */
function sameConversation(state: State, client: Session['client'] | undefined): Session | undefined {
  if (!client) return undefined;
  return [...state.sessions.values()].find(
    (session) => session.client?.name === client.name && session.client.id === client.id,
  );
}

/** An agent that returns continues its own session that was interrupted during a step. */
function interruptedSessionOf(state: State, agent: string): string | undefined {
  const interrupted = [...state.steps.values()].filter(
    (step) => step.status === 'in_progress' && step.holder === null && step.lastAgent === agent,
  );
  return interrupted.at(-1)?.lastSession ?? undefined;
}

export function endSession(context: RuleContext, { type: _, ...body }: CommandOf<'session.end'>): Draft[] {
  const session = mustHaveSession(context);
  const { reason, next, why, fileNotes, mark } = body;
  const isLeaving = reason !== 'superseded';
  return [
    ...(isLeaving ? escalateOnLeaving(context, session) : []),
    ...finishHandoffsOf(context, session, `${session.id} ended: ${reason}`),
    draft('session.ended', { id: session.id, ...body }),
    // A superseded session needs no snapshot: the session that continues it has its steps.
    ...(isLeaving ? [snapshotOf(context.state, session, { reason, next, why, fileNotes, mark })] : []),
  ];
}

/** Ends a recovered session as it ended; the snapshot is marked as reconstructed. */
export function recoverSession(
  context: RuleContext,
  { reason, next, why, evidence, lastSeenAt, mark }: CommandOf<'session.recover'>,
): Draft[] {
  const session = mustHaveSession(context);
  const close = reason === 'completed' ? 'completed' : 'timeout';
  return [
    draft('session.ended', { id: session.id, reason, next, why, evidence, lastSeenAt, mark }, 'verified'),
    snapshotOf(context.state, session, { reason: close, reconstructed: true, next, why, mark }),
  ];
}

/** The facts of a session are recorded in another run already; from now on they do not count here. */
export function moveSession(context: RuleContext, { session, to }: CommandOf<'session.move'>): Draft[] {
  const found = context.state.sessions.get(session) ?? context.recall('session', session);
  if (!found)
    throw notFound('session', session, context.state.sessions.keys(), 'See the sessions with `holdfast sessions`.');
  if (found.status === 'moved') return [];
  const { id, client, parent } = found;
  const known = { ...(client ? { conversation: client.id } : {}), ...(parent === null ? {} : { parent }) };
  return [draft('session.moved', { session: id, to, ...known }, 'verified')];
}

/** Sessions that are gone, except the acting one. */
export function goneSessions(context: Omit<RuleContext, 'plan'>): Session[] {
  return [...context.state.sessions.values()].filter(
    (session) => session.id !== context.session?.id && isGone(session, context),
  );
}

/**
 * Ends sessions that are gone. Their steps stay in progress without a holder and keep their checkpoint. A session at rest
 * completed, as with clients that report no end. Any other crashed, and gets a reconstructed snapshot. Three crashes in a
 * row on one step raise a blocker.
 */
export function supervise(context: Omit<RuleContext, 'plan'>, command: CommandOf<'run.supervise'>): Draft[] {
  const drafts: Draft[] = [];
  let blockers = 0;
  for (const session of goneSessions(context)) {
    const owner = context.owners.get(session.id);
    const beat = context.beats.get(session.id);
    const lastSeenAt = beat && beat > session.seenAt ? beat : session.seenAt;
    const why = owner === 'dead' ? 'Its process is gone.' : `Its lease ran out at ${leaseEnd(session, context)}.`;
    const found = command.evidence?.get(session.id) ?? [];
    const { id } = session;
    if (isAtRest(context.state, session)) {
      const evidence = ['No turn was under way and nothing was running.', why, ...found];
      // The snapshot from the end of its last turn is complete.
      drafts.push(
        draft('session.ended', { id, reason: 'completed', unannounced: true, evidence, lastSeenAt }, 'verified'),
        ...finishHandoffsOf(context, session, `${id} ended: completed`),
      );
      continue;
    }
    drafts.push(draft('session.ended', { id, reason: 'crashed', evidence: [why, ...found], lastSeenAt }, 'verified'));
    const { next } = context.state;
    const words = next?.session === session.id ? { next: next.text } : {};
    const closing = { reason: 'timeout', reconstructed: true, ...words } as const;
    drafts.push(
      snapshotOf(context.state, session, closing, drafts),
      ...finishHandoffsOf(context, session, `${session.id} crashed`),
    );
    for (const step of context.state.steps.values()) {
      if (step.holder?.session !== session.id || (step.crashes + 1) % CRASHES_THAT_BLOCK !== 0) continue;
      drafts.push(
        draft(
          'item.raised',
          {
            id: nextId(context.state, 'B', blockers++),
            kind: 'blocker',
            text: `${CRASHES_THAT_BLOCK} sessions in a row crashed on this step, the last one ${session.id} (${session.agent}).`,
            affects: [step.key],
            step: step.key,
          },
          'verified',
        ),
      );
    }
  }
  return drafts;
}

/** Whether an ended session may come back: only if it was taken for gone and no other session took its steps. */
export function returnOf(state: State, ended: Session): 'may return' | Fault {
  const { id, endReason } = ended;
  const taken = [...state.steps.values()].find((step) => ended.left.includes(step.key) && step.lastSession !== id);
  const wasTaken = endReason === 'crashed' || ended.unannounced === true;
  if (!wasTaken && endReason !== 'superseded') {
    return new Fault('illegal', `Session ${id} has ended (${endReason}) and cannot record anything.`, {
      hints: [`Start another with \`holdfast session start --agent ${ended.agent} --continues ${id}\`.`],
      data: { session: id, endReason },
    });
  }
  if (wasTaken && !taken) return 'may return';
  const holder = taken?.holder;
  const gone = wasTaken ? 'was taken for dead' : 'was superseded';
  const since = `${taken?.lastAgent} (${taken?.lastSession}) ${holder ? 'has' : 'took'} step \`${taken?.key}\``;
  return new Fault(
    'fenced',
    taken
      ? `Session ${id} ${gone}, and ${since} ${holder ? 'now' : 'since'}.`
      : `Session ${id} was superseded${ended.continuedBy ? ` by ${ended.continuedBy}` : ''} and cannot record anything.`,
    {
      hints: [
        `What you found is not lost: file it with \`holdfast note … --session ${id}\`.`,
        ...(taken ? [`Tell ${taken.lastAgent} what you did, so that it is not done twice.`] : []),
      ],
      data: { session: id, step: taken?.key ?? null, holder: holder ?? null, continuedBy: ended.continuedBy },
    },
  );
}

/** A session that comes back continues as a new one and takes back its steps, and its claims on files that are free. */
export function returningSession(context: Omit<RuleContext, 'plan'>, ended: Session): Draft[] {
  const { state } = context;
  const id = nextId(state, 'S');
  const steps = [...state.steps.values()].filter(
    (step) => step.status === 'in_progress' && step.holder === null && step.lastSession === ended.id,
  );
  const free = ended.leftClaims.filter((claim) => claimOn(context, claim.files, null) === null);
  // The owner is left out: that process is dead or unknown. The lease decides until a new owner is known.
  const { agent, kind, role, leaseMs, client, parent } = ended;
  return [
    draft(
      'session.started',
      {
        id,
        agent,
        kind,
        role,
        leaseMs,
        continues: ended.id,
        returns: true,
        ...(client ? { client } : {}),
        ...(parent ? { parent } : {}),
      },
      'verified',
    ),
    ...steps.map((step, index) =>
      draft(
        'step.started',
        { step: step.key, session: id, claim: nextId(state, 'L', index), takenOverFrom: ended.id },
        'verified',
      ),
    ),
    ...free.map(({ files, reason }, index) =>
      draft(
        'claim.taken',
        {
          id: nextId(state, 'L', steps.length + index),
          session: id,
          files: [...files],
          ...(reason === null ? {} : { reason }),
        },
        'verified',
      ),
    ),
  ];
}
