import type { Snapshot, State } from '../../../core/fold/state.ts';
import { isSameName } from '../../../core/names.ts';
import { isSameTree } from '../../../core/tree-name.ts';
import { isDone } from '../../../core/views/plan.ts';
import { mailClasses } from '../../../formats/documents/snapshot.ts';
import type { TaskState } from '../../../formats/snap/contract-files.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';
import type { Contract } from './contract.ts';
import { findFile } from './contract-folder.ts';
import { measure } from './measure.ts';
import { isBlocked, mailOf } from './text.ts';

/** The journal as of the snapshot: later events do not make a snapshot wrong. */
export function contractJournal(context: Context, run: string, state: State, taken: Snapshot): Contract {
  const workspace = context.workspace();
  const isHere =
    workspace !== null && isSameTree(taken.mark ?? {}, { ...context.here(), tree: treeMark(context)?.tree });
  return {
    name: `event ${taken.version} of run ${run}`,
    tasks: () => [taskAt(state, taken)],
    mail: (agent) => {
      const mail = mailOf(state, agent);
      const ids = mailClasses.map((name) => [
        name,
        mail[name].map(({ id, alias }) => (alias ? `${id} (${alias})` : id)),
      ]);
      return Object.fromEntries(ids) as ReturnType<Contract['mail']>;
    },
    async questions(ids) {
      if (ids.length === 0) return new Map();
      const engine = await context.engine();
      const rows = (await engine.recall(run, ids)).filter((row) => row.kind === 'item');
      const known = new Map(rows.flatMap((row) => [row.id, row.alias ?? row.id].map((id) => [id, row.id] as const)));
      return new Map(ids.flatMap((id) => (known.has(id) ? [[id, stateAt(state, known.get(id) ?? '')] as const] : [])));
    },
    sides: (id) => {
      const found = [...state.messages.values()].find((one) => one.id === id || one.alias === id);
      return found ? { from: found.from, to: found.to } : null;
    },
    file: (path) => (isHere ? findFile([workspace.tree], path) : 'unknown'),
    tokens: (path) => (isHere ? measure([workspace.tree], path) : null),
    knows: () => true,
    // A recorded text is compared as a whole; these have no other source here.
    decisions: () => null,
    pointers: () => null,
    commitments: (agent) =>
      [...state.items.values()]
        .filter((item) => item.kind === 'commitment' && item.status === 'open' && isSameName(item.by, agent))
        .map((item) => item.text),
    promises: null,
    inbox: () => null,
    sessions: () => null,
    isFollowed: () => false,
  };
}

/** Folded state holds the open ones. */
const stateAt = (state: State, id: string): string | null => state.items.get(id)?.status ?? null;

/** The steps the session had then, with the status of the first. */
function taskAt(state: State, { session }: Snapshot): TaskState {
  const steps = [...state.steps.values()];
  const mine = steps.filter((step) =>
    step.holder ? step.holder.session === session : step.lastSession === session && !isDone(step.status),
  );
  const done = steps.filter((step) => step.lastSession === session && isDone(step.status));
  const [step] = mine.length > 0 ? mine : done;
  const source = 'the journal';
  // Without a plan the status follows from turns and commands, not from steps.
  if (state.run?.kind === 'ad-hoc') return { source, status: null, keys: [], text: '' };
  if (!step) return { source, status: 'complete', keys: [], text: `${session} had no step` };
  const status = isDone(step.status) ? 'complete' : isBlocked(state, step) ? 'blocked' : 'partial';
  const keys = (mine.length > 0 ? mine : done).map((one) => one.key);
  return { source, status, keys, text: `${keys.join(', ')} ${status}` };
}
