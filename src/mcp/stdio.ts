import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as v from 'valibot';
import { oneLine } from '../core/text.ts';
import type { Context } from '../operations/context.ts';
import { actorNamed } from '../operations/open.ts';
import { defineOperation, described } from '../operations/operation.ts';
import { agentProcess } from '../workspace/process.ts';
import type { Reach } from './call.ts';
import { type McpIdentity, recogniseIdentity } from './identity.ts';
import { createServer } from './server.ts';
import { sessionContextFor } from './session.ts';
import { createStdioTransport } from './stdio-transport.ts';
import { createWatcher, type Listening, offerSubscriptions, versionsOf } from './subscriptions.ts';
import { loadTools } from './tools.ts';

/** Put in by the bundler. */
declare const HOLDFAST_VERSION: string;

export const mcp = defineOperation({
  name: 'mcp',
  summary: 'Serve the Model Context Protocol on standard input and output; agents start this.',
  scope: 'write',
  local: true,
  speaks: true,
  examples: ['holdfast mcp', 'holdfast mcp --agent reviewer --dir ../other'],
  input: v.object({
    agent: v.optional(described(v.string(), 'The agent that calls; its client tells when left out.')),
  }),
  output: v.object({}),
  async run(context, { agent }) {
    const { env, ppid } = process;
    const named = agent ?? (env['HOLDFAST_AGENT'] || undefined);
    if (named !== undefined) actorNamed('agent', named);
    const [tools, found] = await Promise.all([loadTools({ remote: false }), agentProcess(ppid)]);
    const owner = context.identity.owner ?? found;
    const inTurn = createQueue();
    const watcher = createWatcher(() => versionsOf(context));
    let pinned: McpServer | null = null;
    let listening: Listening | null = null;
    // Clients of the 2026 revision: what they asked for is picked out further on.
    const tell = (uri: string): void => void pinned?.server.sendResourceUpdated({ uri }).catch(() => undefined);
    const { transport, ended } = createStdioTransport(process.stdin, process.stdout, () => {
      listening ??= watcher.listen(tell);
    });
    let isOver = false;
    void ended.then(() => {
      isOver = true;
      listening?.stop();
    });
    const complain = ({ message }: Error): void => {
      // Whoever is gone cannot be told that its stream ends, and need not be.
      if (!isOver) process.stderr.write(`holdfast mcp: ${oneLine(message)}\n`);
    };
    const handle = serveStdio(
      () => {
        const server = createServer({
          version: HOLDFAST_VERSION,
          tools,
          subscribes: true,
          reachFor: ({ client, meta }) =>
            reachAs(context, recogniseIdentity({ client, meta, environment: env, named, owner }), inTurn),
        });
        offerSubscriptions(server, watcher, ended);
        pinned = server;
        return server;
      },
      { transport, onerror: complain },
    );
    await ended;
    await handle.close();
    return { data: {} };
  },
  say: () => '',
});

/** The journal is opened for each call: the folder may get one, or another, while the server runs. */
function reachAs(base: Context, identity: McpIdentity, inTurn: Queue): Reach {
  return (operation, run, use) =>
    inTurn(async () => {
      const opened = base.anew();
      try {
        const context = await sessionContextFor({ ...opened, run: run ?? opened.run }, identity, operation.name);
        const result = await use(context);
        // Nothing is said before the journal is closed: what fails there is said instead.
        await opened.close();
        return result;
      } finally {
        await opened.close();
      }
    });
}

type Queue = <T>(task: () => Promise<T>) => Promise<T>;

/** An agent may send several calls at once, a start and a checkpoint say: they are done in the order they came. */
function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task);
    last = next.catch(() => undefined);
    return next;
  };
}
