import { agentName } from '../clients/conversation.ts';
import type { Moment } from '../clients/moment.ts';
import { agentNameProblem } from '../core/agent-name.ts';
import { isName } from '../core/text.ts';
import type { Actor } from '../core/words.ts';

/** The agent of a moment: under the name that `HOLDFAST_AGENT` gives it, if it may have that, else its client's. */
export function actorOf(named: string | undefined, { client, subagent }: Moment): Actor {
  const isGiven =
    named !== undefined && isName(named, '._@+-', 64) && agentNameProblem(named) === null && subagent === null;
  return { kind: 'agent', name: isGiven ? named : agentName(client, subagent) };
}
