import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { asFault } from '../core/fault.ts';
import { joined, type Line, quote, word } from '../core/line.ts';
import { operations } from '../operations/index.ts';
import { ask, dataOf, type Reach, type ReachOf, refusalLines } from './call.ts';
import type { SpokenName } from './tools.ts';

export const resourceUris = { brief: 'holdfast://brief', status: 'holdfast://status' } as const;
export const runUri = (id: string): string => `holdfast://run/${encodeURIComponent(id)}`;

/** Resources that clients read without calling a tool. */
export function registerResources(server: McpServer, reachOf: ReachOf): void {
  const text = async (uri: URL, mimeType: string, name: SpokenName, run: string | undefined, reach: Reach) => {
    return { contents: [{ uri: uri.href, mimeType, text: await textOf(name, {}, run, reach) }] };
  };
  server.registerResource(
    'brief',
    resourceUris.brief,
    { title: 'Brief', description: 'The current position and what is next.', mimeType: 'text/markdown' },
    (uri, ctx) => text(uri, 'text/markdown', 'resume', undefined, reachOf(ctx)),
  );
  server.registerResource(
    'status',
    resourceUris.status,
    { title: 'Status', description: 'The run at a glance: plan, sessions, open items.', mimeType: 'text/plain' },
    (uri, ctx) => text(uri, 'text/plain', 'status', undefined, reachOf(ctx)),
  );
  server.registerResource(
    'run',
    new ResourceTemplate('holdfast://run/{id}', {
      list: async (ctx) => ({ resources: await listRuns(reachOf(ctx)) }),
    }),
    { title: 'Run', description: 'One run at a glance, by its id.', mimeType: 'text/plain' },
    (uri, { id }, ctx) => text(uri, 'text/plain', 'status', decodeURIComponent(String(id)), reachOf(ctx)),
  );
}

/** Empty where there is no journal yet. */
async function listRuns(reach: Reach) {
  const operation = await operations.runs();
  const data = await dataOf(operation, reach).catch(() => ({ runs: [] }));
  const { runs } = data as { runs: { id: string; title: string; status: string }[] };
  return runs.map(({ id, title, status }) => ({
    uri: runUri(id),
    name: quote(id, 'title'),
    title: quote(title, 'title'),
    description: word(status),
    mimeType: 'text/plain',
  }));
}

/** The text of an operation; a refusal becomes an error of the protocol, with the same code and hints. */
export async function textOf(
  name: SpokenName,
  input: Record<string, unknown>,
  run: string | undefined,
  reach: Reach,
): Promise<Line> {
  try {
    return await ask(await operations[name](), input, run, reach);
  } catch (thrown) {
    const fault = asFault(thrown);
    const { code, hints, data } = fault;
    const isInput = code === 'not_found' || code === 'invalid' || code === 'usage';
    throw new ProtocolError(
      isInput ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      joined(refusalLines(fault), '\n'),
      { code, hints, data },
    );
  }
}
