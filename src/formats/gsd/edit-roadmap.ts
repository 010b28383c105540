import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from '../text/lines.ts';
import { cellsIn } from '../text/list.ts';
import { editPage, type PageEditor } from '../text/page.ts';
import { setCell } from '../text/table.ts';
import { statusCell } from './edit-state.ts';
import type { StepChanges } from './progress.ts';
import { numberSteps, phaseBox, planBox, type Roadmap, suffix, taskBox } from './roadmap.ts';
import { statusNames } from './table.ts';

/** ROADMAP.md with boxes ticked, rows updated and new steps added; null when nothing changed. */
export function editRoadmap(roadmap: Roadmap, model: RunModel, changes: StepChanges): string | null {
  const { page } = roadmap;
  const edit = editPage(page);
  const there = new Map(roadmap.steps.map((step) => [step.key, step]));
  // A line may be touched twice: its step is renamed and completed.
  const touched = new Map<number, string>();
  const touch = (at: number, change: (text: string) => string): void => {
    if (at >= 0) touched.set(at, change(touched.get(at) ?? page.line(at)));
  };
  for (const step of changes.status) {
    const found = there.get(step.key);
    touch(found?.box ?? -1, (text) => ticked(text, step, changes.position === step.key));
    touch(found?.row ?? -1, (text) => movedRow(text, step));
  }
  for (const { before, after } of changes.renamed) {
    const found = there.get(after.key);
    for (const at of [found?.box ?? -1, found?.row ?? -1, found?.heading ?? -1])
      touch(at, (text) => text.replace(before.title, () => flat(after.title)));
  }
  // A list line is removed. A section stays, under a heading that says it is no longer in the plan.
  for (const step of changes.removed) {
    const { box = -1, row = -1, heading = -1 } = there.get(step.key) ?? {};
    touch(heading, (text) => text.replace(/^(\s*#+\s+)/, '$1Removed: '));
    for (const at of [box, row].filter((one) => one >= 0)) {
      touched.delete(at);
      edit.remove(at);
    }
  }
  for (const [at, text] of touched) edit.set(at, text);
  addSteps(edit, roadmap, model, changes.added);
  return edit.changed ? edit.apply() : null;
}

function ticked(text: string, step: ModelStep, isPosition: boolean): string {
  const boxed = text.replace(/\[[ xX~-]\]/, step.status === 'completed' ? '[x]' : '[ ]');
  const plain = boxed.replace(/\s*\*\((?:in progress|failed|skipped)\)\*(?=\s*(?:<!--.*-->)?\s*$)/i, '');
  // STATE.md has the step in progress; the roadmap marks it only where STATE.md does not.
  const mark = step.status === 'in_progress' && isPosition ? '' : suffix(step);
  const comment = /\s*<!--.*?-->\s*$/.exec(plain);
  return comment ? plain.slice(0, comment.index) + mark + comment[0] : plain + mark;
}

function movedRow(text: string, step: ModelStep): string {
  const at = cellsIn(text).findIndex((cell, index) => index > 0 && stepStatus(cell) !== null);
  return at < 0 ? text : setCell(text, at, (old) => statusCell(old, statusNames[step.status]));
}

function addSteps(edit: PageEditor, { page, steps }: Roadmap, model: RunModel, added: readonly ModelStep[]): void {
  const given = new Map(steps.filter(({ number }) => number !== '').map(({ key, number }) => [key, number]));
  const numbers = numberSteps(model.steps, given);
  const lastBox =
    steps.findLast(({ kind, box, archived }) => kind === 'phase' && box >= 0 && !archived) ??
    steps.findLast(({ box }) => box >= 0);
  for (const step of added) {
    const above = model.steps.find(({ key }) => key === step.parent);
    if (!above) {
      edit.insert(lastBox ? lastBox.box + 1 : page.lines.length, [phaseBox(step, numbers)]);
      continue;
    }
    const text = numbers.has(step.key) ? planBox(step, numbers) : taskBox(step, numbers, 1);
    const sibling = steps.findLast(({ parent, box }) => parent === step.parent && box >= 0);
    const line = steps.find(({ key }) => key === step.parent)?.heading ?? -1;
    const heading = page.headings.find((one) => one.line === line);
    const title = `### Phase ${numbers.get(above.key) ?? above.key}: ${flat(above.title)}`;
    if (sibling) edit.insert(sibling.box + 1, [text]);
    else if (heading) edit.insert(endOf(page, heading.end), ['', text]);
    else edit.insert(page.lines.length, ['', title, '', 'Plans:', '', text]);
  }
}

function endOf(page: Roadmap['page'], end: number): number {
  let at = end;
  while (at > 0 && page.line(at - 1).trim() === '') at--;
  return at;
}
