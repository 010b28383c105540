import type { Evidence } from '../evidence.ts';
import { Fault } from '../fault.ts';
import type { Session } from '../fold/state.ts';
import type { Owner } from '../journal/event.ts';
import type { Actor, Scope } from '../words.ts';

/** What a caller that names a session shows for it. */
export interface SessionProof {
  /** The agent that the caller says it is, by a flag, a variable or an option; null if it names none. */
  agent: string | null;
  /** The clients' own ids of the conversations that the caller is in. */
  conversations: readonly string[];
  /** The processes above the caller. */
  ancestors: readonly Owner[];
}

export interface SessionCaller {
  actor: Actor;
  evidence: Evidence;
  scope?: Scope | undefined;
  /** The conversation that the interface found the caller in. */
  client?: Session['client'] | undefined;
  /** The process that the caller names as its own. */
  owner?: Owner | undefined;
  /** Undefined where the interface found the session itself, as hooks do. */
  proof?: SessionProof | undefined;
}

/**
 * Refuses a session that is not the caller's own. The session of a client's conversation is used from that conversation,
 * from below its process, or with the token that started it; that the agent has the same name shows nothing. Any other
 * session is used by its id, but not by a caller that says it is another agent, and a person's not from an agent's shell.
 */
export function mustBeOwn(session: Session, caller: SessionCaller): void {
  if (isOwn(session, caller)) return;
  throw new Fault(
    'not_allowed',
    `${session.id} is a session of ${session.agent}, and nothing shows that it is yours.`,
    {
      hints: [
        'Leave out the session: yours is found, or opened when you take a step.',
        'To take over a step that was left, run `holdfast start KEY` in your own session.',
      ],
      data: { session: session.id, agent: session.agent, actor: caller.actor, evidence: caller.evidence },
    },
  );
}

function isOwn(session: Session, { actor, evidence, scope, client, owner, proof }: SessionCaller): boolean {
  const isInConversation = session.client !== null && session.client.id === client?.id;
  if (scope !== undefined) {
    if (session.agent !== actor.name || session.kind !== actor.kind) return false;
    // Version 0.1 did not record what a session was started with.
    return (
      session.client === null || isInConversation || session.startedWith === null || session.startedWith === evidence
    );
  }
  if (proof === undefined || isInConversation) return true;
  if (session.kind === 'person' && evidence === 'agent-shell') return false;
  const isBelow = proof.ancestors.some((one) => isSame(one, session.owner));
  if (session.client !== null) return proof.conversations.includes(session.client.id) || isBelow;
  return proof.agent === null || proof.agent === session.agent || isBelow || isSame(owner, session.owner);
}

/** Without a start time a number may belong to another process by now. */
function isSame(one: Owner | undefined, other: Owner | null): boolean {
  return !!one?.startedAt && one.pid === other?.pid && one.host === other.host && one.startedAt === other.startedAt;
}
