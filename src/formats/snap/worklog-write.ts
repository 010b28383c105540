import type { ModelDecision, ModelItem, ModelNote, ModelSession, RunModel } from '../../core/model/run-model.ts';
import { oneLine } from '../../core/text.ts';
import { flat } from '../text/lines.ts';
import { editPage, type PageEditor } from '../text/page.ts';
import { changedFields, newEntry } from '../text/rows.ts';
import { addRows, renderHeader, setCells, type Values, valuesOf } from '../text/table.ts';
import { defined } from '../text/values.ts';
import { agentViews, type Changes, taskWords } from './changes.ts';
import { nameKey, sameWords, slug } from './names.ts';
import { encodeProse } from './prose.ts';
import {
  type AgentView,
  type Closing,
  cellsFor,
  closingRows,
  decisionRows,
  type IndexedDecision,
  type IndexedItem,
  itemRows,
  noteRows,
} from './table.ts';
import { listOf } from './turnfile-rules.ts';
import type { Worklog } from './worklog.ts';

const decisionIndex = { heading: '## Decision Index', titles: ['Decision', 'Owner', 'Timestamp', 'Section'] };
const itemIndex = {
  heading: '## Item Index',
  titles: ['ID', 'Kind', 'Item', 'Status', 'Step', 'By', 'To', 'Due', 'Resolution'],
};
const archivedSessions = { heading: '## Archived Sessions', titles: ['Session', 'Date', 'Summary'] };
/** This limit keeps the status block within the first ten lines of the file. */
const AGENT_LINES = 6;
const STATUS_CHARS = 120;
const NONE = 'none';

export function newWorklog({ run }: RunModel, focus: string | undefined): string {
  return [
    `# Worklog — ${flat(run.title)}`,
    '',
    `Maintainer Focus: ${focus ?? NONE}`,
    `Next Review Checkpoint: ${NONE}`,
    '',
    decisionIndex.heading,
    '',
    ...renderHeader(decisionIndex.titles),
    '',
  ].join('\n');
}

/** The location of each session's snapshot. */
export type Pointers = ReadonlyMap<string, { path: string; number: number }>;

/** The worklog and its archive after the changes; null for a text that stays. */
export function changeWorklog(
  worklog: Worklog,
  archive: Worklog,
  changes: Changes,
  pointers: Pointers,
  inChats: ReadonlySet<string>,
): { worklog: string | null; archive: string | null } {
  if (!worklog.sound || !archive.sound) return { worklog: null, archive: null };
  const edit = editPage(worklog.page);
  const editArchive = editPage(archive.page);
  editStatus(worklog, edit, changes);
  editDecisions(worklog, edit, changes);
  editItems(worklog, edit, changes);
  const moved = archivedIds(changes.after);
  const moving = entriesToMove(worklog, edit, changes, moved);
  for (const { before, after } of changes.notes.kept) {
    // Text changes only by erasure.
    if (sameWords(before.text) === sameWords(after.text)) continue;
    const [place, old] = [worklog.notes.get(before), archive.notes.get(before)];
    if (place && !moved.has(after.id ?? '')) edit.replace(place.from, place.to, renderNote(after));
    if (old) editArchive.replace(old.from, old.to, renderNote(after));
  }
  const logged = new Set([...inChats, ...worklog.closings.keys(), ...archive.closings.keys()]);
  const added = [...newNotes(changes), ...closings(logged, changes, pointers)];
  const isMoved = ({ id }: Entry): boolean => moved.has(id ?? '');
  addEntries(
    worklog,
    edit,
    added.filter((entry) => !isMoved(entry)),
  );
  addEntries(archive, editArchive, [...moving, ...added.filter(isMoved)]);
  return { worklog: edit.changed ? edit.apply() : null, archive: editArchive.changed ? editArchive.apply() : null };
}

export const newWorklogArchive = ({ run }: RunModel): string => `# Worklog Archive — ${flat(run.title)}\n`;

/** The notes and sessions that a compaction has moved. */
const archivedIds = ({ kept }: RunModel): ReadonlySet<string> => new Set(listOf(kept?.['archived']));

/** Takes entries out of the worklog, with the heading of a session that has none left, and names them in its index. */
function entriesToMove(
  worklog: Worklog,
  edit: PageEditor,
  { notes, sessions }: Changes,
  moved: ReadonlySet<string>,
): Entry[] {
  if (moved.size === 0) return [];
  const { page } = worklog;
  const spans = [
    ...notes.kept.flatMap(({ before, after }) => (moved.has(after.id ?? '') ? (worklog.notes.get(before) ?? []) : [])),
    ...sessions.kept.flatMap(({ before, after }) =>
      moved.has(after.id ?? '') ? (worklog.closings.get(slug(before.alias)) ?? []) : [],
    ),
  ].sort((one, other) => one.from - other.from);
  const entries: Entry[] = [];
  const rows: Values[] = [];
  for (const { number, date, heading } of worklog.sections) {
    const own = spans.filter(({ from }) => from > heading.line && from < heading.end);
    if (own.length === 0) continue;
    const gone = new Set(own.flatMap(({ from, to }) => range(from, to)));
    const rest = range(heading.line + 1, heading.end).filter((line) => !gone.has(line));
    if (rest.every((line) => /^\s*(?:-{3,}\s*)?$/.test(page.line(line)))) edit.remove(heading.line, heading.end);
    else for (const span of own) edit.remove(span.from, blanksAfter(page, span.to));
    const lines = own.flatMap(({ from, to }) => ['', ...range(from, to).map((line) => page.line(line))]).slice(1);
    entries.push({ session: number, heading: page.line(heading.line), lines });
    rows.push({
      session: number,
      date,
      summary: `${own.length} ${own.length === 1 ? 'entry' : 'entries'} in WORKLOG_ARCHIVE.md`,
    });
  }
  const known = new Set(worklog.archived?.tables.flatMap(({ rows: known }) => known.map(({ cells }) => cells[0])));
  const at = worklog.sections[0]?.heading.line ?? page.lines.length;
  const fresh = rows.filter(({ session }) => !known.has(session));
  addRows(edit, page, worklog.archived, { ...archivedSessions, at }, fresh, 'end');
  return entries;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

function blanksAfter(page: Worklog['page'], line: number): number {
  let end = line;
  while (end < page.lines.length && page.line(end).trim() === '') end++;
  return end;
}

function editStatus({ working, focus, checkpoint, page }: Worklog, edit: PageEditor, { before, after }: Changes): void {
  const was = agentViews(before);
  const lines = new Map(working.map((one) => [nameKey(one.agent), one.line]));
  const added: string[] = [];
  const views = [...agentViews(after)].sort(([, one], [, other]) => Number(isIdle(one)) - Number(isIdle(other)));
  for (const [id, view] of views) {
    const old = was.get(id);
    if (old && wordsOn(old, before) === wordsOn(view, after)) continue;
    const words = `Now Working (${flat(view.name).replace(/[()]/g, ' ')}): ${wordsOn(view, after)}`;
    const line = lines.get(id);
    if (line !== undefined) edit.set(line, oneLine(words, STATUS_CHARS));
    else if (lines.size + added.length < AGENT_LINES || !isIdle(view)) added.push(oneLine(words, STATUS_CHARS));
  }
  const last = working.at(-1);
  const at = last ? last.line + 1 : (focus?.line ?? checkpoint?.line ?? Math.min(1, page.lines.length));
  if (added.length > 0) edit.insert(at, last || focus || checkpoint ? added : ['', ...added]);
  const isSame = after.next === undefined || flat(after.next) === flat(before.next ?? '');
  const next = isSame ? null : flat(after.next ?? '') || NONE;
  // The next action is not cut: a reader must not miss it.
  const line = `Next Review Checkpoint: ${next}`;
  if (next !== null && checkpoint) edit.set(checkpoint.line, line);
  else if (next !== null) edit.insert(focus ? focus.line + 1 : at, [line]);
  if (focus && isOurFocus(focus.words) && focusOf(before, ownName) !== focusOf(after, ownName))
    edit.set(focus.line, `Maintainer Focus: ${focusOf(after)}`);
}

/** Words of a person stay; ours name mail, questions or blockers. */
const isOurFocus = (words: string): boolean => words === NONE || /^(?:Blocked: |(?:MSG|M|OQ|Q)-[\w-]+ )/.test(words);

const isIdle = ({ status }: AgentView): boolean => status === 'idle' || status === 'offline';

function wordsOn({ status, task, session }: AgentView, model: RunModel): string {
  const seen = session === undefined ? '' : `, ${session}`;
  if (task === undefined) return `${status === 'active' ? 'active, no task' : status}${seen}`;
  const title = flat(model.steps.find((step) => step.key === task)?.title ?? '');
  const word = taskWords(model).get(task) ?? 'in_progress';
  if (status !== 'active' && status !== 'blocked') {
    const next = model.next === undefined ? '' : `; next: ${flat(model.next)}`;
    return oneLine(
      `${task} ${word === 'blocked' ? 'blocked' : 'partial'}, closed${seen.slice(1)}${next}`,
      STATUS_CHARS - 20,
    );
  }
  return oneLine(`${task} (${word}${seen}) — ${title}`, STATUS_CHARS - 20);
}

/** What needs a maintainer: waiting mail, the most urgent first, urgent mail of others, questions, blockers. */
function focusOf({ messages, items }: RunModel, nameOf = bothNames): string {
  const open = messages.filter((one) => one.status !== 'closed' && one.status !== 'actioned');
  const own = open.filter((one) => nameKey(one.to) === 'maintainer');
  const urgent = open.filter((one) => one.priority === 'P0' && one.status === 'unread' && !own.includes(one));
  const mail = [
    ...own.filter((one) => one.priority === 'P0'),
    ...own.filter((one) => one.priority !== 'P0'),
    ...urgent,
  ];
  const asked = items.filter((item) => item.kind === 'question' && item.status === 'open' && isForPeople(item.to));
  const blockers = items.filter((item) => item.kind === 'blocker' && item.status === 'active');
  const all = [
    ...mail.map((one) => [nameOf(one), flat(one.subject)]),
    ...asked.map((one) => [nameOf(one), flat(one.text)]),
    ...blockers.map((one) => ['Blocked:', flat(one.text)]),
  ];
  const room = STATUS_CHARS - 20;
  let words = oneLine(all[0]?.join(' ') ?? NONE, room - 50);
  for (const [index, [name = '']] of all.slice(1).entries()) {
    if (words.length + name.length > room - 14) return `${words}; and ${all.length - index - 1} more`;
    words = `${words}; ${name === 'Blocked:' ? 'a blocker' : name}`;
  }
  return words;
}

const isForPeople = (to: string | undefined): boolean => to === undefined || nameKey(to) === 'maintainer';

/** The file's own id first, then ours. */
const bothNames = ({ alias, id }: Named): string =>
  alias !== undefined && id !== undefined && alias !== id ? `${alias} (${id})` : (alias ?? id ?? '');

/** A file read again has only its own ids. */
const ownName = ({ alias, id }: Named): string => alias ?? id ?? '';

interface Named {
  alias?: string | undefined;
  id?: string | undefined;
}

function editDecisions({ index, decisions, page }: Worklog, edit: PageEditor, changes: Changes): void {
  for (const { before, after } of changes.decisions.kept) {
    const place = decisions.get(before);
    if (!place) continue;
    const now = indexed({ ...before, ...after });
    const cells = changedFields(decisionRows, valuesOf(place.table, place.row), indexed(before), now, null);
    setCells(edit, page, place.table, place.row, cells as Values);
  }
  const at = page.headings[1]?.line ?? page.lines.length;
  const added = changes.decisions.added.map((one) => cellsFor(decisionRows, indexed(one)));
  addRows(edit, page, index, { ...decisionIndex, at }, added, 'end');
}

const indexed = ({ decision, status = 'active', ...rest }: ModelDecision): IndexedDecision => ({
  ...rest,
  struck: { decision, status },
});

function editItems({ items, index, itemRows: rows, page }: Worklog, edit: PageEditor, changes: Changes): void {
  const keys = new Set(changes.after.steps.map((step) => step.key));
  const listed = ({ step, affects = [], workaround, resolution, ...item }: ModelItem): IndexedItem => {
    const places = [...new Set([step, ...affects])].filter((name) => name !== undefined && keys.has(name)) as string[];
    const outcome = workaround || resolution ? defined({ workaround, resolution }) : undefined;
    return { ...item, places: places.length > 0 ? places : undefined, outcome };
  };
  const late: ModelItem[] = [];
  // A blocker read only from a task changes its text when the task or its blockers change.
  const moved = new Set([
    ...changes.items.added.flatMap((item) => (item.kind === 'blocker' ? [item.step, ...(item.affects ?? [])] : [])),
    ...changes.steps.kept
      .filter(({ before, after }) => before.status !== after.status || before.summary !== after.summary)
      .map(({ after }) => after.key),
  ]);
  for (const { before, after } of changes.items.kept) {
    const place = rows.get(before);
    // An item known only from a task's status or a snapshot gets a row once it has more fields.
    if (!place && (after.status !== before.status || moved.has(after.step ?? ''))) late.push(after);
    if (!place) continue;
    const cells = changedFields(itemRows, valuesOf(place.table, place.row), listed(before), listed(after), null);
    setCells(edit, page, place.table, place.row, cells as Values);
  }
  const added = [...late, ...changes.items.added].filter((item) => item.kind !== 'question');
  const at = index ? index.heading.end : (page.headings[1]?.line ?? page.lines.length);
  const values = added.map((item) => cellsFor(itemRows, listed(item)));
  addRows(edit, page, items, { ...itemIndex, at }, values, 'end');
}

/** Lines under the heading of a session. */
interface Entry {
  id?: string | undefined;
  session: string;
  heading: string;
  lines: readonly string[];
}

const headingOf = (session: number, date: string | undefined): string =>
  `## Session ${session}${date === undefined ? '' : ` — ${date.slice(0, 10)}`}`;

function newNotes({ notes: { added }, after }: Changes): Entry[] {
  const newest = after.sessions.at(-1);
  const session = newest ? numberOf(newest, after) : 0;
  const date = added.at(-1)?.at ?? newest?.endedAt ?? newest?.startedAt;
  const heading = headingOf(session, date);
  return added.map((note) => ({ id: note.id, session: String(session), heading, lines: renderNote(note) }));
}

function addEntries({ page, sections }: Worklog, edit: PageEditor, entries: readonly Entry[]): void {
  const bySession = new Map<string, Entry>();
  for (const entry of entries) {
    const before = bySession.get(entry.session);
    bySession.set(entry.session, {
      ...entry,
      heading: before?.heading ?? entry.heading,
      lines: [...(before?.lines ?? []), '', ...entry.lines],
    });
  }
  for (const { session, heading, lines } of bySession.values()) {
    const section = sections.find((one) => one.number === session || Number(one.number) === Number(session));
    let at = section?.heading.end ?? page.lines.length;
    while (at > 0 && page.line(at - 1).trim() === '') at--;
    edit.insert(at, section ? lines : ['', heading, ...lines]);
  }
}

function renderNote(note: ModelNote): string[] {
  const { who, title, step, when } = newEntry(noteRows, note, null);
  const on = step === undefined ? '' : ` on ${step}`;
  return [
    `### ${who === undefined ? '' : `${who}: `}${title}${on}${when === undefined ? '' : ` — ${when}`}`,
    '',
    ...encodeProse(note.text),
  ];
}

/** The number of a session: that of its snapshot, else the one at the end of its id, else its position. */
function numberOf(session: ModelSession, { sessions }: RunModel): number {
  const digits = /(\d{1,9})$/.exec(session.alias ?? session.id ?? '')?.[1];
  return digits === undefined ? sessions.indexOf(session) + 1 : Number(digits);
}

/** An ended session: one line about it, and where its snapshot is. */
function closings(logged: ReadonlySet<string>, changes: Changes, pointers: Pointers): Entry[] {
  const current = agentViews(changes.after);
  const ended = [
    ...changes.sessions.added.filter((session) => session.status !== 'active'),
    ...changes.sessions.kept
      .filter(({ before, after }) => {
        if (after.status === 'active') return false;
        // The Turnfile has only an agent's newest session, so the one before is logged here.
        const isReplaced = current.get(nameKey(after.agent))?.session !== (after.alias ?? after.id);
        return before.status === 'active' || (isReplaced && !logged.has(slug(before.alias)));
      })
      .map(({ after }) => after),
  ];
  return ended.flatMap((session): Entry[] => {
    const name = session.alias ?? session.id;
    if (name === undefined) return [];
    const pointer = pointers.get(name);
    const reference = pointer
      ? [`Full resumption snapshot: ${pointer.path} § Session ${pointer.number} closing state.`]
      : [];
    const number = pointer?.number ?? numberOf(session, changes.after);
    return [
      {
        id: session.id,
        session: String(number),
        heading: headingOf(number, session.endedAt),
        lines: [...renderClosing(session, name), ...reference],
      },
    ];
  });
}

function renderClosing(session: ModelSession, name: string): string[] {
  const done = session.completed?.length ? `finished ${session.completed.join('; ')}` : undefined;
  const said = done ?? session.workingOn ?? session.next ?? session.notes?.[0];
  const closing = { ...session, alias: name, said: said === undefined ? said : oneLine(said, 200) } as Closing;
  const { ended, agent, session: id, reason, words } = newEntry(closingRows, closing, null);
  const line = `${ended} — ${agent} (${id}, ${reason})${words === undefined ? '' : `: ${words}`}`;
  return [`### ${agent}: session ended`, '', line];
}
