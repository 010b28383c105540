import { Fault, quoted } from '../../../core/fault.ts';

/** How a client is started on a prompt, and how its own conversation is continued. */
interface Client {
  /** The prompt is appended; a person takes part in the conversation. */
  start: readonly string[];
  /** Runs to the end without a person. */
  headless: readonly string[];
  /** Continues the conversation with an id; null if the client can only continue the last one. */
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
export function mustKnowClient(agent: string): { name: string; client: Client } {
  const name = clientOf(agent);
  const client = name === null ? undefined : clients[name];
  if (name !== null && client) return { name, client };
  throw new Fault('invalid', `Holdfast does not know how to start ${quoted(agent)}.`, {
    hints: [
      `Known clients: ${Object.keys(clients).join(', ')}; a name may have a suffix, such as claude-2.`,
      'Offer it without `--launch` and start the agent yourself: `holdfast resume` shows it the offer.',
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

/** If a flag's value is optional, the id is part of the same word. */
function withId(words: readonly string[], id: string): string[] {
  const last = words.at(-1) ?? '';
  return last.endsWith('=') ? [...words.slice(0, -1), last + id] : [...words, id];
}

/** An agent is named after its client, often with a suffix: `claude-2`, `codex.reviewer`. */
function clientOf(agent: string): string | null {
  const name = agent.toLowerCase().split(/[^a-z]/, 1)[0] ?? '';
  return Object.hasOwn(clients, name) ? name : null;
}

/** Quotes nothing that was recorded: recorded text is shown as such in the brief. */
function promptFor(handoff: string): string {
  return `Work was handed over to you as ${handoff}. Run "holdfast resume", read the snapshot and the files it lists, then run "holdfast handoff accept ${handoff}" and continue with the next action.`;
}

/** For a person to paste into a POSIX shell. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
