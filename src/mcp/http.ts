import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import type { Operation } from '../operations/operation.ts';
import { createServer } from './server.ts';
import { createStreamable } from './streamable.ts';
import { createWatcher, offerSubscriptions, versionsIn, watchedBus } from './subscriptions.ts';
import { loadTools } from './tools.ts';

/** What the server this is mounted in has found out about one request. */
export interface Admission {
  /** The name of the token: a session of the protocol belongs to one of them. */
  owner: string;
  /** The context of the token's actor, on the run that is named or else the one the request names. */
  contextOf(run: string | undefined): Context;
  /** Throws the fault if the token's scope does not allow the operation. */
  mayCall(operation: Operation): void;
  /** Whether the token is still valid; asked before anything is sent later. */
  isValid(): Promise<boolean>;
}

export interface McpHandler {
  fetch(request: Request, admission: Admission): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Streamable HTTP as a fetch-style handler. Every request acts as the actor it was admitted as, whatever session of the
 * protocol it names: all state is in the journal. The server it is mounted in checks token, host and origin.
 */
export function createMcpHandler({ version }: { version: string }): McpHandler {
  const tools = loadTools({ remote: true });
  /** All requests share one journal; the context of the first one opens it. */
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
    if (ended) offerSubscriptions(server, watcher, ended, first.isValid);
    return server;
  }, watchedBus(watcher));
  return {
    // `extra` is how the library passes data of a request to the server that answers it.
    fetch: (request, admission) =>
      streamable.fetch(request, { token: '', clientId: admission.owner, scopes: [], extra: { admission } }),
    close: () => streamable.close(),
  };
}

function admissionIn(extra: AuthInfo['extra']): Admission {
  return { ...extra }['admission'] as Admission;
}
