import { Hono } from 'hono';
import { asFault } from '../core/fault.ts';
import type { McpHandler } from '../mcp/http.ts';
import type { Context } from '../operations/context.ts';
import type { Token } from '../store/presence.ts';
import { createAccess, mustReach, setCookie } from './access.ts';
import { answer, Refusal, refuse } from './answer.ts';
import { callOperation, contextFor } from './call.ts';
import { openFeed } from './feed.ts';
import { createLimiter, defaultLimits, type Limits, readJson } from './limits.ts';
import type { Log } from './log.ts';
import { createGuard, safetyHeaders } from './request-check.ts';
import { createHold } from './token-streams.ts';
import { createWeb, plain } from './web.ts';

export interface AppOptions {
  /** The way to the journal, shared by all requests; who calls is replaced by whom the token proves. */
  context: Context;
  version: string;
  /** The folder of the built dashboard. */
  web: string;
  /** The address it listens on, and further names it is reached by. */
  host?: string;
  names?: readonly string[];
  /** Tokens that only this process knows. */
  own?: readonly Token[];
  limits?: Partial<Limits>;
  log?: Log;
  /** Aborted when the server stops: feeds and waits end, requests that were begun finish. */
  stopped?: AbortSignal;
  /** Model Context Protocol over HTTP, where it is built in. */
  mcp?: Pick<McpHandler, 'fetch'>;
}

interface Bindings {
  /** The socket of the request; absent where there is none. */
  incoming?: { socket: { remoteAddress?: string | undefined } };
}

type Env = { Bindings: Bindings; Variables: { token: Token } };

/** The HTTP door as a fetch-style application: it needs no port. No rule lives here. */
export function createApp(options: AppOptions): Hono<Env> {
  const { context: base, log = () => undefined, stopped = new AbortController().signal } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const access = createAccess(() => base.engine(), options.own);
  const hold = createHold(access.holds);
  const guard = createGuard(options.host ?? '127.0.0.1', options.names ?? []);
  const web = createWeb(options.web);
  const clock = () => performance.now();
  const perAddress = createLimiter(limits.perAddress, clock);
  const perToken = createLimiter(limits.perToken, clock);
  const strangers = createLimiter(limits.strangers, clock);
  const addressOf = (env: Bindings | undefined): string => env?.incoming?.socket.remoteAddress ?? 'none';
  let feeds = 0;
  let description: Promise<string> | undefined;
  const app = new Hono<Env>();

  app.use(async (c, next) => {
    const begunAt = clock();
    try {
      guard(c.req.raw);
      perAddress(addressOf(c.env));
      await next();
    } catch (thrown) {
      c.res = refuse(thrown);
    }
    for (const [name, value] of Object.entries(safetyHeaders)) c.res.headers.set(name, value);
    log(c.res.status >= 500 ? 'error' : 'info', 'request', {
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: Math.round(clock() - begunAt),
      token: c.get('token')?.name ?? null,
      address: addressOf(c.env),
    });
  });

  app.onError((thrown) => {
    const fault = asFault(thrown);
    if (fault.code === 'internal')
      log('error', 'unexpected', { error: String((fault.cause as Error)?.stack ?? fault) });
    return refuse(fault);
  });

  app.get('/health', async () => {
    const { heads } = await base.engine();
    await heads({ limit: 1 });
    return answer({ data: { status: 'ok', version: options.version } }, [], {});
  });

  app.get('/openapi.json', async (c) => {
    description ??= import('./openapi.ts').then(async ({ describeApi }) =>
      JSON.stringify(await describeApi(options.version)),
    );
    return c.body(await description, 200, { 'content-type': 'application/json', 'cache-control': 'no-cache' });
  });

  app.get('/login', async (c) => {
    const secret = c.req.query('token') ?? '';
    if (await access.find(secret)) {
      return c.body(null, 303, {
        location: '/',
        'set-cookie': setCookie(c.req.raw, secret),
        'cache-control': 'no-store',
      });
    }
    strangers(addressOf(c.env));
    return plain(401, 'This link is not valid any more. <code>holdfast serve</code> prints the one that is.');
  });

  app.post('/login', async (c) => {
    const { token: secret } = (await readJson(c.req.raw, limits)) as { token?: unknown };
    const token = typeof secret === 'string' ? await access.find(secret) : null;
    if (token) {
      c.set('token', token);
      return answer({ data: whoIs(token) }, [], { 'set-cookie': setCookie(c.req.raw, secret as string) });
    }
    strangers(addressOf(c.env));
    throw new Refusal(401, 'not_allowed', 'The token is not valid.', ['`holdfast token add` gives out tokens.']);
  });

  app.post('/logout', (c) => answer({ data: {} }, [], { 'set-cookie': setCookie(c.req.raw, null) }));

  /** Everything below needs a token. */
  app.use('/api/*', async (c, next) => {
    c.set('token', await admit(c.req.raw, c.env));
    await next();
  });

  async function admit(request: Request, env: Bindings): Promise<Token> {
    try {
      const token = await access.admit(request);
      perToken(token.name);
      return token;
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.status === 401) strangers(addressOf(env));
      throw thrown;
    }
  }

  app.get('/api/whoami', (c) => answer({ data: whoIs(c.get('token')) }, [], {}));

  app.get('/api/feed', async (c) => {
    if (feeds >= limits.feeds) throw new Refusal(503, 'unavailable', 'Too many feeds are open.', ['Close some first.']);
    const token = c.get('token');
    const after = c.req.header('last-event-id') ?? c.req.query('after') ?? 'now';
    const stream = await openFeed({
      engine: await base.engine(),
      cursor: after === 'beginning' ? null : after,
      run: c.req.query('run') ?? c.req.header('holdfast-run'),
      stopped,
      ended: () => {
        feeds -= 1;
      },
    });
    feeds += 1;
    return c.body(hold(stream, token), 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // What stands between must pass each message on at once.
      'x-accel-buffering': 'no',
    });
  });

  app.on(['GET', 'POST'], '/api/:operation', (c) =>
    callOperation(c.req.param('operation'), c.req.raw, c.get('token'), { base, limits, stopped }),
  );

  app.all('/api/*', () => {
    throw new Refusal(404, 'not_found', 'There is nothing here.', ['All operations are in `/openapi.json`.']);
  });

  const { mcp } = options;
  if (mcp) {
    app.all('/mcp', async (c) => {
      const token = await admit(c.req.raw, c.env);
      c.set('token', token);
      const response = await mcp.fetch(await bounded(c.req.raw, limits), {
        contextOf: (run) =>
          contextFor(base, token, {
            run: run ?? c.req.header('holdfast-run'),
            session: c.req.header('holdfast-session') ?? null,
            key: null,
            gone: AbortSignal.any([c.req.raw.signal, stopped]),
            warn: () => undefined,
          }),
        mayCall: (operation) => mustReach(token, operation.scope, operation.name),
        owner: token.name,
        holds: () => access.holds(token),
      });
      const isStream = response.body && response.headers.get('content-type')?.startsWith('text/event-stream');
      return isStream ? new Response(hold(response.body, token), response) : response;
    });
  }

  app.on(['GET', 'HEAD'], '*', (c) => web(c.req.path, c.req.raw));
  app.all('*', () => {
    throw new Refusal(405, 'usage', 'Pages are only read here.', ['Operations are `POST /api/NAME`.'], {
      allow: 'GET, HEAD',
    });
  });
  return app;
}

/** The same request, its body read within the limits. */
async function bounded(request: Request, limits: Limits): Promise<Request> {
  if (request.method !== 'POST') return request;
  const body = JSON.stringify(await readJson(request, limits));
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body });
}

function whoIs({ name, actor, scope }: Token) {
  return { token: name, actor, scope };
}
