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

/** Defined by the bundler. */
declare const HOLDFAST_VERSION: string;

export const mcp = defineOperation({
  name: 'mcp',
  summary: 'Serve the Model Context Protocol on standard input and output; agents start this.',
  scope: 'write',
  local: true,
  speaks: true,
  examples: ['holdfast mcp', 'holdfast mcp --agent reviewer --dir ../other'],
  input: v.object({
    agent: v.optional(described(v.string(), 'Act as this agent; recognised from the client when left out.')),
  }),
  output: v.object({}),
  async run(context, { agent }) {
    const { env, ppid } = process;
    const named = agent ?? (env['HOLDFAST_AGENT'] || undefined);
    if (named !== undefined) actorNamed('agent', named);
    const [tools, found] = await Promise.all([loadTools({ remote: false }), agentProcess(ppid)]);
    const owner = context.identity.owner ?? found;
    const enqueue = createQueue();
    const watcher = createWatcher(() => versionsOf(context));
    let pinned: McpServer | null = null;
    let listening: Listening | null = null;
    // For clients of the 2026 revision; the library filters by what they asked for.
    const publish = (uri: string): void => void pinned?.server.sendResourceUpdated({ uri }).catch(() => undefined);
    const { transport, ended } = createStdioTransport(process.stdin, process.stdout, () => {
      listening ??= watcher.listen(publish);
    });
    let isOver = false;
    void ended.then(() => {
      isOver = true;
      listening?.stop();
    });
    const reportError = ({ message }: Error): void => {
      // After the client has gone, errors of its stream are expected.
      if (!isOver) process.stderr.write(`holdfast mcp: ${oneLine(message)}\n`);
    };
    const handle = serveStdio(
      () => {
        const server = createServer({
          version: HOLDFAST_VERSION,
          tools,
          subscribes: true,
          reachFor: ({ client, meta }) =>
            reachAs(context, recogniseIdentity({ client, meta, environment: env, named, owner }), enqueue),
        });
        offerSubscriptions(server, watcher, ended);
        pinned = server;
        return server;
      },
      { transport, onerror: reportError },
    );
    await ended;
    await handle.close();
    return { data: {} };
  },
  say: () => '',
});

/** The journal is opened for each call: the folder may get one, or another one, while the server runs. */
function reachAs(base: Context, identity: McpIdentity, enqueue: Queue): Reach {
  return (operation, run, use) =>
    enqueue(async () => {
      const opened = base.reopen();
      try {
        const context = await sessionContextFor({ ...opened, run: run ?? opened.run }, identity, operation.name);
        const result = await use(context);
        // Close the journal before answering, so that a failure to close is reported instead.
        await opened.close();
        return result;
      } finally {
        await opened.close();
      }
    });
}

type Queue = <T>(task: () => Promise<T>) => Promise<T>;

/** An agent may send several calls at once, such as a start and a checkpoint: they run in order of arrival. */
function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task);
    last = next.catch(() => undefined);
    return next;
  };
}
