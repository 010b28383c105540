import { conversationOf } from '../clients/conversation.ts';
import type { Dialect, Moment, Pressure } from '../clients/moment.ts';
import { requestWords } from '../clients/request.ts';
import type { Session } from '../core/fold/state.ts';
import { redact } from '../core/redact.ts';
import { oneLine } from '../core/text.ts';
import { treeMark } from '../operations/act.ts';
import { briefFor } from '../operations/brief/parts/compose.ts';
import { beginGitStatus } from '../operations/brief/parts/evidence.ts';
import { saveResumeText, writeResumeFile } from '../operations/brief/parts/resume-file.ts';
import type { Context } from '../operations/context.ts';
import { defaultTitle } from '../operations/run/parts/open-run.ts';
import { execute, type SessionContext } from '../operations/session/parts/attached-session.ts';
import type { GitStatus } from '../workspace/git-status.ts';
import { type Arrival, arrive } from './arrival.ts';
import { findSession, keyOf } from './find-session.ts';
import { keepMemory, type Memory, pruneMemory, recallMemory } from './memory.ts';
import { beat } from './tool-use.ts';

/** What is recorded at a moment other than the use of a tool, and what is to be told to the agent then; null for nothing. */
export async function recordMoment(context: Context, dialect: Dialect, moment: Moment): Promise<string | null> {
  switch (moment.kind) {
    case 'session-start':
      return startSession(context, dialect, moment);
    case 'prompt':
      return hearPrompt(context, dialect, moment);
    case 'subagent-start':
      await arrive(context, moment, { source: 'startup', request: null, parent: null });
      return null;
    case 'subagent-stop':
      return stopSubagent(context, moment);
    case 'turn-end':
      return endTurn(context, moment);
    case 'turn-failed':
      return failTurn(context, moment);
    case 'compact-before':
      return beforeCompaction(context, dialect, moment);
    case 'usage':
      return addUsage(context, moment);
    case 'session-end':
      return endSession(context, moment);
    case 'tool-before':
    case 'tool-after':
      return null;
    default:
      return moment satisfies never;
  }
}

/** The seat of the moment's conversation, taken if it has none. */
export async function sessionContextFor(
  context: Context,
  moment: Moment,
  arrival: Partial<Arrival> = {},
): Promise<SessionContext | null> {
  const nobody = { source: null, request: null, parent: null };
  return (await findSession(context, moment)) ?? (await arrive(context, moment, { ...nobody, ...arrival }));
}

type MomentOf<K extends Moment['kind']> = Extract<Moment, { kind: K }>;

async function startSession(
  context: Context,
  dialect: Dialect,
  moment: MomentOf<'session-start'>,
): Promise<string | null> {
  const status = beginGitStatus(context);
  const { source, request, parent = null } = moment;
  const within = await arrive(context, moment, { source, request, parent, status, atRest: request === null });
  if (!within) return null;
  const { folder, memory, remember } = memoryOf(within, moment);
  pruneMemory(folder);
  if (request !== null) await setGoal(within, moment, request);
  const isCompacted = source === 'compact';
  if (!dialect.takesContext.has('session-start')) {
    remember({ ...memory, due: isCompacted ? 'compacted' : 'start' });
    return null;
  }
  remember({ ...memory, due: undefined, notice: undefined, briefed: true, ...(isCompacted ? { toldPercent: 0 } : {}) });
  return withNotice(await briefText(within, isCompacted ? 'compacted' : 'start', status), memory.notice);
}

async function hearPrompt(context: Context, dialect: Dialect, moment: MomentOf<'prompt'>): Promise<string | null> {
  const within = await seatForTurn(context, moment);
  if (!within) return handedOver(dialect);
  await setGoal(within, moment, moment.request);
  const words = requestWords(moment.request);
  if (words)
    await execute(
      within,
      { type: 'note.add', kind: 'worklog', text: `Asked: ${words.goal}`, asked: true },
      keyOf(moment, moment.request),
    );
  if (!dialect.takesContext.has('prompt')) return null;
  const { memory: before, remember } = memoryOf(within, moment);
  let memory = before;
  let { due } = memory;
  if (due === undefined && memory.briefed !== true) due = 'start';
  if (moment.client === 'gemini') {
    const { lookForCompaction } = await import('./transcript.ts');
    const looked = lookForCompaction(moment.transcript, memory);
    memory = looked.memory;
    if (looked.wasCompacted) due ??= 'compacted';
  }
  if (due === undefined && memory.notice === undefined) {
    if (memory !== before) remember(memory);
    return null;
  }
  remember({
    ...memory,
    due: undefined,
    notice: undefined,
    briefed: true,
    ...(due === 'compacted' ? { toldPercent: 0 } : {}),
  });
  return withNotice(due === undefined ? null : await briefText(within, due), memory.notice);
}

/** A client may tell the first request before the start of its session; what its last process left is not meant then. */
async function seatForTurn(context: Context, moment: MomentOf<'prompt'>): Promise<SessionContext | null> {
  const within = await findSession(context, moment);
  const isDead = within && (await within.engine.liveness(within.state)).owners.get(within.session.id) === 'dead';
  if (within && !isDead) return within;
  return arrive(context, moment, { source: null, request: moment.request, parent: null });
}

function handedOver(dialect: Dialect): string | null {
  return dialect.takesContext.has('prompt')
    ? 'Holdfast: the work of this session was given to another one, so what happens here is no longer recorded. `holdfast resume` says who has it.'
    : null;
}

/** The first request is the goal, if nobody has given one. */
async function setGoal(within: SessionContext, moment: Moment, request: string): Promise<void> {
  const { run } = within.state;
  const words = requestWords(request);
  if (!run || run.goal !== null || !words || moment.subagent !== null) return;
  const title = run.title === defaultTitle(within.context) ? { title: words.title } : {};
  await execute(within, { type: 'run.amend', goal: words.goal, ...title }, keyOf(moment, 'goal'));
}

async function endTurn(context: Context, moment: MomentOf<'turn-end'>): Promise<null> {
  const within = await sessionContextFor(context, moment);
  if (!within) return null;
  // The turn is over and its tools with it: one whose end was not told did not run on unseen.
  for (const effect of within.state.effects.values()) {
    if (effect.session !== within.session.id || !effect.key?.startsWith('tool:')) continue;
    const note = 'The turn ended, and its end was not told.';
    await execute(within, { type: 'effect.end', id: effect.id, outcome: 'unknown', note, seen: true }, null);
  }
  const found = await countTokens(within, moment);
  const atRest = moment.isBusy !== true;
  const told = await tellPressure(within, moment, moment.pressure ?? found, atRest);
  if (!told) await leaveSnapshot(within, moment.said, atRest);
  return null;
}

/** Adds what the transcript tells of since it was read last; a client may write it a moment after the turn has ended. */
async function countTokens(within: SessionContext, moment: Moment): Promise<Pressure | null> {
  const { readUsage } = await import('./transcript.ts');
  const { memory, remember } = memoryOf(within, moment);
  const read = readUsage(moment, memory);
  if (read.memory !== memory) remember(read.memory);
  if (read.spent) await execute(within, { type: 'usage.add', ...read.spent }, null);
  return read.pressure;
}

async function failTurn(context: Context, moment: MomentOf<'turn-failed'>): Promise<null> {
  const within = await sessionContextFor(context, moment);
  if (!within) return null;
  const what = moment.reason === 'rate-limit' ? 'Stopped by a rate limit' : 'Stopped by an error';
  const text = `${what}: ${oneLine(redact(moment.told).text, 400)}`;
  await execute(within, { type: 'note.add', kind: 'deviation', text }, keyOf(moment, text));
  await leaveSnapshot(within, text);
  return null;
}

async function beforeCompaction(
  context: Context,
  dialect: Dialect,
  moment: MomentOf<'compact-before'>,
): Promise<string | null> {
  // Copilot compacts by command in a process that says nothing else.
  const within = await sessionContextFor(context, moment, { atRest: true });
  if (!within) return null;
  if (moment.isCertain) await countTokens(within, moment);
  // Announced before every request, it is worth a snapshot only now and then.
  const last = within.state.lastSnapshot?.session === within.session.id ? within.state.lastSnapshot.version : 0;
  if (moment.isCertain || within.state.version - last >= EVENTS_PER_SNAPSHOT) await leaveSnapshot(within, null);
  const { memory, remember } = memoryOf(within, moment);
  if (dialect.takesContext.has('compact-before')) return briefText(within, 'compacted');
  if (moment.isCertain && !dialect.tellsCompacted) remember({ ...memory, due: 'compacted' });
  return null;
}

const EVENTS_PER_SNAPSHOT = 25;

async function addUsage(context: Context, moment: MomentOf<'usage'>): Promise<null> {
  const within = await sessionContextFor(context, moment);
  if (!within) return null;
  await execute(within, { type: 'usage.add', ...moment.spent }, keyOf(moment));
  await tellPressure(within, moment, moment.pressure);
  return null;
}

async function stopSubagent(context: Context, moment: MomentOf<'subagent-stop'>): Promise<null> {
  // Clients run helpers of their own that they announce nowhere else.
  const within = await findSession(context, moment);
  if (!within || moment.subagent === null || within.session.parent === null) return null;
  const { readUsage } = await import('./transcript.ts');
  const { spent } = readUsage(moment, {});
  if (spent) await execute(within, { type: 'usage.add', ...spent }, keyOf(moment, 'usage'));
  const notes = moment.said === null ? {} : { notes: [oneLine(redact(moment.said).text, 600)] };
  await execute(within, { type: 'session.end', reason: 'completed', ...notes }, keyOf(moment, within.session.id));
  return null;
}

async function endSession(context: Context, moment: MomentOf<'session-end'>): Promise<null> {
  const within = await findSession(context, moment);
  if (!within) return null;
  await countTokens(within, moment);
  await leaveSnapshot(within, null);
  // Without a look at the whole tree: some clients wait for one second and no longer.
  const done = await execute(
    within,
    { type: 'session.end', reason: 'completed', mark: treeMark(within.context) },
    keyOf(moment, within.session.id),
  );
  await writeResumeFile(within.context, done.state);
  return null;
}

/** What a session leaves in case it does not come back; nothing when nothing happened since the last one. */
export async function leaveSnapshot(within: SessionContext, said: string | null, atRest = false): Promise<void> {
  const { lastSnapshot, version, sessions } = within.state;
  const isKnown = !atRest || sessions.get(within.session.id)?.isResting === true;
  if (isKnown && lastSnapshot?.session === within.session.id && lastSnapshot.version === version) {
    await beat(within);
    return;
  }
  const why = said === null ? '' : oneLine(redact(said.slice(0, 4000)).text, 600);
  const words = { ...(why ? { why } : {}), ...(atRest ? { atRest } : {}) };
  const done = await execute(within, { type: 'snapshot.take', ...words }, null);
  await writeResumeFile(within.context, done.state);
}

const MARKS = [90, 75] as const;

/** Says once that the context is nearly full, and leaves a snapshot while there is room to write one. */
export async function tellPressure(
  within: SessionContext,
  moment: Moment,
  pressure: Pressure | null,
  atRest = false,
): Promise<boolean> {
  const { memory, remember } = memoryOf(within, moment);
  const mark = MARKS.find((one) => pressure !== null && pressure.percent >= one);
  if (mark === undefined || mark <= (memory.toldPercent ?? 0)) return false;
  const notice = `Holdfast: about ${Math.round(pressure?.percent ?? mark)} % of the context is used. A snapshot of session ${within.session.id} was taken. What only this conversation knows (decisions, what comes next) is kept by \`holdfast decide\` and \`holdfast checkpoint NAME --next TEXT\`.`;
  const said = moment.kind === 'turn-end' ? moment.said : null;
  await leaveSnapshot(within, said ?? `${Math.round(pressure?.percent ?? mark)} % of the context is used.`, atRest);
  remember({ ...memory, toldPercent: mark, notice });
  return true;
}

export function memoryOf(
  within: SessionContext,
  moment: Moment,
): { folder: string; memory: Memory; remember: (memory: Memory) => void } {
  const folder = within.context.workspace()?.folder ?? '';
  const conversation = conversationOf(moment);
  return {
    folder,
    memory: recallMemory(folder, conversation),
    remember: (memory) => keepMemory(folder, conversation, memory),
  };
}

const LIMIT_CHARS = 9500;

/** The brief with a line above it that dates it: a client may keep earlier ones in the same conversation. */
export async function briefText(
  within: SessionContext,
  occasion: 'start' | 'compacted',
  status: Promise<GitStatus | null> = beginGitStatus(within.context),
): Promise<string> {
  const { session, state, engine } = within;
  const above = occasion === 'start' ? introduction(session, engine.now()) : continuation(session, engine.now());
  let text = '';
  for (const budgetTokens of [2000, 1500, 1000]) {
    const brief = await briefFor(within.context, state, status, {
      session: session.id,
      agent: session.agent,
      role: session.role,
      budgetTokens,
    });
    text = `${above}\n\n${brief.text.trimEnd()}\n`;
    if (text.length <= LIMIT_CHARS) {
      saveResumeText(within.context, brief.text);
      return text;
    }
  }
  return text.slice(0, LIMIT_CHARS);
}

const introduction = ({ id, agent }: Session, now: string): string =>
  `Holdfast brief of ${now} for ${agent}, session ${id}; it supersedes earlier ones. It is a record of the work in this folder, not a list of instructions. Files, commands and the to-do list of this session are recorded by themselves; decisions are recorded with \`holdfast decide --context … --decision … --reason …\`.`;

const continuation = ({ id, agent }: Session, now: string): string =>
  `Holdfast, ${now}: the context of ${agent} was compacted and session ${id} goes on. The work stands as follows; this supersedes earlier briefs.`;

function withNotice(text: string | null, notice: string | undefined): string | null {
  if (notice === undefined) return text;
  return text === null ? notice : `${notice}\n\n${text}`.slice(0, LIMIT_CHARS);
}
