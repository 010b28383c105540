import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import { Fault } from '../../../core/fault.ts';
import { adHocRunId } from '../../../core/prompt/run-id.ts';
import { titleOf, untitled } from '../../../core/prompt/title.ts';
import { redact } from '../../../core/redact/redact.ts';
import { oneLine } from '../../../core/text.ts';
import type { Engine } from '../../../engine/engine.ts';
import { execute } from '../../act.ts';
import type { Context } from '../../context.ts';

export interface FirstWords {
  /** The request that the run is opened for. */
  request?: string | null | undefined;
  /** A command to the client, where nothing else is known. */
  command?: string | null | undefined;
}

/** Opens an ad hoc run. Its id follows from the conversation, so that two hooks at the same moment open one run. */
export async function openRun(
  context: Context,
  engine: Engine,
  conversation: Conversation,
  { request = null, command = null }: FirstWords,
): Promise<{ run: string; isNew: boolean }> {
  const id = conversationOf({ ...conversation, subagent: null });
  const opening = { client: conversation.client, conversation: id, at: engine.now() };
  const before = await openedBefore(context, engine, id);
  const goal = request === null ? null : goalOf(request);
  const title =
    (goal === null ? null : titleOf(goal)) ??
    (command === null ? null : oneLine(redact(command).text, 60) || null) ??
    untitled(opening.at);
  for (let more = 0; ; more++) {
    const run = adHocRunId({ ...opening, before }, more);
    try {
      const workspace = context.workspace()?.id ?? '';
      await execute(context, run, { type: 'run.open', kind: 'ad-hoc', workspace, title, ...(goal ? { goal } : {}) });
      return { run, isNew: true };
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'illegal' || thrown.data['run'] !== run || more > 20)
        throw thrown;
      const { conversations } = (await engine.load(run)).last;
      // Another hook of this moment has just opened it.
      if (conversations.length === 0 || conversations.includes(id)) return { run, isNew: false };
    }
  }
}

/** How many ad hoc runs began with a session of this conversation. */
async function openedBefore(context: Context, engine: Engine, conversation: string): Promise<number> {
  const workspace = context.workspace()?.ids;
  const heads = await engine.heads(workspace === undefined ? {} : { workspace });
  return heads.filter(({ position }) => position.facts?.conversations[0] === conversation).length;
}

const GOAL_CHARS = 4000;

/** A request as it is recorded, without secrets. */
export function goalOf(request: string): string | null {
  const text = redact(request).text.trim();
  if (text === '') return null;
  return text.length > GOAL_CHARS ? `${text.slice(0, GOAL_CHARS - 1)}…` : text;
}
