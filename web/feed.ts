import { whoAmI } from './api.ts';

export interface LiveEvent {
  run: string;
  version: number;
  type: string;
}

export interface Follower {
  ready(): void;
  events(events: readonly LiveEvent[]): void;
  lost(): void;
  /** The server no longer accepts the reader's token. */
  refused(): void;
}

const AGAIN_AFTER_MS = 1500;

/** Follows the server's feed across restarts: a browser alone gives up when the response is an error. */
export function followFeed(follower: Follower, after: string | null = null): void {
  const source = new EventSource(`/api/feed${after === null ? '' : `?after=${encodeURIComponent(after)}`}`);
  let last = after;
  source.addEventListener('ready', (message) => {
    last = message.lastEventId || last;
    follower.ready();
  });
  source.addEventListener('events', (message) => {
    last = message.lastEventId || last;
    follower.events((JSON.parse(message.data as string) as { events: LiveEvent[] }).events);
  });
  source.addEventListener('error', () => {
    follower.lost();
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => void reconnect(follower, last), AGAIN_AFTER_MS);
  });
}

async function reconnect(follower: Follower, after: string | null): Promise<void> {
  try {
    await whoAmI();
  } catch (thrown) {
    if ((thrown as { status?: number }).status === 401) return follower.refused();
    setTimeout(() => void reconnect(follower, after), AGAIN_AFTER_MS);
    return;
  }
  // Without a cursor: a restored database may refuse the old one, and the page reloads its data anyway.
  followFeed(follower, null);
}
