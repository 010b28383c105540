import { Hono } from 'hono';
import { asFault } from '../core/fault.ts';
import { joinWithin, withinOf } from '../engine/limit.ts';
import type { Context } from '../operations/context.ts';
import type { Operation } from '../operations/operation.ts';
import type { Token } from '../store/presence.ts';
import { type Access, createAccess, mustReach, setCookie } from './access.ts';
import { answer, Refusal, refuse } from './answer.ts';
import { callOperation, contextFor } from './call.ts';
import { openFeed } from './feed.ts';
import { createLimiter, defaultLimits, type Limits, readJson } from './limits.ts';
import type { Log } from './log.ts';
import { createRequestCounts, type RequestCounts, renderMetrics } from './metrics.ts';
import { createOriginReader, type Origin } from './proxy.ts';
import { createRequestCheck, securityHeaders } from './request-check.ts';
import type { Connection } from './server.ts';
import { createSlots } from './slots.ts';
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
  /** Ranges of addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. */
  proxies?: readonly string[];
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

type App = Hono<{ Bindings: Connection; Variables: { token: Token; origin: Origin } }>;

/** What the routes share. */
interface Shared {
  base: Context;
  version: string;
  limits: Limits;
  log: Log;
  stopped: AbortSignal;
  access: Access;
  admit(request: Request, origin: Origin): Promise<Token>;
  bindToToken: BindToToken;
  counts: RequestCounts;
  /** Counts a request against its address, and refuses when there are too many. */
  countAddress(origin: Origin): void;
  /** Counts a request without a valid token against its address, and refuses when there are too many. */
  countStranger(origin: Origin): void;
}

/** HTTP as a fetch-style application: it needs no port. No rule lives here. */
export function createApp(options: AppOptions): App {
  const { context: base, log = () => undefined, stopped = new AbortController().signal, version } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const access = createAccess(() => base.engine(), base.now, options.own);
  const perToken = createLimiter(limits.perToken, clock);
  const perAddress = createLimiter(limits.perAddress, clock);
  const strangers = createLimiter(limits.strangers, clock);
  const countAddress = ({ address }: Origin): void => perAddress(address);
  const countStranger = ({ address }: Origin): void => strangers(address);
  const shared: Shared = {
    base,
    version,
    limits,
    log,
    stopped,
    access,
    async admit(request, origin) {
      const token = await access.admit(request).catch((thrown: unknown) => {
        countAddress(origin);
        if (thrown instanceof Refusal && thrown.status === 401) countStranger(origin);
        throw thrown;
      });
      // The token first: what one token sends too much does not count against others behind the same address.
      perToken(token.name);
      countAddress(origin);
      return token;
    },
    bindToToken: createTokenStreams(access.isValid),
    counts: createRequestCounts(),
    countAddress,
    countStranger,
  };
  const app: App = new Hono();
  const readOrigin = createOriginReader(options.proxies ?? []);
  checkAndLog(app, shared, createRequestCheck(options.host ?? '127.0.0.1', options.names ?? []), readOrigin);
  addPublicRoutes(app, shared);
  addApi(app, shared);
  addMetrics(app, shared);
  if (options.mcp) addMcp(app, shared, options.mcp);
  const web = createWeb(options.web);
  app.all('*', (c) => {
    countAddress(c.get('origin'));
    const response = web(c.req.path, c.req.raw);
    if (response === null) throw nothingHere();
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return response;
    throw new Refusal(405, 'usage', 'Pages can only be read.', ['Operations are `POST /api/NAME`.'], {
      allow: 'GET, HEAD',
    });
  });
  return app;
}

const clock = (): number => performance.now();

function nothingHere(): Refusal {
  return new Refusal(404, 'not_found', 'There is nothing here.', [
    'The dashboard is at `/`; all operations are in `/openapi.json`.',
  ]);
}

/** Around every request: the check of host and origin, the security headers and the log. */
function checkAndLog(
  app: App,
  { log, counts }: Shared,
  checkRequest: (request: Request) => void,
  readOrigin: ReturnType<typeof createOriginReader>,
): void {
  app.use(async (c, next) => {
    const startedMs = clock();
    const origin = readOrigin(c.req.raw, c.env);
    c.set('origin', origin);
    try {
      checkRequest(c.req.raw);
      await next();
    } catch (thrown) {
      c.res = refuse(thrown);
    }
    for (const [name, value] of Object.entries(securityHeaders)) c.res.headers.set(name, value);
    counts.count(c.res.status, clock() - startedMs);
    log(c.res.status >= 500 ? 'error' : 'info', 'request', {
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: Math.round(clock() - startedMs),
      token: c.get('token')?.name ?? null,
      address: origin.address,
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
function addPublicRoutes(app: App, { base, version, limits, access, countAddress, countStranger }: Shared): void {
  let description: Promise<string> | undefined;
  app.on('ALL', ['/health', '/healthz', '/readyz', '/openapi.json', '/login', '/logout'], async (c, next) => {
    countAddress(c.get('origin'));
    await next();
  });
  // The process answers; the store may be away.
  app.on('GET', ['/health', '/healthz'], () => answer({ data: { status: 'ok', version } }, [], {}));
  app.get('/readyz', async () => {
    const { heads } = await base.engine();
    await heads({ limit: 1 });
    return answer({ data: { status: 'ready', version } }, [], {});
  });
  app.get('/openapi.json', async (c) => {
    description ??= import('./openapi.ts').then(async ({ describeApi }) => JSON.stringify(await describeApi(version)));
    return c.body(await description, 200, { 'content-type': 'application/json', 'cache-control': 'no-cache' });
  });
  app.get('/login', async (c) => {
    const secret = c.req.query('token') ?? '';
    if (await access.admitSecret(secret).catch(unlessRefused)) {
      const cookie = setCookie(c.req.raw, secret, c.get('origin').isSecure);
      return c.body(null, 303, { location: '/', 'set-cookie': cookie, 'cache-control': 'no-store' });
    }
    countStranger(c.get('origin'));
    return plain(401, 'This link is no longer valid. <code>holdfast serve</code> prints a valid one.');
  });
  app.post('/login', async (c) => {
    const { token: secret } = (await readJson(c.req.raw, limits)) as { token?: unknown };
    const text = typeof secret === 'string' ? secret : '';
    const token = await access.admitSecret(text).catch((thrown: unknown) => {
      if (thrown instanceof Refusal) countStranger(c.get('origin'));
      throw thrown;
    });
    c.set('token', token);
    return answer({ data: whoIs(token) }, [], { 'set-cookie': setCookie(c.req.raw, text, c.get('origin').isSecure) });
  });
  app.post('/logout', (c) =>
    answer({ data: {} }, [], { 'set-cookie': setCookie(c.req.raw, null, c.get('origin').isSecure) }),
  );
}

function unlessRefused(thrown: unknown): null {
  if (thrown instanceof Refusal) return null;
  throw thrown;
}

function addApi(app: App, { base, limits, stopped, admit, bindToToken }: Shared): void {
  const takeFeed = createSlots('feeds', limits.feeds);
  app.use('/api/*', async (c, next) => {
    c.set('token', await admit(c.req.raw, c.get('origin')));
    await next();
  });
  app.get('/api/whoami', (c) => answer({ data: whoIs(c.get('token')) }, [], {}));
  app.get('/api/feed', async (c) => {
    const token = c.get('token');
    const run = c.req.query('run') ?? c.req.header('holdfast-run');
    const leave = takeFeed(token);
    const after = c.req.header('last-event-id') ?? c.req.query('after') ?? 'now';
    const stream = await openFeed({
      engine: await base.engine(),
      cursor: after === 'beginning' ? null : after,
      within: joinWithin(withinOf(token), run === undefined ? {} : { runs: [run] }),
      stopped,
      ended: leave,
    }).catch((thrown: unknown) => {
      leave();
      throw thrown;
    });
    return c.body(bindToToken(stream, token), 200, {
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
    throw nothingHere();
  });
}

/** For scrapers, with a token of the scope `read`: the numbers are of what it reaches. */
function addMetrics(app: App, { base, version, admit, counts }: Shared): void {
  app.get('/metrics', async (c) => {
    const token = await admit(c.req.raw, c.get('origin'));
    c.set('token', token);
    const text = await renderMetrics(await base.engine(), withinOf(token), version, counts);
    return c.body(text, 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    });
  });
}

function addMcp(app: App, shared: Shared, mcp: Pick<McpHandler, 'fetch'>): void {
  const { base, limits, stopped, access, admit, bindToToken } = shared;
  const takeStream = createSlots('calls and streams', limits.mcpStreams);
  app.all('/mcp', async (c) => {
    const token = await admit(c.req.raw, c.get('origin'));
    c.set('token', token);
    // Before the call: one that is refused has done nothing.
    const leave = takeStream(token);
    const admission: Admission = {
      contextOf: (run) =>
        contextFor(base, token, {
          run: run ?? c.req.header('holdfast-run'),
          session: c.req.header('holdfast-session') ?? null,
          key: null,
          gone: AbortSignal.any([c.req.raw.signal, stopped]),
          warn: () => undefined,
        }),
      mayCall: (operation) => mustReach(token, operation.scope, operation.name),
      // Not its name: a new token may get the name of a revoked one.
      owner: token.hash,
      isValid: () => access.isValid(token),
    };
    try {
      const response = await mcp.fetch(await withinLimits(c.req.raw, limits), admission);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      if (response.body && isStream) {
        return new Response(bindToToken(whenEnded(response.body, leave), token), response);
      }
      leave();
      return response;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  });
}

/** The same stream; calls `ended` once when it is over, however it ends. */
function whenEnded(stream: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          ended();
          throw error;
        });
        if (!done) return controller.enqueue(value);
        ended();
        controller.close();
      },
      cancel(reason) {
        ended();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The same request, its body read within the limits. */
async function withinLimits(request: Request, limits: Limits): Promise<Request> {
  if (request.body === null) return request;
  const body = JSON.stringify(await readJson(request, limits));
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body });
}

function whoIs({ name, actor, scope, workspaces, runs, expiresAt }: Token) {
  return { token: name, actor, scope, workspaces, runs, expiresAt };
}
