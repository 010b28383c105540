import type { ModelSession, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { bare, editLines, type LineEdit } from '../markdown.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from './clip.ts';
import { editEntries, newSection, row } from './edit-entries.ts';
import { editProgress } from './edit-progress.ts';
import { editSlice } from './edit-slice.ts';
import { type Field, type FieldName, setField } from './fields.ts';
import { setFront } from './front-matter.ts';
import { editNextAction } from './next-action.ts';
import { padded, readCount, readPhase, readPlanId } from './numbers.ts';
import { isOver } from './progress.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import type { StepChanges } from './step-changes.ts';

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
  const ownEdits = [
    ...editEntries(reading, model, state),
    ...editPosition(reading, model, changes, state),
    ...editRows(reading, model, changes, state),
  ];
  const edits = [
    ...ownEdits,
    ...editProgress(reading, model, changes, state, () => reread(editLines(state.page, withoutOverlaps(ownEdits)))),
    ...editSession(reading, model, state),
    ...editNext(reading, model, state),
    ...editRun(reading, model, state),
  ];
  const apart = withoutOverlaps(edits);
  const changed = apart.some(({ from, to, lines }) => !isSame(state, from, to, lines));
  if (!changed) return null;
  return editLines(state.page, withoutOverlaps([...apart, ...stamp(state, now)]));
}

function isSame(state: StatePage, from: number, to: number, lines: readonly string[]): boolean {
  return to - from === lines.length && lines.every((line, index) => line === bare(state.page.lines[from + index]));
}

/** Of two edits of one line the first counts. */
function withoutOverlaps(edits: readonly LineEdit[]): LineEdit[] {
  const taken = new Set<number>();
  return edits.filter(({ from, to }) => {
    for (let line = from; line < to; line++) if (taken.has(line)) return false;
    for (let line = from; line < to; line++) taken.add(line);
    return true;
  });
}

/** Updates the time of the last write where the file has one. */
function stamp({ page, front, anywhere }: StatePage, now: string): LineEdit[] {
  const field = front?.fields.get('last_updated');
  if (field) return [setFront(page, field, now)];
  const shown = anywhere.get('lastUpdated');
  if (!shown || front) return [];
  const value = shown.value.replace(/\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?/, (old) =>
    old.length > 10 ? now : now.slice(0, 10),
  );
  return value === shown.value ? [] : [setField(page, shown, value)];
}

function editPosition(reading: Reading, model: RunModel, changes: StepChanges, state: StatePage): LineEdit[] {
  const { page, front } = state;
  // When the last step is done, the position is where the work ended.
  const place = model.steps.every(isOver) ? changes.status.findLast(isOver)?.key : changes.position;
  const step = model.steps.find(({ key }) => key === place);
  if (!step) return [];
  const byKey = new Map(model.steps.map((one) => [one.key, one]));
  const path = pathTo(byKey, step);
  if (state.variant === 'gsd-2') return editSlice(reading, path, model, changes, state);
  const moved = place !== reading.steps.position;
  if (!moved && !changes.status.some(({ key }) => key === step.key)) return [];
  const phase = path[0] as ModelStep;
  const plan = path[1];
  const siblings = model.steps.filter((one) => one.parent === phase.key);
  const edits: LineEdit[] = [];
  const set = (name: FieldName, value: (old: string) => string): boolean => {
    const field = state.position.get(name);
    if (!field) return false;
    const next = value(field.value);
    if (next !== field.value) edits.push(setField(page, field, next));
    return true;
  };
  const total = model.steps.filter(({ parent }) => parent === undefined).length;
  const number = numberOf(reading, phase.key);
  const over = siblings.length > 0 ? siblings.every(isOver) : isOver(phase);
  const placed = set('phase', (old) => phaseValue(old, number, phase, total, over));
  set('phaseName', () => flat(phase.title));
  set('plan', (old) => planValue(old, plan, siblings));
  set('totalPlans', () => String(siblings.length));
  set('status', (old) => (stepStatus(old) === step.status ? old : statusWords(step, plan !== undefined)));
  for (const [key, value] of [
    ['current_phase', number],
    ['current_phase_name', flat(phase.title)],
    ['current_plan', plan?.key ?? ''],
    ['status', step.status === 'in_progress' ? 'executing' : ''],
  ] as const) {
    const field = front?.fields.get(key);
    if (!field || value === '' || field.value === value) continue;
    if (key === 'current_phase' && readPhase(field.value)?.key === phase.key) continue;
    edits.push(setFront(page, field, key === 'current_phase' && /^0\d/.test(field.value) ? padded(value) : value));
  }
  // A step of another kind, for example from a handoff, is not a phase that fits here.
  if (!placed && readPhase(number))
    edits.push(
      ...insertPosition(state, [
        `Phase: ${phaseValue('', number, phase, total, over)}`,
        `Plan: ${planValue('', plan, siblings)}`,
        `Status: ${statusWords(step, plan !== undefined)}`,
      ]),
    );
  return edits;
}

function insertPosition(state: StatePage, lines: readonly string[]): LineEdit[] {
  const heading = state.positionHeading;
  if (!heading) return [newSection(state, 'Current Position', lines)];
  const at = heading.line + 1;
  return [{ from: at, to: at, lines: ['', ...lines] }];
}

function pathTo(byKey: ReadonlyMap<string, ModelStep>, step: ModelStep): ModelStep[] {
  const path = [step];
  for (let above = step.parent; above !== undefined && path.length < 50; ) {
    const parent = byKey.get(above);
    if (!parent || path.includes(parent)) break;
    path.unshift(parent);
    above = parent.parent;
  }
  return path;
}

function numberOf(reading: Reading, key: string): string {
  return reading.roadmap?.steps.find((step) => step.key === key)?.number || key;
}

/** `3 of 5 (Auth)`, `07`, `05 (polish) — EXECUTING`: writes the next phase in the same shape. */
function phaseValue(old: string, number: string, phase: ModelStep, total: number, over: boolean): string {
  const before = readPhase(old);
  const word = over ? 'COMPLETE' : 'EXECUTING';
  const shouted = /(\s[—–-]+\s)(?:EXECUTING|IN PROGRESS|COMPLETED?|READY|PLANNING|VERIFYING)\b/;
  if (before && (before.key === phase.key || before.key === readPhase(number)?.key)) {
    const same = stepStatus(shouted.exec(old)?.[0] ?? '') === (over ? 'completed' : 'in_progress');
    return same ? old : old.replace(shouted, (_, dash: string) => dash + word);
  }
  const spelled = before && /^0\d/.test(before.spelled) ? padded(number) : number;
  if (before && /^\W*\d+[A-Za-z]?(?:\.\d+)*\W*$/.test(old)) return spelled;
  const of = before?.total ? ` of ${Math.max(before.total, total)}` : before ? '' : ` of ${total}`;
  const suffix = / — [A-Z]{4,}\b/.test(old) ? ` — ${word}` : '';
  return `${spelled}${of} (${flat(phase.title)})${suffix}`;
}

function planValue(old: string, plan: ModelStep | undefined, siblings: readonly ModelStep[]): string {
  if (!plan) return readCount(old) || readPlanId(old) ? 'Not started' : old || 'Not started';
  const at = siblings.indexOf(plan) + 1;
  const id = readPlanId(old);
  if (id) return id.key === plan.key ? old : plan.key;
  const count = readCount(old);
  const rest = /^\s*\d+\s*(?:of|\/)\s*\d+( in current phase)?/.exec(old)?.[1] ?? '';
  if (count?.at === at && (count.total === null || count.total === siblings.length)) return old;
  return `${at} of ${siblings.length}${rest}`;
}

function statusWords(step: ModelStep, isPlan: boolean): string {
  switch (step.status) {
    case 'in_progress':
      return 'In progress';
    case 'pending':
      return isPlan ? 'Ready to execute' : 'Ready to plan';
    case 'completed':
      return isPlan ? 'Plan complete' : 'Phase complete';
    case 'failed':
      return 'Failed';
    case 'skipped':
      return 'Skipped';
    default:
      return step.status satisfies never;
  }
}

const tableWords: Record<ModelStep['status'], string> = {
  pending: 'Not started',
  in_progress: 'In progress',
  completed: 'Complete',
  failed: 'Failed',
  skipped: 'Skipped',
};

/** Tables of phases: updates the status cells, and adds rows for steps that no file has yet. */
function editRows(reading: Reading, model: RunModel, changes: StepChanges, state: StatePage): LineEdit[] {
  const edits: LineEdit[] = [];
  for (const step of changes.status) {
    const entry = reading.steps.rows.get(step.key);
    const at = entry?.table?.columns.findIndex((words) => /^\W*(?:status|estado|状态|상태)/iu.test(words)) ?? -1;
    if (!entry || at < 0) continue;
    const line = setCell(bare(state.page.lines[entry.from]), at, (old) => statusCell(old, tableWords[step.status]));
    // A column with 0 % for a completed phase would contradict its neighbour.
    const share = isOver(step) ? entry.cells.findIndex((words) => /^\d{1,3}\s?%$/.test(words.trim())) : -1;
    edits.push({ from: entry.from, to: entry.to, lines: [share < 0 ? line : setCell(line, share, () => '100%')] });
  }
  // Without a roadmap only steps that are still open are added.
  const parents = new Map(model.steps.map((step) => [step.key, step]));
  const ahead = changes.added.filter((step) => !isOver(step) && !isOver(parents.get(step.parent ?? '') ?? step));
  if (reading.roadmap || ahead.length === 0) return edits;
  const line = (step: ModelStep) => row([step.key, step.title, tableWords[step.status]]);
  const last = [...reading.steps.rows.values()].findLast(({ form }) => form === 'row');
  if (last?.table) {
    const { columns } = last.table;
    const cells = (step: ModelStep) =>
      columns.map((words, index) => {
        if (index === 0)
          return columns.some((column) => /name|title|nome/i.test(column)) ? step.key : `${step.key}. ${step.title}`;
        if (/^\W*(?:status|estado|状态|상태)/iu.test(words)) return tableWords[step.status];
        return /^\W*(?:name|title|nome|名称|이름)/iu.test(words) ? step.title : '—';
      });
    return [...edits, { from: last.to, to: last.to, lines: ahead.map((step) => row(cells(step))) }];
  }
  const table = ['| Phase | Name | Status |', '|-------|------|--------|', ...model.steps.map(line)];
  return [...edits, newSection(state, 'Phase Progress', table)];
}

/** The status in a cell; text after it, other than a date or a count, stays. */
export function statusCell(old: string, word: string): string {
  const cut = old.search(/\s*[(（;:：]|\s[—–-]\s/u);
  const rest = cut < 0 ? '' : old.slice(cut);
  if (rest.length > 24) return word + rest;
  return cut < 0 && old.length > 40 ? `${word} — ${old}` : word;
}

/** Changes one cell of a row; bars, spaces and other cells stay. */
export function setCell(line: string, index: number, value: (old: string) => string): string {
  const bars: number[] = [];
  for (let at = 0, code = false; at < line.length; at++) {
    if (line[at] === '`') code = !code && line.includes('`', at + 1);
    if (line[at] === '|' && line[at - 1] !== '\\' && !code) bars.push(at);
  }
  const from = bars[index];
  const to = bars[index + 1];
  if (from === undefined || to === undefined) return line;
  return `${line.slice(0, from + 1)} ${value(line.slice(from + 1, to).trim())} ${line.slice(to)}`;
}

/** Updates the last ended session where the run model has another one than the file. */
function editSession(reading: Reading, model: RunModel, state: StatePage): LineEdit[] {
  const last = lastSession(reading, model.sessions);
  const before = lastSession(reading, reading.model.sessions);
  if (!last || (last.endedAt === before?.endedAt && last.workingOn === before?.workingOn)) return [];
  const { page, front } = state;
  const edits: LineEdit[] = [];
  const stopped = stoppedAt(last, model.steps);
  const fields: [FieldName, string][] = [
    ['lastSession', last.endedAt ?? ''],
    ['stoppedAt', stopped],
  ];
  let found = false;
  for (const [name, value] of fields) {
    const field: Field | undefined = state.session.get(name) ?? state.anywhere.get(name);
    if (field) found = true;
    if (field && value !== '' && field.value !== value) edits.push(setField(page, field, value));
  }
  const inFront = front?.fields.get('stopped_at');
  if (inFront && stopped !== '' && inFront.value !== stopped) edits.push(setFront(page, inFront, stopped));
  if (!found && !inFront)
    edits.push(
      newSection({ ...state, page: { ...page, headings: [] } }, 'Session Continuity', sessionLines(last, model.steps)),
    );
  return edits;
}

export function sessionLines(session: ModelSession, steps: readonly ModelStep[]): string[] {
  const stopped = stoppedAt(session, steps);
  const resume = session.notes?.find((note) => note.startsWith('Resume file: '))?.slice(13);
  return [
    `Last session: ${session.endedAt ?? session.startedAt ?? 'None'}`,
    `Stopped at: ${stopped || 'None'}`,
    `Resume file: ${resume ?? 'None'}`,
  ];
}

/** A step key alone would mean nothing to a reader. */
function stoppedAt({ workingOn, completed, notes }: ModelSession, steps: readonly ModelStep[]): string {
  const titles = new Map(steps.map(({ key, title }) => [key, title.includes(key) ? title : `${key} ${title}`]));
  const named = (words: string): string => titles.get(words) ?? words;
  if (workingOn !== undefined) return flat(named(workingOn));
  if (completed?.some((one) => titles.has(one))) return flat(`Completed ${completed.map(named).join('; ')}`);
  return flat(completed?.join('; ') ?? notes?.[0] ?? '');
}

function lastSession({ handoffs }: Reading, sessions: readonly ModelSession[]): ModelSession | undefined {
  const notes = new Set(handoffs.map(({ path }) => path));
  return (
    sessions.findLast(
      ({ endedAt, workingOn, alias }) =>
        (endedAt !== undefined || workingOn !== undefined) && !(alias && notes.has(alias)) && endedAt !== undefined,
    ) ??
    sessions.findLast(
      ({ alias, workingOn, status }) => workingOn !== undefined && status !== 'active' && !(alias && notes.has(alias)),
    )
  );
}

function editNext(reading: Reading, model: RunModel, state: StatePage): LineEdit[] {
  const { page, front, next } = state;
  const before = reading.model.next;
  const after = model.next;
  if (before === after || flat(before ?? '') === flat(after ?? '')) return [];
  const inFront = front?.fields.get('next_action');
  const edits = inFront ? [setFront(page, inFront, flat(after || 'None'))] : [];
  if (next) return [...edits, ...editNextAction(page, next, after ?? '')];
  const field = state.position.get('next') ?? state.session.get('next');
  if (field) return [...edits, setField(page, field, flat(after || 'None'))];
  // The next action of a handoff stays in the handoff.
  if (inFront || !after) return edits;
  return [newSection({ ...state, page: { ...page, headings: [] } }, 'Next Action', [flat(after)])];
}

function editRun(reading: Reading, model: RunModel, state: StatePage): LineEdit[] {
  const { page, front, title, anywhere } = state;
  const before = reading.model.run;
  const { run } = model;
  const edits: LineEdit[] = [];
  if (flat(run.title) !== flat(before.title) && run.title.trim() !== '') {
    const heading = page.headings.find(({ level }) => level === 1);
    const words =
      title && heading ? heading.title.replace(title.text, flat(run.title)) : `Project State: ${flat(run.title)}`;
    if (heading) edits.push({ from: heading.line, to: heading.line + 1, lines: [`# ${words}`] });
  }
  if (run.goal !== undefined && flat(run.goal) !== flat(before.goal ?? '')) {
    const field = anywhere.get('coreValue');
    const at = (page.headings.find(({ level }) => level === 1)?.line ?? -1) + 1;
    edits.push(
      field ? setField(page, field, run.goal) : { from: at, to: at, lines: ['', `**Core value:** ${flat(run.goal)}`] },
    );
  }
  const status = front?.fields.get('status');
  if (status && run.status !== before.status && (run.status === 'completed' || before.status === 'completed'))
    edits.push(setFront(page, status, run.status === 'completed' ? 'completed' : 'executing'));
  const milestone = front?.fields.get('milestone');
  if (milestone && run.alias && before.alias && run.alias !== before.alias)
    edits.push(setFront(page, milestone, run.alias));
  return edits;
}
