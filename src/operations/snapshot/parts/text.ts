import { join } from 'node:path';
import { decidingFacts } from '../../../core/brief/deciding-facts.ts';
import { derivedNext } from '../../../core/brief/sections/next.ts';
import { reasonOf } from '../../../core/fault.ts';
import type { Item, Message, State, Step } from '../../../core/fold/state.ts';
import type { Artifact, Event, TreeMark } from '../../../core/journal/event.ts';
import { joined, type Line, line, quote, time, word } from '../../../core/line.ts';
import { isSameName } from '../../../core/names.ts';
import { isSameTree } from '../../../core/tree-name.ts';
import { isFinished, whatIsLeft } from '../../../core/views/left.ts';
import { isDone, planView } from '../../../core/views/plan.ts';
import { positionOf } from '../../../core/views/position.ts';
import type { SnapshotMoment } from '../../../engine/snapshots.ts';
import {
  type Entry,
  type ModifiedFile,
  renderSnapshot,
  type Snapshot,
  type SnapshotNext,
  type SnapshotTask,
} from '../../../formats/documents/snapshot.ts';
import { type LineCounts, readChangesSince, readLineCounts } from '../../../workspace/git/changes.ts';
import { type GitStatus, readGitStatus } from '../../../workspace/git/status.ts';
import { pathExists, readText } from '../../../workspace/read.ts';
import { ownChanges } from '../../brief/parts/evidence.ts';
import { countLines, readingList, stepFiles } from '../../brief/parts/reading-list.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';

/** Renders a snapshot from the journal, git and the current files; null if that fails. */
export async function describeSnapshot(
  context: Context,
  moment: SnapshotMoment,
): Promise<{ text: string; token: string } | null> {
  try {
    const { text, token } = renderSnapshot(await composeSnapshot(context, moment));
    return { text, token };
  } catch (thrown) {
    context.warn(`The snapshot was recorded without its text: ${reasonOf(thrown)}.`);
    return null;
  }
}

async function composeSnapshot(context: Context, moment: SnapshotMoment): Promise<Snapshot> {
  const { run, at, version, taken, session, state, events } = moment;
  const ended = lastSeen(moment);
  const seen = await readTree(context, moment);
  const task = taskOf(moment);
  return {
    run,
    session: session.id,
    agent: session.agent,
    sequence: taken.sequence,
    timestamp: at,
    closeReason: taken.reason ?? null,
    reconstructed: taken.reconstructed ?? false,
    endedAt: ended,
    branch: seen.mark?.branch ?? null,
    head: seen.mark?.head ?? null,
    journalVersion: version,
    task,
    mail: mailOf(state, session.agent),
    commitments: [...state.items.values()]
      .filter((item) => item.kind === 'commitment' && item.by === session.agent)
      .map(commitmentEntry),
    modified: modifiedFiles(moment, seen),
    reading: seen.reading,
    decisions: decisionsIn(events),
    why: taken.why ?? null,
    questions: await questionsIn(context, run, events, state),
  };
}

/** When a session that was cut off really ended. */
function lastSeen({ taken, session, ended }: SnapshotMoment): string | null {
  return taken.reconstructed ? (ended?.lastSeenAt ?? session.seenAt) : null;
}

interface Seen {
  mark: TreeMark | undefined;
  /** What git reports as changed since the session started. */
  status: GitStatus | null;
  counts: ReadonlyMap<string, LineCounts>;
  /** The tree the session worked in; null if that is not this one. */
  tree: string | null;
  reading: Snapshot['reading'];
}

/** The budget for the reading list, the same as in the brief. */
const READING_TOKENS = 2000;

/** Finds nothing for a run of another workspace or a session in another working tree. */
async function readTree(context: Context, { taken, session, before }: SnapshotMoment): Promise<Seen> {
  const workspace = context.workspace();
  const here = treeMark(context);
  const isHere =
    workspace?.ids.includes(before.run?.workspace ?? '') === true &&
    (session.mark === null || isSameTree(session.mark, { ...context.here(), tree: here?.tree }));
  if (!isHere)
    return { mark: taken.mark ?? session.mark ?? undefined, status: null, counts: new Map(), tree: null, reading: [] };
  const position = positionOf(before, planView(before), session.id);
  const step = position.current?.step;
  const artifacts = step ? await stepFiles(await context.engine(), before, step) : [];
  const since = session.mark?.head ?? null;
  const changed = since === null ? null : await readChangesSince(workspace.tree, since);
  const found = changed ? { dirty: new Map<string, string>(changed), added: [] } : await readGitStatus(workspace.tree);
  const status = await ownChanges(workspace, before, found);
  const old = new Set(session.mark?.dirty ?? []);
  const fresh = [...(status?.dirty.keys() ?? [])].filter((path) => !old.has(path)).slice(0, DIRTY_FILES);
  const files = readingList(context, before, position, artifacts, READING_TOKENS, fresh);
  return {
    mark: taken.mark ?? here,
    status,
    counts: (await readLineCounts(workspace.tree, since ?? undefined)) ?? new Map(),
    tree: workspace.tree,
    reading: files.map(({ path, lines, tokens, advice, why }) => ({
      path,
      lines,
      tokens,
      note: line`${word(advice)}, ${word(why)}`,
    })),
  };
}

function taskOf(moment: SnapshotMoment): SnapshotTask {
  const { taken, session, before, state } = moment;
  const steps = [...before.steps.values()];
  const own = steps.filter((step) => step.holder?.session === session.id);
  const left = steps.filter((step) => step.holder === null && step.lastSession === session.id && !isDone(step.status));
  const done = session.completed.flatMap((key) => before.steps.get(key) ?? []);
  const [step = null, ...also] = own.length > 0 ? own : left.length > 0 ? left : done.slice(-1);
  if (state.run?.kind === 'ad-hoc') {
    const named = { step: step?.key ?? null, title: step?.title ?? null, checkpoint: step?.checkpoint?.name ?? null };
    return { ...named, status: statusOfWork(state), also: also.map((other) => other.key), next: nextOfWork(moment) };
  }
  const next = taken.next === undefined ? nextOf(state, step) : declaredOnly(taken.next);
  if (step === null) return { status: 'complete', step: null, title: null, checkpoint: null, also: [], next };
  return {
    status: isDone(step.status) ? 'complete' : isBlocked(state, step) ? 'blocked' : 'partial',
    step: step.key,
    title: step.title,
    checkpoint: step.checkpoint?.name ?? null,
    also: also.map((other) => other.key),
    next,
  };
}

/** Work without a plan is complete once nothing is open in it. */
function statusOfWork(state: State): SnapshotTask['status'] {
  if (isFinished(state)) return 'complete';
  return whatIsLeft(state).some(({ kind }) => kind === 'blocker') ? 'blocked' : 'partial';
}

const CHARS = 240;
const NOTHING_LEFT = line`nothing is left.`;

/** In the words of the brief. */
function nextOfWork({ taken, state, at }: SnapshotMoment): SnapshotNext {
  if (taken.next !== undefined) return declaredOnly(taken.next);
  const facts = decidingFacts(state, at);
  const { declared } = facts.next;
  return declared ? declaredOnly(declared.text) : derivedOnly(derivedNext(facts, 'start', CHARS) ?? NOTHING_LEFT);
}

export function isBlocked(state: State, step: Step): boolean {
  return [...state.items.values()].some(
    (item) => item.kind === 'blocker' && item.status === 'active' && (item.affects ?? []).includes(step.key),
  );
}

const declaredOnly = (declared: string): SnapshotNext => ({ derived: null, declared });
const derivedOnly = (derived: Line): SnapshotNext => ({ derived, declared: null });

/** A declared next action comes before what follows from the plan. */
function nextOf(state: State, step: Step | null): SnapshotNext {
  if (step && !isDone(step.status)) {
    const declared = declaredFor(state, step);
    if (declared !== null) return declaredOnly(declared);
    if (step.status === 'failed')
      return derivedOnly(
        line`Step ${quote(step.key, 'name')} failed: a person chooses to retry, skip, abort or adjust the plan.`,
      );
    return derivedOnly(takeOver(step));
  }
  const { interrupted, ready } = positionOf(state, planView(state));
  // An interrupted step comes before one that was not started.
  const [left] = interrupted;
  if (left) return { derived: takeOver(left.step), declared: declaredFor(state, left.step) };
  const [first] = ready;
  if (first) return derivedOnly(line`Start step ${quote(first.step.key, 'name')} with 'holdfast start KEY'.`);
  const open = planView(state).leaves.some((view) => !isDone(view.status));
  return derivedOnly(
    open ? line`Nothing is ready: 'holdfast status' shows what blocks it.` : line`Nothing is left in the plan.`,
  );
}

const declaredFor = (state: State, step: Step): string | null =>
  state.next?.step === step.key ? state.next.text : (step.checkpoint?.next ?? null);

function takeOver({ key, checkpoint, artifacts }: Step): Line {
  const after = checkpoint
    ? line`continue after checkpoint ${quote(checkpoint.name, 'name')}`
    : artifacts.length > 0
      ? line`continue from the files that were changed for it: it has no checkpoint`
      : line`start it again: it has no checkpoint`;
  return line`Take step ${quote(key, 'name')} over with 'holdfast start KEY' and ${after}.`;
}

export function mailOf(state: State, agent: string): Snapshot['mail'] {
  const all = [...state.messages.values()];
  const received = all.filter((message) => isSameName(message.to, agent));
  const sent = all.filter((message) => isSameName(message.from, agent));
  const from = (message: Message): Entry =>
    messageEntry(message, line`from ${quote(message.from, 'name')}, ${word(message.priority)}`);
  const to = (message: Message): Entry =>
    messageEntry(message, line`to ${quote(message.to, 'name')}, ${word(message.status)}`);
  const isUnread = (message: Message): boolean => message.status === 'unread' && message.replies.length === 0;
  return {
    unread: received.filter((message) => message.status === 'unread').map(from),
    pendingAcks: received.filter(({ status }) => status === 'acknowledged' || status === 'blocked').map(from),
    unansweredUnread: sent.filter(isUnread).map(to),
    awaitingClose: sent.filter((message) => !isUnread(message)).map(to),
  };
}

const messageEntry = ({ id, alias, subject }: Message, facts: Line): Entry => ({ id, alias, facts, words: subject });

function commitmentEntry({ id, alias, to, due, text }: Item): Entry {
  const facts = [
    ...(to === undefined ? [] : [line`to ${quote(to, 'name')}`]),
    ...(due === undefined ? [] : [line`due ${time(due)}`]),
  ];
  return { id, alias, facts: joined(facts), words: text };
}

/** How many of the files that git reports as changed are listed. */
const DIRTY_FILES = 200;

/** Files that the session recorded or wrote notes on, and files that git reports as changed since it started. */
function modifiedFiles({ taken, session, events }: SnapshotMoment, seen: Seen): ModifiedFile[] {
  const { status, tree } = seen;
  const found = new Map<string, Change>();
  for (const event of events) {
    for (const artifact of artifactsIn(event))
      found.set(artifact.path, { kind: changeOf(artifact, found.get(artifact.path)?.kind), isRecorded: true });
  }
  const before = new Set(session.mark?.dirty ?? []);
  for (const [path, word] of [...(status?.dirty ?? [])].slice(0, DIRTY_FILES)) {
    const kind = word === 'untracked' || word === 'added' ? 'created' : word;
    const recorded = found.get(path);
    // Git knows whether a file is new; the one who recorded it often does not.
    if (recorded && (kind === 'deleted' || (kind === 'created' && recorded.kind === 'modified')))
      found.set(path, { kind, isRecorded: true });
    else if (!recorded && !before.has(path)) found.set(path, { kind, isRecorded: false });
  }
  const notes = new Map((taken.fileNotes ?? []).map(({ path, note }) => [path, note]));
  for (const path of notes.keys()) if (!found.has(path)) found.set(path, { kind: 'modified', isRecorded: true });
  return [...found].map(([path, change]) => {
    const isGone = tree !== null && change.kind !== 'deleted' && !pathExists(join(tree, path));
    const words = line`${sizeOf(path, change.kind, seen)}${change.isRecorded ? '' : line`, not recorded`}`;
    const gone = line`absent (recorded as ${word(change.kind)})`;
    return { path, change: isGone ? gone : words, note: notes.get(path) ?? null };
  });
}

/** `created, +40`, `+12 −3`; only the word where git counts no lines. */
function sizeOf(path: string, kind: string, { counts, tree }: Seen): Line {
  if (kind !== 'created' && kind !== 'modified') return line`${word(kind)}`;
  const counted = counts.get(path);
  if (kind === 'modified') return counted ? line`+${counted.added} −${counted.deleted}` : line`modified`;
  const text = counted || tree === null ? null : readText(join(tree, path));
  const added = counted?.added ?? (text === null ? null : countLines(text));
  return added === null ? line`created` : line`created, +${added}`;
}

interface Change {
  kind: string;
  /** Otherwise only git reports it. */
  isRecorded: boolean;
}

function artifactsIn(event: Event): readonly Artifact[] {
  switch (event.type) {
    case 'step.checkpointed':
    case 'step.completed':
      return event.body.artifacts ?? [];
    case 'files.seen':
      return event.body.read ? [] : event.body.artifacts;
    default:
      return [];
  }
}

function changeOf({ change, sha256 }: Artifact, before: string | undefined): string {
  if (change) return before === 'created' && change === 'modified' ? before : change;
  return sha256 === null || sha256 === undefined ? 'absent' : 'modified';
}

function decisionsIn(events: readonly Event[]): Entry[] {
  const retracted = new Set(events.flatMap((event) => (event.type === 'decision.retracted' ? [event.body.id] : [])));
  return events
    .flatMap((event) => (event.type === 'decision.made' ? [event.body] : []))
    .filter((body) => !retracted.has(body.id))
    .map(
      (body): Entry => ({
        id: body.id,
        alias: body.alias,
        facts: body.irreversible ? line`irreversible` : '',
        words: body.decision,
        reason: body.reason,
      }),
    )
    .reverse();
}

async function questionsIn(context: Context, run: string, events: readonly Event[], state: State): Promise<Entry[]> {
  const ids = new Set<string>();
  for (const event of events) {
    if (event.type === 'item.raised' && event.body.kind === 'question') ids.add(event.body.id);
    else if (event.type === 'item.reopened' && event.body.item.kind === 'question') ids.add(event.body.item.id);
    else if (event.type === 'item.settled' && event.body.id.startsWith('Q-')) ids.add(event.body.id);
  }
  if (ids.size === 0) return [];
  const engine = await context.engine();
  const rows = await engine.recall(run, [...ids]);
  return [...ids].flatMap((id) => {
    const item =
      state.items.get(id) ?? (rows.find((one) => one.kind === 'item' && one.id === id)?.doc as Item | undefined);
    return item ? [{ id: item.id, alias: item.alias, facts: line`${word(item.status)}`, words: item.text }] : [];
  });
}
