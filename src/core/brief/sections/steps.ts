import { fixed, joined, type Line, line, quote } from '../../line.ts';
import type { PlannedStep, StepFacts } from '../facts.ts';
import { leftOut, remembering, type Section } from './section.ts';

/** The newest titles that are done, and the next ones that are left. */
export const DONE_TITLES = 4;
export const LEFT_TITLES = 3;
const ENTRIES = 2;

/** The to-do list or the plan in one sentence; each entry is a unit, what is left to do first. */
export function stepSection(steps: StepFacts | null, share: number): Section {
  if (steps === null) return { name: 'steps', share, count: 0, show: () => [] };
  const { kind, done, total } = steps;
  const doneTitles = steps.doneTitles.slice(-DONE_TITLES);
  const left = steps.left.slice(0, LEFT_TITLES);
  // In progress first: of all entries the reader needs it most.
  const units: Unit[] = [
    ...steps.inProgress.map((step) => ({ is: 'in-progress' as const, step })),
    ...left.slice(0, 1).map((step) => ({ is: 'left' as const, step })),
    ...doneTitles.map((title) => ({ is: 'done' as const, title })).reverse(),
    ...left.slice(1).map((step) => ({ is: 'left' as const, step })),
  ];
  const written = units.map((unit) => remembering((most) => title(unit, kind, most)));
  return {
    name: 'steps',
    share,
    count: units.length,
    // Without what comes after it, the entry in progress looks like the last one.
    must: Math.min(units.length, ENTRIES),
    show(chars) {
      const titles = (is: Unit['is']): Line[] =>
        chars.flatMap((most, index) => (units[index]?.is === is ? [written[index]?.(most) as Line] : []));
      const parts = [
        // The units are the newest first, the sentence has them in the order of completion.
        ...clause(line`${done} of ${total} done`, titles('done').reverse(), true),
        ...clause(line`in progress`, titles('in-progress')),
        ...clause(line`left`, titles('left')),
      ];
      const more = leftOut([
        {
          noun: fixed('entry'),
          plural: fixed('entries'),
          command: fixed('`holdfast plan show`'),
          count: total - chars.length,
        },
      ]);
      const label = kind === 'plan' ? line`Plan` : line`To-do`;
      return [joined([line`${label}: ${joined(parts, '; ')}.`, ...more], ' ')];
    },
  };
}

type Unit = { is: 'done'; title: string } | { is: 'in-progress' | 'left'; step: PlannedStep };

function title(unit: Unit, kind: StepFacts['kind'], chars: number): Line {
  if (unit.is === 'done') return line`${quote(unit.title, 'title', chars)}`;
  const key = kind === 'plan' ? line`step ${quote(unit.step.key, 'name')} ` : '';
  return line`${key}${quote(unit.step.title, 'title', chars)}`;
}

function clause(label: Line, titles: readonly Line[], always = false): Line[] {
  if (titles.length > 0) return [line`${label}: ${joined(titles)}`];
  return always ? [label] : [];
}
