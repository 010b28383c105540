import { randomUUID } from 'node:crypto';
import {
  type AuthInfo,
  createMcpHandler,
  type EventStore,
  isLegacyRequest,
  type JSONRPCMessage,
  legacyStatelessFallback,
  type McpServer,
  type ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

export interface Streamable {
  fetch(request: Request, authInfo: AuthInfo): Promise<Response>;
  close(): Promise<void>;
}

/** Makes the server that answers one request or, if given the promise of its end, all requests of a session. */
export type MakeServer = (authInfo: AuthInfo, ended: Promise<void> | null) => McpServer | Promise<McpServer>;

/**
 * Streamable HTTP for clients of the 2025 and the 2026 revisions. A client of 2025 that sends `initialize` gets a session of
 * the protocol, so that the server can send it messages. Nothing depends on it: a request without a session, or with an
 * unknown one, is answered on its own.
 */
export function createStreamable(make: MakeServer, bus?: ServerEventBus): Streamable {
  const once = ({ authInfo }: { authInfo?: AuthInfo }) => make(authInfo ?? anonymous, null);
  const modern = createMcpHandler(once, { legacy: 'reject', ...(bus ? { bus } : {}) });
  const stateless = legacyStatelessFallback(once);
  /** The most recently used are last. */
  const sessions = new Map<string, Session>();

  async function open(authInfo: AuthInfo): Promise<Session> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: createEventStore(),
      retryInterval: RETRY_MS,
    });
    const server = await make(authInfo, ended);
    await server.connect(transport);
    const session = { transport, owner: authInfo.clientId, close: () => server.close() };
    server.server.onclose = () => {
      sessions.delete(id);
      end();
    };
    sessions.set(id, session);
    for (const oldest of [...sessions.values()].slice(0, -SESSIONS_LIMIT)) await oldest.close();
    return session;
  }

  function known(request: Request, { clientId }: AuthInfo): Session | null {
    const id = request.headers.get('mcp-session-id') ?? '';
    const session = sessions.get(id);
    // A session of another token counts as unknown.
    if (!session || session.owner !== clientId) return null;
    sessions.delete(id);
    sessions.set(id, session);
    return session;
  }

  return {
    async fetch(request, authInfo) {
      if (!(await isLegacyRequest(request))) return modern.fetch(request, { authInfo });
      const session = known(request, authInfo) ?? ((await isInitialize(request)) ? await open(authInfo) : null);
      return session ? session.transport.handleRequest(request, { authInfo }) : stateless(request, { authInfo });
    },
    async close() {
      await modern.close();
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

interface Session {
  transport: WebStandardStreamableHTTPServerTransport;
  /** The token it was opened with. */
  owner: string;
  close(): Promise<void>;
}

const anonymous: AuthInfo = { token: '', clientId: '', scopes: [] };
const SESSIONS_LIMIT = 64;
/** When a client whose stream was cut off should reconnect. */
const RETRY_MS = 1000;
const EVENTS_LIMIT = 256;

async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== 'POST' || request.headers.has('mcp-session-id')) return false;
  try {
    const body: unknown = await request.clone().json();
    return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
  } catch {
    return false;
  }
}

/** Keeps the last messages of one session for a client that was cut off in the middle of a stream. */
function createEventStore(): EventStore {
  let count = 0;
  let kept: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(stream, message) {
      count += 1;
      const id = String(count);
      kept = [...kept.slice(1 - EVENTS_LIMIT), { id, stream, message }];
      return id;
    },
    async getStreamIdForEventId(id) {
      return kept.find((one) => one.id === id)?.stream;
    },
    async replayEventsAfter(lastId, { send }) {
      const last = kept.find((one) => one.id === lastId);
      if (!last) throw new Error('That event is no longer kept.');
      const later = kept.filter(({ id, stream }) => stream === last.stream && Number(id) > Number(lastId));
      // An empty message only opened the stream and is not repeated.
      for (const { id, message } of later) if ('jsonrpc' in message) await send(id, message);
      return last.stream;
    },
  };
}
