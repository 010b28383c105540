import * as v from 'valibot';
import { Fault } from '../core/fault.ts';
import { Scope } from '../core/words.ts';
import { describeRewound } from '../engine/rewound.ts';
import type { Context } from '../operations/context.ts';
import { defineOperation, described } from '../operations/operation.ts';
import { openBrowser } from '../workspace/browser.ts';
import { createApp, type McpHandler } from './app.ts';
import { createLog, type Log } from './log.ts';
import { prepareLink } from './login-link.ts';
import { senderOf, watchForPeople } from './notify.ts';
import { isLoopback } from './request-check.ts';
import { type Listening, listen } from './server.ts';

export interface ServeParts {
  version: string;
  /** The folder of the built dashboard. */
  web: string;
  /** Opens the handler for `/mcp`, which is another interface. */
  openMcp(): Promise<McpHandler>;
}

/** The command `serve`. */
export const serveWith = ({ version, web, openMcp }: ServeParts) =>
  defineOperation({
    name: 'serve',
    summary: 'Serve the operations, a live feed and the dashboard over HTTP.',
    scope: 'maintain',
    local: true,
    examples: [
      'holdfast serve',
      'holdfast serve --port 8080 --open',
      'holdfast serve --host 0.0.0.0 --name holdfast.example.com',
    ],
    flags: { names: 'name', proxies: 'trust-proxy' },
    input: v.object({
      port: v.optional(
        described(
          v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)),
          'The port (default 4177 or the next free one; 0 for any).',
        ),
      ),
      host: v.optional(
        described(
          v.pipe(v.string(), v.nonEmpty()),
          'The address to listen on (default 127.0.0.1); others need tokens.',
        ),
      ),
      names: v.optional(described(v.array(v.string()), 'A name it is reached by, such as that of a proxy.')),
      proxies: v.optional(
        described(
          v.array(v.string()),
          'A proxy, by its address or range (CIDR), whose X-Forwarded-For and X-Forwarded-Proto are believed.',
        ),
      ),
      open: v.optional(described(v.boolean(), 'Open the dashboard in a browser.')),
    }),
    output: v.object({ url: v.string(), link: v.nullable(v.string()), scope: v.nullable(Scope), store: v.string() }),
    async run(context, { port, host = '127.0.0.1', names = [], proxies = [], open = false }) {
      const engine = await context.engine();
      const { place, now } = engine;
      const link = isLoopback(host) ? prepareLink(context) : null;
      if (link === null) await mustHaveTokens(context, host);
      const stopping = new AbortController();
      const log = createLog((line) => process.stderr.write(`${line}\n`), now, process.stderr.isTTY === true);
      engine.onRewound((rewound) => {
        const { run, first, last } = rewound;
        log('error', 'rewound', { text: describeRewound(rewound), run, first, last });
      });
      const mcp = await openMcp();
      // Clients keep streams open that nothing else would end.
      stopping.signal.addEventListener('abort', () => void mcp.close());
      const app = createApp({
        context,
        mcp,
        version,
        web,
        host,
        names,
        proxies,
        own: link ? [link.token] : [],
        log,
        stopped: stopping.signal,
      });
      const listening = await listen({ fetch: (request, connection) => app.fetch(request, connection), host, port });
      const url = `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
      const linked = link && `${url}/login?token=${link.secret}`;
      log('info', 'listening', { url, store: place });
      const workspace = context.workspace();
      const send = workspace && senderOf(workspace, now);
      if (send) void watchForPeople(engine, workspace.ids, send, { log, stopped: stopping.signal });
      const looking = setInterval(() => void context.takeReports(), LOOK_EVERY_MS);
      stopping.signal.addEventListener('abort', () => clearInterval(looking));
      if (open)
        stopping.signal.addEventListener('abort', openBrowser(linked ?? url, context.workspace()?.root ?? context.dir));
      return {
        data: { url, link: linked, scope: link?.token.scope ?? null, store: place },
        until: untilStopped(listening, stopping, log),
      };
    },
    say: ({ url, link, scope, store }, pen) =>
      [
        `Serving ${store} on ${pen.bold(url)}`,
        ...(link === null ? [] : ['', `  ${link}`, '']),
        link === null
          ? 'Sign in with a token from `holdfast token add`.'
          : scope === 'maintain'
            ? 'Anyone with this link can act as you: keep it private. It ends with the server, or after 12 hours.'
            : 'An agent started this server, so the link gives no maintainer rights.',
        'Stop with Ctrl+C.',
      ].join('\n'),
  });

/** The feed shows reports of hooks that nobody asked for either. */
const LOOK_EVERY_MS = 1000;

/** An address that other machines reach needs tokens, and the connection is not encrypted. */
async function mustHaveTokens(context: Context, host: string): Promise<void> {
  const { tokens } = await context.engine();
  if ((await tokens.listTokens()).length === 0) {
    throw new Fault('usage', `${host} can be reached from other machines, and there is no token yet.`, {
      hints: [
        'Create one first: `holdfast token add NAME --scope read|write|maintain`.',
        'Without `--host` only this machine reaches it.',
      ],
      data: { host },
    });
  }
  context.warn(
    'THERE IS NO TLS: tokens and everything recorded cross the network unencrypted. Put a proxy with TLS in front (docs/serving.md), or listen on 127.0.0.1.',
  );
}

function untilStopped(listening: Listening, stopping: AbortController, log: Log): Promise<void> {
  return new Promise((resolve) => {
    const stop = (signal: string): void => {
      if (stopping.signal.aborted) return;
      log('info', 'stopping', { signal });
      stopping.abort();
      void listening.stop().then(() => {
        log('info', 'stopped');
        resolve();
      });
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
  });
}
