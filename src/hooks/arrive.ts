import { conversationOf } from '../clients/conversation.ts';
import type { ClientHooks, Moment, StartSource } from '../clients/moment.ts';
import type { BriefForm } from '../core/brief/facts.ts';
import { shownInFull } from '../core/choice/candidate.ts';
import { type Choice, chooseRun, kindOf } from '../core/choice/choose.ts';
import { type Line, line } from '../core/line.ts';
import { type Prompt, readPrompt } from '../core/prompt/prompt.ts';
import { beginGitStatus } from '../operations/brief/parts/evidence.ts';
import type { Context } from '../operations/context.ts';
import { lookAround } from '../operations/run/parts/known-runs.ts';
import { findSession, runsOf } from '../operations/session/parts/find-session.ts';
import { openSession } from '../operations/session/parts/open-session.ts';
import type { SessionContext } from '../operations/session/parts/session-context.ts';
import type { GitStatus } from '../workspace/git/status.ts';
import { countPass } from '../workspace/run-presence.ts';
import { briefText, othersText, withHint } from './brief-text.ts';
import { type Memory, memoryFor, pruneMemory } from './memory.ts';
import { pressureHint } from './pressure.ts';
import { beginTurn } from './turns.ts';

type MomentOf<K extends Moment['kind']> = Extract<Moment, { kind: K }>;
type Around = Awaited<ReturnType<typeof lookAround>>;

/**
 * A client was opened, or its context compacted. Opening one records nothing in any run: the session starts with its first
 * prompt, or with the first thing that must be recorded.
 */
export async function arrive(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'session-start'>,
): Promise<Line | null> {
  const { source, request } = moment;
  const { files, memory, remember } = memoryFor(context, moment);
  if (files) pruneMemory(files);
  if (source === 'compact') return afterCompaction(context, hooks, moment);
  // A subagent has a conversation of its own in some clients; it works for its parent and gets no brief.
  if (moment.parent) {
    await openSession(context, moment, { source, request: null, parent: moment.parent });
    return null;
  }
  const arrival = { at: context.now(), source, owner: context.identity.owner };
  if (request !== null) {
    remember({ ...memory, arrival });
    return takePrompt(context, hooks, { ...moment, kind: 'prompt', request }, hooks.takesContext.has('session-start'));
  }
  // The session of this process continues: another hook file reports its start again.
  if (!hooks.takesContext.has('session-start')) {
    remember({ ...memory, arrival, briefed: false });
    return null;
  }
  const status = beginGitStatus(context);
  const around = await lookAround(context, await conversationsOf(context, moment, source));
  const { shown, text } = await firstText(context, around, moment, status);
  remember({
    ...memory,
    arrival: { ...arrival, ...(shown ? { shown } : {}) },
    briefed: true,
    due: compactionDue(memory),
  });
  return text;
}

/** What a compaction left to tell waits for the next prompt, also in another process of the client. */
const compactionDue = ({ due }: Memory): Memory['due'] => (due === 'compacted' ? due : undefined);

/** A conversation and, if it was forked in the same process, the one it was forked from. */
async function conversationsOf(context: Context, moment: Moment, source: StartSource): Promise<string[]> {
  const own = moment.conversation === null ? [] : [conversationOf(moment)];
  const { owner } = context.identity;
  if (source !== 'fork' || !owner) return own;
  const { field } = await lookAround(context);
  const siblings = field.all.flatMap(({ facts }) => facts.sessions.filter((one) => one.owner?.pid === owner.pid));
  return [...own, ...siblings.flatMap(({ conversation }) => (conversation === null ? [] : [conversation]))];
}

interface FirstText {
  text: Line | null;
  shown: { run: string; version: number } | null;
}

/** What a session reads before anything was asked: the run it may want to continue, and the names of others. */
async function firstText(
  context: Context,
  { field, viewer }: Around,
  moment: MomentOf<'session-start'>,
  status: Promise<GitStatus | null>,
): Promise<FirstText> {
  const engine = await context.engine();
  const agent = context.identity.actor.name;
  const own = field.all.find(({ facts }) => facts.conversations.some((one) => viewer.conversations.includes(one)));
  const isResumed = moment.source === 'resume' || moment.source === 'fork';
  if (own) {
    const state = await engine.load(own.run);
    const session = [...state.sessions.values()].find((one) => one.client?.id === conversationOf(moment))?.id ?? null;
    const shown = { run: own.run, version: state.version };
    // What the conversation did itself is still in its context.
    const hasNews =
      own.state.state === 'cut off' || own.facts.last?.session !== lastSessionOf(own.facts, viewer.conversations);
    const isNews = hasNews || own.facts.uncertain.length > 0;
    const text = isNews
      ? await briefText(
          context,
          { form: 'returned', state, session, agent, conversation: conversationOf(moment) },
          status,
        )
      : null;
    return { shown, text };
  }
  const run = isResumed ? null : shownInFull(field, viewer);
  if (!run) return { shown: null, text: await othersText(context, field, viewer.now) };
  const state = await engine.load(run.run);
  const form: BriefForm = viewer.chosen === run.run ? 'chosen' : 'start';
  const text = await briefText(context, { form, state, session: null, agent, others: { field, viewer } }, status);
  return { shown: { run: run.run, version: state.version }, text };
}

/** The session that recorded last, if it is of one of these conversations; undefined if all of them have ended. */
function lastSessionOf(
  { sessions, last, conversations }: Around['field']['all'][number]['facts'],
  own: readonly string[],
): string | undefined {
  const mine = sessions.find(({ conversation }) => conversation !== null && own.includes(conversation));
  if (mine) return mine.id;
  return own.includes(conversations.at(-1) ?? '') ? last?.session : undefined;
}

async function afterCompaction(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'session-start'>,
): Promise<Line | null> {
  const within = (await findSession(context, moment)) ?? (await returnTo(context, moment));
  if (!within) return null;
  const { memory, remember } = memoryFor(context, moment);
  if (!hooks.takesContext.has('session-start')) {
    remember({ ...memory, due: 'compacted' });
    return null;
  }
  const kept = hooks.forgetsStarts
    ? ({ due: 'compacted', dueExcept: context.identity.owner?.pid } as const)
    : { due: undefined };
  remember({ ...memory, ...kept, hintPercent: undefined, reportedPercent: 0, briefed: true });
  return withHint(await sessionBrief(within, 'compacted'), pressureHint(within, memory.hintPercent));
}

/** A conversation that is taken up again only to be compacted: no prompt has started its session yet. */
async function returnTo(context: Context, moment: MomentOf<'session-start'>): Promise<SessionContext | null> {
  const [run] = await runsOf(context, await context.engine(), moment);
  return run === undefined || moment.conversation === null
    ? null
    : openSession(context, moment, { source: moment.source, request: null, parent: null, run });
}

/** The brief of the run that a session is in. */
export function sessionBrief(within: SessionContext, form: BriefForm, others?: Around): Promise<Line> {
  const { session, state } = within;
  return briefText(within.context, {
    form,
    state,
    session: session.id,
    agent: session.agent,
    conversation: session.client?.id ?? null,
    others,
  });
}

/** A prompt. The first one of a conversation chooses its run; later ones stay there. */
export async function takePrompt(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'prompt'>,
  takesText = hooks.takesContext.has('prompt'),
): Promise<Line | null> {
  const prompt = readPrompt(moment.request);
  const present = await presentSession(context, moment);
  if (present) {
    // The prompt of a subagent is not a request.
    if (present.session.parent !== null || moment.subagent !== null) return null;
    const waits = present.state.turn?.session === present.session.id && present.state.turn.asks;
    await beginTurn(present, moment, prompt, laterKind(prompt, waits));
    return takesText ? laterText(present, hooks, moment) : null;
  }
  if (moment.subagent !== null) return null;
  return firstPrompt(context, hooks, moment, prompt, takesText);
}

function laterKind(prompt: Prompt, waits: boolean): ReturnType<typeof kindOf> {
  const kind = kindOf(prompt, null);
  return kind === 'request' && waits ? 'answer' : kind;
}

/** A client may report a prompt before the start of its session: one whose process is gone is not used again. */
async function presentSession(context: Context, moment: MomentOf<'prompt'>): Promise<SessionContext | null> {
  const within = await findSession(context, moment);
  if (!within) return null;
  const isDead = (await within.engine.liveness(within.state)).owners.get(within.session.id) === 'dead';
  return isDead ? null : within;
}

async function firstPrompt(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'prompt'>,
  prompt: Prompt,
  takesText: boolean,
): Promise<Line | null> {
  const { files, memory, remember } = memoryFor(context, moment);
  const status = beginGitStatus(context);
  const around = await lookAround(context, await conversationsOf(context, moment, memory.arrival?.source ?? 'startup'));
  const choice = chooseRun(prompt, around.field, around.viewer, await givenRun(context));
  if (choice.why === 'command') {
    const at = memory.arrival ?? { at: context.now(), source: 'startup' as const };
    remember({ ...memory, arrival: { ...at, command: prompt.text } });
    return null;
  }
  const isRequest = choice.kind === 'request' || (prompt.saysMore && choice.why !== 'approved plan');
  const within = await openSession(context, moment, {
    source: memory.arrival?.source === 'resume' ? 'resume' : null,
    request: isRequest ? prompt.text : null,
    run: choice.run,
    parent: null,
    status,
  });
  if (!within) return takesText ? HANDED_OVER : null;
  // The prompt after a cleared context is the plan itself, which is recorded.
  const isPlan = choice.why === 'approved plan';
  await beginTurn(within, moment, isPlan ? { ...prompt, saysMore: false } : prompt, choice.kind);
  if (files) countPass(files, memory.arrival?.shown?.run ?? null, within.run);
  const text = await joinedText(within, hooks, moment, { choice, around, memory });
  const { arrival, ...kept } = memory;
  const now = { ...kept, briefed: true, hintPercent: undefined };
  if (!takesText && hooks.takesContext.has('tool-after') && text !== null) remember({ ...now, due: 'joined' });
  else remember({ ...now, due: undefined });
  return takesText ? withHint(text, pressureHint(within, memory.hintPercent)) : null;
}

/** The run that the environment names, if there is one. */
async function givenRun(context: Context): Promise<string | null> {
  if (context.run === undefined) return null;
  const [head] = await (await context.engine()).heads({ run: context.run });
  return head?.run ?? null;
}

const HANDED_OVER = line`Holdfast: the work of this session was handed to another one, so nothing is recorded here any more. \`holdfast resume\` shows who has it.`;

/** After a start that showed a run, a prompt adds text only if the session joined another one, or that one changed. */
async function joinedText(
  within: SessionContext,
  hooks: ClientHooks,
  moment: Moment,
  { choice, around, memory }: { choice: Choice; around: Around; memory: Memory },
): Promise<Line | null> {
  const { shown } = memory.arrival ?? {};
  if (memory.due === 'compacted' && choice.why === 'same conversation') return sessionBrief(within, 'compacted');
  if (choice.run === null) {
    return memory.briefed === true && memory.arrival !== undefined
      ? null
      : othersText(within.context, around.field, around.viewer.now);
  }
  if (shown?.run === within.run && !(await changedSince(within, shown.version))) return null;
  const isReturned = choice.why === 'same conversation';
  if (isReturned && memory.arrival?.source !== 'resume' && !hooks.showsCompaction) return null;
  if (isReturned) return moment.kind === 'prompt' && memory.briefed ? null : sessionBrief(within, 'returned');
  return sessionBrief(within, 'joined', around);
}

/** Whether anything but the marks of gone sessions and this session itself was recorded since. */
async function changedSince({ engine, run, session }: SessionContext, version: number): Promise<boolean> {
  for await (const page of engine.eventPages(run, { after: version })) {
    const others = page.filter(
      (event) =>
        event.session !== session.id &&
        event.type !== 'session.ended' &&
        event.type !== 'snapshot.taken' &&
        event.type !== 'session.started',
    );
    if (others.length > 0) return true;
  }
  return false;
}

const isReadHere = ({ identity }: Context, { dueExcept }: Memory): boolean =>
  dueExcept !== undefined && dueExcept === identity.owner?.pid;

/** What earlier moments left for the answer to a later prompt. */
async function laterText(within: SessionContext, hooks: ClientHooks, moment: MomentOf<'prompt'>): Promise<Line | null> {
  const { memory: before, remember } = memoryFor(within.context, moment);
  let memory = before;
  let due = isReadHere(within.context, memory) ? undefined : memory.due;
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
  const isCompacted = due === 'compacted';
  const left = due === undefined ? memory.due : undefined;
  remember({ ...memory, due: left, hintPercent: undefined, ...(isCompacted ? { reportedPercent: 0 } : {}) });
  return withHint(due === undefined ? null : await sessionBrief(within, due), pressureHint(within, memory.hintPercent));
}
