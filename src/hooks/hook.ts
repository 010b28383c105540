import { constants, fstatSync, readSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { agentName, conversationOf } from '../clients/conversation.ts';
import type { JsonObject } from '../clients/json-value.ts';
import type { Dialect, Moment } from '../clients/moment.ts';
import { dialectOf, whoCalls } from '../clients/recognise.ts';
import type { Owner } from '../core/journal/event.ts';
import { isName } from '../core/text.ts';
import type { Context } from '../operations/context.ts';
import { openContext } from '../operations/open.ts';
import type { SessionContext } from '../operations/session/parts/attached-session.ts';
import { commonFolder, findGit } from '../workspace/git.ts';
import { agentProcess, ownerOf } from '../workspace/process.ts';
import { findWorkspace, type Workspace } from '../workspace/workspace.ts';
import { findSession, isTime } from './find-session.ts';
import { log } from './log.ts';
import { isFirstToSay, keepMemory, recallMemory } from './memory.ts';
import { recordTool } from './tool-use.ts';

export interface HookCall {
  /** The client and the event, as they stand on the command line. */
  words: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The process that started this one. */
  parent: number;
}

/** A hook ends within these, whatever happens; what the client waits for most often has the least. */
const TOOL_LIMIT_MS = 2000;
const LIMIT_MS = 5000;

/**
 * `holdfast hook CLIENT EVENT`: what an agent's client calls. It reads one JSON object and prints one or nothing. It never
 * fails and never speaks: a hook that does could end an agent's turn or swallow a prompt.
 */
export async function runHook(call: HookCall): Promise<void> {
  const place: { folder: string | null } = { folder: null };
  const isTool = /tool|shell|file|todo/i.test(call.words[1] ?? '');
  const giveUp = (): void => {
    log(place.folder, `${call.words.join(' ')} took too long and was given up.`);
    process.exit(0);
  };
  // Most hooks are over before anything has to be waited for, and never come to start the clock.
  setImmediate(() => setTimeout(giveUp, isTool ? TOOL_LIMIT_MS : LIMIT_MS));
  try {
    const answer = await answerTo(call, place);
    if (answer !== null) writeAll(JSON.stringify(answer));
  } catch (thrown) {
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    log(place.folder, `${call.words.join(' ')}: ${message}`, call.environment['HOLDFAST_DEBUG'] ? stack : undefined);
  }
}

async function answerTo(call: HookCall, place: { folder: string | null }): Promise<object | null> {
  const input = readPayload();
  if (input === null) return null;
  const named = eventIn(input) ?? call.words[1] ?? '';
  const client = whoCalls(call.words[0], input, call.environment);
  if (client === null || named === '') return null;
  const dialect = dialectOf(client);
  const moment = dialect.read(named, input);
  if (moment === null || (moment.kind === 'tool-before' && moment.call.command === null)) return null;
  const workspace = workspaceOf(moment.cwd ?? call.cwd);
  if (workspace === null) return null;
  place.folder = workspace.folder;
  if (workspace.config.capture?.off === true) return null;
  const context = await contextFor(call, moment, workspace);
  try {
    const text = await record(context, dialect, moment, workspace);
    if (text === null || !dialect.takesContext.has(moment.kind)) return null;
    // Two hook files of one client are run at the same moment; one of them speaks.
    const id = isTime(moment.id) || moment.kind === 'session-start' ? null : moment.id;
    const words = moment.kind === 'prompt' ? moment.request : 'source' in moment ? moment.source : null;
    // Another process of the client, though it comes a moment later, has heard nothing yet.
    const said = [conversationOf(moment), moment.kind, id, words, context.identity.owner?.pid ?? null];
    return isFirstToSay(workspace.folder, JSON.stringify(said)) ? dialect.answer(named, plain(text)) : null;
  } finally {
    await context.close();
  }
}

async function record(
  context: Context,
  dialect: Dialect,
  moment: Moment,
  workspace: Workspace,
): Promise<string | null> {
  if (moment.kind !== 'tool-before' && moment.kind !== 'tool-after') {
    const { recordMoment } = await import('./moments.ts');
    return recordMoment(context, dialect, moment);
  }
  const within = (await findSession(context, moment)) ?? (await firstSeat(context, moment));
  if (within === null) {
    log(workspace.folder, `${moment.client} ${moment.kind}: another session has its work; nothing was recorded.`);
    return null;
  }
  await recordTool(within, moment);
  return moment.kind === 'tool-after' ? dueText(within, dialect, moment, workspace.folder) : null;
}

/** A client whose first word is the use of a tool. */
async function firstSeat(context: Context, moment: Moment): Promise<SessionContext | null> {
  const { arrive: takeSeat } = await import('./arrival.ts');
  return takeSeat(context, moment, { source: null, request: null, parent: null });
}

/** What earlier moments left to be said, where the client takes it here. */
async function dueText(
  within: SessionContext,
  dialect: Dialect,
  moment: Moment,
  folder: string,
): Promise<string | null> {
  if (moment.client === 'codex' && moment.transcript !== null) {
    const { pressureAtEnd } = await import('./transcript.ts');
    const pressure = pressureAtEnd(moment);
    if (pressure && pressure.percent >= PRESSURE_PERCENT) {
      const { tellPressure } = await import('./moments.ts');
      await tellPressure(within, moment, pressure);
    }
  }
  const conversation = conversationOf(moment);
  const memory = recallMemory(folder, conversation);
  // A due brief waits for the next prompt, unless there it would not be heard.
  const due = dialect.takesContext.has('prompt') ? undefined : memory.due;
  if (memory.notice === undefined && due === undefined) return null;
  keepMemory(folder, conversation, { ...memory, notice: undefined, due: due ? undefined : memory.due });
  if (due === undefined) return memory.notice ?? null;
  const { briefText } = await import('./moments.ts');
  return briefText(within, due);
}

const PRESSURE_PERCENT = 75;

const PAYLOAD_BYTES = 16 * 1024 * 1024;

/** Null for what is no object. A payload that is too long is cut, and then none. */
function readPayload(): JsonObject | null {
  try {
    // Somebody tries it at a terminal: nothing will come.
    if ((fstatSync(0).mode & constants.S_IFMT) === constants.S_IFCHR) return null;
    const found: unknown = JSON.parse(readInput().replace(/^\ufeff/, ''));
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as JsonObject) : null;
  } catch {
    return null;
  }
}

function readInput(): string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(64 * 1024);
    const length = readSync(0, piece);
    if (length === 0) break;
    pieces.push(piece.subarray(0, length));
    bytes += length;
    if (bytes > PAYLOAD_BYTES) break;
  }
  const [first] = pieces;
  return (first && pieces.length === 1 ? first : Buffer.concat(pieces)).toString();
}

const eventIn = (input: JsonObject): string | null => {
  const name = input['hook_event_name'] ?? input['hookEventName'];
  return typeof name === 'string' && /^[A-Za-z.]{1,60}$/.test(name) ? name : null;
};

/** Where there is a workspace, or a git repository, which then becomes one; elsewhere nothing is recorded. */
function workspaceOf(dir: string): Workspace | null {
  const found = findWorkspace(dir);
  if (found) return found;
  const git = findGit(dir);
  if (git === null) return null;
  const common = commonFolder(git.folder);
  const root = git.linked !== null && basename(common) === '.git' ? dirname(common) : git.root;
  openContext({ dir: root, actor: { kind: 'agent', name: 'hook' } }).createWorkspace();
  return findWorkspace(dir);
}

async function contextFor(
  call: HookCall,
  moment: Moment,
  workspace: Workspace,
): Promise<Context & { close(): Promise<void> }> {
  const { environment } = call;
  const given = (name: string): string | undefined => environment[name] || undefined;
  const named = given('HOLDFAST_AGENT');
  const name =
    named && isName(named, '._@+-', 64) && moment.subagent === null ? named : agentName(moment.client, moment.subagent);
  return openContext({
    dir: moment.cwd ?? workspace.tree,
    workspace,
    store: given('HOLDFAST_STORE'),
    run: given('HOLDFAST_RUN'),
    actor: { kind: 'agent', name },
    ...(moment.kind === 'tool-before' || moment.kind === 'tool-after' ? {} : { owner: await ownerFor(call, moment) }),
  });
}

/** The process of the agent: the client says which it is, or it is the one that started this hook. */
async function ownerFor({ environment, parent }: HookCall, moment: Moment): Promise<Owner | undefined> {
  const told =
    moment.pid ?? Number(environment['HOLDFAST_PID'] || (moment.client === 'claude' ? environment['CLAUDE_PID'] : ''));
  return told > 0 ? ownerOf(told) : agentProcess(parent);
}

/** Two clients escape angle brackets; the brief has none, and neither may what is quoted around it. */
const plain = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›');

function writeAll(text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}
