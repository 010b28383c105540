import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import type { Reconstruction } from '../../../clients/reconstruction.ts';
import type { Spent } from '../../../clients/tool-call.ts';
import type { SubagentTranscript, Transcript } from '../../../clients/transcript.ts';
import type { Transcripts } from '../../../clients/transcripts.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Change } from '../../../core/views/change.ts';
import type { Context } from '../../context.ts';
import { knownSessions } from './find-transcript.ts';
import { describeNews, gatherNews, type News, type Place } from './recover-news.ts';
import { recordNews } from './recover-record.ts';

/** A subagent of a conversation, according to its own file. */
export interface RecoveredSubagent {
  transcript: SubagentTranscript;
  found: Reconstruction;
}

/** What a conversation and its subagents did; a client's total for all of them is divided among them. */
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

/** Of more only the last ones are read. */
const SUBAGENTS_LIMIT = 200;

function without(all: Spent, part: Spent | null): Spent {
  const left = (field: 'input' | 'output' | 'cached'): number => Math.max(0, all[field] - (part?.[field] ?? 0));
  return { input: left('input'), output: left('output'), cached: left('cached') };
}

interface SubagentNews extends RecoveredSubagent {
  place: Place;
  news: News;
}

/** What is not recorded yet. */
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
    const parts = [id, found.entries, found.endedAt, found.spent];
    const key = `recover:${sha256(JSON.stringify(parts)).slice(0, 32)}`;
    const place = { conversation, sessions: sessions.map(({ session }) => session), run: above.run, key };
    const news = await gatherNews(context, place, found);
    const isNew = news.files.length + news.commands.length + news.endings.length > 0 || news.spent !== null;
    if (isNew) gathered.push({ transcript, found, place, news });
  }
  return gathered;
}

export function describeSubagentNews(gathered: readonly SubagentNews[]): string[] {
  return gathered.map(({ transcript, news, found }) => {
    const { type, id } = transcript.subagent;
    const sentences = describeNews(news, { ...found, lastRequest: null, lastMessage: null, todos: null });
    return `Subagent ${type ?? id}: ${sentences.join(' ')}`;
  });
}

/** Records each subagent in a session of its own, below that of the conversation. */
export async function recordSubagentNews(
  context: Context & { run: string },
  gathered: readonly SubagentNews[],
  parent: string,
): Promise<Change[]> {
  const changed: Change[] = [];
  for (const { place, news, found, transcript } of gathered) {
    // A subagent's to-do list is not the plan of the run.
    const own = { ...found, todos: null };
    const done = await recordNews(context, { ...place, run: context.run }, news, own, transcript, { parent });
    changed.push(...done.changed);
  }
  return changed;
}
