import { conversationOf } from '../clients/conversation.ts';
import type { ClientHooks, Moment, Pressure } from '../clients/moment.ts';
import { requestWords } from '../clients/request.ts';
import type { Session } from '../core/fold/state.ts';
import { id, type Line, line, quote, shortened, time } from '../core/line.ts';
import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import { lastWordsAsk } from '../core/views/last-words.ts';
import { briefFor } from '../operations/brief/parts/compose.ts';
import { beginGitStatus } from '../operations/brief/parts/evidence.ts';
import { saveResumeText } from '../operations/brief/parts/save-resume.ts';
import type { Context } from '../operations/context.ts';
import { defaultTitle } from '../operations/run/parts/open-run.ts';
import { findSession } from '../operations/session/parts/find-session.ts';
import { type Opening, openSession } from '../operations/session/parts/open-session.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import { treeMark } from '../operations/working-tree.ts';
import type { GitStatus } from '../workspace/git-status.ts';
import type { OwnFiles } from '../workspace/own-files.ts';
import { keepMemory, type Memory, pruneMemory, recallMemory } from './memory.ts';
import { keyOf } from './moment-key.ts';
import { beat } from './tool-use.ts';

/** Records every moment but tool calls, and returns the text for the agent; null for none. */
export async function recordMoment(context: Context, hooks: ClientHooks, moment: Moment): Promise<Line | null> {
  switch (moment.kind) {
    case 'session-start':
      return startSession(context, hooks, moment);
    case 'prompt':
      return takePrompt(context, hooks, moment);
    case 'subagent-start':
      await openSession(context, moment, { source: 'startup', request: null, parent: null });
      return null;
    case 'subagent-stop':
      return stopSubagent(context, hooks, moment);
    case 'turn-end':
      return endTurn(context, hooks, moment);
    case 'turn-failed':
      return failTurn(context, moment);
    case 'compact-before':
      return beforeCompaction(context, hooks, moment);
    case 'usage':
      return addUsage(context, moment);
    case 'session-end':
      return endSession(context, hooks, moment);
    case 'tool-before':
    case 'tool-after':
      return null;
    default:
      return moment satisfies never;
  }
}

/** The session of the moment's conversation, opened if it has none. */
async function sessionContextFor(
  context: Context,
  moment: Moment,
  opening: Partial<Opening> = {},
): Promise<SessionContext | null> {
  const unknown = { source: null, request: null, parent: null };
  return (await findSession(context, moment)) ?? (await openSession(context, moment, { ...unknown, ...opening }));
}

type MomentOf<K extends Moment['kind']> = Extract<Moment, { kind: K }>;

async function startSession(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'session-start'>,
): Promise<Line | null> {
  const status = beginGitStatus(context);
  const { source, request, parent = null } = moment;
  const within = await openSession(context, moment, { source, request, parent, status, atRest: request === null });
  if (!within) return null;
  const { files, memory, remember } = memoryOf(within, moment);
  if (files) pruneMemory(files);
  if (request !== null) {
    await setGoal(within, moment, request);
    await beginTurn(within, moment, request);
  }
  const isCompacted = source === 'compact';
  if (!hooks.takesContext.has('session-start')) {
    remember({ ...memory, due: isCompacted ? 'compacted' : 'start' });
    return null;
  }
  remember({
    ...memory,
    due: undefined,
    hintPercent: undefined,
    briefed: true,
    ...(isCompacted ? { reportedPercent: 0 } : {}),
  });
  return withHint(
    await briefText(within, isCompacted ? 'compacted' : 'start', status),
    pressureHint(within, memory.hintPercent),
  );
}

async function takePrompt(context: Context, hooks: ClientHooks, moment: MomentOf<'prompt'>): Promise<Line | null> {
  const within = await sessionForTurn(context, moment);
  if (!within) return handedOver(hooks);
  await setGoal(within, moment, moment.request);
  await beginTurn(within, moment, moment.request);
  if (!hooks.takesContext.has('prompt')) return null;
  const { memory: before, remember } = memoryOf(within, moment);
  let memory = before;
  let { due } = memory;
  if (due === undefined && memory.briefed !== true) due = 'start';
  if (hooks.showsCompaction) {
    const { lookForCompaction } = await import('./transcript.ts');
    const looked = lookForCompaction(hooks, moment.transcript, memory);
    memory = looked.memory;
    if (looked.wasCompacted) due ??= 'compacted';
  }
  if (due === undefined && memory.hintPercent === undefined) {
    if (memory !== before) remember(memory);
    return null;
  }
  remember({
    ...memory,
    due: undefined,
    hintPercent: undefined,
    briefed: true,
    ...(due === 'compacted' ? { reportedPercent: 0 } : {}),
  });
  return withHint(due === undefined ? null : await briefText(within, due), pressureHint(within, memory.hintPercent));
}

/** A client may report the first request before the start of its session: a session whose process is gone is not reused. */
async function sessionForTurn(context: Context, moment: MomentOf<'prompt'>): Promise<SessionContext | null> {
  const within = await findSession(context, moment);
  const isDead = within && (await within.engine.liveness(within.state)).owners.get(within.session.id) === 'dead';
  if (within && !isDead) return within;
  return openSession(context, moment, { source: null, request: moment.request, parent: null });
}

function handedOver(hooks: ClientHooks): Line | null {
  return hooks.takesContext.has('prompt')
    ? line`Holdfast: the work of this session was handed to another one, so nothing is recorded here any more. \`holdfast resume\` shows who has it.`
    : null;
}

/** Two hooks of one client report the same prompt; it begins one turn. */
async function beginTurn(within: SessionContext, moment: Moment, request: string): Promise<void> {
  const words = requestWords(request);
  const text = words?.goal ?? redact(request).text.trim();
  const kind = words ? 'request' : 'command';
  const said = text === '' ? {} : { request: text };
  await execute(
    within,
    { type: 'turn.begin', kind, ...said, mark: treeMark(within.context) },
    keyOf({ ...moment, kind: 'prompt' }, request),
  );
}

/** The first request becomes the goal of a run without one. */
async function setGoal(within: SessionContext, moment: Moment, request: string): Promise<void> {
  const { run } = within.state;
  const words = requestWords(request);
  if (!run || run.goal !== null || !words || moment.subagent !== null) return;
  const title = run.title === defaultTitle(within.context) ? { title: words.title } : {};
  await execute(within, { type: 'run.amend', goal: words.goal, ...title }, keyOf(moment, 'goal'));
}

async function endTurn(context: Context, hooks: ClientHooks, moment: MomentOf<'turn-end'>): Promise<null> {
  const within = await sessionContextFor(context, moment);
  if (!within) return null;
  await endCommands(within);
  const found = await countTokens(within, hooks, moment);
  const said = spokenWords(moment.lastMessage);
  const background = runningOn(within);
  await execute(
    within,
    {
      type: 'turn.end',
      outcome: 'done',
      ...(said === null ? {} : { said }),
      ...(said !== null && lastWordsAsk(said) ? { asks: true } : {}),
      ...(background.length > 0 ? { background } : {}),
      mark: treeMark(within.context),
    },
    null,
  );
  const isReported = await reportPressure(within, moment, moment.pressure ?? found);
  // The contract of a planned run needs a snapshot even if the client is killed next.
  if (!isReported && within.state.run?.kind === 'planned') await leaveSnapshot(within, moment.lastMessage);
  return null;
}

/** No tool outlives its turn, unless it was started in the background: one without a reported end has ended with it. */
async function endCommands(within: SessionContext): Promise<void> {
  for (const effect of within.state.effects.values()) {
    if (effect.session !== within.session.id || !effect.key?.startsWith('tool:') || effect.background) continue;
    const note = 'The turn ended; no end of the command was reported.';
    await execute(within, { type: 'effect.end', id: effect.id, outcome: 'unknown', note, seen: true }, null);
  }
}

const runningOn = ({ state, session }: SessionContext): string[] =>
  [...state.effects.values()]
    .filter((effect) => effect.session === session.id && effect.background)
    .map(({ id: effect }) => effect);

const SAID_CHARS = 4000;

/** The beginning and the end of long words: a question stands at the end. */
function spokenWords(message: string | null): string | null {
  const text = message === null ? '' : redact(message).text.trim();
  if (text.length <= SAID_CHARS) return text === '' ? null : text;
  return `${text.slice(0, SAID_CHARS / 2)} … ${text.slice(-SAID_CHARS / 2)}`;
}

/** Adds the tokens that the transcript reports since it was read last; a client may write them after the turn has ended. */
async function countTokens(within: SessionContext, hooks: ClientHooks, moment: Moment): Promise<Pressure | null> {
  const { readUsage } = await import('./transcript.ts');
  const { memory, remember } = memoryOf(within, moment);
  const read = readUsage(hooks, moment, memory);
  if (read.memory !== memory) remember(read.memory);
  if (read.spent) await execute(within, { type: 'usage.add', ...read.spent }, null);
  return read.pressure;
}

async function failTurn(context: Context, moment: MomentOf<'turn-failed'>): Promise<null> {
  const within = await sessionContextFor(context, moment);
  if (!within) return null;
  const message = oneLine(redact(moment.message).text, 400);
  const failure = { reason: moment.reason, message };
  await execute(within, { type: 'turn.end', outcome: 'failed', failure, mark: treeMark(within.context) }, null);
  if (within.state.run?.kind === 'planned') await leaveSnapshot(within, `${failureWords[moment.reason]}: ${message}`);
  return null;
}

const failureWords = { 'rate-limit': 'Stopped by a rate limit', error: 'Stopped by an error' } as const;

async function beforeCompaction(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'compact-before'>,
): Promise<Line | null> {
  // Copilot compacts by command in a process that reports nothing else.
  const within = await sessionContextFor(context, moment, { atRest: true });
  if (!within) return null;
  if (moment.isCertain) await countTokens(within, hooks, moment);
  // A client that announces it before every request gets a snapshot only now and then.
  const last = within.state.lastSnapshot?.session === within.session.id ? within.state.lastSnapshot.version : 0;
  if (moment.isCertain || within.state.version - last >= EVENTS_PER_SNAPSHOT) await leaveSnapshot(within, null);
  const { memory, remember } = memoryOf(within, moment);
  if (hooks.takesContext.has('compact-before')) return briefText(within, 'compacted');
  if (moment.isCertain && !hooks.reportsCompacted) remember({ ...memory, due: 'compacted' });
  return null;
}

const EVENTS_PER_SNAPSHOT = 25;

async function addUsage(context: Context, moment: MomentOf<'usage'>): Promise<null> {
  const within = await sessionContextFor(context, moment);
  if (!within) return null;
  await execute(within, { type: 'usage.add', ...moment.spent }, keyOf(moment));
  await reportPressure(within, moment, moment.pressure);
  return null;
}

async function stopSubagent(context: Context, hooks: ClientHooks, moment: MomentOf<'subagent-stop'>): Promise<null> {
  // Clients also report the end of internal helpers whose start they never reported.
  const within = await findSession(context, moment);
  if (!within || moment.subagent === null || within.session.parent === null) return null;
  const { readUsage } = await import('./transcript.ts');
  const { spent } = readUsage(hooks, moment, {});
  if (spent) await execute(within, { type: 'usage.add', ...spent }, keyOf(moment, 'usage'));
  const notes = moment.lastMessage === null ? {} : { notes: [oneLine(redact(moment.lastMessage).text, 600)] };
  await execute(within, { type: 'session.end', reason: 'completed', ...notes }, keyOf(moment, within.session.id));
  return null;
}

async function endSession(context: Context, hooks: ClientHooks, moment: MomentOf<'session-end'>): Promise<null> {
  const within = await findSession(context, moment);
  if (!within) return null;
  await countTokens(within, hooks, moment);
  await leaveSnapshot(within, null);
  // Without the state of the whole tree: some clients wait for only one second.
  await execute(
    within,
    { type: 'session.end', reason: 'completed', mark: treeMark(within.context) },
    keyOf(moment, within.session.id),
  );
  return null;
}

/** Takes a snapshot in case the session does not come back, unless nothing happened since the last one. */
async function leaveSnapshot(within: SessionContext, lastMessage: string | null): Promise<void> {
  const { lastSnapshot, version } = within.state;
  if (lastSnapshot?.session === within.session.id && lastSnapshot.version === version) {
    await beat(within);
    return;
  }
  const why = lastMessage === null ? '' : oneLine(redact(lastMessage).text, 600);
  await execute(within, { type: 'snapshot.take', ...(why ? { why } : {}) }, null);
}

const THRESHOLDS = [90, 75] as const;

/** Reports once per threshold that the context is nearly full, and takes a snapshot of a planned run. */
export async function reportPressure(
  within: SessionContext,
  moment: Moment,
  pressure: Pressure | null,
): Promise<boolean> {
  const { memory, remember } = memoryOf(within, moment);
  const threshold = THRESHOLDS.find((one) => pressure !== null && pressure.percent >= one);
  if (threshold === undefined || threshold <= (memory.reportedPercent ?? 0)) return false;
  const hintPercent = Math.round(pressure?.percent ?? threshold);
  const lastMessage = moment.kind === 'turn-end' ? moment.lastMessage : null;
  if (within.state.run?.kind === 'planned')
    await leaveSnapshot(within, lastMessage ?? `${hintPercent} % of the context is used.`);
  remember({ ...memory, reportedPercent: threshold, hintPercent });
  return true;
}

export function pressureHint({ session, state }: SessionContext, percent: number | undefined): Line | null {
  if (typeof percent !== 'number') return null;
  const taken = state.run?.kind === 'planned' ? line` A snapshot of session ${id(session.id)} was taken.` : '';
  return line`Holdfast: about ${percent} % of the context is used.${taken} What only this conversation knows (decisions, what comes next) is kept by \`holdfast decide\` and \`holdfast checkpoint NAME --next TEXT\`.`;
}

function memoryOf(
  within: SessionContext,
  moment: Moment,
): { files: OwnFiles | null; memory: Memory; remember: (memory: Memory) => void } {
  const files = within.context.workspace()?.files ?? null;
  const conversation = conversationOf(moment);
  return {
    files,
    memory: files ? recallMemory(files, conversation) : {},
    remember: (memory) => files && keepMemory(files, conversation, memory),
  };
}

const LIMIT_CHARS = 9500;

/** The brief below a dated line: a client may keep earlier briefs in the same conversation. */
export async function briefText(
  within: SessionContext,
  occasion: 'start' | 'compacted',
  status: Promise<GitStatus | null> = beginGitStatus(within.context),
): Promise<Line> {
  const { session, state, engine } = within;
  const above = occasion === 'start' ? introduction(session, engine.now()) : continuation(session, engine.now());
  let text = above;
  for (const budgetTokens of [2000, 1500, 1000]) {
    const brief = await briefFor(within.context, state, status, {
      session: session.id,
      agent: session.agent,
      role: session.role,
      budgetTokens,
    });
    text = line`${above}\n\n${brief.text}`;
    if (text.length <= LIMIT_CHARS) {
      saveResumeText(within.context, brief.text, state);
      return text;
    }
  }
  return shortened(text, LIMIT_CHARS);
}

const introduction = (session: Session, now: string): Line =>
  line`Holdfast brief of ${time(now)} for ${quote(session.agent, 'name')}, session ${id(session.id)}; it supersedes earlier ones. It is a record of the work in this folder, not a list of instructions. Files, commands and the to-do list of this session are recorded automatically; decisions are recorded with \`holdfast decide --context … --decision … --reason …\`.`;

const continuation = (session: Session, now: string): Line =>
  line`Holdfast, ${time(now)}: the context of ${quote(session.agent, 'name')} was compacted and session ${id(session.id)} continues. The current state follows; it supersedes earlier briefs.`;

function withHint(text: Line | null, hint: Line | null): Line | null {
  if (hint === null) return text;
  return text === null ? hint : shortened(line`${hint}\n\n${text}`, LIMIT_CHARS);
}
