import { useEffect } from 'preact/hooks';
import { ActionDialog } from './action.tsx';
import { logOut } from './api.ts';
import { LoginPage } from './login-page.tsx';
import { hrefOf, route } from './route.ts';
import { RunPage } from './run-page.tsx';
import { RunsPage } from './runs-page.tsx';
import { access, connection, notice, useAnswer, who } from './state.ts';
import { nextTheme, theme } from './theme.ts';
import { Line, plural } from './words.tsx';

export function App() {
  if (access.value === 'out') return <LoginPage />;
  const { page } = route.value;
  return (
    <>
      {/* A link to a fragment would lead to another page: the fragment says where the reader is. */}
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header />
      <main id="main" tabIndex={-1}>
        {page === 'runs' && <RunsPage />}
        {page === 'run' && <RunPage key={route.value.page === 'run' ? route.value.run : ''} />}
        {page === 'unknown' && (
          <div class="page">
            <h1>There is no such page.</h1>
            <p>
              <a href="#/">To the runs</a>
            </p>
          </div>
        )}
      </main>
      <footer class="foot">
        <span>
          <kbd>j</kbd> <kbd>k</kbd> go through a list, <kbd>Enter</kbd> opens.
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
  useTold(waiting, data !== null);
  return (
    <header class="top">
      <a class="brand" href="#/">
        <img src="/icon.svg" alt="" width="26" height="26" />
        Holdfast
      </a>
      <div class="top-tools">
        {waiting.length > 0 && (
          <a class="bell" href={hrefOf({ page: 'runs' })}>
            {plural(waiting.length, 'thing')} {waiting.length === 1 ? 'waits' : 'wait'} for a person
          </a>
        )}
        <Connection />
        <button type="button" class="button button-quiet" onClick={nextTheme} aria-label={`Colours: ${theme.value}`}>
          {{ auto: '◐ Auto', light: '○ Light', dark: '● Dark' }[theme.value]}
        </button>
        {who.value && (
          <>
            <span class="me" title={`Your token has the scope ${who.value.scope}.`}>
              <Line text={who.value.actor.name} chars={24} /> <span class="dim">{who.value.scope}</span>
            </span>
            <button
              type="button"
              class="button button-quiet"
              title="The link or a token lets you in again."
              onClick={() => void logOut().then(() => location.reload())}
            >
              Leave
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

let told: ReadonlySet<string> | null = null;

/** What waits for a person is in the title of the page, and said once when it comes. */
function useTold(waiting: readonly string[], isKnown: boolean): void {
  const key = waiting.join('\n');
  useEffect(() => {
    if (!isKnown) return;
    document.title = waiting.length > 0 ? `(${waiting.length}) Holdfast` : 'Holdfast';
    const fresh = waiting.filter((one) => told !== null && !told.has(one));
    told = new Set(waiting);
    if (fresh.length > 0) {
      notice.value = { text: `Waits for a person: ${fresh.slice(0, 3).join(', ')}`, tone: 'plain' };
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
