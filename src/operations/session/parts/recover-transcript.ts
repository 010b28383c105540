import { resolve } from 'node:path';
import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import { outcomeOf, type Reconstruction } from '../../../clients/reconstruction.ts';
import type { Transcript } from '../../../clients/transcript.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import { oneLine } from '../../../core/text.ts';
import type { Change } from '../../../core/views/change.ts';
import { currentRun } from '../../act.ts';
import type { Context } from '../../context.ts';
import { mayBeChosen } from '../../run/parts/may-be-chosen.ts';
import { openRun } from '../../run/parts/open-run.ts';
import { type Asked, findTranscript, type KnownSession, knownSessions } from './find-transcript.ts';
import { describeNews, gatherNews, type Place } from './recover-news.ts';
import { recordNews } from './recover-record.ts';
import {
  describeSubagentNews,
  gatherSubagentNews,
  type RecoveredSubagent,
  reconstructWhole,
  recordSubagentNews,
} from './recover-subagents.ts';
import { openTranscripts } from './transcripts.ts';

/** Reads a transcript and records what is not recorded yet; a second time records nothing. */
export async function recoverTranscript(context: Context, asked: Asked & { dryRun?: boolean | undefined }) {
  const transcripts = await openTranscripts();
  const transcript = await findTranscript(context, transcripts, asked);
  const stage = (done: number, at: string) => context.progress?.({ doing: 'Recovering', done, total: 3, at });
  stage(0, transcript.path);
  const { found, subagents } = reconstructWhole(transcripts, transcript);
  stage(1, 'comparing with the journal');
  if (found.entries === 0) {
    throw new Fault('invalid', `Nothing in ${transcript.path} could be read as a transcript of ${transcript.client}.`, {
      hints: ['Name its client with `--client`.', ...found.problems.slice(0, 3)],
      data: { path: transcript.path, problems: found.problems },
    });
  }
  const isDry = asked.dryRun === true;
  const place = await placeOf(context, transcript, found, subagents);
  mustBeOver(place);
  const outcome = (run: string | null, session: string | null, added: string[], changed?: Change[]) => ({
    data: {
      client: transcript.client,
      conversation: transcript.id,
      transcript: transcript.path,
      run,
      session,
      dryRun: isDry,
      added,
      found: { ...shown(found), subagents: subagents.map(shownSubagent) },
    },
    ...(changed ? { changed } : {}),
  });
  if (place.run !== null && (await isRecorded(context, place))) return outcome(place.run, null, []);
  const news = await gatherNews(context, place, found);
  const below = await gatherSubagentNews(context, place, subagents);
  const added = [
    ...(place.run === null ? [`A run with the goal: ${oneLine(found.goal ?? 'none', 200)}`] : []),
    ...describeNews(news, found),
    ...describeSubagentNews(below),
  ];
  if (isDry) return outcome(place.run, null, added);
  stage(2, 'recording');
  const run = place.run ?? (await newRun(context, place.conversation, found));
  const here = { ...context, run };
  const recordBelow = (session: string) => recordSubagentNews(here, below, session);
  const { session, changed } = await recordNews(here, { ...place, run }, news, found, transcript, {
    below: recordBelow,
  });
  return outcome(run, session, added, changed);
}

async function placeOf(
  context: Context,
  transcript: Transcript,
  found: Reconstruction,
  subagents: readonly RecoveredSubagent[],
): Promise<Place> {
  const conversation: Conversation = { client: transcript.client, conversation: transcript.id, subagent: null };
  const id = conversationOf(conversation);
  const known = context.workspace() ? await knownSessions(context) : [];
  const own = known.filter(({ session }) => session.client?.id === id);
  const run = context.workspace() ? await runOf(context, own) : null;
  const sessions = own.filter((one) => one.run === run).map(({ session }) => session);
  const { entries, endedAt, lastRequest, lastMessage, spent, running } = found;
  const below = subagents.map((one) => [one.transcript.id, one.found.entries]);
  const parts = [id, entries, endedAt, lastRequest, lastMessage, spent, running.map(({ call }) => call), below];
  return { conversation, sessions, run, key: `recover:${sha256(JSON.stringify(parts)).slice(0, 32)}` };
}

/** The run of its session, else the current one, else a new one. */
async function runOf(context: Context, own: readonly KnownSession[]): Promise<string | null> {
  const [last] = own;
  if (context.run === undefined && last) return last.run;
  const engine = await context.engine();
  const workspace = context.workspace()?.id ?? '';
  const active = (await engine.heads({ workspace, status: 'active' })).filter(mayBeChosen);
  return context.run === undefined && active.length === 0
    ? null
    : currentRun({ ...context, identity: withoutSession(context) });
}

/** The named session is the one to recover, not the one that asks. */
const withoutSession = (context: Context): Context['identity'] => ({ ...context.identity, session: null });

function mustBeOver({ sessions, conversation }: Place): void {
  const active = sessions.find((session) => session.status === 'active');
  if (!active) return;
  throw new Fault('held', `${active.id} (${active.agent}) is active in that conversation of ${conversation.client}.`, {
    hints: ['Its work is being recorded. When it is gone, `holdfast recover` reads its transcript.'],
    data: { session: active.id },
  });
}

async function isRecorded(context: Context, { run, key }: Place): Promise<boolean> {
  const engine = await context.engine();
  return run !== null && (await engine.hasRecorded(run, key));
}

/** Creates the workspace first: without one there is no journal to open. */
async function newRun(context: Context, conversation: Conversation, found: Reconstruction): Promise<string> {
  context.createWorkspace();
  const identity = { ...withoutSession(context), key: null };
  const { run } = await openRun({ ...context, identity }, await context.engine(), conversation, {
    request: found.goal,
  });
  return run;
}

function shownSubagent({ transcript, found }: RecoveredSubagent) {
  const { files, commands, spent, lastMessage } = shown(found);
  return { agent: transcript.subagent.type ?? transcript.subagent.id, files, commands, spent, lastMessage };
}

function shown(found: Reconstruction) {
  // Tools name a file by an absolute path or relative to the folder of the conversation.
  const changed = new Map<string, string>();
  for (const { path, read, change = 'modified' } of found.files.values()) {
    const whole = found.cwd === null ? path : resolve(found.cwd, path);
    if (!read && changed.get(whole) !== 'created') changed.set(whole, change);
  }
  return {
    goal: found.goal,
    lastRequest: found.lastRequest,
    lastMessage: found.lastMessage,
    endedAt: found.endedAt,
    files: [...changed].map(([path, change]) => ({ path, change })),
    commands: found.commands.map((one) => ({
      command: one.command,
      outcome: outcomeOf(one),
      exitCode: one.result?.exitCode ?? null,
    })),
    running: found.running.map(({ toolCall }) => toolCall.tool),
    todos: (found.todos?.entries ?? []).map(({ text, status }) => ({ text, status })),
    decisions: [...found.decisions],
    spent: found.spent,
    models: [...found.models],
    problems: [...found.problems],
  };
}
