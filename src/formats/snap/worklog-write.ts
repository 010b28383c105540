import type { ModelDecision, ModelItem, ModelNote, ModelSession, RunModel } from '../../core/model/run-model.ts';
import { oneLine } from '../../core/text.ts';
import { flat } from '../text/lines.ts';
import { editPage, type PageEditor } from '../text/page.ts';
import { addRows, renderHeader, renderRow, setRow, type Values, valuesOf } from '../text/table.ts';
import { type AgentView, agentViews, type Changes, taskWords } from './changes.ts';
import { sameWords, slug } from './names.ts';
import { encodeProse } from './prose.ts';
import { type Index, noteTitles, UNKNOWN_END, WORKAROUND, type Worklog } from './worklog.ts';

const decisionTitles = ['Decision', 'Owner', 'Timestamp', 'Section'];
const itemTitles = ['ID', 'Kind', 'Item', 'Status', 'Step', 'To', 'Due', 'Resolution'];
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
    '## Decision Index',
    '',
    ...renderHeader(decisionTitles),
    '',
  ].join('\n');
}

/** The location of each session's snapshot. */
export type Pointers = ReadonlyMap<string, { path: string; number: number }>;

/** The text after the changes; null when nothing concerns the worklog. */
export function changeWorklog(
  worklog: Worklog,
  changes: Changes,
  pointers: Pointers,
  inChats: ReadonlySet<string>,
): string | null {
  if (!worklog.sound) return null;
  const edit = editPage(worklog.page);
  editStatus(worklog, edit, changes);
  editDecisions(worklog, edit, changes);
  editItems(worklog, edit, changes);
  for (const { before, after } of changes.notes.kept) {
    const place = worklog.notes.get(before);
    // Text changes only by erasure.
    if (place && sameWords(before.text) !== sameWords(after.text))
      edit.replace(place.from, place.to, renderNote(after));
  }
  addEntries(worklog, edit, [...newNotes(changes), ...closings(worklog, changes, pointers, inChats)]);
  return edit.changed ? edit.apply() : null;
}

function editStatus({ working, focus, checkpoint, page }: Worklog, edit: PageEditor, { before, after }: Changes): void {
  const was = agentViews(before);
  const lines = new Map(working.map((one) => [slug(one.agent), one.line]));
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
  const next = after.next === undefined || flat(after.next) === flat(before.next ?? '') ? null : flat(after.next);
  // The next action is not cut: a reader must not miss it.
  const line = `Next Review Checkpoint: ${next}`;
  if (next !== null && checkpoint) edit.set(checkpoint.line, line);
  else if (next !== null) edit.insert(focus ? focus.line + 1 : at, [line]);
  const looks = focusOf(after);
  if (focus && focusOf(before) !== looks && (focus.words === NONE || focus.words === focusOf(before)))
    edit.set(focus.line, `Maintainer Focus: ${looks}`);
}

const isIdle = ({ status }: AgentView): boolean => status === 'idle' || status === 'offline';

function wordsOn({ status, task, session }: AgentView, model: RunModel): string {
  const seen = session === null ? '' : `, ${session}`;
  if (task === null) return `${status === 'active' ? 'active, no task' : status}${seen}`;
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

/** What needs a maintainer: waiting mail, then blockers. */
function focusOf({ messages, items }: RunModel): string {
  const mail = messages.filter(
    (one) => slug(one.to) === 'maintainer' && one.status !== 'closed' && one.status !== 'actioned',
  );
  const first = mail.find((one) => one.type === 'decision-required') ?? mail[0];
  if (first) return oneLine(`${first.alias ?? first.id ?? ''} ${flat(first.subject)}`.trim(), STATUS_CHARS - 20);
  const blocker = items.find((item) => item.kind === 'blocker' && item.status === 'active');
  return blocker ? oneLine(`Blocked: ${flat(blocker.text)}`, STATUS_CHARS - 20) : NONE;
}

function editDecisions({ index, decisions, page }: Worklog, edit: PageEditor, changes: Changes): void {
  for (const { before, after } of changes.decisions.kept) {
    const place = decisions.get(before);
    const isSame =
      sameWords(before.decision) === sameWords(after.decision) &&
      (after.status === undefined || (before.status ?? 'active') === after.status) &&
      (after.context === undefined ||
        before.context === undefined ||
        sameWords(before.context) === sameWords(after.context));
    if (!place || isSame) continue;
    const { table, row } = place;
    setRow(edit, table, row, { ...valuesOf(table, row), ...decisionCells({ ...before, ...after }) });
  }
  const at = page.headings[1]?.line ?? page.lines.length;
  addToIndex(page, edit, index, at, ['## Decision Index', decisionTitles], changes.decisions.added.map(decisionCells));
}

function decisionCells({ decision, by, at, context, status }: ModelDecision): Values {
  const struck = status === 'superseded' || status === 'retracted';
  const words = struck ? `~~${decision.trim()}~~${status === 'retracted' ? ' (retracted)' : ''}` : decision;
  return { decision: words, owner: by, timestamp: at, date: at, section: context };
}

function editItems({ items, index, itemRows, page }: Worklog, edit: PageEditor, changes: Changes): void {
  const keys = new Set(changes.after.steps.map((step) => step.key));
  const cells = (item: ModelItem): Values => ({
    id: item.alias ?? item.id,
    kind: item.kind,
    item: item.text,
    status: item.status,
    step:
      [...new Set([item.step, ...(item.affects ?? [])])].filter((name) => name && keys.has(name)).join(', ') ||
      undefined,
    to: item.to,
    due: item.due,
    resolution:
      [item.workaround && `${WORKAROUND} ${flat(item.workaround)}`, item.resolution].filter(Boolean).join('\n') ||
      undefined,
  });
  const listed: ModelItem[] = [];
  // A blocker read only from a task changes its text when the task or its blockers change.
  const moved = new Set([
    ...changes.items.added.flatMap((item) => (item.kind === 'blocker' ? [item.step, ...(item.affects ?? [])] : [])),
    ...changes.steps.kept
      .filter(({ before, after }) => before.status !== after.status || before.summary !== after.summary)
      .map(({ after }) => after.key),
  ]);
  for (const { before, after } of changes.items.kept) {
    const place = itemRows.get(before);
    // An item known only from a task's status or a snapshot gets a row once it has more fields.
    if (!place && (after.status !== before.status || moved.has(after.step ?? ''))) listed.push(after);
    if (!place) continue;
    const was = cells(before);
    const is = Object.entries(cells(after)).filter(([name, text]) => text !== undefined && name !== 'id');
    if (is.some(([name, text]) => sameWords(text ?? '') !== sameWords(was[name] ?? '')))
      setRow(edit, place.table, place.row, { ...was, ...Object.fromEntries(is) });
  }
  const added = [...listed, ...changes.items.added].filter((item) => item.kind !== 'question');
  const at = index ? index.heading.end : (page.headings[1]?.line ?? page.lines.length);
  addToIndex(page, edit, items, at, ['## Item Index', itemTitles], added.map(cells));
}

/** Rows at the end of an index. A new one is a section of its own before `at`. */
function addToIndex(
  page: Worklog['page'],
  edit: PageEditor,
  index: Index | null,
  at: number,
  [heading, titles]: readonly [string, readonly string[]],
  rows: readonly Values[],
): void {
  if (index)
    return addRows(
      edit,
      { table: index.table ?? undefined, below: index.heading.line + 1, heading, titles, at },
      rows,
      'end',
    );
  if (rows.length === 0) return;
  const gap = at === 0 || page.line(at - 1).trim() === '' ? [] : [''];
  const names = titles.map((title) => title.toLowerCase());
  edit.insert(at, [...gap, heading, '', ...renderHeader(titles), ...rows.map((one) => renderRow(names, one)), '']);
}

/** The entries under the heading of a session. */
interface Entry {
  session: number;
  date: string | undefined;
  lines: readonly string[];
}

function newNotes({ notes: { added }, after }: Changes): Entry[] {
  const newest = after.sessions.at(-1);
  const session = newest ? numberOf(newest, after) : 0;
  const date = added.at(-1)?.at ?? newest?.endedAt ?? newest?.startedAt;
  return added.map((note) => ({ session, date, lines: renderNote(note) }));
}

function addEntries({ page, sections }: Worklog, edit: PageEditor, entries: readonly Entry[]): void {
  const bySession = new Map<number, Entry>();
  for (const { session, date, lines } of entries) {
    const before = bySession.get(session);
    bySession.set(session, { session, date: before?.date ?? date, lines: [...(before?.lines ?? []), '', ...lines] });
  }
  for (const { session, date, lines } of bySession.values()) {
    const section = sections.find((one) => Number(one.number) === session);
    let at = section?.heading.end ?? page.lines.length;
    while (at > 0 && page.line(at - 1).trim() === '') at--;
    const day = date === undefined ? '' : ` — ${date.slice(0, 10)}`;
    edit.insert(at, section ? lines : ['', `## Session ${session}${day}`, ...lines]);
  }
}

function renderNote({ kind, text, by, step, at }: ModelNote): string[] {
  const who = by === undefined ? '' : `${flat(by)}: `;
  const title = `### ${who}${noteTitles[kind]}${step === undefined ? '' : ` on ${step}`}${at === undefined ? '' : ` — ${flat(at)}`}`;
  return [title, '', ...encodeProse(text)];
}

/** The number of a session: that of its snapshot, else the one at the end of its id, else its position. */
function numberOf(session: ModelSession, { sessions }: RunModel): number {
  const digits = /(\d{1,9})$/.exec(session.alias ?? session.id ?? '')?.[1];
  return digits === undefined ? sessions.indexOf(session) + 1 : Number(digits);
}

/** An ended session: one line about it, and where its snapshot is. */
function closings(worklog: Worklog, changes: Changes, pointers: Pointers, inChats: ReadonlySet<string>): Entry[] {
  const logged = new Set([...inChats, ...worklog.sessions.map((session) => slug(session.alias))]);
  const current = agentViews(changes.after);
  const ended = [
    ...changes.sessions.added.filter((session) => session.status !== 'active'),
    ...changes.sessions.kept
      .filter(({ before, after }) => {
        if (after.status === 'active') return false;
        // The Turnfile has only an agent's newest session, so the one before is logged here.
        const isReplaced = current.get(slug(after.agent))?.session !== (after.alias ?? after.id);
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
    return [
      {
        session: pointer?.number ?? numberOf(session, changes.after),
        date: session.endedAt,
        lines: [...renderClosing(session, name), ...reference],
      },
    ];
  });
}

function renderClosing(session: ModelSession, name: string): string[] {
  const agent = flat(session.agent ?? 'unknown').replace(/[()]/g, ' ');
  const done = session.completed?.length ? `finished ${session.completed.join('; ')}` : undefined;
  const words = done ?? session.workingOn ?? session.next ?? session.notes?.[0];
  const text = words === undefined ? '' : `: ${oneLine(words, 200)}`;
  return [
    `### ${agent}: session ended`,
    '',
    `${session.endedAt?.replace(/\s+/g, '_').slice(0, 60) || UNKNOWN_END} — ${agent} (${name.replace(/[(),]/g, ' ')}, ${session.status})${text}`,
  ];
}
