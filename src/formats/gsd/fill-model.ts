import type { ModelItem, ModelSession, RunModel } from '../../core/model/run-model.ts';
import type { Found } from '../format.ts';
import { labelOf } from '../label.ts';
import { bare } from '../text/lines.ts';
import type { Heading } from '../text/page.ts';
import { readRows } from '../text/rows.ts';
import { defined } from '../text/values.ts';
import type { HandoffNote } from './handoff.ts';
import { belowLabel } from './next-action.ts';
import { isOver } from './progress.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import { pageRows, type Said } from './table.ts';
import { clip, plain } from './words/clip.ts';
import type { FieldName, Fields } from './words/fields.ts';
import { isNone } from './words/none.ts';
import { readDate } from './words/numbers.ts';

/** Fills the run model from everything that was read. */
export function fillModel(reading: Reading, found: Found): void {
  const { model, state, steps, handoffs, lead } = reading;
  const said = state ? saidBy(state) : {};
  const updated = said.updatedAt?.replace(/[*_]+$/, '') ?? handoffs.at(-1)?.timestamp;
  const isCompleted = /^(?:completed?|done|shipped|milestone[ _-]?completed?)$/i.test(state?.said('status') ?? '');
  Object.assign(
    model.run,
    defined({
      goal: said.goal,
      alias: labelOf(said.alias),
      updatedAt: updated?.slice(0, 200),
      status: isCompleted || steps.isShipped ? ('completed' as const) : undefined,
      plan: reading.roadmap ? reading.roadmapPath : undefined,
    }),
  );
  if (state) addStop(reading, state);
  if (state) addActivity(reading, state);
  model.steps = steps.steps;
  model.decisions = reading.decisions.map(({ value }) => value);
  model.items = reading.items.map(({ value }) => value);
  model.notes = reading.notes.map(({ value }) => value);
  model.sessions = [...handoffs.map((note) => sessionOf(note, reading)), ...(state ? lastSession(state, said) : [])];
  model.files = [...new Map(handoffs.flatMap(({ files }) => files).map((file) => [file.path, file])).values()];
  const position = positionOf(reading);
  if (position) model.position = position;
  const next = lead?.next ?? state?.next?.text ?? nextField(state) ?? state?.said('next_action') ?? toward(reading);
  if (next && !isNone(next)) model.next = clip(next);
  const kept = keptOf(state, found);
  if (kept) model.kept = { gsd: kept };
}

/** The rows of the page, as far as it has them. */
function saidBy(state: StatePage): Partial<Said> {
  const fields: Record<string, string> = {};
  for (const { key, value } of state.front?.fields.values() ?? []) fields[`---.${key}`] = value;
  for (const name of state.anywhere.keys()) {
    const value = state.field(name)?.value;
    if (value !== undefined) fields[name] = value;
  }
  return readRows(pageRows, fields);
}

/** Where no step is next, what the page is about or where work stopped is the best that is known. */
function toward({ state, steps }: Reading): string | null {
  if (!steps.steps.every(isOver)) return null;
  return state?.anywhere.get('focus')?.value ?? state?.said('stopped_at') ?? null;
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
function addStop({ items }: Reading, state: StatePage): void {
  const stopped = state.said('stopped_at');
  if (!stopped || !/\bblocked (?:at|on|by|until|pending)\b/i.test(stopped)) return;
  if (state.lists.some(({ kind }) => kind === 'blockers')) return;
  const value: ModelItem = { kind: 'blocker', text: clip(stopped), status: 'active' };
  items.push({ value, entry: null });
}

/** The body and the front matter each have the last activity, and not always the same one. */
function addActivity({ notes }: Reading, state: StatePage): void {
  const more = state.anywhere.get('last activity description')?.value ?? state.said('last_activity_desc') ?? '';
  const seen = new Set<string>();
  for (const value of [state.position.get('last activity')?.value, state.said('last_activity')]) {
    if (!value || isNone(value)) continue;
    const at = readDate(value);
    const words = value.replace(at ?? '', '').replace(/^[\s—–:-]+/u, '');
    const text = words || more || 'Last activity';
    if (seen.has(plain(text)) || (words === '' && seen.size > 0)) continue;
    seen.add(plain(text));
    notes.push({ value: { kind: 'worklog', text: clip(text), ...(at ? { at } : {}) }, entry: null });
  }
}

function sessionOf(note: HandoffNote, { state, lead }: Reading): ModelSession {
  const { path, timestamp, phase, plan, task, next } = note;
  // The tasks of a note that is older than STATE.md are history.
  const tasks = state === null || note === lead ? [] : note.tasks;
  const told = tasks.map(
    ({ name, done, summary }) => `${done ? 'Done' : 'Open then'}: ${[name, summary].filter(Boolean).join(': ')}`,
  );
  const notes = [...note.notes, ...told].map(clip);
  return defined({
    alias: labelOf(path) === path ? path : undefined,
    status: 'completed',
    endedAt: timestamp?.slice(0, 200),
    workingOn: phase && [`Phase ${phase}`, plan && `plan ${plan}`, task && `task ${task}`].filter(Boolean).join(', '),
    notes: notes.length > 0 ? notes : undefined,
    next: next && clip(next),
  });
}

function lastSession(state: StatePage, { endedAt, stoppedAt, resume }: Partial<Said>): ModelSession[] {
  const also = state.said('stopped_at');
  const paused = state.anywhere.get('paused at')?.value ?? state.said('paused_at');
  if (!endedAt && !stoppedAt && !resume && !paused) return [];
  const isLong = endedAt !== undefined && endedAt.length > 200;
  const notes = [
    ...(resume ? [`Resume file: ${resume}`] : []),
    ...(also && also !== stoppedAt ? [`Stopped at: ${also}`] : []),
    ...(paused && !isNone(paused) ? [`Paused at: ${paused}`] : []),
    ...(isLong ? [endedAt] : []),
    ...restOf(state, state.sessionHeading, state.session, 0),
  ].map(clip);
  return [
    defined({
      status: 'completed',
      endedAt: isLong ? (readDate(endedAt) ?? undefined) : endedAt,
      workingOn: stoppedAt,
      notes: notes.length > 0 ? notes : undefined,
    }),
  ];
}

const placeLabels = ['Milestone', 'Slice', 'Phase', 'Plan', 'Task', 'Status', 'Progress', 'Focus'] as const;

function positionOf({ state, steps, handoffs, lead }: Reading): RunModel['position'] {
  const parts = placeLabels.flatMap((label) => {
    const fields = label === 'Focus' ? state?.anywhere : state?.position;
    const value = fields?.get(label.toLowerCase() as FieldName)?.value;
    return value ? [`${label}: ${value}`] : [];
  });
  const phase = state?.said('current_phase');
  if (!state?.position.has('phase') && phase) parts.push(`Phase: ${phase}`);
  if (state) parts.push(...restOf(state, state.positionHeading, state.position, parts.join('\n').length));
  const last = lead ?? handoffs.at(-1);
  if ((parts.length === 0 || lead) && last?.phase)
    parts.push(`Phase: ${last.phase}`, ...(last.status ? [`Status: ${last.status}`] : []));
  if (parts.length === 0 && steps.position === null) return undefined;
  return { step: steps.position, ...(parts.length > 0 ? { words: clip(parts.join('\n')) } : {}) };
}

const WORDS_LIMIT_CHARS = 4000;

/** The other text of a section, up to a limit. */
function restOf(state: StatePage, heading: Heading | null, fields: Fields, usedChars: number): string[] {
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
  const known = new Set([...pageRows.map(({ at }) => at.slice(4)), 'progress', 'last_activity', 'last_activity_desc']);
  const front = [...(state.front?.fields.values() ?? [])].filter(({ key }) => !known.has(key) && !key.includes('.'));
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
