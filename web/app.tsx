import { useEffect, useRef } from 'preact/hooks';
import { ActionDialog } from './action.tsx';
import { Header } from './header.tsx';
import { isHelpOpen, keyWords } from './keys.ts';
import { NeedsPage } from './needs.tsx';
import { LoginPage } from './pages/login-page.tsx';
import { RunPage } from './pages/run-page.tsx';
import { RunsPage } from './pages/runs-page.tsx';
import { SearchPage } from './pages/search-page.tsx';
import { route } from './route.ts';
import { access, connection, notice } from './state.ts';

export function App() {
  if (access.value === 'out') return <LoginPage />;
  const here = route.value;
  return (
    <>
      {/* Not a link to a fragment: the fragment holds the route. */}
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Header />
      {connection.value === 'lost' && (
        <p class="lost" role="status">
          No connection to the server. What you see may be out of date; this page tries again by itself.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {here.page === 'runs' && <RunsPage />}
        {here.page === 'needs' && <NeedsPage />}
        {here.page === 'search' && <SearchPage words={here.words} />}
        {here.page === 'run' && <RunPage key={here.run} here={here} />}
        {here.page === 'unknown' && (
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
          <kbd>?</kbd> shows the keys. Everything here is also a command: <kbd>c</kbd> copies it.
        </span>
      </footer>
      <Notice />
      <ActionDialog />
      <KeyHelp />
    </>
  );
}

function KeyHelp() {
  const box = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen && !box.current?.open) box.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-labelledby="keys-title"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      {isOpen && (
        <>
          <h2 id="keys-title">Keys</h2>
          <dl class="keys">
            {keyWords.map(([keys, does]) => (
              <div key={keys}>
                <dt>{keys.split(' ').map((one) => (one === '–' ? ' – ' : <kbd key={one}>{one}</kbd>))}</dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <div class="dialog-buttons">
            <button type="button" class="button" onClick={() => box.current?.close()}>
              Close
            </button>
          </div>
        </>
      )}
    </dialog>
  );
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
