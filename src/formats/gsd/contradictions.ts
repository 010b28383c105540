import type { Found, Problem } from '../format.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import { phaseKey, readDate, readPercent, readPhase } from './words/numbers.ts';

/** The seven statuses of the tool. */
const statuses = new Set(['discussing', 'planning', 'executing', 'verifying', 'completed', 'paused', 'unknown']);

/** Reports where a file contradicts itself or the files around it. Nothing is corrected here. */
export function findContradictions(reading: Reading, found: Found): Problem[] {
  const { state } = reading;
  if (!state) return [];
  const problems: Problem[] = [];
  const warn: Warn = (code, at, message, path = found.main) => {
    problems.push({ code, level: 'warning', path, line: at && at.line + 1, message });
  };
  const front = (key: string): Line | undefined => state.front?.fields.get(key);
  const status = front('status');
  if (status && status.value !== '' && !statuses.has(status.value))
    warn('unknown_status', status, `The status "${short(status.value)}" is not one of ${[...statuses].join(', ')}.`);
  counts(reading, front, warn);
  percents(state, front, warn);
  positions(reading, state, warn);
  duplicates(reading, warn);
  const updated = front('last_updated');
  const [day, updatedDay] = [front('last_activity'), updated].map(
    (field) => field && readDate(field.value)?.slice(0, 10),
  );
  // One day of tolerance: one of them is local time.
  if (updated && day && updatedDay && dayNumber(day) - dayNumber(updatedDay) > 1)
    warn(
      'updated_before_activity',
      updated,
      `It was last updated on ${updatedDay}, before its last activity on ${day}.`,
    );
  handoffs(reading, state, warn);
  return problems;
}

interface Line {
  line: number;
  value: string;
}
type Warn = (code: string, at: { line: number } | null, message: string, path?: string) => void;
type Front = (key: string) => Line | undefined;

function counts({ steps, roadmap }: Reading, front: Front, warn: Warn): void {
  for (const unit of ['plans', 'phases'] as const) {
    const completed = front(`progress.completed_${unit}`);
    const [done, all] = [number(completed), number(front(`progress.total_${unit}`))];
    if (completed && done !== null && all !== null && done > all)
      warn('completed_above_total', completed, `${done} of ${all} ${unit} are completed.`);
  }
  const completed = front('progress.completed_plans');
  const done = number(completed);
  const { plans, summaries } = steps.onDisk;
  if (completed && done !== null && plans > 0 && done !== summaries)
    warn(
      'plans_disagree',
      completed,
      `completed_plans is ${done}; ${summaries} of ${plans} plans on disk have a summary.`,
    );
  const status = front('status');
  const isOpen = (step: { kind: string; archived: boolean; status: string | null }): boolean =>
    step.kind === 'phase' && !step.archived && step.status === 'pending';
  const open = roadmap?.steps.filter(isOpen).length ?? 0;
  if (status && /^completed?$/i.test(status.value) && open > 0)
    warn('status_disagrees', status, `The status is ${status.value}, but ${open} phases of the roadmap are open.`);
}

function percents(state: StatePage, front: Front, warn: Warn): void {
  const stored = front('progress.percent');
  const percent = stored ? number({ ...stored, value: stored.value.replace('%', '') }) : null;
  const bar = state.field('progress');
  const shown = bar ? readPercent(bar.value) : null;
  for (const [at, value] of [
    [stored, percent],
    [bar, shown],
  ] as const)
    if (at && value !== null && value > 100) warn('percent_above_100', at, `${value} % is more than 100 %.`);
  if (stored && percent !== null && bar && shown !== null && Math.abs(percent - shown) >= 1)
    warn('percent_disagrees', stored, `The front matter says ${percent} %, line ${bar.line + 1} says ${shown} %.`);
  const said = percent ?? shown;
  const at = percent === null ? bar : stored;
  const [total, done] = [number(front('progress.total_plans')), number(front('progress.completed_plans'))];
  const [phases, donePhases] = [number(front('progress.total_phases')), number(front('progress.completed_phases'))];
  if (said === null || !at || total === null || done === null || total === 0) return;
  const byPlans = Math.round((100 * Math.min(done, total)) / total);
  const byPhases = phases && donePhases !== null ? Math.round((100 * Math.min(donePhases, phases)) / phases) : byPlans;
  // Versions of the tool counted plans, phases, or the lesser of the two; any of them is right.
  if (Math.abs(said - byPlans) > 1 && Math.abs(said - byPhases) > 1)
    warn('percent_disagrees', at, `It says ${said} %; ${done} of ${total} plans are ${byPlans} %.`);
}

function positions({ steps }: Reading, state: StatePage, warn: Warn): void {
  const field = state.position.get('phase');
  const stored = state.front?.fields.get('current_phase');
  const said = field ? readPhase(field.value) : null;
  const kept = stored ? readPhase(stored.value) : null;
  if (!field || !said) return;
  if (stored && kept && said.key !== kept.key)
    warn(
      'position_disagrees',
      stored,
      `The front matter is at phase ${kept.spelled}, line ${field.line + 1} at phase ${said.spelled}.`,
    );
  const focus = state.anywhere.get('focus');
  const focused = focus && /\bphase\s+(\d+[A-Za-z]?(?:\.\d+)*)/i.exec(focus.value)?.[1];
  if (focus && focused && phaseKey(focused) !== said.key)
    warn('position_disagrees', focus, `The focus is phase ${focused}, the position phase ${said.spelled}.`);
  if (said.total && /^\d+$/.test(said.key) && Number(said.key) > said.total)
    warn('position_beyond_end', field, `Phase ${said.spelled} of ${said.total}.`);
  const step = steps.steps.find(({ key }) => key === said.key);
  if (step?.status === 'completed' && /execut|in progress/i.test(state.position.get('status')?.value ?? ''))
    warn('position_disagrees', field, `Phase ${said.spelled} is the position, but it is completed.`);
}

function duplicates({ decisions }: Reading, warn: Warn): void {
  const seen = new Map<string, number>();
  let reported = 0;
  for (const { value, entry } of decisions) {
    if (!entry || value.decision.length < 40) continue;
    const key = `${value.context ?? ''} ${value.decision}`.toLowerCase();
    const first = seen.get(key);
    if (first === undefined) seen.set(key, entry.from);
    else if (reported++ < 20)
      warn('duplicate_decision', { line: entry.from }, `The same decision is in line ${first + 1}.`);
  }
}

function handoffs({ handoffs: notes, steps }: Reading, state: StatePage, warn: Warn): void {
  const updatedAt = readDate(state.said('last_updated') ?? state.session.get('last session')?.value ?? '');
  for (const { path, timestamp = '', phase = '' } of notes) {
    const at = readDate(timestamp);
    const key = readPhase(phase)?.key;
    if (steps.steps.some((step) => step.key === key && step.status === 'completed'))
      warn('stale_handoff', null, `It hands over phase ${phase}, which is completed.`, path);
    else if (at && updatedAt && comparable(at) < comparable(updatedAt))
      warn('stale_handoff', null, `It was left on ${at}; the state was written on ${updatedAt}.`, path);
  }
}

/** In UTC, as far as the text gives a time zone. */
function comparable(date: string): string {
  const time = Date.parse(date.replace(' ', 'T'));
  return Number.isNaN(time) ? date : new Date(time).toISOString();
}

const dayNumber = (date: string): number => Math.floor(Date.parse(date) / 86_400_000);

const number = (field: Line | undefined): number | null =>
  field && /^\d+(?:\.\d+)?$/.test(field.value.trim()) ? Number(field.value) : null;

const short = (text: string): string => (text.length <= 80 ? text : `${text.slice(0, 79)}…`);
