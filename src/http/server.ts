import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Fault, quoted } from '../core/fault.ts';

/** The socket of a request; absent where a test calls the application without a port. */
export interface Connection {
  incoming?: { socket: { remoteAddress?: string | undefined } };
}

export interface Listening {
  port: number;
  /** Accepts no more requests, lets those in progress finish, then closes the rest. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  fetch(request: Request, connection: Connection): Response | Promise<Response>;
  host: string;
  /** Undefined means the usual port, or the next free one. */
  port: number | undefined;
}

const USUAL_PORT = 4177;
const PORTS_TRIED = 100;
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** How long to wait for requests in progress. */
const FINISH_MS = 10_000;

export async function listen({ host, port, ...options }: ListenOptions): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: options.fetch,
    serverOptions: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 5000,
      // Longer than clients keep a connection, so that none closes while a request is in flight.
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
    },
  }) as Server;
  const bound = await bindTo(server, host, port);
  return {
    port: bound,
    stop: () =>
      new Promise((resolve) => {
        const last = setTimeout(() => server.closeAllConnections(), FINISH_MS);
        // Clients keep a connection for their next request: close it as soon as its last response is sent.
        const idle = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearTimeout(last);
          clearInterval(idle);
          resolve();
        });
      }),
  };
}

async function bindTo(server: Server, host: string, port: number | undefined): Promise<number> {
  if (port !== undefined) return bindOnce(server, host, port);
  for (let tried = USUAL_PORT; ; tried++) {
    try {
      return await bindOnce(server, host, tried);
    } catch (thrown) {
      const { cause } = thrown as { cause?: NodeJS.ErrnoException };
      if (cause?.code !== 'EADDRINUSE' || tried >= USUAL_PORT + PORTS_TRIED) throw thrown;
    }
  }
}

function bindOnce(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void =>
      reject(
        new Fault('unavailable', `Cannot listen on ${quoted(`${host} port ${port}`)}: ${cause.message}.`, {
          hints: ['Choose another port with `--port N`; `--port 0` takes any free one.'],
          data: { host, port },
          cause,
        }),
      );
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
