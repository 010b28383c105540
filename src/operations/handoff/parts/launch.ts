import { type ClientName, clientNames, installOf } from '../../../clients/index.ts';
import { type ClientLaunch, inShell } from '../../../clients/installation.ts';
import { Fault, quoted } from '../../../core/fault.ts';

export interface Launch {
  /** The command as words: no shell interprets it. */
  start: string[];
  headless: string[];
  /** Continues the sender's own conversation, if the receiver is the same client. */
  resume: string[] | null;
}

export interface Conversation {
  /** The client of the session that is handed over, and its conversation id there. */
  client: string | null;
  id: string | null;
}

/** Called before anything is offered, so that a launch that cannot work records nothing. */
export async function mustKnowClient(agent: string): Promise<{ name: ClientName; client: ClientLaunch }> {
  const name = clientOf(agent);
  const client = name && (await installOf(name)).launch;
  if (name && client) return { name, client };
  const known: ClientName[] = [];
  for (const one of clientNames) if ((await installOf(one)).launch) known.push(one);
  throw new Fault('invalid', `Holdfast does not know how to start ${quoted(agent)}.`, {
    hints: [
      `Known clients: ${known.join(', ')}; a name may have a suffix, such as claude-2.`,
      'Offer it without `--launch` and start the agent yourself: `holdfast resume` shows it the offer.',
    ],
    data: { agent, known },
  });
}

/** The commands that start an agent on a handoff. */
export async function launchCommands(agent: string, handoff: string, before: Conversation): Promise<Launch> {
  const { name, client } = await mustKnowClient(agent);
  const prompt = promptFor(handoff);
  const same = before.client !== null && clientOf(before.client) === name;
  const isId = before.id !== null && CONVERSATION.test(before.id);
  const back = isId && client.resume ? withId(client.resume, before.id ?? '') : [...client.resumeLast];
  return { start: [...client.start, prompt], headless: [...client.headless, prompt], resume: same ? back : null };
}

/** Anything else could pass for an option of the client. */
const CONVERSATION = /^\w[\w-]{0,127}$/;

/** If a flag's value is optional, the id is part of the same word. */
function withId(words: readonly string[], id: string): string[] {
  const last = words.at(-1) ?? '';
  return last.endsWith('=') ? [...words.slice(0, -1), last + id] : [...words, id];
}

/** An agent is named after its client, often with a suffix: `claude-2`, `codex.reviewer`. */
function clientOf(agent: string): ClientName | null {
  const name = agent.toLowerCase().split(/[^a-z]/, 1)[0];
  return clientNames.find((one) => one === name) ?? null;
}

/** Quotes nothing that was recorded: recorded text is shown as such in the brief. */
function promptFor(handoff: string): string {
  return `Work was handed over to you as ${handoff}. Run "holdfast resume", read the snapshot and the files it lists, then run "holdfast handoff accept ${handoff}" and continue with the next action.`;
}

/** For a person to paste into a POSIX shell. */
export function shellLine(words: readonly string[]): string {
  return words.map(inShell).join(' ');
}
