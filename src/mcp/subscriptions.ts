import { InMemoryServerEventBus, type McpServer, type ServerEventBus } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import { resourceUris, runUri } from './resources.ts';

/** The version of each run; a change means that something was recorded. */
export type Versions = () => Promise<ReadonlyMap<string, number>>;

/** Reports resources that may have changed. */
export interface Watcher {
  listen(onChange: (uri: string) => void): Listening;
}

export interface Listening {
  /** No change after this is missed. */
  ready: Promise<unknown>;
  stop(): void;
}

const POLL_EVERY_MS = 2000;

/** Polls the journal while anything listens: other processes write to it. */
export function createWatcher(versions: Versions): Watcher {
  const listeners = new Set<(uri: string) => void>();
  let timer: NodeJS.Timeout | undefined;
  let before: Promise<ReadonlyMap<string, number>> | null = null;
  const poll = async (): Promise<void> => {
    const last = await before;
    const now = await versions();
    before = Promise.resolve(now);
    const moved = last === null ? [] : [...now].filter(([run, version]) => last.get(run) !== version);
    const uris = moved.length === 0 ? [] : [...Object.values(resourceUris), ...moved.map(([run]) => runUri(run))];
    for (const uri of uris) for (const onChange of listeners) onChange(uri);
  };
  return {
    listen(onChange) {
      // A new function each time: the same one may be registered twice.
      const own = (uri: string): void => onChange(uri);
      listeners.add(own);
      before ??= versions().catch(() => new Map());
      // A poll that fails proves nothing; the next one may succeed.
      timer ??= setInterval(() => void poll().catch(() => undefined), POLL_EVERY_MS).unref();
      return {
        ready: before,
        stop() {
          listeners.delete(own);
          if (listeners.size > 0) return;
          clearInterval(timer);
          timer = undefined;
          before = null;
        },
      };
    },
  };
}

/** Accepts subscriptions of the 2025 revisions on a connection that stays open; `mayHear` is asked before each update. */
export function offerSubscriptions(
  { server }: McpServer,
  watcher: Watcher,
  ended: Promise<void>,
  mayHear: () => Promise<boolean> = async () => true,
): void {
  const wanted = new Set<string>();
  let listening: Listening | null = null;
  const end = (): void => {
    listening?.stop();
    listening = null;
  };
  const update = async (uri: string): Promise<void> => {
    if (await mayHear()) await server.sendResourceUpdated({ uri });
    else await server.close();
  };
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    wanted.add(params.uri);
    listening ??= watcher.listen((uri) => {
      if (wanted.has(uri)) void update(uri).catch(() => undefined);
    });
    await listening.ready;
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    wanted.delete(params.uri);
    if (wanted.size === 0) end();
    return {};
  });
  void ended.then(end);
}

/** The same for clients of the 2026 revision, which keep a stream open for updates. */
export function watchedBus(watcher: Watcher): ServerEventBus {
  const bus = new InMemoryServerEventBus();
  return {
    publish: (event) => bus.publish(event),
    subscribe(listener) {
      const leave = bus.subscribe(listener);
      const listening = watcher.listen((uri) => listener({ kind: 'resource_updated', uri }));
      return () => {
        listening.stop();
        leave();
      };
    },
  };
}

/** Opens the journal for each poll: the workspace may get one, or another one, in between. */
export async function versionsOf(context: Context): Promise<ReadonlyMap<string, number>> {
  const opened = context.reopen();
  try {
    return await versionsIn(opened);
  } catch {
    // No journal yet; once there is one, that counts as a change.
    return new Map();
  } finally {
    await opened.close();
  }
}

export async function versionsIn(context: Context): Promise<ReadonlyMap<string, number>> {
  const workspace = context.workspace()?.ids;
  const engine = await context.engine();
  const heads = await engine.heads({ ...(workspace === undefined ? {} : { workspace }), limit: 100 });
  return new Map(heads.map((head) => [head.run, head.version]));
}
