import type { Decision, Note, Session, Snapshot, State, Step, WorklogArchive } from '../fold/state.ts';
import { joined, type Line, line, id as ownId, type Part, quote, quoteAll, shortened, time, word } from '../line.ts';
import { sha256 } from '../sha256.ts';
import { printable } from '../text.ts';
import { owedByPeople } from './needs-you.ts';
import { planView } from './plan.ts';
import { positionOf } from './position.ts';

/** With more lines of entries than this, the next update proposes to compact. */
export const WORKLOG_LIMIT_LINES = 500;

/** An entry of the worklog: a note, or a session that has ended. */
export interface WorklogEntry {
  id: string;
  kind: 'note' | 'session';
  at: string;
  row: Note | Session;
  /** As in the file, with the empty line after it. */
  text: string;
  lines: number;
}

/** The entries of a worklog, the oldest first. */
export function worklogEntries(
  notes: readonly Note[],
  sessions: readonly Session[],
  snapshots: readonly Snapshot[],
): WorklogEntry[] {
  const lastSnapshot = new Map<string, Snapshot>();
  for (const snapshot of [...snapshots].sort((a, b) => a.sequence - b.sequence))
    lastSnapshot.set(snapshot.session, snapshot);
  const entries = [
    ...notes.map((note) => entryOf('note', note, note.at, noteText(note))),
    ...sessions.map((session) =>
      entryOf(
        'session',
        session,
        session.endedAt ?? session.seenAt,
        sessionText(session, lastSnapshot.get(session.id)),
      ),
    ),
  ];
  return entries.sort((a, b) => compare(a.at, b.at) || compare(a.kind, b.kind) || number(a.id) - number(b.id));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const number = (id: string): number => Number(id.replace(/\D+/g, ''));

function entryOf(kind: WorklogEntry['kind'], row: Note | Session, at: string, text: string): WorklogEntry {
  return { id: row.id, kind, at, row, text, lines: text.split('\n').length - 1 };
}

const timeOf = (at: string): Line => line`${time(at.slice(0, 16).replace('T', ' '))} UTC`;

const named = (text: string): Part => quote(text, 'name');

/** Quoted line by line, so that its text cannot pass for a heading or a fence of the worklog. */
function noteText({ id, by, at, kind, step, text }: Note): string {
  const lines = printable(text).split('\n');
  const heading = line`### ${named(by)}, ${timeOf(at)}: ${ownId(id)} ${word(kind)}${step ? line` (${named(step)})` : ''}`;
  return [heading, '', ...lines.map((line) => `> ${line}`.trimEnd()), '', ''].join('\n');
}

function sessionText(session: Session, snapshot: Snapshot | undefined): string {
  const { id, agent, status, endedAt, seenAt, completed, left, notes, issues } = session;
  const summary = [
    completed.length > 0 ? line`Completed ${quoteAll(completed, 'name')}.` : line`Completed no step.`,
    ...(left.length > 0 ? [line`Left ${quoteAll(left, 'name')} in progress.`] : []),
    ...notes.map((note) => quote(note)),
    ...issues.map((issue) => line`Issue: ${quote(issue)}`),
  ];
  const pointer = snapshot
    ? `Full resumption snapshot: \`.git/holdfast/snapshots/${snapshot.agent}-${snapshot.sequence}.md\`.`
    : 'No resumption snapshot was taken.';
  const heading = line`### ${named(agent)}, ${timeOf(endedAt ?? seenAt)}: session ${ownId(id)} ended, ${word(status)}`;
  return [heading, '', shortened(joined(summary, ' '), SUMMARY_CHARS), pointer, '', ''].join('\n');
}

const SUMMARY_CHARS = 300;

export interface WorklogInput {
  entries: readonly WorklogEntry[];
  /** Active ones, the newest first. */
  decisions: readonly Decision[];
}

/** The worklog as a file: its status within the first ten lines, the decision index, the archives, the entries. */
export function renderWorklog(state: State, { entries, decisions }: WorklogInput): string {
  const { archives, entries: total } = state.worklog;
  const hidden = total - entries.length;
  const { activeDecisions } = state.totals;
  const more = activeDecisions - decisions.length;
  return [
    ...statusBlock(state),
    '',
    '## Decision Index',
    '',
    ...(decisions.length > 0
      ? [
          '| Decision | Owner | Timestamp | Section |',
          '| --- | --- | --- | --- |',
          ...decisions.map(
            ({ id, decision, by, at, session }) =>
              line`| ${ownId(id)}: ${cell(decision)} | ${cell(by)} | ${time(at)} | ${session ? ownId(session) : line`none`} |`,
          ),
        ]
      : ['*No decisions.*']),
    ...(more > 0 ? ['', `${more} older decisions: \`holdfast decisions\`.`] : []),
    '',
    ...(archives.length > 0 ? [...archiveTable(archives), ''] : []),
    '## Entries',
    '',
    ...(hidden > 0 ? [`${hidden} older entries: \`holdfast worklog\`, or \`holdfast compact\`.`, ''] : []),
    ...entries.map((entry) => entry.text.slice(0, -1)),
    'Generated from the journal; edits are overwritten. Add an entry with `holdfast note`.',
    '',
  ].join('\n');
}

/** A bar would end the cell. */
const cell = (text: string): Part => quote(text.slice(0, 1000).replaceAll('|', '¦'), 'title');

const STATUS_AGENTS = 4;

function stepWords({ key, title, checkpoint }: Step): Line {
  const at = checkpoint ? line` (checkpoint: ${named(checkpoint.name)})` : '';
  return line`${named(key)} ${quote(title, 'title')}${at}`;
}

/** At most nine lines: a reader without Holdfast reads the first ten. */
function statusBlock(state: State): (Line | '')[] {
  const { run } = state;
  const plan = planView(state);
  const working = [...state.sessions.values()].map(({ id, agent }) => {
    const held = [...state.steps.values()].filter((step) => step.holder?.session === id);
    const on = held.map((step) => stepWords(step));
    return { agent, on: on.length > 0 ? joined(on, '; ') : line`no step` };
  });
  const left = plan.leaves
    .filter((view) => view.interrupted)
    .map(({ step }) => ({
      agent: step.lastAgent ?? 'nobody',
      on: line`left in progress: ${stepWords(step)}`,
    }));
  const all = [...working, ...left];
  const shown = all.length > STATUS_AGENTS ? all.slice(0, STATUS_AGENTS - 1) : all;
  const rest = all.slice(shown.length);
  const owed = owedByPeople(state, plan);
  const { current } = positionOf(state, plan);
  const checkpoint = current?.step.checkpoints.find((name) => name !== current.step.checkpoint?.name);
  const review = current
    ? line`${named(current.step.key)} ${quote(checkpoint ?? current.step.title, 'title')}`
    : line`none, everything is done`;
  return [
    line`# Worklog: ${quote(run?.title ?? '', 'title', 100)}`,
    '',
    ...shown.map(({ agent, on }) => line`Now Working (${named(agent)}): ${shortened(on, 110)}`),
    ...(rest.length > 0
      ? [
          line`Now Working (${rest.length} more): ${shortened(
            quoteAll(
              rest.map((one) => one.agent),
              'name',
            ),
            110,
          )}`,
        ]
      : []),
    ...(all.length === 0 ? [line`Now Working: nobody`] : []),
    line`Maintainer Focus: ${owed.length > 0 ? shortened(joined(owed, '; '), 110) : line`nothing waits for a person`}`,
    line`Next Review Checkpoint: ${shortened(review, 110)}`,
    line`Progress: ${plan.progress.percent} %, ${plan.progress.done} of ${plan.progress.total} steps; run ${quote(run?.id ?? '', 'title')} at event ${state.version}, ${time(run?.updatedAt ?? '')}`,
  ];
}

function archiveTable(archives: readonly WorklogArchive[]): string[] {
  return [
    '## Archived',
    '',
    '| Archive | Date | Entries | Lines | Proof |',
    '| --- | --- | --- | --- | --- |',
    ...archives.map(
      (one) => `| archive-${one.number}.md | ${one.at} | ${one.entries} | ${one.lines} | ${one.proof.slice(0, 16)} |`,
    ),
  ];
}

/** A hash over all entries in order: kept and archived entries together give the hash of the whole again. */
export function proofOf(entries: readonly WorklogEntry[]): string {
  return sha256(entries.map(({ id, text }) => `${id} ${sha256(text)}\n`).join(''));
}

/** An archive as a file: the entries unchanged, each with its hash in the list above them. */
export function renderArchive(state: State, archive: WorklogArchive, entries: readonly WorklogEntry[]): string {
  return [
    line`# Worklog archive ${archive.number}: ${quote(state.run?.title ?? '', 'title', 100)}`,
    '',
    line`${archive.entries} entries, moved ${time(archive.at)} by ${named(archive.by)}. Before that the worklog had the proof ${quote(archive.proof, 'title')}:`,
    'the SHA-256 over one line for every entry in order of time, its id, a space and the SHA-256 of its text.',
    '',
    '## Archive Summary',
    '',
    '| Entry | Lines | SHA-256 |',
    '| --- | --- | --- |',
    ...entries.map(({ id, lines, text }) => `| ${id} | ${lines} | ${sha256(text)} |`),
    '',
    '## Entries',
    '',
    ...entries.map((entry) => entry.text.slice(0, -1)),
    '',
  ].join('\n');
}

export interface PlannedEntry {
  id: string;
  kind: WorklogEntry['kind'];
  at: string;
  lines: number;
  moves: boolean;
  why: string;
}

/**
 * Says for each entry whether it moves, and why: it must be completed, and nothing open may refer to it. An entry that
 * stays keeps the entries it names. With `only`, no other entry moves.
 */
export function planCompaction(
  state: State,
  entries: readonly WorklogEntry[],
  only: ReadonlySet<string> | null = null,
): PlannedEntry[] {
  const opens = openThings(state);
  const lastOf = new Map<string, string>();
  for (const { kind, row } of entries) if (kind === 'session') lastOf.set((row as Session).agent, row.id);
  const kept = new Map<string, string>();
  for (const entry of entries) {
    const why =
      entry.kind === 'note'
        ? noteStays(state, entry.row as Note)
        : sessionStays(state, entry.row as Session, lastOf.get((entry.row as Session).agent) === entry.id);
    const named = why ?? opens.refersTo(entry) ?? (only && !only.has(entry.id) ? 'It was not chosen.' : null);
    if (named !== null) kept.set(entry.id, named);
  }
  keepNamed(entries, kept);
  return entries.map(({ id, kind, at, lines }) => {
    const why = kept.get(id);
    return { id, kind, at, lines, moves: why === undefined, why: why ?? 'It is done, and nothing open refers to it.' };
  });
}

function noteStays(state: State, { kind, session, step }: Note): string | null {
  if (kind === 'constraint' || kind === 'dead-end') return `A ${kind} is in every brief.`;
  if (session !== null && state.sessions.has(session)) return `Its session ${session} is at work.`;
  const view = step ? planView(state).byKey.get(step) : undefined;
  return view && view.status !== 'completed' && view.status !== 'skipped'
    ? `Its step ${step} is ${view.status}.`
    : null;
}

function sessionStays(state: State, { id, agent }: Session, isLast: boolean): string | null {
  if (isLast) return `It is the last session of ${agent}.`;
  const open = [...state.steps.values()].find((step) => step.status === 'in_progress' && step.lastSession === id);
  if (open) return `It left step ${open.key} in progress.`;
  const handoff = [...state.handoffs.values()].find((one) => one.from === id || one.acceptedBy === id);
  return handoff ? `Handoff ${handoff.id} is about it.` : null;
}

/** Open items, messages, effects and handoffs: which entries they name, and which entries name them. */
function openThings(state: State) {
  const { items, messages, effects, handoffs } = state;
  const all = [...items.values(), ...messages.values(), ...effects.values(), ...handoffs.values()];
  const names = new Map<string, string>();
  const naming = new Map<string, string>();
  for (const thing of all) {
    names.set(thing.id, thing.id);
    if ('alias' in thing && thing.alias) names.set(thing.alias, thing.id);
    for (const name of namesIn(allWords(thing))) naming.set(name, thing.id);
  }
  return {
    refersTo({ id, row }: WorklogEntry): string | null {
      const by = naming.get(id);
      if (by) return `${by} refers to it, and is open.`;
      const named = [...namesIn(wordsOf(row))].find((name) => names.has(name));
      return named ? `It names ${named}, which is open.` : null;
    },
  };
}

/** The text of an entry. The session it continues is not a reference: the chain would keep every entry. */
const wordsOf = (row: Note | Session): string => ('text' in row ? row.text : [...row.notes, ...row.issues].join('\n'));

/** The text of all fields of an open thing. */
const allWords = (thing: object): string =>
  JSON.stringify(thing, (key, value: unknown) =>
    key === 'id' || key === 'session' || key === 'alias' ? undefined : value,
  );

/** Ids in text: `N-8`, `OQ-031`, `MSG-20260208-047`, `block-001`. */
const namesIn = (text: string): Set<string> => new Set(text.match(/\b[A-Za-z]+(?:-\d+)+\b/g) ?? []);

function keepNamed(entries: readonly WorklogEntry[], kept: Map<string, string>): void {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  // An entry that stays because it was not chosen is not work in progress, so it keeps no others.
  const open = [...kept].filter(([, why]) => why !== 'It was not chosen.').map(([id]) => id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const entry = byId.get(id);
    for (const name of entry ? namesIn(wordsOf(entry.row)) : []) {
      if (!byId.has(name) || kept.has(name)) continue;
      kept.set(name, `${id} refers to it, and stays.`);
      open.push(name);
    }
  }
}
