import { signal } from '@preact/signals';
import { copyText } from './copy.tsx';
import { openRoute, type RunRoute, replaceRoute, route, runViews } from './route.ts';

/** Whether the list of keys is shown. */
export const isHelpOpen = signal(false);
/** Whether the slider through the history of a run is shown. */
export const isHistoryOpen = signal(false);
/** The runs in the order of the list, for the keys that move from one to the next. */
export const runOrder = signal<readonly string[]>([]);

export const keyWords: readonly (readonly [keys: string, does: string])[] = [
  ['j k', 'Move through a list'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close what is open'],
  ['/', 'Search'],
  ['g r', 'Runs'],
  ['g n', 'Needs you'],
  ['[ ]', 'Previous and next run'],
  ['1 – 7', 'Parts of a run'],
  ['h', 'History of a run'],
  ['a', 'Add a step'],
  ['e', 'Edit the step of the row'],
  ['c', 'Copy the command that does the same'],
  ['?', 'These keys'],
];

let isAfterG = false;

export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (target.closest('input, textarea, select, [contenteditable]')) return;
    const isInDialog = target.closest('dialog') !== null;
    const wasAfterG = isAfterG;
    isAfterG = event.key === 'g' && !isInDialog;
    if (wasAfterG && (event.key === 'r' || event.key === 'n')) {
      openRoute({ page: event.key === 'r' ? 'runs' : 'needs' });
    } else if (!moveRow(event, target) && !(isInDialog ? false : press(event.key, target))) {
      return;
    }
    event.preventDefault();
  });
}

/** Arrows scroll the page unless a row has the focus. */
function moveRow(event: KeyboardEvent, target: HTMLElement): boolean {
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  const inRow = target.closest<HTMLElement>('[data-row]');
  if (step === undefined || (event.key.startsWith('Arrow') && !inRow)) return false;
  const area = target.closest('dialog') ?? document.querySelector('main');
  const rows = [...(area?.querySelectorAll<HTMLElement>('[data-row]') ?? [])].filter((row) => row.offsetParent);
  const index = inRow ? rows.indexOf(inRow) + step : step > 0 ? 0 : rows.length - 1;
  const next = rows[Math.max(0, Math.min(rows.length - 1, index))];
  if (!next) return false;
  const link = next.matches('a, button') ? next : next.querySelector<HTMLElement>('[data-row-focus]');
  (link ?? next).focus();
  next.scrollIntoView({ block: 'nearest' });
  return true;
}

/** Returns whether the key means something here. */
function press(key: string, target: HTMLElement): boolean {
  const here = route.value;
  switch (key) {
    case '/':
      document.getElementById('search')?.focus();
      return true;
    case '?':
      isHelpOpen.value = true;
      return true;
    case 'c':
      return copyCommand(target);
    case '[':
    case ']':
      return here.page === 'run' && moveRun(here.run, key === '[' ? -1 : 1);
    default:
      return here.page === 'run' && pressInRun(here, key, target);
  }
}

function pressInRun(here: RunRoute, key: string, target: HTMLElement): boolean {
  const view = /^[1-7]$/.test(key) ? runViews[Number(key) - 1] : undefined;
  if (view) openRoute({ ...here, view, step: null });
  else if (key === 'h') {
    isHistoryOpen.value = !isHistoryOpen.value || here.at !== null;
    if (here.at !== null) {
      isHistoryOpen.value = false;
      replaceRoute({ ...here, at: null });
    }
  } else if (key === 'a') return pressButton('[data-key="add"]');
  else if (key === 'e') {
    const step = target.closest<HTMLElement>('[data-step]')?.dataset['step'];
    if (step === undefined) return false;
    openRoute({ ...here, step });
  } else return false;
  return true;
}

function pressButton(selector: string): boolean {
  const button = document.querySelector<HTMLElement>(selector);
  button?.click();
  return button !== null;
}

function moveRun(run: string, step: number): boolean {
  const index = runOrder.value.indexOf(run);
  const next = index < 0 ? undefined : runOrder.value[index + step];
  if (next === undefined) return false;
  openRoute({ page: 'run', run: next, view: 'overview', at: null, step: null });
  return true;
}

/** Of the row that has the focus; else that of the page. */
function copyCommand(target: HTMLElement): boolean {
  const row = target.closest('[data-row]');
  const named =
    row?.querySelector<HTMLElement>('[data-command]') ?? document.querySelector<HTMLElement>('[data-command]');
  const command = target.closest<HTMLElement>('[data-command]')?.dataset['command'] ?? named?.dataset['command'];
  if (!command) return false;
  void copyText(command);
  return true;
}
