import { classOfCommand } from '../clients/command-class.ts';
import { callKey, conversationOf } from '../clients/conversation.ts';
import { hooksOf, isClient } from '../clients/index.ts';
import type { Moment, ToolMoment } from '../clients/moment.ts';
import { type ToolResult, tookEffect } from '../clients/tool-call.ts';
import type { Effect } from '../core/fold/state.ts';
import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import { msBetween } from '../core/time.ts';
import { capturedPath } from '../operations/session/parts/captured-path.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import { hashArtifact } from '../workspace/files.ts';
import { capturesCommand } from '../workspace/state/capture.ts';
import type { CaptureConfig } from '../workspace/state/workspace-settings.ts';
import { log } from './log.ts';
import { isTime, keyOf } from './moment-key.ts';

export const isToolMoment = (moment: Moment): moment is ToolMoment =>
  moment.kind === 'tool-before' || moment.kind === 'tool-after';

/** A tool that is about to run and is neither a command nor a question: its end is reported too. */
export const tellsNothing = (moment: Moment): boolean =>
  moment.kind === 'tool-before' && moment.call.command === null && !moment.call.asks;

/**
 * Records a tool call. This path runs most often, so it loads nothing it does not need. `reportedMs` is when it was
 * reported, if that was before now.
 */
export async function recordTool(within: SessionContext, moment: ToolMoment, reportedMs?: number): Promise<void> {
  const { command, files, todos } = moment.call;
  const config = within.context.workspace()?.config.capture;
  let isRecorded = false;
  await mustBeInTurn(within, moment);
  if (command !== null && capturesCommand(config, command)) {
    if (moment.kind === 'tool-before') await beginCommand(within, moment, command);
    else await endCommand(within, moment, command, await resultIn(moment));
    isRecorded = true;
  }
  if (moment.call.asks) {
    const { recordQuestion } = await import('./question.ts');
    await recordQuestion(within, moment, moment.call.asks);
    isRecorded = true;
  }
  if (moment.kind === 'tool-before') return;
  const isDone = tookEffect(moment.result);
  if (files.length > 0 && isDone) isRecorded = (await recordFiles(within, moment, config, reportedMs)) || isRecorded;
  if (todos !== null && isDone) {
    const { followTodos } = await import('../operations/session/parts/todo-list.ts');
    const refused = (message: string): void => log(within.context.workspace()?.root ?? null, message);
    const key = moment.id === null ? null : keyOf(moment, 'todos');
    await followTodos(within, { owner: conversationOf(moment), key, refused }, todos);
    await nameByTodo(within);
    isRecorded = true;
  }
  if (!isRecorded) await beat(within);
}

/** The agent works although no prompt was reported: a turn has begun. */
async function mustBeInTurn(within: SessionContext, moment: ToolMoment): Promise<void> {
  const { state, session, engine, run } = within;
  const turn = state.sessions.get(session.id)?.turn;
  if (session.parent !== null || (turn && turn.endedAt === null)) return;
  // The late end of a command belongs to the turn before, and so does a report that is repeated.
  if (openEffect(within, effectKey(moment, moment.call.command ?? ''))) return;
  for (const key of keysOf(moment)) if (await engine.hasRecorded(run, key)) return;
  await execute(within, { type: 'turn.begin', kind: 'unknown' }, null);
}

/** The keys of everything that may be recorded of a tool call. */
export const keysOf = (moment: ToolMoment): string[] => [
  keyOf({ ...moment, kind: 'tool-before' }),
  keyOf(moment),
  ...['written', 'read', 'todos'].map((part) => keyOf(moment, part)),
];

/** A run without a request takes its title from the first entry of a to-do list. */
async function nameByTodo(within: SessionContext): Promise<void> {
  const { run, steps } = within.state;
  const [first] = steps.values();
  if (!run || !first || !/^Untitled work, /.test(run.title)) return;
  await execute(within, { type: 'run.amend', title: oneLine(first.title, 60) }, null);
}

/** How a command ended: a client whose hooks do not report it writes it into its transcript. */
async function resultIn(moment: Extract<ToolMoment, { kind: 'tool-after' }>): Promise<ToolResult | null> {
  const { client, id, transcript, result } = moment;
  if (!isClient(client) || result.exitCode !== null || !tookEffect(result)) return result;
  const hooks = await hooksOf(client);
  if (!hooks.commandEndIn) return result;
  const { commandEnds } = await import('./transcript.ts');
  const ends = commandEnds(hooks, transcript);
  return ends === null ? result : (ends.get(id ?? '') ?? null);
}

const NAME_CHARS = 1000;

async function beginCommand(within: SessionContext, moment: ToolMoment, command: string): Promise<boolean> {
  const key = effectKey(moment, command);
  // Two hooks of one client report the same start; record it once.
  if (openEffect(within, key)) return false;
  const name = redact(command).text;
  const done = await execute(
    within,
    {
      type: 'effect.begin',
      name: name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name,
      class: classOfCommand(command),
      key,
      owner: within.session.owner ?? undefined,
      ...(moment.call.inBackground ? { background: true } : {}),
    },
    keyOf({ ...moment, kind: 'tool-before' }),
  );
  return !done.replayed;
}

async function endCommand(
  within: SessionContext,
  moment: ToolMoment,
  command: string,
  result: ToolResult | null,
): Promise<void> {
  const key = effectKey(moment, command);
  if (!openEffect(within, key)) {
    if (await endedJustNow(within, moment, key)) return;
    // Not every client reports the start of a command.
    if (!(await beginCommand(within, moment, command))) return;
  }
  const effect = openEffect(within, key);
  // A command in the background has only been started.
  if (!effect || (moment.call.inBackground && result && tookEffect(result))) return;
  await execute(within, { type: 'effect.end', id: effect.id, seen: true, ...endingOf(result) }, keyOf(moment));
}

/** Null where the client does not have its outcome. */
export function endingOf(result: ToolResult | null) {
  if (result === null) return { outcome: 'unknown', note: 'Its exit status was not reported.' } as const;
  const { exitCode, isFailure, isCancelled } = result;
  const outcome = isCancelled ? 'cancelled' : isFailure ? 'failed' : 'succeeded';
  return { outcome, ...(exitCode === null ? {} : { exitCode }) } as const;
}

function effectKey(moment: ToolMoment, command: string): string {
  const hasCallId = moment.id !== null && !isTime(moment.id);
  return callKey(moment, hasCallId && moment.id !== null ? moment.id : command);
}

function openEffect(within: SessionContext, key: string): Effect | undefined {
  for (const effect of within.state.effects.values()) if (effect.key === key) return effect;
  return undefined;
}

const SAME_MOMENT_MS = 2000;

/** A second report of the same end, from another of the client's hook files. */
async function endedJustNow({ engine, run }: SessionContext, moment: ToolMoment, key: string): Promise<boolean> {
  if (await engine.hasRecorded(run, keyOf(moment))) return true;
  const [last] = await engine.rows(run, { kind: 'effect', tag: `key:${key}`, limit: 1 });
  const endedAt = (last?.doc as Effect | undefined)?.endedAt;
  return endedAt !== undefined && msBetween(endedAt, engine.now()) < SAME_MOMENT_MS;
}

async function recordFiles(
  within: SessionContext,
  moment: ToolMoment,
  config: CaptureConfig | undefined,
  reportedMs: number | undefined,
): Promise<boolean> {
  const tree = within.context.workspace()?.tree ?? within.context.dir;
  let isRecorded = false;
  for (const read of [false, true]) {
    const artifacts = [];
    for (const file of moment.call.files) {
      if (file.read !== read) continue;
      const path = capturedPath(config, tree, within.context.dir, file.path);
      if (path === null) continue;
      const { change } = file;
      artifacts.push({ ...(await hashArtifact(tree, path, reportedMs)), ...(change ? { change } : {}) });
    }
    if (artifacts.length === 0) continue;
    await execute(
      within,
      { type: 'files.see', artifacts, ...(read ? { read } : {}) },
      keyOf(moment, read ? 'read' : 'written'),
    );
    isRecorded = true;
  }
  return isRecorded;
}

const BEAT_AFTER_MS = 60_000;

/** Renews the lease of a session for which nothing was recorded. */
export async function beat({ engine, run, session }: SessionContext): Promise<void> {
  const now = engine.now();
  if (msBetween(session.seenAt, now) > BEAT_AFTER_MS) await engine.beat(run, session.id, now);
}
