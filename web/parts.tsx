import type { ComponentChildren } from 'preact';
import type { Refused } from './api.ts';
import type { Loaded } from './state.ts';

/** A state, by colour, by shape and in words. */
export function Pill({ word }: { word: string }) {
  return (
    <span class={`pill pill-${slug(word)}`}>
      <svg class="pill-mark" viewBox="0 0 10 10" aria-hidden="true">
        <path d={marks[word] ?? marks['idle']} />
      </svg>
      {names[word] ?? word.replaceAll('_', ' ').replaceAll('-', ' ')}
    </span>
  );
}

const names: Readonly<Record<string, string>> = { waiting: 'needs you' };

/** A word as part of a class name. */
export const slug = (word: string): string => word.replace(/[_ ]/g, '-');

const dot = 'M5 1a4 4 0 1 1 0 8a4 4 0 0 1 0-8z';
const ring = 'M5 1a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM5 3a2 2 0 1 0 0 4a2 2 0 0 0 0-4z';
const cross = 'M2.2 1L5 3.8L7.8 1L9 2.2L6.2 5L9 7.8L7.8 9L5 6.2L2.2 9L1 7.8L3.8 5L1 2.2z';
const bars = 'M2 1h2v8H2zM6 1h2v8H6z';
const check = 'M1 5.2L2.3 4L4.2 5.9L7.9 2L9 3.1L4.2 8.2z';
const diamond = 'M5 .5L9.5 5L5 9.5L.5 5z';
const marks: Readonly<Record<string, string>> = {
  working: dot,
  active: dot,
  in_progress: dot,
  held: dot,
  waiting: diamond,
  'needs you': diamond,
  blocked: 'M1 4h8v2H1z',
  'not responding': 'M5 .8L9.4 9H.6z',
  'cut off': cross,
  gone: ring,
  crashed: cross,
  failed: cross,
  fail: cross,
  'not started': bars,
  interrupted: bars,
  idle: ring,
  pending: ring,
  open: ring,
  unread: dot,
  completed: check,
  finished: check,
  resolved: check,
  actioned: check,
  acknowledged: check,
  pass: check,
  accepted: check,
};

export function Progress({ percent, label }: { percent: number; label: string }) {
  return (
    <div
      class="progress"
      role="progressbar"
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-label={label}
    >
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="progress-track" width="100" height="1" />
        <rect class="progress-done" width={percent} height="1" />
      </svg>
    </div>
  );
}

export function Card({
  title,
  count,
  tools,
  tone,
  children,
}: {
  title: string;
  count?: number | undefined;
  tools?: ComponentChildren;
  tone?: 'alert' | 'warn';
  children: ComponentChildren;
}) {
  const id = `card-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return (
    <section class={`card${tone ? ` card-${tone}` : ''}`} aria-labelledby={id}>
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
