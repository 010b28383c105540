import { InMemoryServerEventBus, type McpServer, type ServerEventBus } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import { resourceUris, runUri } from './resources.ts';

/** Where each run stands: what tells that something was recorded. */
export type Versions = () => Promise<ReadonlyMap<string, number>>;

/** Hears of resources that may say something else now. */
export interface Watcher {
  listen(hear: (uri: string) => void): Listening;
}

export interface Listening {
  /** From then on nothing is missed. */
  begun: Promise<unknown>;
  stop(): void;
}

const LOOK_EVERY_MS = 2000;

/** Looks at the journal now and then while somebody listens: others write to it from processes of their own. */
export function createWatcher(versions: Versions): Watcher {
  const listeners = new Set<(uri: string) => void>();
  let timer: NodeJS.Timeout | undefined;
  let before: Promise<ReadonlyMap<string, number>> | null = null;
  const look = async (): Promise<void> => {
    const last = await before;
    const now = await versions();
    before = Promise.resolve(now);
    const moved = last === null ? [] : [...now].filter(([run, version]) => last.get(run) !== version);
    const uris = moved.length === 0 ? [] : [...Object.values(resourceUris), ...moved.map(([run]) => runUri(run))];
    for (const uri of uris) for (const hear of listeners) hear(uri);
  };
  return {
    listen(hear) {
      // Two who listen with the same function are two.
      const own = (uri: string): void => hear(uri);
      listeners.add(own);
      before ??= versions().catch(() => new Map());
      // A look that fails proves nothing; the next may not.
      timer ??= setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
      return {
        begun: before,
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

/** Takes subscriptions of the 2025 revisions, on a connection that stays open; `mayHear` is asked before anything is told. */
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
  const tell = async (uri: string): Promise<void> => {
    if (await mayHear()) await server.sendResourceUpdated({ uri });
    else await server.close();
  };
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    wanted.add(params.uri);
    listening ??= watcher.listen((uri) => {
      // Whoever went away is not told.
      if (wanted.has(uri)) void tell(uri).catch(() => undefined);
    });
    await listening.begun;
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    wanted.delete(params.uri);
    if (wanted.size === 0) end();
    return {};
  });
  void ended.then(end);
}

/** The same for clients of the 2026 revision, which keep a stream open for what they want to hear. */
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

/** Of the workspace, on a connection to the journal that is opened for the look: there may be another journal by then. */
export async function versionsOf(context: Context): Promise<ReadonlyMap<string, number>> {
  const opened = context.anew();
  try {
    return await versionsIn(opened);
  } catch {
    // There is no journal yet; when there is, something has changed.
    return new Map();
  } finally {
    await opened.close();
  }
}

export async function versionsIn(context: Context): Promise<ReadonlyMap<string, number>> {
  const workspace = context.workspace()?.id;
  const engine = await context.engine();
  const heads = await engine.heads({ ...(workspace === undefined ? {} : { workspace }), limit: 100 });
  return new Map(heads.map((head) => [head.run, head.version]));
}
