import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Refused } from './api.ts';
import type { Loaded } from './state.ts';

/** A state, by colour, by shape and in words. The words come from the server or from `core/views/labels.ts`. */
export function Pill({ label }: { label: string }) {
  return (
    <span class={`pill tone-${toneOf(label)}`}>
      <svg class="pill-mark" viewBox="0 0 10 10" aria-hidden="true">
        <path d={marks[label] ?? ring} />
      </svg>
      {label.replaceAll('_', ' ').replaceAll('-', ' ')}
    </span>
  );
}

const dot = 'M5 1a4 4 0 1 1 0 8a4 4 0 0 1 0-8z';
const ring = 'M5 1a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM5 3a2 2 0 1 0 0 4a2 2 0 0 0 0-4z';
const cross = 'M2.2 1L5 3.8L7.8 1L9 2.2L6.2 5L9 7.8L7.8 9L5 6.2L2.2 9L1 7.8L3.8 5L1 2.2z';
const bars = 'M2 1h2v8H2zM6 1h2v8H6z';
const check = 'M1 5.2L2.3 4L4.2 5.9L7.9 2L9 3.1L4.2 8.2z';
const diamond = 'M5 .5L9.5 5L5 9.5L.5 5z';
const triangle = 'M5 .8L9.4 9H.6z';
const dash = 'M1 4h8v2H1z';

const marks: Readonly<Record<string, string>> = {
  working: dot,
  'in progress': dot,
  unread: dot,
  'needs you': diamond,
  blocked: dash,
  skipped: dash,
  'not responding': triangle,
  'cut off': bars,
  interrupted: bars,
  failed: cross,
  fail: cross,
  done: check,
  finished: check,
  resolved: check,
  actioned: check,
  acknowledged: check,
  pass: check,
  accepted: check,
};

type Tone = 'good' | 'warn' | 'bad' | 'odd' | 'calm';

const tones: Readonly<Record<string, Tone>> = {
  working: 'good',
  done: 'good',
  finished: 'good',
  pass: 'good',
  actioned: 'good',
  accepted: 'good',
  'in progress': 'good',
  'needs you': 'warn',
  blocked: 'warn',
  unread: 'warn',
  'cannot-tell': 'warn',
  interrupted: 'warn',
  'cut off': 'bad',
  failed: 'bad',
  fail: 'bad',
  'not responding': 'odd',
};

export const toneOf = (label: string): Tone => tones[label] ?? 'calm';

export function Progress({ done, total, label }: { done: number; total: number; label: string }) {
  return (
    <div
      class="progress"
      role="progressbar"
      aria-valuenow={done}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-label={label}
    >
      <svg viewBox={`0 0 ${total} 1`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="progress-track" width={total} height="1" />
        <rect class="progress-done" width={done} height="1" />
      </svg>
    </div>
  );
}

export function Card({
  title,
  count,
  tools,
  children,
}: {
  title: string;
  count?: ComponentChildren;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  const id = `card-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>
          {title}
          {count !== undefined && <span class="count">{count}</span>}
        </h2>
        {tools}
      </header>
      {children}
    </section>
  );
}

/** What will appear here, when, and how to make it happen. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Fault({ fault }: { fault: Refused }) {
  return (
    <div class="fault" role="alert">
      <p>
        <strong>{withCode(fault.message)}</strong>
      </p>
      {fault.hints.map((hint) => (
        <p key={hint}>{withCode(hint)}</p>
      ))}
    </div>
  );
}

/** The server marks names and commands with backticks. */
function withCode(text: string): ComponentChildren {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}

/** Shows the loaded data, a placeholder while it loads, and the fault if there is one. */
export function Await<Data>({ of, children }: { of: Loaded<Data>; children: (data: Data) => ComponentChildren }) {
  const { data, fault } = of;
  return (
    <>
      {fault && fault.status !== 0 && <Fault fault={fault} />}
      {fault && fault.status === 0 && data === null && <Fault fault={fault} />}
      {data !== null ? children(data) : !fault && <Loading />}
    </>
  );
}

function Loading() {
  return (
    <div class="skeleton" aria-busy="true">
      <span class="hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}

/** A sheet at the side of the page, over it; on a phone it fills the screen. */
export function Drawer({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (box.current?.open) return;
    box.current?.showModal();
    // The sheet itself, not its first button.
    box.current?.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog without help
    <dialog
      ref={box}
      class="drawer"
      tabIndex={-1}
      aria-label={title}
      onClose={close}
      onClick={(event) => {
        // The backdrop belongs to the dialog; everything inside it is a child.
        if (event.target === box.current) box.current?.close();
      }}
    >
      <div class="drawer-body">
        <button type="button" class="button button-quiet drawer-close" onClick={() => box.current?.close()}>
          Close
        </button>
        {children}
      </div>
    </dialog>
  );
}

/** One of a few, shown as a row of buttons. */
export function Choices<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
}) {
  return (
    <fieldset class="chips">
      <legend class="hidden">{label}</legend>
      {options.map(([one, words]) => (
        <button key={one} type="button" class="chip" aria-pressed={one === value} onClick={() => onChange(one)}>
          {words}
        </button>
      ))}
    </fieldset>
  );
}

/** Opens a short list of things to do; a click outside or Escape closes it. */
export function Menu({
  label,
  name,
  children,
}: {
  label: ComponentChildren;
  /** For screen readers. */
  name: string;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  const close = (): void => box.current?.removeAttribute('open');
  useEffect(() => {
    const outside = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) close();
    };
    document.addEventListener('click', outside);
    return () => document.removeEventListener('click', outside);
  }, []);
  return (
    <details
      class="menu"
      ref={box}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
    >
      <summary aria-label={name}>{label}</summary>
      <div class="menu-list">{children}</div>
    </details>
  );
}
