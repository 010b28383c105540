import { classOfCommand } from '../../../clients/command-class.ts';
import { agentName, conversationOf } from '../../../clients/conversation.ts';
import { outcomeOf, type Reconstruction } from '../../../clients/reconstruction.ts';
import type { Transcript } from '../../../clients/transcript.ts';
import { Fault } from '../../../core/fault.ts';
import type { Command } from '../../../core/journal/command.ts';
import { redact, redactRecord } from '../../../core/redact/redact.ts';
import { oneLine } from '../../../core/text.ts';
import type { Change } from '../../../core/views/change.ts';
import { hashArtifact } from '../../../workspace/files.ts';
import { ownerOf } from '../../../workspace/process.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';
import { describeNews, type News, otherCalls, type Place } from './recover-news.ts';
import { execute, type SessionContext, sessionContextOf } from './session-context.ts';
import { superviseRun } from './supervision.ts';
import { followTodos } from './todo-list.ts';

export interface Lineage {
  /** The session of the agent that started this subagent. */
  parent?: string;
  /** Records the subagents of the session before it ends. */
  below?: (session: string) => Promise<Change[]>;
}

/**
 * Records what was found in a session that continues the last one of the conversation, and ends it as the conversation
 * ended, with a snapshot that is marked as reconstructed.
 */
export async function recordNews(
  context: Context,
  place: Place & { run: string },
  news: News,
  found: Reconstruction,
  transcript: Transcript,
  { parent, below = async () => [] }: Lineage = {},
): Promise<{ session: string; changed: Change[] }> {
  await superviseRun({ ...context, identity: { ...context.identity, session: null, key: null } });
  const within = await startRecovery(context, place, parent);
  const changed: Change[] = [];
  const record = async (command: Command, key: string | null = null): Promise<void> => {
    changed.push(...(await execute(within, command, key)).changed);
  };
  try {
    await recordTodos(within, place, found);
    await recordFiles(within, news, record);
    for (const { id, command } of news.endings) await record({ type: 'effect.end', id, ...endOf(command) });
    await recordCommands(news, record, within);
    if (news.spent) await record({ type: 'usage.add', ...news.spent });
    for (const { text, key } of news.decisions) await record(decisionOf(place, text), key);
    await record({ type: 'note.add', kind: 'worklog', text: noteOf(place, found) });
    const from = `transcript of ${transcript.client}, conversation ${transcript.id}: ${redactRecord(transcript.path).text}`;
    const findings = [...describeNews(news, found), ...found.problems].map((line) => redact(line).text);
    changed.push(...(await below(within.session.id)));
    await record({ type: 'recovery.make', from, findings }, place.key);
  } finally {
    // Even after an error no session may be left active.
    await close(within, place, found, news, changed);
  }
  return { session: within.session.id, changed };
}

async function startRecovery(
  context: Context,
  { conversation, sessions, run }: Place & { run: string },
  parent: string | undefined,
): Promise<SessionContext> {
  const engine = await context.engine();
  const [former] = sessions;
  const agent = former?.agent ?? agentName(conversation.client, conversation.subagent);
  const identity = { ...context.identity, actor: { kind: 'agent' as const, name: agent }, session: null, key: null };
  const done = await engine.execute(
    run,
    {
      type: 'session.start',
      continues: former?.id,
      role: former?.role,
      parent: former?.parent ?? parent,
      client: { name: conversation.client, id: conversationOf(conversation) },
      // The recovering process: if it is killed too, that shows at once, and another recovery continues.
      owner: ownerOf(process.pid),
      mark: treeMark(context),
    },
    identity,
  );
  const session = done.state.sessions.get(done.session ?? '');
  if (!session) throw new Fault('internal', 'The session that was started is missing.');
  return sessionContextOf(context, engine, done.state, session);
}

async function recordTodos(within: SessionContext, { conversation }: Place, found: Reconstruction): Promise<void> {
  if (found.todos === null) return;
  const list = {
    owner: conversationOf(conversation),
    key: null,
    isOver: true,
    refused: (message: string) => within.context.warn(message),
  };
  await followTodos(within, list, found.todos);
}

type Recorder = (command: Command, key?: string | null) => Promise<void>;

/** With their present hashes, since no earlier ones are known. */
async function recordFiles(within: SessionContext, { files }: News, record: Recorder): Promise<void> {
  if (files.length === 0) return;
  const tree = within.context.workspace()?.tree ?? within.context.dir;
  const artifacts = [];
  for (const { path, change } of files) artifacts.push({ ...(await hashArtifact(tree, path)), change });
  await record({ type: 'files.see', artifacts });
}

const NAME_CHARS = 1000;

async function recordCommands({ commands }: News, record: Recorder, within: SessionContext): Promise<void> {
  for (const command of commands) {
    const name = command.command.length > NAME_CHARS ? `${command.command.slice(0, NAME_CHARS - 1)}…` : command.command;
    await record({ type: 'effect.begin', name, class: classOfCommand(command.command), key: command.key });
    if (command.result === null) continue;
    const effect = [...within.state.effects.values()].find(({ key }) => key === command.key);
    if (effect) await record({ type: 'effect.end', id: effect.id, ...endOf(command) });
  }
}

function endOf(command: News['commands'][number] | News['endings'][number]['command']) {
  const outcome = outcomeOf(command);
  const exitCode = command.result?.exitCode ?? undefined;
  const note = 'According to the transcript.';
  return {
    outcome: outcome === 'running' ? ('unknown' as const) : outcome,
    note,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

function decisionOf({ conversation }: Place, text: string): Command {
  const [decision = text, reason] = text.split(/\s+(?:because|since|, as)\s+/i, 2);
  return {
    type: 'decision.make',
    context: `Stated by ${conversation.client} when its context was compacted.`,
    decision: reason === undefined ? text : decision,
    reason: reason ?? 'The summary gives none.',
  };
}

function noteOf({ conversation }: Place, found: Reconstruction): string {
  const { startedAt, endedAt, requests, lastRequest, lastMessage, errors } = found;
  const when = startedAt && endedAt ? `, from ${startedAt} to ${endedAt}` : '';
  return [
    `Recovered from the transcript of ${conversation.client}${when}, ${requests} requests.`,
    ...(lastRequest ? [`Last request: ${oneLine(lastRequest, 1000)}`] : []),
    ...(lastMessage ? [`Last message: ${oneLine(lastMessage, 2000)}`] : []),
    ...errors.slice(-2).map((error) => `Error: ${error}`),
  ].join('\n');
}

async function close(
  within: SessionContext,
  place: Place,
  found: Reconstruction,
  news: News,
  changed: Change[],
): Promise<void> {
  const own = new Set(place.sessions.map((session) => session.id));
  const { next } = within.state;
  const isSaid = next !== null && next.session !== null && own.has(next.session);
  const done = await execute(
    within,
    {
      type: 'session.recover',
      reason: reasonOf(place, found),
      ...(isSaid ? { next: next.text } : nextOf(place, found)),
      ...(found.lastMessage ? { why: oneLine(found.lastMessage, 600) } : {}),
      evidence: ['Recovered from the transcript of its client.', ...describeNews(news, found)].map((line) =>
        oneLine(redact(line).text, 400),
      ),
      ...(found.endedAt ? { lastSeenAt: found.endedAt } : {}),
      mark: treeMark(within.context),
    },
    null,
  );
  changed.push(...done.changed);
}

function reasonOf({ sessions }: Place, found: Reconstruction): 'completed' | 'timeout' | 'crashed' {
  if (found.isClosed) return 'completed';
  return found.isMidTurn || found.running.length > 0 || sessions[0]?.status === 'crashed' ? 'crashed' : 'timeout';
}

function nextOf({ conversation }: Place, found: Reconstruction): { next?: string } {
  // The agent that started a subagent decides what comes next.
  if (conversation.subagent !== null) return {};
  if (found.lastMessage === null && found.lastRequest === null) return {};
  const tools = otherCalls(found);
  const message = found.lastMessage ? ` Its last message: ${oneLine(found.lastMessage, 300)}` : '';
  const request = found.lastRequest ? ` Its last request: ${oneLine(found.lastRequest, 200)}` : '';
  const used = tools.length > 0 ? ` It was in the middle of ${oneLine(tools.join(', '), 100)}.` : '';
  return { next: `Continue where ${conversation.client} stopped.${used}${message}${request}` };
}
