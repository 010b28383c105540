import type { ModelSession, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { setField } from '../text/field.ts';
import { setFront } from '../text/front-matter.ts';
import { editPage } from '../text/page.ts';
import { editSheet, newEntry, type Sheet, type Spot } from '../text/rows.ts';
import { setCell } from '../text/table.ts';
import { editEntries, newSection } from './edit-entries.ts';
import { editSlice } from './edit-slice.ts';
import { row } from './entries.ts';
import { labelLine } from './new-state.ts';
import { editNextAction } from './next-action.ts';
import { type Counts, isOver, movedCounts, type StepChanges } from './progress.ts';
import type { Draft, Reading } from './reading.ts';
import { placeOf, saidOf } from './said.ts';
import { type Place, pageRows, statusNames } from './table.ts';
import type { FieldName } from './words/fields.ts';
import { readPercent, readPhase } from './words/numbers.ts';

/** STATE.md with only those lines changed that differ from the run model; null when none does. */
export function editState(
  reading: Reading,
  model: RunModel,
  changes: StepChanges,
  now: string,
  /** The steps that the files give with another text of this one. */
  reread: (text: string) => readonly ModelStep[],
): string | null {
  const { state } = reading;
  if (!state) return null;
  // Of two edits of one line the first counts: a position may be said twice.
  const edit = editPage(state.page, 'ignored');
  const draft: Draft = { reading, state, page: state.page, model, changes, edit };
  editEntries(draft);
  const place = placeIn(draft);
  const isSlice = state.variant === 'gsd-2';
  const isMoved =
    place !== undefined &&
    (place.step.key !== (reading.steps.position ?? '') || changes.status.some(({ key }) => key === place.step.key));
  if (isSlice && place) editSlice(draft, place, isMoved);
  const missing = new Map<string, unknown>();
  const sheet = sheetOf(draft, missing);
  const [was, will] = [lastSession(reading, reading.model.sessions), lastSession(reading, model.sessions)];
  const said = saidOf(model, will, place);
  const moved = isMoved && !isSlice;
  editSheet(sheet, pageRows, saidOf(reading.model, was), said, { moved });
  addMissing(draft, missing, place);
  editTable(draft);
  const field = state.field('progress');
  const moves = movedCounts(
    reading.model.steps,
    model.steps,
    changes,
    () => reread(edit.apply()),
    (key) => countIn(state.front?.fields.get(`progress.${key}`)?.value, key),
    field ? readPercent(field.value) : null,
  );
  if (moves) editSheet(sheet, pageRows, said, { ...said, ...moves }, { moved: false });
  if (!edit.changed) return null;
  stamp(draft, now);
  return edit.apply();
}

const countIn = (value: string | undefined, key: keyof Counts): number | null => {
  if (value === undefined) return null;
  return key === 'percent' ? readPercent(`${value}%`) : /^\d+$/.test(value) ? Number(value) : null;
};

/** The front matter and key lines of the page. */
function sheetOf({ state, page, edit }: Draft, missing: Map<string, unknown>): Sheet<{ at: string }> {
  const heading = page.headings.find(({ level }) => level === 1);
  const spot = (raw: string, set: (words: string) => void): Spot => ({
    raw,
    node: null,
    set: (words) => set(String(words)),
  });
  return {
    find: ({ at }) => {
      if (at.startsWith('---.')) {
        const field = state.front?.fields.get(at.slice(4));
        return field ? spot(field.value, (words) => setFront(edit, page, field, words)) : null;
      }
      if (at === '# ')
        return heading
          ? spot(heading.title, (words) =>
              edit.set(
                heading.line,
                `# ${state.title ? heading.title.replace(state.title.text, () => words) : `Project State: ${words}`}`,
              ),
            )
          : null;
      const { next } = state;
      if (at === 'next' && next)
        return spot(next.text, (words) => editNextAction(edit, page, next, words === 'None' ? '' : words));
      const field = state.field(at as FieldName);
      return field ? spot(field.value, (words) => field.value !== words && setField(edit, page, field, words)) : null;
    },
    // Keys are not added to the front matter of others.
    add: ({ at }, raw) => void missing.set(at, raw),
  };
}

/** What no line has yet, in the section where a new file has it. */
function addMissing(draft: Draft, missing: ReadonlyMap<string, unknown>, place: Place | undefined): void {
  const { state, page, edit } = draft;
  const lines = (...names: string[]): string[] =>
    names.flatMap((name) => (missing.has(name) ? labelLine(name, missing.get(name)) : []));
  // A step of another kind, for example from a handoff, is not a phase that fits here.
  if (missing.has('phase') && place && readPhase(place.number)) {
    const added = lines('phase', 'plan', 'status');
    if (state.positionHeading) edit.insert(state.positionHeading.line + 1, ['', ...added]);
    else newSection(draft, 'Current Position', added);
  }
  if (missing.has('core value')) {
    const heading = page.headings.find(({ level }) => level === 1);
    edit.insert((heading?.line ?? -1) + 1, ['', ...lines('core value')]);
  }
  const isThere = (name: FieldName, key: string): boolean =>
    state.field(name) !== undefined || state.front?.fields.has(key) === true;
  const isTold = isThere('last session', 'stopped_at') || isThere('stopped at', 'stopped_at');
  if ((missing.has('last session') || missing.has('stopped at')) && !isTold) {
    const session = newEntry(pageRows, saidOf(draft.model, lastSession(draft.reading, draft.model.sessions)), {
      moved: true,
    });
    const all = ['last session', 'stopped at', 'resume file'].flatMap((name) => labelLine(name, session[name]));
    newSection(draft, 'Session Continuity', all, false);
  }
  // The next action of a handoff stays in the handoff.
  if (missing.has('next') && state.front?.fields.has('next_action') !== true)
    newSection(draft, 'Next Action', [String(missing.get('next'))], false);
}

/** Updates the time of the last write where the file has one. */
function stamp({ state, page, edit }: Draft, now: string): void {
  const field = state.front?.fields.get('last_updated');
  if (field && field.value !== now) setFront(edit, page, field, now);
  const shown = state.anywhere.get('last updated');
  if (!shown || state.front) return;
  const time = /\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?/;
  setField(
    edit,
    page,
    shown,
    shown.value.replace(time, (old) => (old.length > 10 ? now : now.slice(0, 10))),
  );
}

/** When the last step is done, the position is where the work ended. */
function placeIn({ model, changes, reading }: Draft): Place | undefined {
  const key = model.steps.every(isOver) ? changes.status.findLast(isOver)?.key : changes.position;
  const step = model.steps.find((one) => one.key === key);
  const number = (phase: string): string => reading.roadmap?.steps.find((one) => one.key === phase)?.number || phase;
  return step && placeOf(model.steps, step, number);
}

/** Tables of phases: updates the status cells, and adds rows for steps that no file has yet. */
function editTable(draft: Draft): void {
  const { reading, model, changes, page, edit } = draft;
  const isStatus = (words: string): boolean => /^\W*(?:status|estado|状态|상태)/iu.test(words);
  for (const step of changes.status) {
    const entry = reading.steps.rows.get(step.key);
    const at = entry?.columns?.findIndex(isStatus) ?? -1;
    if (!entry || at < 0) continue;
    const line = setCell(page.line(entry.from), at, (old) => statusCell(old, statusNames[step.status]));
    // A column with 0 % for a completed phase would contradict its neighbour.
    const share = isOver(step) ? entry.cells.findIndex((words) => /^\d{1,3}\s?%$/.test(words.trim())) : -1;
    edit.set(entry.from, share < 0 ? line : setCell(line, share, () => '100%'));
  }
  // Without a roadmap only steps that are still open are added.
  const parents = new Map(model.steps.map((step) => [step.key, step]));
  const ahead = changes.added.filter((step) => !isOver(step) && !isOver(parents.get(step.parent ?? '') ?? step));
  if (reading.roadmap || ahead.length === 0) return;
  const last = [...reading.steps.rows.values()].findLast(({ columns }) => columns);
  if (!last?.columns) {
    const rows = model.steps.map((step) => row([step.key, step.title, statusNames[step.status]]));
    return newSection(draft, 'Phase Progress', ['| Phase | Name | Status |', '|-------|------|--------|', ...rows]);
  }
  const { columns, to } = last;
  const isNamed = columns.some((column) => /name|title|nome/i.test(column));
  const cells = (step: ModelStep): string[] =>
    columns.map((words, index) => {
      if (index === 0) return isNamed ? step.key : `${step.key}. ${step.title}`;
      if (isStatus(words)) return statusNames[step.status];
      return /^\W*(?:name|title|nome|名称|이름)/iu.test(words) ? step.title : '—';
    });
  edit.insert(
    to,
    ahead.map((step) => row(cells(step))),
  );
}

/** The status in a cell; text after it, other than a date or a count, stays. */
export function statusCell(old: string, word: string): string {
  const cut = old.search(/\s*[(（;:：]|\s[—–-]\s/u);
  const rest = cut < 0 ? '' : old.slice(cut);
  if (rest.length > 24) return word + rest;
  return cut < 0 && old.length > 40 ? `${word} — ${old}` : word;
}

/** The last one that ended, without those that left a note. */
function lastSession({ handoffs }: Reading, sessions: readonly ModelSession[]): ModelSession | undefined {
  const notes = new Set(handoffs.map(({ path }) => path));
  const ours = sessions.filter(({ alias }) => !(alias && notes.has(alias)));
  return (
    ours.findLast(({ endedAt }) => endedAt !== undefined) ??
    ours.findLast(({ workingOn, status }) => workingOn !== undefined && status !== 'active')
  );
}
