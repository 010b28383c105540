import type { ModelItem, RunModel } from '../../core/model/run-model.ts';
import type { Found } from '../format.ts';
import { labelOf } from '../label.ts';
import { bare } from '../text/lines.ts';
import type { Heading } from '../text/page.ts';
import type { HandoffNote } from './handoff-json.ts';
import { belowLabel } from './next-action.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import { clip, plain } from './words/clip.ts';
import type { Field } from './words/fields.ts';
import { isNone } from './words/none.ts';
import { readDate } from './words/numbers.ts';

/** Fills the run model from everything that was read. */
export function fillModel(reading: Reading, found: Found): void {
  const { model, state, steps, handoffs } = reading;
  model.steps = steps.steps;
  model.decisions = reading.decisions.map(({ value }) => value);
  model.items = reading.items.map(({ value }) => value);
  const front = (key: string): string | null => {
    const value = state?.front?.fields.get(key)?.value;
    return value === undefined || isNone(value) || value === 'null' ? null : value;
  };
  const goal = state?.anywhere.get('coreValue')?.value;
  if (goal && !isNone(goal)) model.run.goal = clip(goal);
  const milestone = front('milestone') ?? state?.anywhere.get('milestone')?.value.split(/\s/)[0];
  const alias = labelOf(milestone);
  if (alias) model.run.alias = alias;
  const updated =
    front('last_updated') ??
    state?.anywhere.get('lastUpdated')?.value.replace(/[*_]+$/, '') ??
    handoffs.at(-1)?.timestamp;
  if (updated) model.run.updatedAt = updated.slice(0, 200);
  if (/^(?:completed?|done|shipped|milestone[ _-]?completed?)$/i.test(front('status') ?? ''))
    model.run.status = 'completed';
  if (steps.isShipped) model.run.status = 'completed';
  if (reading.roadmap) model.run.plan = reading.roadmapPath;
  addStop(reading, front);
  addActivity(reading, front);
  model.notes = reading.notes.map(({ value }) => value);
  addSessions(reading, front);
  model.files = [...new Map(handoffs.flatMap(({ files }) => files).map((file) => [file.path, file])).values()];
  const position = positionOf(reading, front);
  if (position) model.position = position;
  const next =
    reading.lead?.next ?? state?.next?.text ?? nextField(state) ?? front('next_action') ?? toward(reading, front);
  if (next && !isNone(next)) model.next = clip(next);
  const kept = keptOf(state, found);
  if (kept) model.kept = { gsd: kept };
}

/** Where no step is next, what the page is about or where work stopped is the best that is known. */
function toward({ state, steps }: Reading, front: (key: string) => string | null): string | null {
  const isOver = (status: string): boolean => status === 'completed' || status === 'skipped';
  if (steps.steps.some(({ status }) => !isOver(status))) return null;
  return state?.anywhere.get('focus')?.value ?? front('stopped_at');
}

/** In the section on the position or the session, on the line of its label or below it. */
function nextField(state: StatePage | null): string | null {
  for (const [fields, heading] of [
    [state?.position, state?.positionHeading],
    [state?.session, state?.sessionHeading],
  ] as const) {
    const field = fields?.get('next');
    if (!state || !field) continue;
    const said = field.value || belowLabel(state.page, field, heading?.bodyEnd ?? field.line + 1);
    if (said !== '') return said;
  }
  return null;
}

/** `stopped_at: … blocked at the disposition gate`: a page without a list of blockers has it there. */
function addStop({ model, items, state }: Reading, front: (key: string) => string | null): void {
  const stopped = front('stopped_at');
  if (!stopped || !/\bblocked (?:at|on|by|until|pending)\b/i.test(stopped)) return;
  if (state?.lists.some(({ kind }) => kind === 'blockers')) return;
  const item: ModelItem = { kind: 'blocker', text: clip(stopped), status: 'active' };
  items.push({ value: item, list: null, entry: null });
  model.items.push(item);
}

/** The body and the front matter each have the last activity, and not always the same one. */
function addActivity(reading: Reading, front: (key: string) => string | null): void {
  const more = reading.state?.anywhere.get('lastActivityText')?.value ?? front('last_activity_desc') ?? '';
  const seen = new Set<string>();
  for (const value of [reading.state?.position.get('lastActivity')?.value, front('last_activity')]) {
    if (!value || isNone(value)) continue;
    const at = readDate(value);
    const words = value.replace(at ?? '', '').replace(/^[\s—–:-]+/u, '');
    const text = words || more || 'Last activity';
    if (seen.has(plain(text)) || (words === '' && seen.size > 0)) continue;
    seen.add(plain(text));
    reading.notes.push({
      value: { kind: 'worklog', text: clip(text), ...(at ? { at } : {}) },
      list: null,
      entry: null,
    });
  }
}

function addSessions({ model, state, handoffs, lead }: Reading, front: (key: string) => string | null): void {
  for (const note of handoffs) {
    model.sessions.push({
      ...(labelOf(note.path) === note.path ? { alias: note.path } : {}),
      status: 'completed',
      ...(note.timestamp ? { endedAt: note.timestamp.slice(0, 200) } : {}),
      ...(note.phase
        ? {
            workingOn: [`Phase ${note.phase}`, note.plan && `plan ${note.plan}`, note.task && `task ${note.task}`]
              .filter(Boolean)
              .join(', '),
          }
        : {}),
      ...filledNotes([...note.notes, ...(state === null || note === lead ? [] : tasksIn(note))]),
      ...(note.next ? { next: clip(note.next) } : {}),
    });
  }
  const said = (name: 'lastSession' | 'stoppedAt' | 'resumeFile'): string | null => {
    const value = state?.session.get(name)?.value ?? state?.anywhere.get(name)?.value;
    return value === undefined || isNone(value) ? null : value;
  };
  const ended = said('lastSession');
  const stopped = said('stoppedAt') ?? front('stopped_at');
  const also = front('stopped_at');
  const resume = said('resumeFile');
  const paused = state?.anywhere.get('pausedAt')?.value ?? front('paused_at');
  if (!ended && !stopped && !resume && !paused) return;
  const at = ended && ended.length > 200 ? (readDate(ended) ?? undefined) : ended;
  const notes = [
    ...(resume ? [`Resume file: ${resume}`] : []),
    ...(also && also !== stopped ? [`Stopped at: ${also}`] : []),
    ...(paused && !isNone(paused) ? [`Paused at: ${paused}`] : []),
    ...(ended && ended.length > 200 ? [ended] : []),
    ...(state ? restOf(state, state.sessionHeading, state.session, 0) : []),
  ].map(clip);
  model.sessions.push({
    status: 'completed',
    ...(at ? { endedAt: at } : {}),
    ...(stopped ? { workingOn: clip(stopped) } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  });
}

const filledNotes = (notes: readonly string[]) => (notes.length > 0 ? { notes: notes.map(clip) } : {});

/** The tasks of a note that is older than STATE.md are history. */
const tasksIn = ({ tasks }: HandoffNote): string[] =>
  tasks.map(
    ({ name, done, summary }) => `${done ? 'Done' : 'Open then'}: ${[name, summary].filter(Boolean).join(': ')}`,
  );

function positionOf(
  { state, steps, handoffs, lead }: Reading,
  front: (key: string) => string | null,
): RunModel['position'] {
  const parts: string[] = [];
  for (const [name, label] of [
    ['milestone', 'Milestone'],
    ['slice', 'Slice'],
    ['phase', 'Phase'],
    ['plan', 'Plan'],
    ['task', 'Task'],
    ['status', 'Status'],
    ['progress', 'Progress'],
    ['focus', 'Focus'],
  ] as const) {
    const value = name === 'focus' ? state?.anywhere.get(name)?.value : state?.position.get(name)?.value;
    if (value) parts.push(`${label}: ${value}`);
  }
  if (!state?.position.has('phase') && front('current_phase')) parts.push(`Phase: ${front('current_phase')}`);
  if (state) parts.push(...restOf(state, state.positionHeading, state.position, parts.join('\n').length));
  const last = lead ?? handoffs.at(-1);
  if ((parts.length === 0 || lead) && last?.phase)
    parts.push(`Phase: ${last.phase}`, ...(last.status ? [`Status: ${last.status}`] : []));
  if (parts.length === 0 && steps.position === null) return undefined;
  return { step: steps.position, ...(parts.length > 0 ? { words: clip(parts.join('\n')) } : {}) };
}

const WORDS_LIMIT_CHARS = 4000;

/** The other text of a section, up to a limit. */
function restOf(
  state: StatePage,
  heading: Heading | null,
  fields: ReadonlyMap<string, Field>,
  usedChars: number,
): string[] {
  if (!heading) return [];
  const known = new Set([...fields.values()].map(({ line }) => line));
  const rest: string[] = [];
  let room = WORDS_LIMIT_CHARS - usedChars;
  for (let line = heading.line + 1; line < heading.bodyEnd; line++) {
    const words = state.page.line(line).trim();
    if (words === '' || known.has(line) || state.page.isQuiet(line) || /^(?:[-*_]\s*){3,}$/.test(words)) continue;
    room -= words.length;
    if (room < 0) break;
    rest.push(words);
  }
  return rest;
}

/** Unknown keys and sections, kept for a new file. */
function keptOf(state: StatePage | null, found: Found): unknown {
  if (!state) return null;
  const known =
    /^(?:gsd_state_version|milestone|milestone_name|status|stopped_at|last_updated|last_activity|last_activity_desc|progress(?:\..*)?|current_phase|current_phase_name|current_plan|next_action)$/;
  const front = [...(state.front?.fields.values() ?? [])].filter(({ key }) => !known.test(key) && !key.includes('.'));
  const name = state.front?.fields.get('milestone_name')?.value;
  const sections = state.others.map(({ heading, text }) => ({
    heading: `${'#'.repeat(heading.level)} ${heading.title}`,
    text,
  }));
  const size = sections.reduce((sum, { text }) => sum + text.length, 0);
  const stacked = state.page.frontMatter
    .slice(1)
    .map(({ start, end }) => state.page.lines.slice(start, end).map(bare).join('\n'));
  if (front.length === 0 && sections.length === 0 && stacked.length === 0 && !name) return null;
  return {
    from: found.main,
    ...(name ? { milestone_name: name } : {}),
    ...(front.length > 0 ? { front: Object.fromEntries(front.map(({ key, value }) => [key, value])) } : {}),
    ...(stacked.length > 0 ? { stacked } : {}),
    // Very large sections are not kept.
    ...(sections.length > 0 && size <= 1_000_000 ? { sections } : {}),
  };
}
