import { constants, fstatSync, readSync, writeSync } from 'node:fs';
import { conversationOf } from '../clients/conversation.ts';
import { hooksOf } from '../clients/index.ts';
import type { JsonObject } from '../clients/json-value.ts';
import type { ClientHooks, Moment, ToolMoment } from '../clients/moment.ts';
import { clientOfHook } from '../clients/recognise.ts';
import type { Owner } from '../core/journal/event.ts';
import type { Line } from '../core/line.ts';
import type { Context } from '../operations/context.ts';
import { openContext } from '../operations/open.ts';
import { findSession } from '../operations/session/parts/find-session.ts';
import type { SessionContext } from '../operations/session/parts/session-context.ts';
import { repositoryAt } from '../workspace/git/repository.ts';
import { listReports, markDrained, openInbox, setMark } from '../workspace/inbox.ts';
import type { OwnFiles } from '../workspace/own-files.ts';
import { agentProcess, ownerOf } from '../workspace/process.ts';
import { openStateFolder, thisUser } from '../workspace/state/folder.ts';
import { isOffEverywhere } from '../workspace/state/recording.ts';
import { createWorkspace, findWorkspace, type Workspace } from '../workspace/workspace.ts';
import { actorOf } from './actor.ts';
import { log } from './log.ts';
import { isFirstToAnswer, keepMemory, memoryFor, recallMemory } from './memory.ts';
import { isTime } from './moment-key.ts';
import { isToolMoment, recordTool, tellsNothing } from './tool-use.ts';
import { markTurn } from './turn-mark.ts';

export interface HookCall {
  /** The client and the event on the command line. */
  words: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The process that started this one. */
  parent: number;
}

/** A hook always ends within this limit. */
const LIMIT_MS = 5000;
/** Of that, a hook that answers spends so much on the reports before it. */
const DRAIN_MS = 1500;
/** A drain that nobody waits for may take long, and so may one at the end of a turn: its client stops it earlier. */
const DRAIN_ONLY_MS = 120_000;

/**
 * `holdfast hook CLIENT EVENT`, which agent clients call. It reads one JSON object and prints one or nothing. It never fails
 * and prints nothing else: a hook that does could end an agent's turn or drop a prompt.
 */
export async function runHook(call: HookCall): Promise<void> {
  const place: { root: string | null } = { root: null };
  const isDrain = call.words.includes('--inbox');
  const giveUp = (): void => {
    log(place.root, `${call.words.join(' ')} took too long and was stopped.`);
    process.exit(0);
  };
  // Most hooks end before they have to wait, and never start the timer.
  setImmediate(() => setTimeout(giveUp, isDrain ? DRAIN_ONLY_MS : LIMIT_MS));
  try {
    if (isDrain) return await drainOnly(call);
    const answer = await answerTo(call, place);
    if (answer !== null) writeAll(JSON.stringify(answer));
  } catch (thrown) {
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    log(place.root, `${call.words.join(' ')}: ${message}`, call.environment['HOLDFAST_DEBUG'] ? stack : undefined);
  }
}

/** Called by the launcher at the end of a turn and in the background: records what hooks left, and answers nothing. */
async function drainOnly({ cwd }: HookCall): Promise<void> {
  const workspace = findWorkspace(cwd);
  if (workspace === null) return;
  // First, so that reports which cannot be recorded do not start one drain each.
  markDrained(workspace.files);
  const context = openContext({ dir: cwd, workspace, actor: { kind: 'agent', name: 'hook' }, evidence: 'hook' });
  try {
    await takeReports(context, workspace, DRAIN_ONLY_MS);
  } finally {
    await context.close();
  }
}

/** Earlier reports come first. If they cannot be recorded, they wait, and the hook continues. */
async function takeReports(context: Context, workspace: Workspace, limitMs = DRAIN_MS): Promise<void> {
  try {
    openInbox(workspace.files);
    if (listReports(workspace.files).length === 0) return;
    const { drainInbox } = await import('./drain.ts');
    await drainInbox(context, workspace, Date.now() + limitMs);
  } catch (thrown) {
    log(workspace.root, `The reports of hooks wait: ${(thrown as Error).message}`);
  }
}

async function answerTo(call: HookCall, place: { root: string | null }): Promise<object | null> {
  const input = readHookInput();
  if (input === null) return null;
  const named = eventIn(input) ?? call.words[1] ?? '';
  const client = await clientOfHook(call.words[0], input, call.environment);
  if (client === null || named === '') return null;
  const hooks = await hooksOf(client);
  const moment = hooks.read(named, input);
  if (moment === null || tellsNothing(moment)) return null;
  const workspace = workspaceOf(moment.cwd ?? call.cwd);
  if (workspace === null) return null;
  place.root = workspace.root;
  if (workspace.config.capture?.off === true) {
    setMark(workspace.files, 'off', true);
    return null;
  }
  const context = await contextFor(call, hooks, moment, workspace);
  try {
    const leavesTree = moment.kind === 'session-start';
    if (!call.environment['HOLDFAST_STORE']) await takeReports({ ...context, leavesTree }, workspace);
    const text = await record(context, hooks, moment, workspace);
    markTurn(workspace.files, hooks, moment);
    if (text === null || !hooks.takesContext.has(moment.kind)) return null;
    // A client may run two hook files at the same moment; only one of them answers.
    const id = isTime(moment.id) || moment.kind === 'session-start' ? null : moment.id;
    const request = 'request' in moment ? moment.request : null;
    // A start may come with the first prompt, which another hook reports at the same time.
    const kind = request === null ? moment.kind : 'prompt';
    const words = request ?? ('source' in moment ? moment.source : null);
    // Another process of the client needs its own answer, even a moment later.
    const answered = [conversationOf(moment), kind, id, words, context.identity.owner?.pid ?? null];
    if (!isFirstToAnswer(workspace.files, JSON.stringify(answered))) return null;
    return hooks.answer(named, plain(await withMissing(text, workspace.files)));
  } finally {
    await context.close();
  }
}

/** Records a moment and returns the text for the agent; null for none. */
export async function record(
  context: Context,
  hooks: ClientHooks,
  moment: Moment,
  workspace: Workspace,
): Promise<string | null> {
  if (!isToolMoment(moment)) {
    const { recordMoment } = await import('./moments.ts');
    return recordMoment(context, hooks, moment);
  }
  const within = (await findSession(context, moment)) ?? (await openFirst(context, moment));
  if (within === null) {
    log(
      workspace.root,
      `${moment.client} ${moment.kind}: its work was handed to another session; nothing was recorded.`,
    );
    return null;
  }
  await recordTool(within, moment);
  return moment.kind === 'tool-after' ? dueText(within, hooks, moment, workspace.files) : null;
}

async function openFirst(context: Context, moment: ToolMoment): Promise<SessionContext | null> {
  const { firstSession } = await import('./first-session.ts');
  const { memory, remember } = memoryFor(context, moment);
  return firstSession(context, moment, memory, remember);
}

/** A text for the agent also says what is missing in the record. */
export async function withMissing(text: string, files: OwnFiles): Promise<string> {
  const { unrecorded } = await import('./take-reports.ts');
  const missing = unrecorded(files);
  return missing === null ? text : `${text}\n\n${missing}`;
}

/** Text that earlier moments left for the next answer. */
async function dueText(
  within: SessionContext,
  hooks: ClientHooks,
  moment: Moment,
  files: OwnFiles,
): Promise<Line | null> {
  if (hooks.hasPressureInTranscript && moment.transcript !== null) {
    const { pressureAtEnd } = await import('./transcript.ts');
    const pressure = pressureAtEnd(hooks, moment.transcript);
    if (pressure && pressure.percent >= PRESSURE_PERCENT) {
      const { reportPressure } = await import('./pressure.ts');
      await reportPressure(within, moment, pressure);
    }
  }
  const conversation = conversationOf(moment);
  const memory = recallMemory(files, conversation);
  // A due brief waits for the next prompt, unless the client accepts no text there.
  const due = hooks.takesContext.has('prompt') ? undefined : memory.due;
  if (memory.hintPercent === undefined && due === undefined) {
    setMark(files, 'ask', false);
    return null;
  }
  keepMemory(files, conversation, { ...memory, hintPercent: undefined, due: due ? undefined : memory.due });
  const { pressureHint } = await import('./pressure.ts');
  if (due === undefined) return pressureHint(within, memory.hintPercent);
  const { sessionBrief } = await import('./arrive.ts');
  return sessionBrief(within, due);
}

const PRESSURE_PERCENT = 75;

const INPUT_BYTES = 16 * 1024 * 1024;

/** Returns null unless the input is an object; input above the limit is cut and no longer one. */
function readHookInput(): JsonObject | null {
  try {
    // At a terminal there is no input to wait for.
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
    if (bytes > INPUT_BYTES) break;
  }
  const [first] = pieces;
  return (first && pieces.length === 1 ? first : Buffer.concat(pieces)).toString();
}

const eventIn = (input: JsonObject): string | null => {
  const name = input['hook_event_name'] ?? input['hookEventName'];
  return typeof name === 'string' && /^[A-Za-z.]{1,60}$/.test(name) ? name : null;
};

/** The workspace, which a git repository becomes here; elsewhere nothing is recorded. */
export function workspaceOf(dir: string): Workspace | null {
  if (isOffEverywhere(openStateFolder(thisUser()))) return null;
  return findWorkspace(dir) ?? (repositoryAt(dir) === null ? null : createWorkspace(dir));
}

async function contextFor(
  call: HookCall,
  hooks: ClientHooks,
  moment: Moment,
  workspace: Workspace,
): Promise<Context & { close(): Promise<void> }> {
  const { environment } = call;
  const given = (name: string): string | undefined => environment[name] || undefined;
  return openContext({
    dir: moment.cwd ?? workspace.tree,
    workspace,
    store: given('HOLDFAST_STORE'),
    run: given('HOLDFAST_RUN'),
    actor: actorOf(given('HOLDFAST_AGENT'), moment),
    evidence: 'hook',
    clients: async () => ({
      homes: await (await import('../clients/transcripts.ts')).findHomes(
        environment,
        given('HOME') ?? given('USERPROFILE') ?? '',
      ),
      current: [],
    }),
    ...(isToolMoment(moment) ? {} : { owner: await ownerFor(call, hooks, moment) }),
  });
}

/** The agent's process: the one that the client names, else the one that started this hook. */
async function ownerFor(
  { environment, parent }: HookCall,
  { pidVariable = '' }: ClientHooks,
  moment: Moment,
): Promise<Owner | undefined> {
  const pid = moment.pid ?? Number(environment['HOLDFAST_PID'] || environment[pidVariable] || '');
  return pid > 0 ? ownerOf(pid) : agentProcess(parent);
}

/** Two clients escape angle brackets, so the answer has none. */
const plain = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›');

function writeAll(text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}
