import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import type { Operation } from '../operations/operation.ts';
import { createServer } from './server.ts';
import { createStreamable } from './streamable.ts';
import { createWatcher, offerSubscriptions, versionsIn, type Watcher, watchedBus } from './subscriptions.ts';
import { loadTools } from './tools.ts';

/** What the server this is mounted in has found out about one request. */
export interface Admission {
  /** Names the token: a session of the protocol belongs to one of them. */
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
  const watcherOf = createWatchers();
  /** The token of the request that is being answered, for the library's bus, which does not pass it on. */
  const answering = new AsyncLocalStorage<Admission>();
  const bus = watchedBus({
    listen: (onChange) => {
      const admission = answering.getStore();
      return admission ? watcherOf(admission).listen(onChange) : { ready: Promise.resolve(), stop: () => undefined };
    },
  });
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
    if (ended) offerSubscriptions(server, watcherOf(first), ended, first.isValid);
    return server;
  }, bus);
  return {
    // `extra` is how the library passes data of a request to the server that answers it.
    fetch: (request, admission) =>
      answering.run(admission, () =>
        streamable.fetch(request, { token: '', clientId: admission.owner, scopes: [], extra: { admission } }),
      ),
    close: () => streamable.close(),
  };
}

/** One watcher a token, over what that token reaches: an update about a run must not reach a token that cannot read it. */
function createWatchers(): (admission: Admission) => Watcher {
  const known = new Map<string, Watcher>();
  return ({ owner, contextOf }) => {
    const watcher = known.get(owner) ?? createWatcher(() => versionsIn(contextOf(undefined)));
    known.delete(owner);
    known.set(owner, watcher);
    // A forgotten one continues for those that listen to it.
    if (known.size > WATCHERS_LIMIT) known.delete(known.keys().next().value as string);
    return watcher;
  };
}

const WATCHERS_LIMIT = 1000;

function admissionIn(extra: AuthInfo['extra']): Admission {
  return { ...extra }['admission'] as Admission;
}
