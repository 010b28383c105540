import { join } from 'node:path';
import type { State } from '../../../core/fold/state.ts';
import type { Command, PlannedStep } from '../../../core/journal/command.ts';
import type { PagePart, PageStep, PlanPage } from '../../../formats/plan/plan-page.ts';
import { isFile } from '../../../workspace/read.ts';

/** Longer sections stay in the file, which the reader can open. */
const NOTE_CHARS = 4_000;
const CONTEXT_FILES = 3;

/** Commands that record what a plan page says beside its steps: goal, constraints, notes, and details of new steps. */
export function restCommands(page: PlanPage, name: string, state: State, added: ReadonlySet<string>): Command[] {
  const notes = page.rest.flatMap((part): Command[] => {
    const kind = noteKinds[part.as];
    return kind === undefined ? [] : [{ type: 'note.add', kind, text: `${part.heading} (${name}): ${cut(part.text)}` }];
  });
  const details = page.steps.flatMap((step): Command[] => {
    if (step.detail === null || !added.has(step.key)) return [];
    return [{ type: 'note.add', kind: 'worklog', step: step.key, text: cut(step.detail) }];
  });
  const goal: Command[] = page.goal !== null && !state.run?.goal ? [{ type: 'run.amend', goal: cut(page.goal) }] : [];
  return [...goal, ...notes, ...details];
}

const noteKinds: Partial<Record<PagePart['as'], 'constraint' | 'worklog'>> = {
  constraint: 'constraint',
  note: 'worklog',
};

const cut = (text: string): string => (text.length > NOTE_CHARS ? `${text.slice(0, NOTE_CHARS - 1)}…` : text);

/** The files to read that a page names and that exist are context of every step without files of its own. */
export function withReading(steps: readonly PageStep[], page: PlanPage, tree: string): PageStep[] {
  const files = filesToRead(page, tree).slice(0, CONTEXT_FILES);
  if (files.length === 0) return [...steps];
  return steps.map((step) => (step.context || step.kind === 'phase' ? step : { ...step, context: files }));
}

export function filesToRead({ rest }: PlanPage, tree: string): string[] {
  const named = rest.filter(({ as }) => as === 'reading').flatMap(({ paths }) => paths);
  return named.filter((path) => !path.startsWith('/') && !path.split('/').includes('..') && isFile(join(tree, path)));
}

/** A step as the journal takes it. */
export const plainStep = ({ line: _, isKeyMade: _k, detail: _d, ...step }: PageStep): PlannedStep => step;
