import { useEffect, useRef, useState } from 'preact/hooks';
import { logOut } from './api.ts';
import { isHelpOpen } from './keys.ts';
import { useNeeds } from './needs.tsx';
import { Menu } from './parts.tsx';
import { openRoute, replaceRoute, route } from './route.ts';
import { connection, notice, who } from './state.ts';
import { nextTheme, theme } from './theme.ts';
import { Line, needYou } from './words.tsx';

export function Header() {
  const { data } = useNeeds();
  const needs = data?.needs ?? [];
  useAnnouncement(
    needs.map(({ run, kind, id }) => `${run} ${kind} ${id}`),
    data !== null,
  );
  return (
    <header class="top">
      <a class="brand" href="#/" aria-label="Holdfast: runs">
        <img src="/icon.svg" alt="" width="26" height="26" />
        <span class="brand-name">Holdfast</span>
      </a>
      <search class="search-area">
        <SearchBox />
      </search>
      <div class="top-tools">
        {needs.length > 0 && (
          <a class="bell" href="#/needs">
            {needYou(needs.length)}
          </a>
        )}
        <Connection />
        <OwnMenu />
      </div>
    </header>
  );
}

const SETTLE_MS = 200;

function SearchBox() {
  const here = route.value;
  const words = here.page === 'search' ? here.words : '';
  const [typed, setTyped] = useState<string | null>(null);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const go = (value: string): void => {
    const to = { page: 'search', words: value.trim() } as const;
    if (route.value.page === 'search') replaceRoute(to);
    else if (to.words !== '') openRoute(to);
    setTyped(null);
  };
  return (
    <form
      class="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        clearTimeout(timer.current);
        go(typed ?? words);
      }}
    >
      <label class="hidden" for="search">
        Search all runs
      </label>
      <input
        id="search"
        type="search"
        placeholder="Search"
        autoComplete="off"
        dir="auto"
        value={typed ?? words}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setTyped(value);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => go(value), SETTLE_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <span class="key-hint" aria-hidden="true">
        /
      </span>
    </form>
  );
}

function Connection() {
  const state = connection.value;
  const words = { connecting: 'Connecting', live: 'Live', lost: 'Offline' }[state];
  return (
    <span class={`connection connection-${state}`} role="status">
      <i aria-hidden="true" />
      <span class="connection-words">{words}</span>
    </span>
  );
}

const scopes = { maintain: 'maintainer', write: 'may write', read: 'may read' } as const;

function OwnMenu() {
  if (!who.value) return null;
  const { actor, scope } = who.value;
  const label = (
    <>
      <span class="me">
        <Line text={actor.name} chars={24} /> <span class="dim">({scopes[scope]})</span>
      </span>
      <span class="me-short" aria-hidden="true">
        ⋯
      </span>
    </>
  );
  return (
    <Menu label={label} name={`You are ${actor.name} (${scopes[scope]})`}>
      <button type="button" class="menu-item" onClick={nextTheme} aria-label={`Colours: ${theme.value}`}>
        {{ auto: 'Colours: as the system', light: 'Colours: light', dark: 'Colours: dark' }[theme.value]}
      </button>
      <button
        type="button"
        class="menu-item"
        onClick={() => {
          isHelpOpen.value = true;
        }}
      >
        Keys <kbd>?</kbd>
      </button>
      <button type="button" class="menu-item" onClick={() => void logOut().then(() => location.reload())}>
        Sign out
      </button>
    </Menu>
  );
}

let announced: ReadonlySet<string> | null = null;

/** Counts what needs a person in the page title, and announces each once. */
function useAnnouncement(needs: readonly string[], isKnown: boolean): void {
  const key = needs.join('\n');
  useEffect(() => {
    if (!isKnown) return;
    document.title = needs.length > 0 ? `(${needs.length}) Holdfast` : 'Holdfast';
    const fresh = needs.filter((one) => announced !== null && !announced.has(one));
    announced = new Set(needs);
    if (fresh.length > 0) {
      notice.value = { text: `Needs you: ${fresh.slice(0, 3).join(', ')}`, tone: 'plain' };
    }
  }, [key, isKnown]);
}
