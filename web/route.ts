import { computed, signal } from '@preact/signals';

/** The current page, kept in the fragment so that the server never sees it. */
export type Route =
  | { page: 'runs' }
  | { page: 'run'; run: string; view: RunView; at: number | null }
  | { page: 'unknown' };

export const runViews = ['overview', 'timeline', 'decisions', 'mail', 'tokens', 'snapshots', 'brief', 'log'] as const;
export type RunView = (typeof runViews)[number];

const fragment = signal(location.hash);
addEventListener('hashchange', () => {
  fragment.value = location.hash;
});

export const route = computed(() => parseRoute(fragment.value));

export function hrefOf(to: Route): string {
  if (to.page !== 'run') return '#/';
  const view = to.view === 'overview' ? '' : `/${to.view}`;
  return `#/run/${encodeURIComponent(to.run)}${view}${to.at === null ? '' : `?at=${to.at}`}`;
}

/** Changes the route without a new history entry. */
export function replaceRoute(to: Route): void {
  history.replaceState(null, '', hrefOf(to));
  fragment.value = location.hash;
}

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  if (path === '') return { page: 'runs' };
  const [page, id, name = 'overview', ...rest] = path.split('/');
  const view = runViews.find((one) => one === name);
  if (page !== 'run' || !id || !view || rest.length > 0) return { page: 'unknown' };
  const at = Number(new URLSearchParams(query).get('at') ?? Number.NaN);
  try {
    return { page: 'run', run: decodeURIComponent(id), view, at: Number.isSafeInteger(at) && at > 0 ? at : null };
  } catch {
    return { page: 'unknown' };
  }
}
