import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import type { Operation } from '../operations/operation.ts';
import { createServer } from './server.ts';
import { createStreamable } from './streamable.ts';
import { createWatcher, offerSubscriptions, versionsIn, watchedBus } from './subscriptions.ts';
import { loadTools } from './tools.ts';

/** What stands behind one request: whoever mounts this has found out who sent it. */
export interface Admission {
  /** Whose request it is: a session of the protocol belongs to one of them. */
  owner: string;
  /** The context of the one its token proves, on the run that is named or the one the request means. */
  contextOf(run: string | undefined): Context;
  /** Throws the fault if the token does not reach that far. */
  mayCall(operation: Operation): void;
  /** Whether the token still holds, for what is told later. */
  holds(): Promise<boolean>;
}

export interface McpHandler {
  fetch(request: Request, admission: Admission): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Streamable HTTP as a fetch-style handler. Every request is answered as the one it was admitted as, whatever session of
 * the protocol it names: the journal has all there is. It checks no token, host or origin: what it is mounted behind does.
 */
export function createMcpHandler({ version }: { version: string }): McpHandler {
  const tools = loadTools({ remote: true });
  /** The journal is one for all requests; the first of them shows the way to it. */
  let context: Context | null = null;
  const watcher = createWatcher(async () => (context ? versionsIn(context) : new Map()));
  const streamable = createStreamable(async (authInfo, ended) => {
    const first = admissionIn(authInfo.extra);
    const server = createServer({
      version,
      tools: await tools,
      subscribes: true,
      reachFor: ({ extra }) => {
        const { contextOf, mayCall } = admissionIn(extra);
        return async (operation, run, use) => {
          mayCall(operation);
          return use(contextOf(run));
        };
      },
    });
    context ??= first.contextOf(undefined);
    if (ended) offerSubscriptions(server, watcher, ended, first.holds);
    return server;
  }, watchedBus(watcher));
  return {
    // The way the library has for handing something of a request through to the server that answers it.
    fetch: (request, admission) =>
      streamable.fetch(request, { token: '', clientId: admission.owner, scopes: [], extra: { admission } }),
    close: () => streamable.close(),
  };
}

function admissionIn(extra: AuthInfo['extra']): Admission {
  return { ...extra }['admission'] as Admission;
}
