import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import type { Reconstruction } from '../../../clients/reconstruction.ts';
import type { Spent } from '../../../clients/tool-call.ts';
import type { SubagentTranscript, Transcript } from '../../../clients/transcript.ts';
import type { Transcripts } from '../../../clients/transcripts.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Change } from '../../../core/views/changed.ts';
import type { Context } from '../../context.ts';
import { knownSessions } from './find-transcript.ts';
import { gatherNews, type News, type Place, tellNews } from './recover-news.ts';
import { recordNews } from './recover-record.ts';

/** A subagent of a conversation, as far as its own file tells. */
export interface RecoveredSubagent {
  transcript: SubagentTranscript;
  found: Reconstruction;
}

/** What a conversation and its subagents did. What the client counted for all of them is shared out among them. */
export function reconstructWhole(
  transcripts: Transcripts,
  transcript: Transcript,
): { found: Reconstruction; subagents: RecoveredSubagent[] } {
  const whole = transcripts.reconstruct(transcript);
  const subagents = transcripts
    .subagents(transcript)
    .slice(-SUBAGENTS_LIMIT)
    .map((one) => ({ transcript: one, found: transcripts.reconstruct(one) }))
    .filter(({ found }) => found.entries > 0);
  if (!whole.isSpentTotal || whole.spent === null) return { found: whole, subagents };
  const spent = subagents.reduce((left, { found }) => without(left, found.spent), whole.spent);
  return { found: { ...whole, spent }, subagents };
}

/** Of very many the last ones. */
const SUBAGENTS_LIMIT = 200;

function without(all: Spent, part: Spent | null): Spent {
  const left = (field: keyof Spent): number => Math.max(0, all[field] - (part?.[field] ?? 0));
  return { input: left('input'), output: left('output'), cached: left('cached') };
}

interface SubagentNews extends RecoveredSubagent {
  place: Place;
  news: News;
}

/** What of them is not recorded yet. */
export async function gatherSubagentNews(
  context: Context,
  above: Place,
  subagents: readonly RecoveredSubagent[],
): Promise<SubagentNews[]> {
  if (subagents.length === 0) return [];
  const known = context.workspace() ? await knownSessions(context) : [];
  const gathered: SubagentNews[] = [];
  for (const { transcript, found } of subagents) {
    const conversation: Conversation = { ...above.conversation, subagent: transcript.subagent };
    const id = conversationOf(conversation);
    const sessions = known.filter((one) => one.run === above.run && one.session.client?.id === id);
    const told = [id, found.entries, found.endedAt, found.spent];
    const key = `recover:${sha256(JSON.stringify(told)).slice(0, 32)}`;
    const place = { conversation, sessions: sessions.map(({ session }) => session), run: above.run, key };
    const news = await gatherNews(context, place, found);
    const isNew = news.files.length + news.commands.length + news.endings.length > 0 || news.spent !== null;
    if (isNew) gathered.push({ transcript, found, place, news });
  }
  return gathered;
}

export function tellSubagentNews(gathered: readonly SubagentNews[]): string[] {
  return gathered.map(({ transcript, news, found }) => {
    const { type, id } = transcript.subagent;
    const told = tellNews(news, { ...found, lastRequest: null, lastMessage: null, todos: null });
    return `Subagent ${type ?? id}: ${told.join(' ')}`;
  });
}

/** Each under a session of its own, below that of the conversation. */
export async function recordSubagentNews(
  context: Context & { run: string },
  gathered: readonly SubagentNews[],
  parent: string,
): Promise<Change[]> {
  const changed: Change[] = [];
  for (const { place, news, found, transcript } of gathered) {
    // Its to-do list is the work of a moment, not the plan of the run.
    const own = { ...found, todos: null };
    const done = await recordNews(context, { ...place, run: context.run }, news, own, transcript, { parent });
    changed.push(...done.changed);
  }
  return changed;
}
