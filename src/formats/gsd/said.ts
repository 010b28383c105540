import type { ModelSession, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { pathTo } from '../../core/views/named-step.ts';
import { flat } from '../text/lines.ts';
import type { Place, Said } from './table.ts';

/** A run model as the rows of the page see it. */
export function saidOf({ run, next, steps }: RunModel, session: ModelSession | undefined, place?: Place): Said {
  return {
    title: flat(run.title),
    goal: run.goal === undefined ? undefined : flat(run.goal),
    alias: run.alias,
    isOver: run.status === 'completed',
    place,
    endedAt: session?.endedAt,
    stoppedAt: session && (stoppedAt(session, steps) || undefined),
    resume: session?.notes?.find((note) => note.startsWith('Resume file: '))?.slice(13),
    next: next === undefined ? undefined : flat(next) || undefined,
  };
}

export function placeOf(steps: readonly ModelStep[], step: ModelStep, numberOf: (key: string) => string): Place {
  const byKey = new Map(steps.map((one) => [one.key, one]));
  const path = pathTo(byKey, step);
  const [phase = step, plan] = path;
  return {
    ...{
      step,
      phase,
      plan,
      task: path.length > 2 ? step : undefined,
      number: numberOf(phase.key),
      planNumber: undefined,
    },
    siblings: steps.filter(({ parent }) => parent === phase.key),
    phases: steps.filter(({ parent }) => parent === undefined || !byKey.has(parent)).length,
  };
}

/** A step key alone would mean nothing to a reader. */
function stoppedAt({ workingOn, completed, notes }: ModelSession, steps: readonly ModelStep[]): string {
  // A session names what it completed by key, or in words that end with the title.
  const named = (words: string): string | undefined => {
    const step = steps.find(({ key, title }) => words === key || words === title || words.endsWith(`: ${title}`));
    return step && (step.title.includes(step.key) ? step.title : `${step.key} ${step.title}`);
  };
  if (workingOn !== undefined) return flat(named(workingOn) ?? workingOn);
  if (completed?.some(named)) return flat(`Completed ${completed.map((one) => named(one) ?? one).join('; ')}`);
  return flat(completed?.join('; ') ?? notes?.[0] ?? '');
}
