import { resolve } from 'node:path';
import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import { outcomeOf, type Reconstruction } from '../../../clients/reconstruction.ts';
import type { Transcript } from '../../../clients/transcript.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import { oneLine } from '../../../core/text.ts';
import type { Change } from '../../../core/views/changed.ts';
import { currentRun } from '../../act.ts';
import type { Context } from '../../context.ts';
import { openRun } from '../../run/parts/open-run.ts';
import { type Asked, findTranscript, type KnownSession, knownSessions } from './find-transcript.ts';
import { gatherNews, type Place, tellNews } from './recover-news.ts';
import { recordNews } from './recover-record.ts';
import {
  gatherSubagentNews,
  type RecoveredSubagent,
  reconstructWhole,
  recordSubagentNews,
  tellSubagentNews,
} from './recover-subagents.ts';
import { openTranscripts } from './transcripts.ts';

/** Reads a transcript and records what is not known yet. A second time there is nothing left to record. */
export async function recoverTranscript(context: Context, asked: Asked & { dryRun?: boolean | undefined }) {
  const transcripts = await openTranscripts();
  const transcript = await findTranscript(context, transcripts, asked);
  const { found, subagents } = reconstructWhole(transcripts, transcript);
  if (found.entries === 0) {
    throw new Fault('invalid', `Nothing in ${transcript.path} could be read as a transcript of ${transcript.client}.`, {
      hints: ['Say whose it is with `--client`.', ...found.problems.slice(0, 3)],
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
  const told = [
    ...(place.run === null ? [`A run with the goal: ${oneLine(found.goal ?? 'none', 200)}`] : []),
    ...tellNews(news, found),
    ...tellSubagentNews(below),
  ];
  if (isDry) return outcome(place.run, null, told);
  const run = place.run ?? (await newRun(context, place.conversation, found));
  const here = { ...context, run };
  const within = (session: string) => recordSubagentNews(here, below, session);
  const { session, changed } = await recordNews(here, { ...place, run }, news, found, transcript, { within });
  return outcome(run, session, told, changed);
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
  const told = [id, entries, endedAt, lastRequest, lastMessage, spent, running.map(({ call }) => call), below];
  return { conversation, sessions, run, key: `recover:${sha256(JSON.stringify(told)).slice(0, 32)}` };
}

/** The run its session is in, else the one that is meant, else a new one. */
async function runOf(context: Context, own: readonly KnownSession[]): Promise<string | null> {
  const [last] = own;
  if (context.run === undefined && last) return last.run;
  const engine = await context.engine();
  const workspace = context.workspace()?.id ?? '';
  const active = await engine.heads({ workspace, status: 'active', limit: 2 });
  return context.run === undefined && active.length === 0
    ? null
    : currentRun({ ...context, identity: nobody(context) });
}

/** The session that is named is the one that is recovered, not the one that asks. */
const nobody = (context: Context): Context['identity'] => ({ ...context.identity, session: null });

function mustBeOver({ sessions, conversation }: Place): void {
  const active = sessions.find((session) => session.status === 'active');
  if (!active) return;
  throw new Fault('held', `${active.id} (${active.agent}) is at work in that conversation of ${conversation.client}.`, {
    hints: ['What it does is recorded as it goes. When it is gone, `holdfast recover` reads what it left.'],
    data: { session: active.id },
  });
}

async function isRecorded(context: Context, { run, key }: Place): Promise<boolean> {
  const engine = await context.engine();
  return run !== null && (await engine.hasRecorded(run, key));
}

/** The workspace first: without one there is no journal to open. */
async function newRun(context: Context, conversation: Conversation, found: Reconstruction): Promise<string> {
  context.createWorkspace();
  const identity = { ...nobody(context), key: null };
  const { run } = await openRun({ ...context, identity: identity }, await context.engine(), conversation, found.goal);
  return run;
}

function shownSubagent({ transcript, found }: RecoveredSubagent) {
  const { files, commands, spent, lastMessage } = shown(found);
  return { agent: transcript.subagent.type ?? transcript.subagent.id, files, commands, spent, lastMessage };
}

function shown(found: Reconstruction) {
  // One tool names a file by its whole path, another from where the conversation was.
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
