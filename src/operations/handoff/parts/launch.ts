import { Fault, quoted } from '../../../core/fault.ts';

/** How a client is started on a prompt, and how its own conversation is taken up again. */
interface Client {
  /** With the prompt as its last word; the person stays in the conversation. */
  start: readonly string[];
  /** Without a person, to the end. */
  headless: readonly string[];
  /** Takes up the conversation with an id; null where the client knows only its last one. */
  resume: readonly string[] | null;
  resumeLast: readonly string[];
}

const clients: Readonly<Record<string, Client>> = {
  claude: {
    start: ['claude'],
    headless: ['claude', '-p'],
    resume: ['claude', '--resume'],
    resumeLast: ['claude', '--continue'],
  },
  codex: {
    start: ['codex'],
    headless: ['codex', 'exec'],
    resume: ['codex', 'resume'],
    resumeLast: ['codex', 'resume', '--last'],
  },
  gemini: {
    start: ['gemini', '-i'],
    headless: ['gemini', '-p'],
    resume: ['gemini', '--resume'],
    resumeLast: ['gemini', '--resume', 'latest'],
  },
  qwen: {
    start: ['qwen', '-i'],
    headless: ['qwen', '-p'],
    resume: ['qwen', '--resume'],
    resumeLast: ['qwen', '--continue'],
  },
  copilot: {
    start: ['copilot', '-i'],
    headless: ['copilot', '-p'],
    resume: ['copilot', '--resume='],
    resumeLast: ['copilot', '--continue'],
  },
  opencode: {
    start: ['opencode', '--prompt'],
    headless: ['opencode', 'run'],
    resume: ['opencode', '--session'],
    resumeLast: ['opencode', '--continue'],
  },
  cursor: {
    start: ['cursor-agent'],
    headless: ['cursor-agent', '-p'],
    resume: ['cursor-agent', '--resume'],
    resumeLast: ['cursor-agent', 'resume'],
  },
};

export interface Launch {
  /** The command as words; nothing is left to a shell. */
  start: string[];
  headless: string[];
  /** The client's own way back into the conversation, where the same client goes on. */
  resume: string[] | null;
}

export interface Conversation {
  /** The client of the session that is handed over, and its own id there. */
  client: string | null;
  id: string | null;
}

/** Asked before anything is offered: an offer that nobody can be started on is no use to whoever wanted both. */
export function mustKnowClient(agent: string): { name: string; client: Client } {
  const name = clientOf(agent);
  const client = name === null ? undefined : clients[name];
  if (name !== null && client) return { name, client };
  throw new Fault('invalid', `It is not known how ${quoted(agent)} is started.`, {
    hints: [
      `Known are ${Object.keys(clients).join(', ')}; a name may say more after it, such as claude-2.`,
      'Offer it without `--launch` and start the agent yourself: `holdfast resume` tells it of the offer.',
    ],
    data: { agent, known: Object.keys(clients) },
  });
}

/** The commands that start an agent on a handoff. */
export function launchCommands(agent: string, handoff: string, before: Conversation): Launch {
  const { name, client } = mustKnowClient(agent);
  const prompt = promptFor(handoff);
  const same = before.client !== null && clientOf(before.client) === name;
  const back = before.id !== null && client.resume ? withId(client.resume, before.id) : [...client.resumeLast];
  return { start: [...client.start, prompt], headless: [...client.headless, prompt], resume: same ? back : null };
}

/** Where a flag may stand without a value, the id is part of the same word. */
function withId(words: readonly string[], id: string): string[] {
  const last = words.at(-1) ?? '';
  return last.endsWith('=') ? [...words.slice(0, -1), last + id] : [...words, id];
}

/** An agent is named after its client, mostly with something more: `claude-2`, `codex.reviewer`. */
function clientOf(agent: string): string | null {
  const name = agent.toLowerCase().split(/[^a-z]/, 1)[0] ?? '';
  return Object.hasOwn(clients, name) ? name : null;
}

/** It holds no words of the record: those are read as a record, in the brief. */
function promptFor(handoff: string): string {
  return `Work was handed over to you as ${handoff}. Run "holdfast resume", read the snapshot and the files it lists, then run "holdfast handoff accept ${handoff}" and go on with the next action.`;
}

/** For a person to paste into a POSIX shell. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
