import type { Event } from '../journal/event.ts';
import type { TreeName } from '../tree-name.ts';
import type { LastWork, Session, State } from './state.ts';

/** How many working trees are remembered; agents create and delete them by the dozen. */
const TREES_LIMIT = 20;

/**
 * Keeps commit, branch and step of the last work in each working tree. Starting a step or a session does not count: a
 * session that starts on another branch must still be shown where the work was.
 */
export function recordLastWork(state: State, event: Event): void {
  const work = workIn(state, event);
  if (!work) return;
  const place = treeOf(state, event);
  const tree = workKey(place);
  const mark = 'mark' in event.body ? event.body.mark : undefined;
  state.lastWork.delete(tree);
  state.lastWork.set(tree, {
    head: mark?.head ?? null,
    branch: mark?.branch ?? null,
    step: work.step,
    session: work.session,
    at: event.at,
    version: event.version,
    ...place,
  });
  const [oldest] = state.lastWork.keys();
  if (state.lastWork.size > TREES_LIMIT && oldest !== undefined) state.lastWork.delete(oldest);
}

function workIn(state: State, event: Event): { step: string | null; session: string | null } | null {
  switch (event.type) {
    case 'step.checkpointed':
    case 'step.completed':
    case 'step.failed':
      return state.steps.has(event.body.step) ? { step: event.body.step, session: event.session } : null;
    case 'session.ended': {
      const { id, mark } = event.body;
      const held = state.sessions.get(id)?.held ?? [];
      return mark && held.length > 0 ? { step: held.at(-1) ?? null, session: id } : null;
    }
    default:
      return null;
  }
}

const workKey = ({ clone, tree }: TreeName): string => (clone ? `${clone} ${tree ?? ''}` : (tree ?? ''));

/** The last work in this working tree. */
export function lastWorkIn({ lastWork }: State, here: TreeName): LastWork | undefined {
  return lastWork.get(workKey(here)) ?? lastWork.get(here.tree ?? '');
}

/** The working tree of an event, by its own mark or that of its session. */
export function treeOf(state: State, event: Event): { tree: string | null; clone?: string } {
  const own = 'mark' in event.body ? event.body.mark : undefined;
  const session = event.session === null ? undefined : state.sessions.get(event.session);
  const mark = own ?? session?.mark;
  const clone = mark?.clone ?? session?.owner?.clone;
  return { tree: mark?.tree ?? null, ...(clone === undefined ? {} : { clone }) };
}

const CONVERSATIONS = 20;

/** Keeps who recorded last and where. The place of a session is that of its last event that names one. */
export function recordLast(state: State, event: Event): void {
  const { last } = state;
  const id = event.type === 'session.started' ? event.body.id : event.session;
  const session = id === null ? undefined : state.sessions.get(id);
  if (!session) return;
  const place = {
    machine: session.owner?.host ?? last.place.machine,
    clone: session.mark?.clone ?? session.owner?.clone ?? last.place.clone,
    tree: session.mark?.tree ?? '',
    branch: session.mark?.branch ?? null,
  };
  const conversation = conversationOf(state, session);
  const known = last.conversations;
  const conversations =
    conversation === undefined || known.at(-1) === conversation
      ? known
      : [...known.filter((one) => one !== conversation), conversation].slice(-CONVERSATIONS);
  const acting = session.parent === null ? session : (state.sessions.get(session.parent) ?? session);
  state.last = { session: { session: acting.id, agent: acting.agent }, place, conversations };
}

/** A subagent inside a conversation is found through it; some clients give it a conversation of its own. */
function conversationOf(state: State, { client, parent }: Session): string | undefined {
  const above = parent === null ? undefined : state.sessions.get(parent)?.client?.id;
  return client && above !== undefined && client.id.startsWith(`${above}/`) ? undefined : client?.id;
}

/** What could be a path in a sentence on what was built. Whether the file exists is not checked here. */
export function namedPaths(sentence: string): string[] {
  const words = sentence.slice(0, 4096).split(/[\s"'`()<>[\]{},;:|]+/);
  const paths = words.map((word) => word.replace(/^\.\//, '').replace(/[.!?]+$/, ''));
  return [...new Set(paths.filter((path) => /[^.\s]\.[^./\s]+$|.\/./.test(path)))].slice(0, 50);
}
