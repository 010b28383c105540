import { type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { clientNames } from '../clients/index.ts';
import { Role } from '../core/words.ts';
import { operations } from '../operations/index.ts';
import type { ReachOf } from './call.ts';
import { dataOf } from './call.ts';

/** The values an argument may be completed to, the likeliest first. */
type Candidates = (reach: ReturnType<ReachOf>) => Promise<readonly string[]>;

const VALUES_LIMIT = 100;

/** Completes the arguments of prompts and the id in the URI of a run. */
export function registerCompletions({ server }: McpServer, reachOf: ReachOf): void {
  server.registerCapabilities({ completions: {} });
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }, ctx) => {
    const target = ref.type === 'ref/prompt' ? ref.name : ref.uri;
    const known = completed[target];
    if (!known) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is nothing to complete at ${target}.`);
    const typed = argument.value.toLowerCase();
    const all = (await known[argument.name]?.(reachOf(ctx))) ?? [];
    const fitting = [...new Set(all)].filter((value) => value.toLowerCase().startsWith(typed));
    const values = fitting.slice(0, VALUES_LIMIT);
    return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
  });
}

const completed: Readonly<Record<string, Readonly<Record<string, Candidates>>>> = {
  resume: { role: async () => Role.options },
  handoff: {
    // Agents that have worked here first, then all known ones.
    async to(reach) {
      const found = await dataOf(await operations.sessions(), reach).catch(() => ({ sessions: [] }));
      const { sessions } = found as { sessions: { agent: string }[] };
      return [...sessions.map(({ agent }) => agent), ...clientNames];
    },
  },
  'holdfast://run/{id}': {
    async id(reach) {
      const found = await dataOf(await operations.runs(), reach).catch(() => ({ runs: [] }));
      return (found as { runs: { id: string }[] }).runs.map(({ id }) => id);
    },
  },
};
