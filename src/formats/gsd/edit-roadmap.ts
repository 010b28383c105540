import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { bare, editLines, type LineEdit } from '../markdown.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from './clip.ts';
import { setCell, statusCell } from './edit-state.ts';
import { splitRow } from './entries.ts';
import { numberSteps, phaseBox, planBox, type Roadmap, type RoadmapStep, suffix } from './roadmap.ts';
import type { StepChanges } from './step-changes.ts';

/** ROADMAP.md with boxes ticked, rows updated and new steps added; null when nothing changed. */
export function editRoadmap(roadmap: Roadmap, model: RunModel, changes: StepChanges): string | null {
  const { page } = roadmap;
  const there = new Map(roadmap.steps.map((step) => [step.key, step]));
  const edits: LineEdit[] = [];
  const touched = new Map<number, string>();
  const line = (at: number) => touched.get(at) ?? bare(page.lines[at]);
  for (const step of changes.status) {
    const found = there.get(step.key);
    if (!found) continue;
    if (found.box >= 0) touched.set(found.box, ticked(line(found.box), step, changes.position === step.key));
    if (found.row >= 0) touched.set(found.row, movedRow(line(found.row), step));
  }
  for (const { before, after } of changes.renamed) {
    const found = there.get(after.key);
    for (const at of [found?.box ?? -1, found?.row ?? -1, found?.heading ?? -1])
      if (at >= 0)
        touched.set(
          at,
          line(at).replace(before.title, () => flat(after.title)),
        );
  }
  for (const step of changes.removed) {
    const found = there.get(step.key);
    if (found) removeStep(found, edits, touched, line);
  }
  for (const [at, text] of touched)
    if (text !== bare(page.lines[at])) edits.push({ from: at, to: at + 1, lines: [text] });
  edits.push(...addSteps(roadmap, model, changes.added));
  return edits.length === 0 ? null : editLines(page, edits);
}

function ticked(text: string, step: ModelStep, isPosition: boolean): string {
  const boxed = text.replace(/\[[ xX~-]\]/, step.status === 'completed' ? '[x]' : '[ ]');
  const plain = boxed.replace(/\s*\*\((?:in progress|failed|skipped)\)\*(?=\s*(?:<!--.*-->)?\s*$)/i, '');
  // STATE.md has the step in progress; the roadmap marks it only where STATE.md does not.
  const mark = step.status === 'in_progress' && isPosition ? '' : suffix(step);
  const comment = /\s*<!--.*?-->\s*$/.exec(plain);
  return comment ? plain.slice(0, comment.index) + mark + comment[0] : plain + mark;
}

const words: Record<ModelStep['status'], string> = {
  pending: 'Not started',
  in_progress: 'In Progress',
  completed: 'Complete',
  failed: 'Failed',
  skipped: 'Skipped',
};

function movedRow(text: string, step: ModelStep): string {
  const at = splitRow(text).findIndex((cell, index) => index > 0 && stepStatus(cell) !== null);
  return at < 0 ? text : setCell(text, at, (old) => statusCell(old, words[step.status]));
}

/** A list line is removed. A section stays, under a heading that says it is no longer in the plan. */
function removeStep(
  found: RoadmapStep,
  edits: LineEdit[],
  touched: Map<number, string>,
  line: (at: number) => string,
): void {
  for (const at of [found.box, found.row]) {
    if (at < 0) continue;
    touched.delete(at);
    edits.push({ from: at, to: at + 1, lines: [] });
  }
  if (found.heading < 0) return;
  const parts = /^(\s*#+\s+)(.*)$/.exec(line(found.heading));
  if (parts) touched.set(found.heading, `${parts[1]}Removed: ${parts[2]}`);
}

function addSteps(roadmap: Roadmap, model: RunModel, added: readonly ModelStep[]): LineEdit[] {
  if (added.length === 0) return [];
  const { page, steps } = roadmap;
  const given = new Map(steps.filter(({ number }) => number !== '').map(({ key, number }) => [key, number]));
  const numbers = numberSteps(model.steps, given);
  const there = new Map(steps.map((step) => [step.key, step]));
  const lines = new Map<number, string[]>();
  const put = (at: number, ...text: string[]) => lines.set(at, [...(lines.get(at) ?? []), ...text]);
  const lastBox =
    steps.findLast(({ kind, box, archived }) => kind === 'phase' && box >= 0 && !archived) ??
    steps.findLast(({ box }) => box >= 0);
  for (const step of added) {
    const parent = step.parent === undefined ? null : there.get(step.parent);
    if (step.parent === undefined || !model.steps.some(({ key }) => key === step.parent)) {
      put(lastBox ? lastBox.box + 1 : page.lines.length, phaseBox(step, numbers));
      continue;
    }
    const sibling = steps.findLast(({ parent: above, box }) => above === step.parent && box >= 0);
    const heading =
      parent && parent.heading >= 0 ? page.headings.find(({ line }) => line === parent.heading) : undefined;
    const text = numbers.has(step.key)
      ? planBox(step, numbers)
      : `  - [${step.status === 'completed' ? 'x' : ' '}] ${flat(step.title)}${suffix(step)} <!-- key: ${step.key}; kind: ${step.kind}; parent: ${step.parent} -->`;
    if (sibling) put(sibling.box + 1, text);
    else if (heading) put(endOf(page.lines, heading.end), '', text);
    else {
      const above = model.steps.find(({ key }) => key === step.parent) as ModelStep;
      put(
        page.lines.length,
        '',
        `### Phase ${numbers.get(above.key) ?? above.key}: ${flat(above.title)}`,
        '',
        'Plans:',
        '',
        text,
      );
    }
  }
  return [...lines].map(([at, text]) => ({ from: at, to: at, lines: text }));
}

function endOf(lines: readonly string[], end: number): number {
  let at = end;
  while (at > 0 && bare(lines[at - 1]).trim() === '') at--;
  return at;
}
