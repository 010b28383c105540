import { conversationOf } from '../clients/conversation.ts';
import type { ClientHooks, Moment } from '../clients/moment.ts';
import type { Owner } from '../core/journal/event.ts';
import type { Context } from '../operations/context.ts';
import { actorNamed, openContext } from '../operations/open.ts';
import { findSession } from '../operations/session/parts/find-session.ts';
import { record, withMissing, workspaceOf } from './hook.ts';
import { log } from './log.ts';
import { recallMemory } from './memory.ts';

/** Records moments that a long-running process of ours saw itself, as hooks record those that a client reports. */
export interface Recorder {
  /** The text for the agent; null for none. Throws if it could not be recorded. */
  record(moment: Moment): Promise<string | null>;
}

export interface RecorderOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** Where a moment names no folder. */
  cwd: string;
  /** The name of the agent, once it is known. */
  agent(): string;
  /** The agent's process. */
  owner: Owner | undefined;
}

/** The answer to a prompt may carry text; there are no other answers. */
const seenHooks: ClientHooks = { read: () => null, takesContext: new Set(['prompt']), answer: () => ({}) };

export function createRecorder({ environment, cwd, agent, owner }: RecorderOptions): Recorder {
  /** Conversations whose client reports through hooks of its own. */
  const others = new Map<string, boolean>();
  return {
    async record(moment) {
      const workspace = workspaceOf(moment.cwd ?? cwd);
      if (workspace === null || workspace.config.capture?.off === true) return null;
      const given = (name: string): string | undefined => environment[name] || undefined;
      const context = openContext({
        dir: moment.cwd ?? workspace.tree,
        workspace,
        store: given('HOLDFAST_STORE'),
        run: given('HOLDFAST_RUN'),
        actor: actorNamed('agent', given('HOLDFAST_AGENT') ?? agent()),
        evidence: 'hook',
        owner,
        takeReports: async (given) => (await import('./take-reports.ts')).takeReports(given),
      });
      try {
        const conversation = conversationOf(moment);
        if (!others.has(conversation)) others.set(conversation, await isReported(context, moment));
        if (others.get(conversation)) return null;
        await context.takeReports();
        const text = await record(context, seenHooks, moment, workspace);
        return text === null ? null : await withMissing(text, workspace.files);
      } catch (thrown) {
        log(workspace.root, `${moment.client} ${moment.kind}: ${(thrown as Error).message}`);
        throw thrown;
      } finally {
        await context.close();
      }
    },
  };
}

/** Whether a hook has seen the conversation begin, or its session was started by one. */
async function isReported(context: Context, moment: Moment): Promise<boolean> {
  const files = context.workspace()?.files;
  if (files && recallMemory(files, conversationOf(moment)).arrival !== undefined) return true;
  const found = await findSession(context, moment);
  return found !== null && found.session.client?.name !== moment.client;
}
