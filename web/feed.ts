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
  /** The server does not know the reader any more. */
  refused(): void;
}

const AGAIN_AFTER_MS = 1500;

/** Follows the server's feed, over its restarts too: a browser gives up where the answer is an error, this does not. */
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
    setTimeout(() => void comeBack(follower, last), AGAIN_AFTER_MS);
  });
}

async function comeBack(follower: Follower, after: string | null): Promise<void> {
  try {
    await whoAmI();
  } catch (thrown) {
    if ((thrown as { status?: number }).status === 401) return follower.refused();
    setTimeout(() => void comeBack(follower, after), AGAIN_AFTER_MS);
    return;
  }
  // A place that a restored database does not know is refused once; what the page shows is read anew anyway.
  followFeed(follower, null);
}
