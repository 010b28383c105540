import { Hono } from 'hono';
import { asFault } from '../core/fault.ts';
import type { Context } from '../operations/context.ts';
import type { Operation } from '../operations/operation.ts';
import type { Token } from '../store/presence.ts';
import { type Access, createAccess, mustReach, setCookie } from './access.ts';
import { answer, Refusal, refuse } from './answer.ts';
import { callOperation, contextFor } from './call.ts';
import { openFeed } from './feed.ts';
import { createLimiter, defaultLimits, type Limits, readJson } from './limits.ts';
import type { Log } from './log.ts';
import { createRequestCheck, securityHeaders } from './request-check.ts';
import type { Connection } from './server.ts';
import { type BindToToken, createTokenStreams } from './token-streams.ts';
import { createWeb, plain } from './web.ts';

export interface AppOptions {
  /** The way to the journal, shared by all requests; each request acts as the actor of its token. */
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
  /** Aborted when the server stops: feeds and waits end, requests in progress finish. */
  stopped?: AbortSignal;
  /** Answers the Model Context Protocol at `/mcp`, where it is built in. */
  mcp?: Pick<McpHandler, 'fetch'>;
}

/** The Model Context Protocol as a fetch-style handler. It relies on this application for every check of a request. */
export interface McpHandler {
  fetch(request: Request, admission: Admission): Promise<Response>;
  close(): Promise<void>;
}

/** A request whose token was checked. */
interface Admission {
  owner: string;
  contextOf(run: string | undefined): Context;
  /** Throws the fault if the token's scope does not allow the operation. */
  mayCall(operation: Operation): void;
  /** Whether the token is still valid. */
  isValid(): Promise<boolean>;
}

type App = Hono<{ Bindings: Connection; Variables: { token: Token } }>;

/** What the routes share. */
interface Shared {
  base: Context;
  version: string;
  limits: Limits;
  log: Log;
  stopped: AbortSignal;
  access: Access;
  admit(request: Request, connection: Connection): Promise<Token>;
  bindToToken: BindToToken;
  /** Counts a request without a valid token against its address, and refuses when there are too many. */
  countStranger(connection: Connection): void;
}

/** HTTP as a fetch-style application: it needs no port. No rule lives here. */
export function createApp(options: AppOptions): App {
  const { context: base, log = () => undefined, stopped = new AbortController().signal, version } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const access = createAccess(() => base.engine(), options.own);
  const perToken = createLimiter(limits.perToken, clock);
  const strangers = createLimiter(limits.strangers, clock);
  const countStranger = (connection: Connection): void => strangers(addressOf(connection));
  const shared: Shared = {
    base,
    version,
    limits,
    log,
    stopped,
    access,
    async admit(request, connection) {
      try {
        const token = await access.admit(request);
        perToken(token.name);
        return token;
      } catch (thrown) {
        if (thrown instanceof Refusal && thrown.status === 401) countStranger(connection);
        throw thrown;
      }
    },
    bindToToken: createTokenStreams(access.isValid),
    countStranger,
  };
  const app: App = new Hono();
  checkAndLog(app, shared, createRequestCheck(options.host ?? '127.0.0.1', options.names ?? []));
  addPublicRoutes(app, shared);
  addApi(app, shared);
  if (options.mcp) addMcp(app, shared, options.mcp);
  const web = createWeb(options.web);
  app.on(['GET', 'HEAD'], '*', (c) => web(c.req.path, c.req.raw));
  app.all('*', () => {
    throw new Refusal(405, 'usage', 'Pages can only be read.', ['Operations are `POST /api/NAME`.'], {
      allow: 'GET, HEAD',
    });
  });
  return app;
}

const clock = (): number => performance.now();
const addressOf = (connection: Connection | undefined): string => connection?.incoming?.socket.remoteAddress ?? 'none';

/** Around every request: the check of host and origin, the limit per address, the security headers and the log. */
function checkAndLog(app: App, { limits, log }: Shared, checkRequest: (request: Request) => void): void {
  const perAddress = createLimiter(limits.perAddress, clock);
  app.use(async (c, next) => {
    const startedMs = clock();
    try {
      checkRequest(c.req.raw);
      perAddress(addressOf(c.env));
      await next();
    } catch (thrown) {
      c.res = refuse(thrown);
    }
    for (const [name, value] of Object.entries(securityHeaders)) c.res.headers.set(name, value);
    log(c.res.status >= 500 ? 'error' : 'info', 'request', {
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: Math.round(clock() - startedMs),
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
}

/** Routes that need no token. */
function addPublicRoutes(app: App, { base, version, limits, access, countStranger }: Shared): void {
  let description: Promise<string> | undefined;
  app.get('/health', async () => {
    const { heads } = await base.engine();
    await heads({ limit: 1 });
    return answer({ data: { status: 'ok', version } }, [], {});
  });
  app.get('/openapi.json', async (c) => {
    description ??= import('./openapi.ts').then(async ({ describeApi }) => JSON.stringify(await describeApi(version)));
    return c.body(await description, 200, { 'content-type': 'application/json', 'cache-control': 'no-cache' });
  });
  app.get('/login', async (c) => {
    const secret = c.req.query('token') ?? '';
    if (await access.find(secret)) {
      const headers = { location: '/', 'set-cookie': setCookie(c.req.raw, secret), 'cache-control': 'no-store' };
      return c.body(null, 303, headers);
    }
    countStranger(c.env);
    return plain(401, 'This link is no longer valid. <code>holdfast serve</code> prints a valid one.');
  });
  app.post('/login', async (c) => {
    const { token: secret } = (await readJson(c.req.raw, limits)) as { token?: unknown };
    const token = typeof secret === 'string' ? await access.find(secret) : null;
    if (token) {
      c.set('token', token);
      return answer({ data: whoIs(token) }, [], { 'set-cookie': setCookie(c.req.raw, secret as string) });
    }
    countStranger(c.env);
    throw new Refusal(401, 'not_allowed', 'The token is not valid.', ['`holdfast token add` creates tokens.']);
  });
  app.post('/logout', (c) => answer({ data: {} }, [], { 'set-cookie': setCookie(c.req.raw, null) }));
}

function addApi(app: App, { base, limits, stopped, admit, bindToToken }: Shared): void {
  let feeds = 0;
  app.use('/api/*', async (c, next) => {
    c.set('token', await admit(c.req.raw, c.env));
    await next();
  });
  app.get('/api/whoami', (c) => answer({ data: whoIs(c.get('token')) }, [], {}));
  app.get('/api/feed', async (c) => {
    if (feeds >= limits.feeds) throw new Refusal(503, 'unavailable', 'Too many feeds are open.', ['Close some first.']);
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
    return c.body(bindToToken(stream, c.get('token')), 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Proxies must pass each message on at once.
      'x-accel-buffering': 'no',
    });
  });
  app.on(['GET', 'POST'], '/api/:operation', (c) =>
    callOperation(c.req.param('operation'), c.req.raw, c.get('token'), { base, limits, stopped }),
  );
  app.all('/api/*', () => {
    throw new Refusal(404, 'not_found', 'There is nothing here.', ['All operations are in `/openapi.json`.']);
  });
}

function addMcp(app: App, shared: Shared, mcp: Pick<McpHandler, 'fetch'>): void {
  const { base, limits, stopped, access, admit, bindToToken } = shared;
  app.all('/mcp', async (c) => {
    const token = await admit(c.req.raw, c.env);
    c.set('token', token);
    const response = await mcp.fetch(await withinLimits(c.req.raw, limits), {
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
      isValid: () => access.isValid(token),
    });
    const isStream = response.body && response.headers.get('content-type')?.startsWith('text/event-stream');
    return isStream ? new Response(bindToToken(response.body, token), response) : response;
  });
}

/** The same request, its body read within the limits. */
async function withinLimits(request: Request, limits: Limits): Promise<Request> {
  if (request.method !== 'POST') return request;
  const body = JSON.stringify(await readJson(request, limits));
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body });
}

function whoIs({ name, actor, scope }: Token) {
  return { token: name, actor, scope };
}
