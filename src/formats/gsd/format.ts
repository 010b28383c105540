import type { GoneRule } from '../../core/model/merge.ts';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Format, Found } from '../format.ts';
import { losesOf } from '../losses.ts';
import { assemble, roleOf } from './assemble.ts';
import { editRoadmap } from './edit-roadmap.ts';
import { editState } from './edit-state.ts';
import { findRuns } from './find.ts';
import { renderState } from './new-state.ts';
import { repairRun } from './repair.ts';
import { renderRoadmap } from './roadmap.ts';
import { stepChanges } from './step-changes.ts';
import { decisionColumns, itemColumns, pageRows, stepRows } from './table.ts';

/** Blockers, to-dos, questions and issues are removed when they are done; the rest of a page is history. */
const gone: GoneRule = (list) => (list === 'items' ? 'resolved' : list === 'steps' ? 'ask' : 'hidden');

/** `.planning/` of Get Shit Done and its successors; see docs/formats/gsd.md. */
export const gsd: Format = {
  name: 'gsd',
  detect: findRuns,
  parse(found, files) {
    const { model, state, problems, writable } = assemble(found, files);
    const main = files.get(found.main);
    const nothing = main !== undefined && main.trim() === '' && files.size === 1;
    return { model: nothing ? null : model, version: state?.variant ?? null, writable, problems };
  },
  render,
  home: () => ({ format: 'gsd', main: '.planning/STATE.md', files: ['.planning/STATE.md', '.planning/ROADMAP.md'] }),
  loses: losesOf(
    { run: pageRows, steps: stepRows, decisions: decisionColumns, items: itemColumns },
    // Boxes and headings of the roadmap; the list that an item is in.
    ['steps.title', 'steps.status', 'items.kind'],
    ['position.words'],
  ),
  writes: ['**/.planning/**/*.{md,json}', '**/.gsd/STATE.md', '**/STATE.md'],
  gone,
  repair: repairRun,
};

function render(model: RunModel, place: Found, previous: Files, now: string): Files {
  const files = new Map<string, string>();
  const before = previous.get(place.main);
  const folder = place.main.slice(0, place.main.lastIndexOf('/') + 1);
  if (before === undefined || before.trim() === '') {
    files.set(place.main, renderState(model, now));
    if (model.steps.length > 0 && !previous.has(`${folder}ROADMAP.md`))
      files.set(`${folder}ROADMAP.md`, renderRoadmap(model.run.title, model.steps));
    return files;
  }
  // A handoff file is a snapshot of its moment; it is read and never rewritten.
  if (roleOf(place.main, before) !== 'state') return files;
  const reading = assemble(place, previous);
  if (!reading.writable) return files;
  const changes = stepChanges(reading, model);
  const roadmap = reading.roadmap ? editRoadmap(reading.roadmap, model, changes) : null;
  const beside = roadmap === null ? previous : new Map([...previous, [reading.roadmapPath, roadmap]]);
  const reread = (text: string) => assemble(place, new Map([...beside, [place.main, text]])).model.steps;
  const state = editState(reading, model, changes, now, reread);
  if (state !== null && state !== before) files.set(place.main, state);
  if (roadmap !== null && roadmap !== previous.get(reading.roadmapPath)) files.set(reading.roadmapPath, roadmap);
  return files;
}
