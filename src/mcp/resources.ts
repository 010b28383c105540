import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { asFault } from '../core/fault.ts';
import { oneLine } from '../core/text.ts';
import { type OperationName, operations } from '../operations/index.ts';
import { ask, type Reach, type ReachOf } from './call.ts';

export const resourceUris = { brief: 'holdfast://brief', status: 'holdfast://status' } as const;
export const runUri = (id: string): string => `holdfast://run/${encodeURIComponent(id)}`;

/** Resources that clients read without calling a tool. */
export function registerResources(server: McpServer, reachOf: ReachOf): void {
  const text = async (uri: URL, mimeType: string, name: OperationName, run: string | undefined, reach: Reach) => {
    const { text } = await textOf(name, {}, run, reach);
    return { contents: [{ uri: uri.href, mimeType, text }] };
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
  const { data } = await ask(operation, {}, undefined, reach).catch(() => ({ data: { runs: [] } }));
  const { runs } = data as { runs: { id: string; title: string; status: string }[] };
  return runs.map(({ id, title, status }) => ({
    uri: runUri(id),
    name: id,
    title: oneLine(title, 80),
    description: status,
    mimeType: 'text/plain',
  }));
}

/** The text of an operation; a refusal becomes an error of the protocol, with the same code and hints. */
export async function textOf(
  name: OperationName,
  input: Record<string, unknown>,
  run: string | undefined,
  reach: Reach,
): Promise<{ data: unknown; text: string }> {
  try {
    return await ask(await operations[name](), input, run, reach);
  } catch (thrown) {
    const { code, message, hints, data } = asFault(thrown);
    const isInput = code === 'not_found' || code === 'invalid' || code === 'usage';
    throw new ProtocolError(
      isInput ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      [`${code}: ${message}`, ...hints].join(' '),
      { code, hints, data },
    );
  }
}
