import * as v from 'valibot';
import { counted, fixed, joined, type Line, line } from '../../../core/line.ts';
import type { Pen } from '../../operation.ts';

const PlanLine = v.object({
  key: v.string(),
  title: v.string(),
  parent: v.nullable(v.string()),
  after: v.array(v.string()),
  state: v.picklist(['open', 'done', 'skipped']),
});
export type PlanLine = v.InferOutput<typeof PlanLine>;

/** What an import answers. */
export const Imported = v.object({
  run: v.string(),
  added: v.number(),
  /** Without phases. */
  addedLeaves: v.number(),
  leaves: v.number(),
  changedSteps: v.number(),
  /** Steps of the run that the file does not name; they stay. */
  missing: v.array(v.string()),
  /** Steps that the file marks as done and that are not done here. */
  ticked: v.array(v.string()),
  steps: v.number(),
  version: v.number(),
  dryRun: v.boolean(),
  plan: v.array(PlanLine),
  /** What in the file is not a step, and what became of it. */
  notSteps: v.array(v.object({ heading: v.string(), as: v.string(), files: v.number() })),
  ignored: v.record(v.string(), v.number()),
});
type Imported = v.InferOutput<typeof Imported>;

export function sayImported(data: Imported, pen: Pen): Line {
  const { addedLeaves: added, changedSteps, leaves: steps, dryRun, plan } = data;
  const counts = dryRun
    ? line`Nothing is recorded: ${counted(added, fixed('step'))} would be added.`
    : line`Added ${counted(added, fixed('step'))}, changed ${changedSteps}; the plan has ${steps}.`;
  return joined([...treeLines(plan, pen), counts, ...restLines(data, pen)], '\n');
}

const SHOWN = 60;

function treeLines(plan: readonly PlanLine[], pen: Pen): Line[] {
  const depths = new Map<string, number>();
  const lines = plan.slice(0, SHOWN).map(({ key, title, parent, after, state }) => {
    const depth = parent === null ? 0 : (depths.get(parent) ?? 0) + 1;
    depths.set(key, depth);
    const needs = after.length > 0 ? line`  after ${joined(after.map((one) => pen.quote(one, 'name')))}` : line``;
    const words = line`${pen.bold(pen.quote(key, 'name'))} ${pen.quote(title, 'title')}`;
    const marks = state === 'open' ? needs : line`  ${state === 'done' ? line`done` : line`skipped`}${needs}`;
    return joined([...Array.from({ length: depth + 1 }, () => line` `), line`${words}${pen.dim(marks)}`], ' ');
  });
  return plan.length > SHOWN ? [...lines, pen.dim(line`  and ${plan.length - SHOWN} more`)] : lines;
}

function restLines({ notSteps, ignored, missing, ticked }: Imported, pen: Pen): Line[] {
  const lines: Line[] = [];
  if (notSteps.length > 0) {
    const parts = notSteps.map(
      ({ heading, as, files }) => line`${pen.quote(heading, 'title')} (${becomes[as]?.(files) ?? line`left`})`,
    );
    lines.push(line`Not steps: ${joined(parts, ', ')}.`);
  }
  const names = Object.entries(ignored).map(([name, count]) => line`${pen.quote(name, 'name')} (${count})`);
  if (names.length > 0) lines.push(pen.dim(line`Fields not used: ${joined(names, ', ')}.`));
  const listed = (keys: readonly string[]): Line => joined(keys.slice(0, 10).map((key) => pen.quote(key, 'name')));
  if (ticked.length > 0)
    lines.push(line`Done in the file and not here: ${listed(ticked)}. \`holdfast complete KEY\` completes one.`);
  if (missing.length > 0)
    lines.push(pen.dim(line`The file does not name ${listed(missing)}; \`holdfast plan remove KEY\` removes one.`));
  return lines;
}

const becomes: Record<string, (files: number) => Line> = {
  goal: () => line`goal`,
  reading: (files) => line`${files} to read`,
  constraint: () => line`constraint`,
  note: () => line`note`,
};
