import { classOfCommand } from '../../../clients/command-class.ts';
import { type Conversation, callKey } from '../../../clients/conversation.ts';
import type { Reconstruction, RecoveredCommand } from '../../../clients/reconstruction.ts';
import type { Spent, TouchedFile } from '../../../clients/tool-call.ts';
import { spentIn } from '../../../core/fold/spent.ts';
import type { Effect, FileRow, Session } from '../../../core/fold/state.ts';
import { sha256 } from '../../../core/sha256.ts';
import { oneLine } from '../../../core/text.ts';
import { capturesCommand } from '../../../workspace/state/capture.ts';
import type { Context } from '../../context.ts';
import { capturedPath } from './captured-path.ts';

/** A conversation with its sessions here, and the run that it is recorded in. */
export interface Place {
  conversation: Conversation;
  /** Its sessions in the run, newest first. */
  sessions: readonly Session[];
  /** Null while there is none. */
  run: string | null;
  /** Identifies this reading of the transcript. */
  key: string;
}

/** What a transcript has and the journal does not. */
export interface News {
  files: readonly { path: string; change: NonNullable<TouchedFile['change']> }[];
  /** Commands with the key of their effect; one without a result was running when the conversation was cut off. */
  commands: readonly (RecoveredCommand & { key: string })[];
  /** Effects that have no end here and have one in the transcript. */
  endings: readonly { id: string; command: RecoveredCommand }[];
  spent: Spent | null;
  decisions: readonly { text: string; key: string }[];
}

/** Of a long conversation only the last ones: older work is in git. */
const COMMANDS_LIMIT = 50;

export async function gatherNews(context: Context, place: Place, found: Reconstruction): Promise<News> {
  const known = await recordedOf(context, place);
  const capture = context.workspace()?.config.capture;
  const commands: (RecoveredCommand & { key: string })[] = [];
  const endings: { id: string; command: RecoveredCommand }[] = [];
  for (const command of found.commands) {
    if (!capturesCommand(capture, command.command)) continue;
    const keys = [command.call, command.command].map((call) => callKey(place.conversation, call));
    const open = known.open.find((effect) => effect.key && keys.includes(effect.key));
    if (open && command.result !== null) endings.push({ id: open.id, command });
    if (open || keys.some((key) => known.effects.has(key))) continue;
    // A command that only reads is recorded only if its end is unknown.
    if (command.result !== null && classOfCommand(command.command) === 'read') continue;
    commands.push({ ...command, key: keys[0] ?? '' });
  }
  const decisions = found.decisions.map((text) => ({
    text,
    key: `recover:decision:${sha256(JSON.stringify([place.conversation.conversation, text])).slice(0, 32)}`,
  }));
  return {
    files: await newFiles(context, place, found, known.files),
    commands: commands.slice(-COMMANDS_LIMIT),
    endings,
    spent: beyond(found.spent, known.spent),
    decisions: decisions.filter(({ key }) => !known.keys.has(key)),
  };
}

interface Recorded {
  files: ReadonlySet<string>;
  effects: ReadonlySet<string>;
  open: readonly Effect[];
  spent: Spent;
  keys: ReadonlySet<string>;
}

/** What the events of its sessions already record. */
async function recordedOf(context: Context, { run, sessions }: Place): Promise<Recorded> {
  const files = new Set<string>();
  const effects = new Set<string>();
  const keys = new Set<string>();
  const spent = { input: 0, output: 0, cached: 0 };
  if (run === null || sessions.length === 0) return { files, effects, open: [], spent, keys };
  const engine = await context.engine();
  const ids = new Set(sessions.map((session) => session.id));
  const after = Math.min(...sessions.map((session) => session.startedVersion)) - 1;
  for await (const page of engine.eventPages(run, { after })) {
    for (const event of page) {
      if (event.session === null || !ids.has(event.session)) continue;
      if (event.key !== null) keys.add(event.key);
      if (event.type === 'effect.began' && event.body.key) effects.add(event.body.key);
      if (event.type === 'files.seen' && !event.body.read) for (const { path } of event.body.artifacts) files.add(path);
      if (event.type !== 'usage.added') continue;
      const { input, output, cached } = spentIn(event, true);
      spent.input += input;
      spent.output += output;
      spent.cached += cached ?? 0;
    }
  }
  const { effects: open } = await engine.load(run);
  return { files, effects, open: [...open.values()], spent, keys };
}

/** Files of this workspace that the conversation changed, without those that were recorded since. */
async function newFiles(
  context: Context,
  { run }: Place,
  found: Reconstruction,
  known: ReadonlySet<string>,
): Promise<News['files']> {
  const tree = context.workspace()?.tree ?? context.dir;
  const capture = context.workspace()?.config.capture;
  const changes = new Map<string, NonNullable<TouchedFile['change']>>();
  for (const file of found.files.values()) {
    const path = file.read ? null : capturedPath(capture, tree, found.cwd ?? tree, file.path);
    if (path === null || known.has(path)) continue;
    const before = changes.get(path);
    changes.set(path, before === 'created' ? before : (file.change ?? 'modified'));
  }
  if (run === null || changes.size === 0) return [...changes].map(([path, change]) => ({ path, change }));
  const engine = await context.engine();
  const records = await engine.recall(run, [...changes.keys()]);
  for (const record of records) {
    const { path, at } = record.doc as FileRow;
    if (record.kind === 'file' && found.endedAt !== null && at > found.endedAt) changes.delete(path);
  }
  return [...changes].map(([path, change]) => ({ path, change }));
}

function beyond(found: Spent | null, known: Spent): Spent | null {
  if (found === null) return null;
  const rest = {
    input: Math.max(0, found.input - known.input),
    output: Math.max(0, found.output - known.output),
    cached: Math.max(0, found.cached - known.cached),
  };
  return rest.input + rest.output > 0 ? rest : null;
}

/** What will be recorded, in sentences. */
export function describeNews(news: News, found: Reconstruction): string[] {
  const running = news.commands.filter((command) => command.result === null);
  const ended = news.commands.length - running.length;
  const named = (list: readonly string[]): string =>
    `${list.slice(0, 8).join(', ')}${list.length > 8 ? ` and ${list.length - 8} more` : ''}`;
  return [
    ...(news.files.length > 0 ? [`Files changed: ${named(news.files.map(({ path }) => path))}.`] : []),
    ...(ended > 0 ? [`Commands that ended: ${ended}.`] : []),
    ...running.map(({ command }) => `Was running, outcome unknown: ${oneLine(command, 200)}`),
    ...otherCalls(found).map((tool) => `Was running, outcome unknown: the tool ${oneLine(tool, 80)}.`),
    ...(news.endings.length > 0 ? [`Effects that ended: ${news.endings.map(({ id }) => id).join(', ')}.`] : []),
    ...(found.todos ? [`To-do list: ${found.todos.entries.length} entries.`] : []),
    ...(news.decisions.length > 0 ? [`Decisions in its summary: ${news.decisions.length}.`] : []),
    ...(news.spent ? [`Tokens: ${news.spent.input} in, ${news.spent.output} out, ${news.spent.cached} cached.`] : []),
    ...(found.lastRequest ? [`Last request: ${oneLine(found.lastRequest, 300)}`] : []),
    ...(found.lastMessage ? [`Last message: ${oneLine(found.lastMessage, 300)}`] : []),
  ];
}

/** Running tools other than commands. */
export function otherCalls(found: Reconstruction): string[] {
  return found.running.filter(({ toolCall }) => toolCall.command === null).map(({ toolCall }) => toolCall.tool);
}
