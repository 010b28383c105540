import { useEffect, useRef, useState } from 'preact/hooks';
import { isHistoryOpen } from './keys.ts';
import { type RunRoute, replaceRoute } from './route.ts';
import { useAnswer } from './state.ts';
import { Ago, Id } from './words.tsx';

const SETTLE_MS = 120;

/** Moves through the history of a run; the page then shows the run as it was, with nothing to press. */
export function History({ here, last }: { here: RunRoute; last: number }) {
  const { run, at } = here;
  const [dragged, setDragged] = useState<number | null>(null);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const shown = dragged ?? at ?? last;
  const go = (version: number): void => {
    const to = Math.max(1, Math.min(last, version));
    setDragged(to);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      setDragged(null);
      replaceRoute({ ...here, step: null, at: to === last ? null : to });
    }, SETTLE_MS);
  };
  return (
    <section class={`history${at === null ? '' : ' history-past'}`} aria-label="History">
      <p class="history-words">
        <strong>{shown === last ? `Now: event ${last} of ${last}` : `Looking at event ${shown} of ${last}`}</strong>
        {at !== null && <PastEvent run={run} at={at} />}
      </p>
      <div class="history-tools">
        <button
          type="button"
          class="button button-quiet"
          aria-label="One event back"
          disabled={shown <= 1}
          onClick={() => go(shown - 1)}
        >
          ‹
        </button>
        <input
          type="range"
          min={1}
          max={Math.max(1, last)}
          value={shown}
          aria-label="Show the run as it was after event"
          aria-valuetext={shown === last ? `event ${shown}, now` : `event ${shown} of ${last}`}
          onInput={(event) => go(Number(event.currentTarget.value))}
        />
        <button
          type="button"
          class="button button-quiet"
          aria-label="One event forward"
          disabled={shown >= last}
          onClick={() => go(shown + 1)}
        >
          ›
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            isHistoryOpen.value = false;
            replaceRoute({ ...here, at: null });
          }}
        >
          Back to now
        </button>
      </div>
    </section>
  );
}

function PastEvent({ run, at }: { run: string; at: number }) {
  const { data } = useAnswer('log', { at, limit: 1 }, run);
  const event = data?.events.at(-1);
  if (!event) return null;
  return (
    <span class="history-event">
      <Id>{event.type}</Id> by {event.agent ?? event.person ?? 'unknown'}, <Ago at={event.at} />
    </span>
  );
}
