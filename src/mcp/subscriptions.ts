import type { McpServer } from '@modelcontextprotocol/server';
import type { Context } from '../operations/context.ts';
import { resourceUris, runUri } from './resources.ts';

const LOOK_EVERY_MS = 2000;

/**
 * Tells a client that asked for it when what a resource says may be another. The journal is looked at now and then, and
 * only while somebody wants to know: others write to it from processes of their own.
 */
export function watchResources({ server }: McpServer, context: Context, ended: Promise<void>): void {
  const wanted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let before: ReadonlyMap<string, number> | null = null;
  const look = async (): Promise<void> => {
    const now = await versions(context);
    const moved = before === null ? [] : [...now].filter(([run, version]) => before?.get(run) !== version);
    before = now;
    const uris = moved.length === 0 ? [] : [...Object.values(resourceUris), ...moved.map(([run]) => runUri(run))];
    for (const uri of uris) if (wanted.has(uri)) await server.sendResourceUpdated({ uri });
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    wanted.add(params.uri);
    if (before === null) before = await versions(context);
    // A look that fails proves nothing; the next may not.
    timer ??= setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    wanted.delete(params.uri);
    if (wanted.size === 0) stop();
    return {};
  });
  void ended.then(stop);
}

async function versions(context: Context): Promise<ReadonlyMap<string, number>> {
  const opened = context.anew();
  try {
    const workspace = opened.workspace()?.id;
    const { store } = await opened.engine();
    const heads = await store.heads({ ...(workspace === undefined ? {} : { workspace }), limit: 100 });
    return new Map(heads.map((head) => [head.run, head.version]));
  } catch {
    // There is no journal yet; when there is, something has changed.
    return new Map();
  } finally {
    await opened.close();
  }
}
