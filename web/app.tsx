import { useEffect } from 'preact/hooks';
import { ActionDialog } from './action.tsx';
import { logOut } from './api.ts';
import { LoginPage } from './login-page.tsx';
import { hrefOf, route } from './route.ts';
import { RunPage } from './run-page.tsx';
import { RunsPage } from './runs-page.tsx';
import { access, connection, notice, useAnswer, who } from './state.ts';
import { nextTheme, theme } from './theme.ts';
import { Line } from './words.tsx';

export function App() {
  if (access.value === 'out') return <LoginPage />;
  const { page } = route.value;
  return (
    <>
      {/* Not a link to a fragment: the fragment holds the route. */}
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Header />
      <main id="main" tabIndex={-1}>
        {page === 'runs' && <RunsPage />}
        {page === 'run' && <RunPage key={route.value.page === 'run' ? route.value.run : ''} />}
        {page === 'unknown' && (
          <div class="page">
            <h1>There is no such page.</h1>
            <p>
              <a href="#/">Back to runs</a>
            </p>
          </div>
        )}
      </main>
      <footer class="foot">
        <span>
          <kbd>j</kbd> <kbd>k</kbd> move through a list, <kbd>Enter</kbd> opens.
        </span>
        <span>
          Everything here is also a command: see <code>holdfast help</code>.
        </span>
      </footer>
      <Notice />
      <ActionDialog />
    </>
  );
}

function Header() {
  const { data } = useAnswer('board', {});
  const waiting = (data?.runs ?? []).flatMap((run) => run.waiting.map((what) => `${run.id} ${what.kind} ${what.id}`));
  useAnnouncement(waiting, data !== null);
  return (
    <header class="top">
      <a class="brand" href="#/">
        <img src="/icon.svg" alt="" width="26" height="26" />
        Holdfast
      </a>
      <div class="top-tools">
        {waiting.length > 0 && (
          <a class="bell" href={hrefOf({ page: 'runs' })}>
            {waiting.length} {waiting.length === 1 ? 'needs' : 'need'} you
          </a>
        )}
        <Connection />
        <button type="button" class="button button-quiet" onClick={nextTheme} aria-label={`Colours: ${theme.value}`}>
          {{ auto: '◐ Auto', light: '○ Light', dark: '● Dark' }[theme.value]}
        </button>
        {who.value && (
          <>
            <span class="me" title={`Your token has the scope ${who.value.scope}.`}>
              <Line text={who.value.actor.name} chars={24} />{' '}
              <span class="dim">({who.value.scope === 'maintain' ? 'maintainer' : who.value.scope})</span>
            </span>
            <button
              type="button"
              class="button button-quiet"
              title="Sign in again with the link or a token."
              onClick={() => void logOut().then(() => location.reload())}
            >
              Sign out
            </button>
          </>
        )}
      </div>
    </header>
  );
}

function Connection() {
  const state = connection.value;
  const words = { connecting: 'Connecting', live: 'Live', lost: 'No connection, trying again' }[state];
  return (
    <span class={`connection connection-${state}`} role="status">
      <i aria-hidden="true" />
      {words}
    </span>
  );
}

let announced: ReadonlySet<string> | null = null;

/** Counts what needs a person in the page title, and announces each once. */
function useAnnouncement(waiting: readonly string[], isKnown: boolean): void {
  const key = waiting.join('\n');
  useEffect(() => {
    if (!isKnown) return;
    document.title = waiting.length > 0 ? `(${waiting.length}) Holdfast` : 'Holdfast';
    const fresh = waiting.filter((one) => announced !== null && !announced.has(one));
    announced = new Set(waiting);
    if (fresh.length > 0) {
      notice.value = { text: `Needs you: ${fresh.slice(0, 3).join(', ')}`, tone: 'plain' };
    }
  }, [key, isKnown]);
}

const SHOWN_MS = 6000;

function Notice() {
  const shown = notice.value;
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => {
      notice.value = null;
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown && <p class={`notice notice-${shown.tone}`}>{shown.text}</p>}
    </div>
  );
}
