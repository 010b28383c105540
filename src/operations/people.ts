import { clientNames } from '../clients/index.ts';
import { looksLikeOneOf } from '../core/agent-name.ts';
import type { Command } from '../core/journal/command.ts';
import type { Identity } from '../engine/execute.ts';
import { peopleHere } from '../workspace/people.ts';
import type { Context } from './context.ts';

/** Commands that may open a session for the caller. */
const mayOpenSession: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'session.start',
  'step.start',
  'step.retry',
  'claim.take',
  'handoff.accept',
]);

/**
 * The identity with the names of people that a new agent may not be called like. They are looked up only if the command
 * may open a session of an agent that named itself: a client is known by its own name, and a token by its own.
 */
export async function withPeople(context: Context, command: Command, identity: Identity): Promise<Identity> {
  const { actor, evidence, session, scope } = identity;
  const named = command.type === 'session.start' ? (command.agent ?? actor.name) : actor.name;
  const isNew = mayOpenSession.has(command.type) && session === null && scope === undefined;
  if (!isNew || evidence === 'hook' || evidence === 'none' || isClient(named)) return identity;
  if (actor.kind === 'person' && named === actor.name) return identity;
  const { tokens } = await context.engine();
  const known = await tokens.listTokens();
  const bearers = known.filter((token) => token.actor.kind === 'person').map((token) => token.actor.name);
  return { ...identity, people: [...(await peopleHere(context.dir)), ...bearers] };
}

const isClient = (name: string): boolean =>
  clientNames.some((client) => name === client || name.startsWith(`${client}.`));

/** People may not be called like a client: what they did would look like its work. */
export const isClientName = (name: string): boolean => looksLikeOneOf(name, clientNames);
