import { createMcpHandler as createHandler } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import type { Operation } from '../operations/operation.ts';
import { createServer } from './server.ts';
import { loadTools } from './tools.ts';

/** What stands behind one request: whoever mounts this has found out who sent it. */
export interface Admission {
  /** The context of the one its token proves, on the run that is named or the one the request means. */
  contextOf(run: string | undefined): Context;
  /** Throws the fault if the token does not reach that far. */
  mayCall(operation: Operation): void;
}

export interface McpHandler {
  fetch(request: Request, admission: Admission): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Streamable HTTP as a fetch-style handler, for clients of the 2025 and the 2026 revisions alike. Every request stands
 * alone: there is no session of the protocol, the journal has all there is. It checks no token, host or origin: what it
 * is mounted behind does.
 */
export function createMcpHandler({ version }: { version: string }): McpHandler {
  const tools = loadTools({ remote: true });
  const handler = createHandler(async ({ authInfo }) => {
    const { contextOf, mayCall } = { ...authInfo?.extra }['admission'] as Admission;
    return createServer({
      version,
      tools: await tools,
      subscribes: false,
      reachFor: () => async (operation, run, use) => {
        mayCall(operation);
        return use(contextOf(run));
      },
    });
  });
  return {
    // The way the library has for handing something of a request through to the server that answers it.
    fetch: (request, admission) =>
      handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: { admission } } }),
    close: () => handler.close(),
  };
}
