import { useEffect, useRef, useState } from 'preact/hooks';
import { type RunView, replaceRoute } from './route.ts';
import { useAnswer } from './state.ts';
import { Ago, Id } from './words.tsx';

const SETTLE_MS = 120;

/** Moves through the history of a run; the page then shows the run as it was. */
export function Scrubber({ run, at, view, last }: { run: string; at: number | null; view: RunView; last: number }) {
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
      replaceRoute({ page: 'run', run, view, at: to === last ? null : to });
    }, SETTLE_MS);
  };
  return (
    <section class={`scrubber${at === null ? '' : ' scrubber-past'}`} aria-label="History">
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
      <span class="scrubber-words">
        {at === null && dragged === null ? (
          <>Now, event {last}</>
        ) : (
          <>
            Event {shown} of {last}
          </>
        )}
      </span>
      {at !== null && <PastEvent run={run} at={at} onBack={() => go(last)} />}
    </section>
  );
}

function PastEvent({ run, at, onBack }: { run: string; at: number; onBack: () => void }) {
  const { data } = useAnswer('log', { at, limit: 1 }, run);
  const event = data?.events.at(-1);
  return (
    <span class="scrubber-event">
      {event && (
        <>
          <Id>{event.type}</Id> by {event.agent ?? event.person ?? 'unknown'}, <Ago at={event.at} />
        </>
      )}
      <button type="button" class="button" onClick={onBack}>
        Back to now
      </button>
    </span>
  );
}
