import type { ModelSession, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { pathTo } from '../../core/views/named-step.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from '../text/lines.ts';
import { setCell } from '../text/table.ts';
import { type Draft, openDraft, statusNames } from './draft.ts';
import { editEntries, newSection, row } from './edit-entries.ts';
import { editSlice } from './edit-slice.ts';
import { editNextAction } from './next-action.ts';
import { editProgress, isOver } from './progress.ts';
import type { Reading } from './reading.ts';
import type { StepChanges } from './step-changes.ts';
import type { FieldName } from './words/fields.ts';
import { padded, readCount, readPhase, readPlanId } from './words/numbers.ts';

/** STATE.md with only those lines changed that differ from the run model; null when none does. */
export function editState(
  reading: Reading,
  model: RunModel,
  changes: StepChanges,
  now: string,
  /** The steps that the files give with another text of this one. */
  reread: (text: string) => readonly ModelStep[],
): string | null {
  if (!reading.state) return null;
  const draft = openDraft(reading, reading.state, model, changes);
  const { edit } = draft;
  editEntries(draft);
  editPosition(draft);
  editRows(draft);
  editProgress(draft, () => reread(edit.apply()));
  editSession(draft);
  editNext(draft);
  editRun(draft);
  if (!edit.changed) return null;
  stamp(draft, now);
  return edit.apply();
}

/** Updates the time of the last write where the file has one. */
function stamp({ state: { front, anywhere }, setFront, setField }: Draft, now: string): void {
  setFront('last_updated', now);
  const shown = anywhere.get('lastUpdated');
  if (!shown || front) return;
  const time = /\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?/;
  setField(
    shown,
    shown.value.replace(time, (old) => (old.length > 10 ? now : now.slice(0, 10))),
  );
}

function editPosition(draft: Draft): void {
  const { reading, state, model, changes, setFront } = draft;
  // When the last step is done, the position is where the work ended.
  const place = model.steps.every(isOver) ? changes.status.findLast(isOver)?.key : changes.position;
  const step = model.steps.find(({ key }) => key === place);
  if (!step) return;
  const path = pathTo(new Map(model.steps.map((one) => [one.key, one])), step);
  if (state.variant === 'gsd-2') return editSlice(draft, path);
  if (place === reading.steps.position && !changes.status.some(({ key }) => key === step.key)) return;
  const [phase = step, plan] = path;
  const siblings = model.steps.filter((one) => one.parent === phase.key);
  const total = model.steps.filter(({ parent }) => parent === undefined).length;
  const number = numberOf(reading, phase.key);
  const over = siblings.length > 0 ? siblings.every(isOver) : isOver(phase);
  const set = (name: FieldName, value: (old: string) => string): void => {
    const field = state.position.get(name);
    if (field) draft.setField(field, value(field.value));
  };
  set('phase', (old) => phaseValue(old, number, phase, total, over));
  set('phaseName', () => flat(phase.title));
  set('plan', (old) => planValue(old, plan, siblings));
  set('totalPlans', () => String(siblings.length));
  set('status', (old) => (stepStatus(old) === step.status ? old : statusWords(step, plan !== undefined)));
  const stored = state.front?.fields.get('current_phase')?.value ?? '';
  if (readPhase(stored)?.key !== phase.key) setFront('current_phase', /^0\d/.test(stored) ? padded(number) : number);
  setFront('current_phase_name', flat(phase.title));
  if (plan) setFront('current_plan', plan.key);
  if (step.status === 'in_progress') setFront('status', 'executing');
  // A step of another kind, for example from a handoff, is not a phase that fits here.
  if (state.position.has('phase') || !readPhase(number)) return;
  const lines = [
    `Phase: ${phaseValue('', number, phase, total, over)}`,
    `Plan: ${planValue('', plan, siblings)}`,
    `Status: ${statusWords(step, plan !== undefined)}`,
  ];
  if (state.positionHeading) draft.edit.insert(state.positionHeading.line + 1, ['', ...lines]);
  else newSection(draft, 'Current Position', lines);
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

/** Tables of phases: updates the status cells, and adds rows for steps that no file has yet. */
function editRows(draft: Draft): void {
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
  const { columns = null, to = 0 } = last ?? {};
  if (columns === null) {
    const rows = model.steps.map((step) => row([step.key, step.title, statusNames[step.status]]));
    return newSection(draft, 'Phase Progress', ['| Phase | Name | Status |', '|-------|------|--------|', ...rows]);
  }
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

/** Updates the last ended session where the run model has another one than the file. */
function editSession(draft: Draft): void {
  const { reading, state, model, page, setField, setFront } = draft;
  const last = lastSession(reading, model.sessions);
  const before = lastSession(reading, reading.model.sessions);
  if (!last || (last.endedAt === before?.endedAt && last.workingOn === before?.workingOn)) return;
  const stopped = stoppedAt(last, model.steps);
  const ended = state.session.get('lastSession') ?? state.anywhere.get('lastSession');
  const stop = state.session.get('stoppedAt') ?? state.anywhere.get('stoppedAt');
  if (last.endedAt) setField(ended, last.endedAt);
  if (stopped !== '') setField(stop, stopped);
  if (stopped !== '') setFront('stopped_at', stopped);
  if (!ended && !stop && !state.front?.fields.has('stopped_at'))
    newSection({ ...draft, page: { ...page, headings: [] } }, 'Session Continuity', sessionLines(last, model.steps));
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
  const labels = steps.map(({ key, title }) => ({
    key,
    title,
    label: title.includes(key) ? title : `${key} ${title}`,
  }));
  // A session names what it completed by key, or in words that end with the title.
  const labelOf = (words: string): string | undefined =>
    labels.find(({ key, title }) => words === key || words === title || words.endsWith(`: ${title}`))?.label;
  if (workingOn !== undefined) return flat(labelOf(workingOn) ?? workingOn);
  if (completed?.some(labelOf)) return flat(`Completed ${completed.map((one) => labelOf(one) ?? one).join('; ')}`);
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

function editNext(draft: Draft): void {
  const { reading, state, model, page, edit, setField, setFront } = draft;
  const after = model.next ?? '';
  if (flat(reading.model.next ?? '') === flat(after)) return;
  setFront('next_action', flat(after || 'None'));
  const field = state.position.get('next') ?? state.session.get('next');
  if (state.next) editNextAction(edit, page, state.next, after);
  else if (field) setField(field, flat(after || 'None'));
  // The next action of a handoff stays in the handoff.
  else if (after && !state.front?.fields.has('next_action'))
    newSection({ ...draft, page: { ...page, headings: [] } }, 'Next Action', [flat(after)]);
}

function editRun({ reading, state, model: { run }, page, edit, setField, setFront }: Draft): void {
  const before = reading.model.run;
  const heading = page.headings.find(({ level }) => level === 1);
  if (flat(run.title) !== flat(before.title) && run.title.trim() !== '' && heading) {
    const words = state.title
      ? heading.title.replace(state.title.text, flat(run.title))
      : `Project State: ${flat(run.title)}`;
    edit.set(heading.line, `# ${words}`);
  }
  if (run.goal !== undefined && flat(run.goal) !== flat(before.goal ?? '')) {
    const field = state.anywhere.get('coreValue');
    if (field) setField(field, run.goal);
    else edit.insert((heading?.line ?? -1) + 1, ['', `**Core value:** ${flat(run.goal)}`]);
  }
  if (run.status !== before.status && (run.status === 'completed' || before.status === 'completed'))
    setFront('status', run.status === 'completed' ? 'completed' : 'executing');
  if (run.alias && before.alias && run.alias !== before.alias) setFront('milestone', run.alias);
}
