import type { ModelClaim, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { ERASED } from '../../core/text.ts';
import { isObject } from '../is-object.ts';
import { type Editor, openEditor } from '../text/editor.ts';
import { emitPair, type Manner } from '../text/emit.ts';
import { at, type MapNode, plain } from '../text/node.ts';
import { changedFields, isSame, newEntry, readRows } from '../text/rows.ts';
import { agentViews, type Changes, taskWords } from './changes.ts';
import { nameKey, sameWords, slug, textOf } from './names.ts';
import { type AgentView, agentRows, lockRows, type Task, type TaskWord, taskRows } from './table.ts';
import type { Entry, Turnfile } from './turnfile.ts';
import { NO_STEP, taskKeys, taskOf } from './turnfile-model.ts';
import { isStale } from './turnfile-rules.ts';

/** Strings are quoted, so that no reader changes their type. */
const manner: Manner = { style: 'quoted', overEscaped: false };

type Fields = Readonly<Record<string, unknown>>;

/** A new Turnfile with only what was kept from an earlier one. */
export function newTurnfile({ run }: RunModel, workspace: string, kept: unknown): string {
  const old = isObject(kept) ? kept : {};
  const head = isObject(old['turnfile']) ? old['turnfile'] : {};
  const coordination: Record<string, unknown> = isObject(old['coordination']) ? { ...old['coordination'] } : {};
  const revision = typeof coordination['revision'] === 'number' ? coordination['revision'] : 0;
  const value: Record<string, unknown> = {
    turnfile: { ...head, version: textOf(head['version']) ?? '0.1.0', project: run.title, workspace },
    agents: old['agents'] ?? {},
    maintainer: {
      ...{ id: 'maintainer', status: 'available' },
      ...(isObject(old['maintainer']) ? old['maintainer'] : {}),
    },
    coordination: {
      revision,
      active_phase: textOf(coordination['active_phase']) ?? 'phase-1',
      active_step: textOf(coordination['active_step']) ?? NO_STEP,
      ...(coordination['conflict'] === undefined ? {} : { conflict: coordination['conflict'] }),
      tasks: coordination['tasks'] ?? {},
    },
    locks: old['locks'] ?? {},
    turn_queue: old['turn_queue'] ?? [],
    messages: old['messages'] ?? [],
  };
  return [
    '# TURNFILE.yaml — SNAP Coordination State',
    '# Protocol: Turnfile v0.1',
    `# Project: ${run.title.replace(/\s+/g, ' ')}`,
    `# Last modified revision: ${revision}`,
    '# Modified by: maintainer',
    ...Object.entries(value).flatMap(([name, section]) => ['', emitPair(name, section, 0, manner)]),
    '',
  ].join('\n');
}

/**
 * The text after the changes, with the next revision; null when nothing concerns the Turnfile. Every write of the
 * folder counts, so a write of other files alone also raises the revision.
 */
export function changeTurnfile(turnfile: Turnfile, changes: Changes, othersChanged: boolean): string | null {
  const { root, sound, text } = turnfile;
  if (!root || !sound) return null;
  const revision = (turnfile.revision ?? 0) + 1;
  const edit = openEditor(text, /\r\n/.test(text.slice(0, 2000)) ? '\r\n' : '\n', manner);
  const draft: Draft = { turnfile, root, coordination: mapAt(root, 'coordination'), changes, revision, edit };
  setTitle(draft);
  setAgents(draft);
  setTasks(draft);
  setLocks(draft);
  setPosition(draft);
  if (!edit.changed && !othersChanged) return null;
  raiseRevision(draft);
  return edit.apply();
}

interface Draft {
  turnfile: Turnfile;
  root: MapNode;
  coordination: MapNode | null;
  changes: Changes;
  revision: number;
  edit: Editor;
}

function mapAt(map: MapNode, key: string): MapNode | null {
  const node = at(map, key);
  return node?.type === 'map' ? node : null;
}

/** Raises the revision in the field and in the header, and renews the locks of active agents. */
function raiseRevision({ turnfile, coordination, changes, revision, edit }: Draft): void {
  const { header, locks } = turnfile;
  if (coordination) edit.set(coordination, 'revision', revision);
  if (header.revision) edit.replace(header.revision.start, header.revision.end, String(revision));
  if (header.by) edit.replace(header.by.start, header.by.end, writerOf(changes));
  const held = new Set(
    changes.claims.kept.filter(({ before, after }) => isSameHolder(before, after)).map(({ before }) => before.alias),
  );
  for (const lock of locks.values()) {
    if (held.has(lock.id) && !isStale(lock, turnfile.revision) && isStale(lock, revision) && lock.node.type === 'map')
      edit.set(lock.node, 'acquired_rev', revision);
  }
}

/** The author of the change: the agent named by what is new, else the active one. */
function writerOf({ after: { sessions }, decisions, items, notes, messages }: Changes): string {
  const named = [decisions, items, notes].flatMap(({ added }) => added.map(({ by }) => by)).findLast(Boolean);
  const session = sessions.findLast(({ status }) => status === 'active') ?? sessions.at(-1);
  return (named ?? messages.added.at(-1)?.from ?? session?.agent ?? 'maintainer').replace(/\s+/g, ' ');
}

function setTitle({ root, changes: { before, after }, edit }: Draft): void {
  const head = mapAt(root, 'turnfile');
  if (head && before.run.title !== after.run.title) edit.set(head, 'project', after.run.title);
}

function setAgents({ turnfile, root, changes: { before, after }, edit }: Draft): void {
  const was = agentViews(before);
  const entries = new Map([...turnfile.agents.values()].map((entry) => [nameKey(entry.id), entry]));
  const maintainer = mapAt(root, 'maintainer');
  const ids = idsOf(turnfile);
  const changed = new Map<string, Fields>();
  const inFile = (view: AgentView): AgentView => ({ ...view, task: ids.get(view.task ?? '') ?? view.task });
  for (const [id, view] of agentViews(after)) {
    const [old, entry] = [was.get(id), entries.get(id)];
    if (old && isSame(old, view)) continue;
    const isMaintainer = nameKey(textOf(plain(at(maintainer, 'id')))) === id || id === 'maintainer';
    const said = old ? inFile(old) : { ...view, ...unsaid, ...readRows(agentRows, entry?.fields ?? {}) };
    if (entry) changed.set(entry.id, changedFields(agentRows, entry.fields, said, inFile(view), null));
    else if (!maintainer || !isMaintainer) changed.set(view.name, newEntry(agentRows, inFile(view), null));
    else if (view.session !== undefined) edit.set(maintainer, 'last_seen', view.session);
  }
  setEntries(edit, root, 'agents', changed, []);
}

const unsaid = { task: undefined, session: undefined };

/** Task ids by step key. */
const idsOf = (turnfile: Turnfile): ReadonlyMap<string, string> =>
  new Map([...taskKeys(turnfile)].map(([id, one]) => [one, id]));

function setTasks({ turnfile, root, coordination, changes, revision, edit }: Draft): void {
  const ids = idsOf(turnfile);
  const words = { before: taskWords(changes.before), after: taskWords(changes.after) };
  const entryOf = (step: ModelStep): Entry | undefined => turnfile.tasks.get(ids.get(step.key) ?? step.key);
  const creator = textOf(plain(at(mapAt(root, 'maintainer'), 'id'))) === undefined ? 'unassigned' : 'maintainer';
  const about = { revision, creator };
  const changed = new Map<string, Fields>();
  for (const { before, after } of changes.steps.kept) {
    const entry = entryOf(after);
    if (!entry) continue;
    const was = taskOf(before, words.before.get(before.key) as TaskWord, ids, entry.fields);
    const step = { ...after, summary: summaryOf(before, after) };
    const now = moved(taskOf(step, words.after.get(after.key) as TaskWord, ids, entry.fields), was, after, revision);
    changed.set(entry.id, changedFields(taskRows, entry.fields, was, now, about));
  }
  for (const step of changes.steps.added.filter((one) => !entryOf(one))) {
    const task = taskOf(step, words.after.get(step.key) as TaskWord, ids, {});
    changed.set(step.key, newEntry(taskRows, moved(task, null, step, revision), about));
  }
  const removed = changes.steps.removed.flatMap((step) => entryOf(step)?.id ?? []);
  if (coordination) setEntries(edit, coordination, 'tasks', changed, removed);
}

/** The revisions that go with another status. */
function moved(now: Task, was: Task | null, { status }: ModelStep, revision: number): Task {
  if (was?.word === now.word) return now;
  const isOver = now.word === 'done' || now.word === 'cancelled';
  const isOpen = now.word === 'pending' || (now.word === 'blocked' && status === 'pending');
  const claimed = isOpen ? undefined : (now.claimed ?? (isOver ? undefined : revision));
  return { ...now, claimed, completed: isOver ? revision : undefined };
}

/** The notes of a task are mostly advice from its start: a summary follows them, unless text was erased. */
function summaryOf({ summary: notes }: ModelStep, { summary }: ModelStep): string | undefined {
  const has = (one: string, other: string): boolean => sameWords(one).includes(sameWords(other));
  if (summary === undefined || notes === undefined || has(notes, summary)) return notes ?? summary;
  return summary.includes(ERASED) || has(summary, notes) ? summary : `${notes} — ${summary}`;
}

function setLocks({ turnfile, root, changes: { claims }, revision, edit }: Draft): void {
  const idOf = (claim: ModelClaim): string => claim.alias ?? claim.id ?? '';
  const taken = new Set(turnfile.locks.keys());
  const changed = new Map<string, Fields>();
  for (const { before, after } of claims.kept) {
    const lock = turnfile.locks.get(idOf(before));
    if (lock) changed.set(lock.id, changedFields(lockRows, lock.fields, before, after, { revision }));
  }
  for (const claim of claims.added) {
    const id = idOf(claim) || nextLock(claim, taken);
    taken.add(id);
    changed.set(id, newEntry(lockRows, claim, { revision }));
  }
  const removed = claims.removed.map(idOf).filter((id) => turnfile.locks.has(id));
  setEntries(edit, root, 'locks', changed, removed);
}

const isSameHolder = (one: ModelClaim, other: ModelClaim): boolean => nameKey(one.agent) === nameKey(other.agent);

function nextLock({ agent }: ModelClaim, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) if (!taken.has(`${slug(agent)}-${number}`)) return `${slug(agent)}-${number}`;
}

/** A step in the maintainer's words stays; one that names a task follows the work. */
function setPosition({ turnfile, coordination, changes: { before, after }, edit }: Draft): void {
  const above = new Set(after.steps.map((step) => step.parent));
  const running = after.steps.find((step) => step.status === 'in_progress' && !above.has(step.key))?.key;
  const now = after.position?.step ?? (after.position === undefined ? running : undefined);
  const was = before.position?.step ?? undefined;
  if (!coordination || now === was) return;
  const named = textOf(plain(at(coordination, 'active_step')));
  const isOurs = named === undefined || named === NO_STEP || turnfile.tasks.has(named);
  if (!isOurs || (now === undefined && named === NO_STEP)) return;
  const parents = new Map(after.steps.map((step) => [step.key, step.parent]));
  let phase = now;
  for (let depth = 0; phase !== undefined && parents.get(phase) !== undefined && depth < 20; depth++)
    phase = parents.get(phase);
  if (before.steps.length === 0 && phase !== undefined && phase !== now) edit.set(coordination, 'active_phase', phase);
  edit.set(coordination, 'active_step', now === undefined ? NO_STEP : (idsOf(turnfile).get(now) ?? now));
}

/** Changes, adds and removes entries of a section. One in braces, or left without entries, is written again. */
function setEntries(
  edit: Editor,
  within: MapNode,
  name: string,
  all: ReadonlyMap<string, Fields>,
  removed: readonly string[],
): void {
  const changed = new Map([...all].filter(([, fields]) => Object.keys(fields).length > 0));
  if (changed.size + removed.length === 0) return;
  const box = at(within, name);
  const isKept = ({ key }: { key: string }): boolean => !removed.includes(key);
  if (box?.type !== 'map' || box.flow || !box.pairs.some(isKept)) {
    const old = box?.type === 'map' ? box.pairs.filter(isKept) : [];
    const entries = new Map(old.map(({ key, value }) => [key, plain(value)]));
    for (const [id, fields] of changed) entries.set(id, { ...(entries.get(id) as Fields | undefined), ...fields });
    edit.set(within, name, entries);
    return;
  }
  for (const id of removed) edit.removeKey(box, id);
  for (const [id, fields] of changed) {
    const entry = at(box, id);
    if (entry?.type !== 'map') edit.set(box, id, fields);
    else for (const [key, value] of Object.entries(fields)) edit.set(entry, key, value);
  }
}
