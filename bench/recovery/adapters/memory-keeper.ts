import { join } from 'node:path';
import type { Tool } from '../adapter.ts';
import { type Entry, keepingAdapter } from './ledger.ts';
import { connectMcp } from './mcp-client.ts';

const CHANNEL = 'work';
const CATEGORIES = {
  goal: 'note',
  step: 'task',
  progress: 'progress',
  effect: 'progress',
  decision: 'decision',
  blocker: 'warning',
} as const;

/** mcp-memory-keeper over MCP: each thing is saved under a key in a channel, and a resuming agent reads the channel. */
export const memoryKeeper: Tool = {
  id: 'memory-keeper',
  name: 'mcp-memory-keeper 0.14.1',
  durability: 'SQLite WAL, synchronous=FULL',
  isProcess: true,
  packages: ['mcp-memory-keeper@0.14.1'],
  async open({ folder, installed }) {
    const server = join(installed, 'node_modules', 'mcp-memory-keeper', 'dist', 'index.js');
    const client = await connectMcp(folder, [server], { DATA_DIR: join(folder, '.memory') });
    await client.tool('context_session_start', { name: 'work', defaultChannel: CHANNEL });
    return keepingAdapter({
      async keep(entries) {
        for (const entry of entries) {
          const said = await client.tool('context_save', {
            key: `${entry.kind}_${entry.id}`,
            value: JSON.stringify(entry),
            category: CATEGORIES[entry.kind],
            priority: 'high',
            channel: CHANNEL,
          });
          // A refusal comes as an ordinary answer.
          if (!said.startsWith('Saved')) throw new Error(said);
        }
      },
      async tell() {
        const text = await client.tool('context_get', { channel: CHANNEL, limit: 1000, sort: 'created_asc' });
        return { text, calls: 2, entries: entriesIn(text) };
      },
      close: () => client.close(),
    });
  },
};

/** Every session saves under its own keys: the last entry of a name counts. */
function entriesIn(text: string): Entry[] {
  const found = new Map<string, Entry>();
  const { items = [] } = JSON.parse(text) as { items?: { key: string; value: string }[] };
  for (const { key, value } of items) found.set(key, JSON.parse(value) as Entry);
  return [...found.values()];
}
