import { computed, signal } from '@preact/signals';

/** The current page, kept in the fragment so that the server never sees it. */
export type Route =
  | { page: 'runs' }
  | { page: 'needs' }
  | { page: 'search'; words: string }
  | { page: 'run'; run: string; view: RunView; at: number | null; step: string | null }
  | { page: 'unknown' };

export type RunRoute = Extract<Route, { page: 'run' }>;

export const runViews = ['overview', 'activity', 'sessions', 'decisions', 'mail', 'tokens', 'brief'] as const;
export type RunView = (typeof runViews)[number];

const fragment = signal(location.hash);
addEventListener('hashchange', () => {
  fragment.value = location.hash;
});

export const route = computed(() => parseRoute(fragment.value));

export function hrefOf(to: Route): string {
  switch (to.page) {
    case 'run': {
      const view = to.view === 'overview' ? '' : `/${to.view}`;
      const query = new URLSearchParams();
      if (to.at !== null) query.set('at', String(to.at));
      if (to.step !== null) query.set('step', to.step);
      return `#/run/${encodeURIComponent(to.run)}${view}${query.size > 0 ? `?${query}` : ''}`;
    }
    case 'search':
      return `#/search${to.words === '' ? '' : `?${new URLSearchParams({ q: to.words })}`}`;
    case 'needs':
      return '#/needs';
    default:
      return '#/';
  }
}

/** The address of a run, or of a view or step of it, as it is now. */
export const runHref = (run: string, more: Partial<Pick<RunRoute, 'view' | 'at' | 'step'>> = {}): string =>
  hrefOf({ page: 'run', run, view: 'overview', at: null, step: null, ...more });

/** Changes the route without a new history entry. */
export function replaceRoute(to: Route): void {
  history.replaceState(null, '', hrefOf(to));
  fragment.value = location.hash;
}

export function openRoute(to: Route): void {
  location.hash = hrefOf(to);
  // At once: the event comes later, and a key may be pressed before it.
  fragment.value = location.hash;
}

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const given = new URLSearchParams(query);
  if (path === '') return { page: 'runs' };
  if (path === 'needs') return { page: 'needs' };
  if (path === 'search') return { page: 'search', words: given.get('q') ?? '' };
  const [page, id, name = 'overview', ...rest] = path.split('/');
  const view = runViews.find((one) => one === name);
  if (page !== 'run' || !id || !view || rest.length > 0) return { page: 'unknown' };
  const at = Number(given.get('at') ?? Number.NaN);
  try {
    return {
      page: 'run',
      run: decodeURIComponent(id),
      view,
      at: Number.isSafeInteger(at) && at > 0 ? at : null,
      step: given.get('step'),
    };
  } catch {
    return { page: 'unknown' };
  }
}
