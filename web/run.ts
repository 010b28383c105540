import type { Output } from './api.ts';

export type Status = Output<'status'>;
export type StepLine = Status['steps'][number];
export type ActivityEntry = Output<'activity'>['entries'][number];

/** A run, now or as it was after an event. */
export interface RunAt {
  run: string;
  at: number | null;
}

export const moment = (at: number | null): { at?: number } => (at === null ? {} : { at });

/** A run that hooks opened has requests, files and commands instead of a plan. */
export const isPlanned = ({ run }: Status): boolean => run['kind'] === 'planned';

export const isTodo = ({ key }: { key: string }): boolean => /^todo-\d+$/.test(key);

/** The entries of the client's own list. */
export const todosOf = ({ steps }: Status): StepLine[] => steps.filter(isTodo);

interface Next {
  lead: 'Next' | 'Now';
  text: string;
  by: string | null;
  at: string | null;
}

/** What to do next: what an agent recorded, else what follows from the state of the run. */
export function nextWords(status: Status): Next | null {
  const { standing, next, steps } = status;
  const { label } = standing;
  if (label === 'finished' || label === 'abandoned' || label === 'archived' || label === 'moved') return null;
  const parents = new Set(steps.map((step) => step.parent));
  const leaves = steps.filter((step) => !parents.has(step.key));
  const step = leaves.find((one) => one.label === 'interrupted') ?? leaves.find((one) => one.label === 'ready');
  const said = (text: string, lead: Next['lead'] = 'Next'): Next => ({ lead, text, by: null, at: null });
  if (label === 'working' || label === 'not responding') {
    const current = leaves.find((one) => one.label === 'in progress');
    return current ? said(isPlanned(status) ? `${current.key} ${current.title}` : current.title, 'Now') : null;
  }
  if (next) return { lead: 'Next', ...next };
  if (steps.length === 0 && isPlanned(status)) return said('add the first step, or import a plan');
  if (step && isPlanned(status))
    return said(`${step.label === 'ready' ? 'start' : 'continue'} ${step.key} ${step.title}`);
  if (label === 'cut off') return said('start an agent in this folder and say “continue”');
  if (label === 'needs you') return said('answer what is asked; the agent continues from there');
  if (label === 'open') return said('start an agent in this folder and say “continue”, or say what else to do');
  return null;
}

/** The state of a run in a sentence; entries of a client's list by their titles. */
export const whyOf = ({ standing, steps }: Status): string => withTitles(leftOf(standing), steps);

/** What is open is left; of other states the reason says enough. */
export const leftOf = ({ label, why }: Status['standing']): string => (label === 'open' && why ? `left: ${why}` : why);

export const withTitles = (text: string, steps: readonly { key: string; title: string }[]): string =>
  text.replaceAll(/todo-\d+/g, (key) => {
    const step = steps.find((one) => one.key === key);
    return step ? `“${step.title}”` : key;
  });

/** The machines of a run, if it has more than one or is not of this one. */
export function hostsOf(status: Status): ReadonlySet<string> {
  const { place, sessions } = status;
  const hosts = new Set(sessions.flatMap(({ owner }) => owner?.host.split(' ')[0] ?? []));
  if (place.machine) hosts.add(place.machine);
  const isHere = hosts.size === 1 && hosts.has(place.here);
  return isHere ? new Set() : hosts;
}
