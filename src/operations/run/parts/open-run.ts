import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import { requestWords } from '../../../clients/request.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Engine } from '../../../engine/engine.ts';
import { execute } from '../../act.ts';
import type { Context } from '../../context.ts';

/** The id comes from the conversation, so that two hooks at the same moment open one run. */
export async function openRun(
  context: Context,
  engine: Engine,
  conversation: Conversation,
  request: string | null,
): Promise<{ run: string; isNew: boolean }> {
  const suffix = sha256(conversationOf({ ...conversation, subagent: null })).slice(0, 8);
  const id = `${engine.now().slice(0, 10)}-${conversation.client}-${suffix}`;
  const words = request === null ? null : requestWords(request);
  try {
    await execute(context, id, {
      type: 'run.open',
      kind: 'ad-hoc',
      workspace: context.workspace()?.id ?? '',
      title: words?.title ?? defaultTitle(context),
      ...(words ? { goal: words.goal } : {}),
    });
    return { run: id, isNew: true };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'illegal' && thrown.data['run'] === id)
      return { run: id, isNew: false };
    throw thrown;
  }
}

export function defaultTitle(context: Context): string {
  const name = (context.workspace()?.root ?? context.dir).split(/[\\/]/).at(-1) || 'this folder';
  return `Work in ${name}`;
}
