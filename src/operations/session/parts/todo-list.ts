import type { TodoChange, TodoStatus } from '../../../clients/tool-call.ts';
import { Fault } from '../../../core/fault.ts';
import type { State, Step } from '../../../core/fold/state.ts';
import type { Command } from '../../../core/journal/command.ts';
import { redact } from '../../../core/redact/redact.ts';
import { sha256 } from '../../../core/sha256.ts';
import { oneLine } from '../../../core/text.ts';
import { planView } from '../../../core/views/plan.ts';
import { treeMark } from '../../working-tree.ts';
import { execute, type SessionContext } from './session-context.ts';

/**
 * Turns the agent's to-do list into steps of the run. An entry is a step with the key `todo-N`; its alias names the
 * conversation. An entry with the title of an existing step is that step, no matter who added it, so that a list rewritten by the
 * next agent continues the last one's.
 *
 * A run with a plan gets no new steps: a finished entry becomes a checkpoint of the step the session holds, with the entry
 * after it as the next action. Without such a step the list is kept as a note.
 */
export async function followTodos(within: SessionContext, list: TodoList, change: TodoChange): Promise<void> {
  const { owner, key } = list;
  const entries = entriesOf(change);
  // An older list that is reported again would move the steps back.
  if (key !== null && (await within.engine.hasRecorded(within.run, key))) return;
  const board: Board = { within, key, isOver: list.isOver === true, refused: list.refused };
  const isPlanned = [...within.state.steps.values()].some((step) => !isTodo(step));
  if (isPlanned) {
    const unplanned = entries.filter((entry) => !stepFor(within.state, owner, entry));
    for (const entry of entries) await follow(board, owner, entry);
    if (unplanned.length > 0) await keepBeside(board, owner, unplanned);
    return;
  }
  if (change.kind === 'list') await dropMissing(board, owner, entries);
  await addNew(board, owner, entries);
  // Finished entries first, so that the session never holds two steps while a list moves on by one.
  for (const entry of [...entries].sort((a, b) => turn(a.status) - turn(b.status))) await follow(board, owner, entry);
}

export interface TodoList {
  /** The conversation whose list it is. */
  owner: string;
  /** Identifies the list when it is reported again; null where the same text may be a new list. */
  key: string | null;
  /** Its session is gone: an interrupted step is not started again. */
  isOver?: boolean;
  /** Called with each command that a rule refused. */
  refused(message: string): void;
}

/** The work on one list. The first recorded command carries the key of the whole list. */
interface Board {
  within: SessionContext;
  key: string | null;
  isOver: boolean;
  refused(message: string): void;
}

interface Entry {
  /** The client's id of the entry; null in a list that is always written whole. */
  id: string | null;
  text: string | null;
  status: TodoStatus | null;
}

const turn = (status: TodoStatus | null): number =>
  ['completed', 'cancelled', 'pending', 'in_progress'].indexOf(status ?? 'pending');

function entriesOf(change: TodoChange): Entry[] {
  const entries: Entry[] = change.entries.map((entry) => ({ id: null, ...entry }));
  return entries.map((entry) => ({ ...entry, text: entry.text === null ? null : titleOf(entry.text) }));
}

const TITLE_CHARS = 300;
const titleOf = (text: string): string => oneLine(redact(text).text, TITLE_CHARS);

const isTodo = (step: Step): boolean => /^todo-\d+$/.test(step.key);
const same = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

const aliasOf = (owner: string, id: string): string => `${owner}#${id}`.slice(0, 200);

/** Finds the step of an entry by the client's id in its own list, else by its text. */
function stepFor(state: State, owner: string, entry: Entry): Step | undefined {
  const steps = [...state.steps.values()];
  const { id, text } = entry;
  if (id !== null) {
    const own = steps.find((step) => step.alias === aliasOf(owner, id));
    if (own) return own;
  }
  if (text === null) return undefined;
  const parents = new Set(steps.map((step) => step.parent));
  const named = steps.filter((step) => !parents.has(step.key) && same(step.title, text));
  // Entries with ids are different entries even if their text is the same.
  const free = id === null ? named : named.filter((step) => !step.alias?.startsWith(`${owner}#`));
  return free.find((step) => step.status !== 'completed') ?? free[0];
}

async function addNew(board: Board, owner: string, entries: readonly Entry[]): Promise<void> {
  const { within } = board;
  const fresh = entries.filter(
    (entry) => entry.text && entry.status !== 'cancelled' && !stepFor(within.state, owner, entry),
  );
  if (fresh.length === 0) return;
  let number = Math.max(0, ...[...within.state.steps.keys()].map((key) => Number(/^todo-(\d+)$/.exec(key)?.[1] ?? 0)));
  const steps = fresh.map(({ id, text }) => {
    number += 1;
    return {
      key: `todo-${number}`,
      title: text ?? '',
      kind: 'task' as const,
      alias: aliasOf(owner, id ?? `+${number}`),
    };
  });
  await quietly(board, { type: 'plan.add', steps });
}

/** Removes entries that left this list. Entries of other lists and finished ones stay. */
async function dropMissing(board: Board, owner: string, entries: readonly Entry[]): Promise<void> {
  const { within } = board;
  const kept = new Set(entries.map((entry) => stepFor(within.state, owner, entry)?.key));
  const gone = [...within.state.steps.values()].filter(
    (step) => isTodo(step) && step.alias?.startsWith(`${owner}#`) && !kept.has(step.key) && step.status !== 'completed',
  );
  // As many new entries as missing ones: their text was edited.
  const fresh = entries.filter((entry) => entry.text && !stepFor(within.state, owner, entry));
  if (gone.length === fresh.length && gone.length > 0 && kept.size > 1) {
    for (const [index, step] of gone.entries()) {
      await quietly(board, { type: 'plan.change', step: step.key, patch: { title: fresh[index]?.text ?? step.title } });
    }
    return;
  }
  for (const step of gone) await drop(board, step);
}

async function drop(board: Board, step: Step): Promise<void> {
  const { within } = board;
  if (step.status === 'in_progress')
    await quietly(board, { type: 'step.release', step: step.key, reason: 'It left the to-do list.' });
  if (within.state.steps.get(step.key)?.status === 'pending')
    await quietly(board, { type: 'plan.remove', step: step.key });
}

/** Brings a step to the status of its entry with ordinary commands; a refused one changes nothing. */
async function follow(board: Board, owner: string, entry: Entry): Promise<void> {
  const { within } = board;
  const step = stepFor(within.state, owner, entry);
  if (!step) return;
  const { key } = step;
  if (entry.id !== null && entry.text && !same(entry.text, step.title) && isTodo(step))
    await quietly(board, { type: 'plan.change', step: key, patch: { title: entry.text } });
  const status = planView(within.state).byKey.get(key)?.status;
  const isMine = step.holder?.session === within.session.id;
  const reason = 'The to-do list has it open again.';
  const mark = treeMark(within.context);
  switch (entry.status) {
    case 'in_progress':
      if (status === 'completed' || status === 'skipped')
        await quietly(board, { type: 'step.reopen', step: key, reason });
      else if (status === 'failed') await quietly(board, { type: 'step.retry', step: key, mark });
      else if (!isMine && !(board.isOver && status === 'in_progress'))
        await quietly(board, { type: 'step.start', step: key, mark });
      return;
    case 'completed':
      if (status === 'completed' || status === 'skipped') return;
      if (status === 'failed') await quietly(board, { type: 'step.retry', step: key, mark });
      else if (!isMine) await quietly(board, { type: 'step.start', step: key, mark });
      if (within.state.steps.get(key)?.holder?.session === within.session.id)
        await quietly(board, { type: 'step.complete', step: key, mark });
      return;
    case 'pending':
      if (isMine)
        await quietly(board, { type: 'step.release', step: key, reason: 'The to-do list has it as pending.' });
      return;
    case 'cancelled':
      if (isTodo(step) && step.status !== 'completed') await drop(board, step);
      return;
    case null:
      return;
    default:
      return entry.status satisfies never;
  }
}

/** In a run with a plan, entries become checkpoints of the held step, or a note. */
async function keepBeside(board: Board, owner: string, entries: readonly Entry[]): Promise<void> {
  const { within } = board;
  const held = [...within.state.steps.values()].filter((step) => step.holder?.session === within.session.id);
  const next =
    entries.find(({ status }) => status === 'in_progress') ?? entries.find(({ status }) => status === 'pending');
  const [step] = held;
  if (step && held.length === 1) {
    for (const { text, status } of entries) {
      if (!text || status !== 'completed') continue;
      const name = oneLine(text, 190);
      const key = `hook:todo:${sha256(JSON.stringify([within.session.id, step.key, name])).slice(0, 32)}`;
      await quietly(
        board,
        { type: 'step.checkpoint', step: step.key, name, ...(next?.text ? { next: next.text } : {}) },
        key,
      );
    }
    return;
  }
  const lines = entries.filter((entry) => entry.text).map(({ text }) => `- ${text}`);
  if (lines.length === 0) return;
  // The key depends on the texts only, so ticking an entry adds no note.
  const key = `hook:todo:${sha256(JSON.stringify([owner, lines])).slice(0, 32)}`;
  await quietly(
    board,
    {
      type: 'note.add',
      kind: 'worklog',
      text: `To-do list of ${within.session.agent}, beside the plan:\n${lines.join('\n')}`,
    },
    key,
  );
}

/** A refused entry does not stop the others. */
async function quietly(board: Board, command: Command, ownKey?: string): Promise<void> {
  const { within } = board;
  try {
    const done = await execute(within, command, ownKey ?? board.key);
    if (ownKey === undefined && done.events.length > 0) board.key = null;
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code === 'unavailable') throw thrown;
    board.refused(`To-do list: ${command.type} was refused: ${thrown.message}`);
    within.state = await within.engine.load(within.run);
  }
}
