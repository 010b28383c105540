import type { Found, Problem } from '../format.ts';
import type { Reading } from './reading.ts';
import { phaseKey, readDate, readPercent, readPhase } from './words/numbers.ts';

/** The seven statuses of the tool. */
const statuses = new Set(['discussing', 'planning', 'executing', 'verifying', 'completed', 'paused', 'unknown']);

/** Reports where a file contradicts itself or the files around it. Nothing is corrected here. */
export function findContradictions(reading: Reading, found: Found): Problem[] {
  const problems: Problem[] = [];
  const warn = (code: string, line: number | null, message: string, path = found.main): void => {
    problems.push({ code, level: 'warning', path, line, message });
  };
  const { state } = reading;
  if (state) {
    const front = (key: string) => state.front?.fields.get(key);
    const status = front('status');
    if (status && status.value !== '' && !statuses.has(status.value))
      warn(
        'unknown_status',
        status.line + 1,
        `The status "${short(status.value)}" is not one of ${[...statuses].join(', ')}.`,
      );
    counts(reading, warn);
    percents(reading, warn);
    positions(reading, warn);
    duplicates(reading, warn);
    const updated = front('last_updated');
    const activity = front('last_activity') ?? null;
    const day = activity && readDate(activity.value)?.slice(0, 10);
    const updatedDay = updated && readDate(updated.value)?.slice(0, 10);
    // One day of tolerance: one of them is local time.
    if (updated && day && updatedDay && dayNumber(day) - dayNumber(updatedDay) > 1)
      warn(
        'updated_before_activity',
        updated.line + 1,
        `It was last updated on ${updatedDay}, before its last activity on ${day}.`,
      );
  }
  handoffs(reading, warn);
  return problems;
}

type Warn = (code: string, line: number | null, message: string, path?: string) => void;

function counts({ state, steps, roadmap }: Reading, warn: Warn): void {
  const field = (key: string) => state?.front?.fields.get(`progress.${key}`);
  for (const unit of ['plans', 'phases'] as const) {
    const completed = field(`completed_${unit}`);
    const total = field(`total_${unit}`);
    const done = number(completed?.value);
    const all = number(total?.value);
    if (completed && done !== null && all !== null && done > all)
      warn('completed_above_total', completed.line + 1, `${done} of ${all} ${unit} are completed.`);
  }
  const completed = field('completed_plans');
  const { plans, summaries } = steps.onDisk;
  const done = number(completed?.value);
  if (completed && done !== null && plans > 0 && done !== summaries)
    warn(
      'plans_disagree',
      completed.line + 1,
      `completed_plans is ${done}; ${summaries} of ${plans} plans on disk have a summary.`,
    );
  const status = state?.front?.fields.get('status');
  const open =
    roadmap?.steps.filter((step) => step.kind === 'phase' && !step.archived && step.status === 'pending').length ?? 0;
  if (status && /^completed?$/i.test(status.value) && open > 0)
    warn(
      'status_disagrees',
      status.line + 1,
      `The status is ${status.value}, but ${open} phases of the roadmap are open.`,
    );
}

function percents({ state }: Reading, warn: Warn): void {
  const field = (key: string) => state?.front?.fields.get(`progress.${key}`);
  const stored = field('percent');
  const percent = number(stored?.value.replace('%', ''));
  const bar = state?.position.get('progress') ?? state?.anywhere.get('progress');
  const shown = bar ? readPercent(bar.value) : null;
  if (stored && percent !== null && percent > 100)
    warn('percent_above_100', stored.line + 1, `${percent} % is more than 100 %.`);
  if (bar && shown !== null && shown > 100) warn('percent_above_100', bar.line + 1, `${shown} % is more than 100 %.`);
  if (stored && percent !== null && bar && shown !== null && Math.abs(percent - shown) >= 1)
    warn(
      'percent_disagrees',
      stored.line + 1,
      `The front matter says ${percent} %, line ${bar.line + 1} says ${shown} %.`,
    );
  const said = percent ?? shown;
  const line = stored && percent !== null ? stored.line : bar?.line;
  const total = number(field('total_plans')?.value);
  const done = number(field('completed_plans')?.value);
  const phases = number(field('total_phases')?.value);
  const donePhases = number(field('completed_phases')?.value);
  if (said === null || line === undefined || total === null || done === null || total === 0) return;
  const byPlans = Math.round((100 * Math.min(done, total)) / total);
  const byPhases = phases && donePhases !== null ? Math.round((100 * Math.min(donePhases, phases)) / phases) : byPlans;
  // Versions of the tool counted plans, phases, or the lesser of the two; any of them is right.
  if (Math.abs(said - byPlans) > 1 && Math.abs(said - byPhases) > 1)
    warn('percent_disagrees', line + 1, `It says ${said} %; ${done} of ${total} plans are ${byPlans} %.`);
}

function positions({ state, steps }: Reading, warn: Warn): void {
  const field = state?.position.get('phase');
  const stored = state?.front?.fields.get('current_phase');
  const said = field ? readPhase(field.value) : null;
  const kept = stored ? readPhase(stored.value) : null;
  if (field && stored && said && kept && said.key !== kept.key)
    warn(
      'position_disagrees',
      stored.line + 1,
      `The front matter is at phase ${kept.spelled}, line ${field.line + 1} at phase ${said.spelled}.`,
    );
  const focus = state?.anywhere.get('focus');
  const focused = focus && /\bphase\s+(\d+[A-Za-z]?(?:\.\d+)*)/i.exec(focus.value)?.[1];
  if (focus && focused && said && phaseKey(focused) !== said.key)
    warn('position_disagrees', focus.line + 1, `The focus is phase ${focused}, the position phase ${said.spelled}.`);
  if (field && said?.total && /^\d+$/.test(said.key) && Number(said.key) > said.total)
    warn('position_beyond_end', field.line + 1, `Phase ${said.spelled} of ${said.total}.`);
  const step = said && steps.steps.find(({ key }) => key === said.key);
  if (field && step?.status === 'completed' && /execut|in progress/i.test(state?.position.get('status')?.value ?? ''))
    warn('position_disagrees', field.line + 1, `Phase ${said?.spelled} is the position, but it is completed.`);
}

function duplicates({ decisions }: Reading, warn: Warn): void {
  const seen = new Map<string, number>();
  let reported = 0;
  for (const { value, entry } of decisions) {
    if (!entry || value.decision.length < 40) continue;
    const key = `${value.context ?? ''} ${value.decision}`.toLowerCase();
    const first = seen.get(key);
    if (first === undefined) seen.set(key, entry.from);
    else if (reported++ < 20) warn('duplicate_decision', entry.from + 1, `The same decision is in line ${first + 1}.`);
  }
}

function handoffs({ state, handoffs: notes, steps }: Reading, warn: Warn): void {
  if (!state) return;
  const updated = state.front?.fields.get('last_updated')?.value ?? state.session.get('lastSession')?.value ?? '';
  const updatedAt = readDate(updated);
  for (const { path, timestamp, phase } of notes) {
    const at = timestamp ? readDate(timestamp) : null;
    const key = phase ? readPhase(phase)?.key : undefined;
    const done = key !== undefined && steps.steps.find((step) => step.key === key)?.status === 'completed';
    if (done) warn('stale_handoff', null, `It hands over phase ${phase}, which is completed.`, path);
    else if (at && updatedAt && comparable(at) < comparable(updatedAt))
      warn('stale_handoff', null, `It was left on ${at}; the state was written on ${updatedAt}.`, path);
  }
}

/** In UTC, as far as the text gives a time zone. */
function comparable(date: string): string {
  const time = Date.parse(date.replace(' ', 'T'));
  return Number.isNaN(time) ? date : new Date(time).toISOString();
}

function dayNumber(date: string): number {
  return Math.floor(Date.parse(date) / 86_400_000);
}

function number(value: string | undefined): number | null {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

function short(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
