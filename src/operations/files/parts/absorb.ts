import type { Mirror } from '../../../core/fold/state.ts';
import {
  type Ask,
  type Bindings,
  bindModel,
  type Merge,
  mergeEdit,
  mergeUnknown,
  type Removed,
} from '../../../core/model/merge.ts';
import type { ModelDecision, ModelItem, RunModel, RunModelPart } from '../../../core/model/run-model.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Format } from '../../../formats/format.ts';
import type { MirrorMemory } from './mirror-base.ts';

/** An edit of a mirrored file is recorded under this name. */
export const FILE_IDENTITY = {
  actor: { kind: 'agent', name: 'file' },
  evidence: 'file',
  session: null,
  key: null,
} as const;

export interface Absorbed {
  events: number;
  /** What was recorded, one sentence each. */
  news: string[];
  /** Everything that is asked now. */
  asks: Ask[];
  hidden: string[];
}

/** Records what someone else changed in a file since it was last synchronised. */
export async function absorbEdit(
  engine: Engine,
  run: string,
  { format: name, path }: Mirror,
  format: Format,
  { before, after, journal }: { before: RunModel | null; after: RunModel; journal: RunModel },
  memory: MirrorMemory,
): Promise<Absorbed> {
  const { bindings, told = {} } = memory;
  const merge = before
    ? mergeEdit({ before, bindings: bindings ?? bindModel(journal, before), after, journal, told, gone: format.gone })
    : mergeUnknown(after, journal);
  const settled = settledBy(merge.removed, journal, path, engine.now());
  const account = joined(merge.changed, settled);
  let events = 0;
  if (Object.keys(account).length > 0) {
    const done = await engine.execute(run, { type: 'account.read', format: name, path, account }, FILE_IDENTITY);
    events = done.events.length;
  }
  const isBack = idsIn(merge.changed);
  const hidden = merge.removed.flatMap(({ list, id, gone }) => (gone === 'hidden' ? [`${list}:${id}`] : []));
  return {
    events,
    news: merge.news,
    asks: [...stillAsked(memory.asks ?? [], merge), ...merge.asks],
    hidden: [...new Set([...(memory.hidden ?? []).filter((known) => !isBack.has(known)), ...hidden])],
  };
}

/** An earlier question is answered by an edit of the same field. */
function stillAsked(asks: readonly Ask[], { changed, asks: fresh, removed }: Merge): Ask[] {
  const touched = idsIn(changed);
  return asks.filter(
    ({ list, id }) =>
      !touched.has(`${list}:${id}`) &&
      !fresh.some((one) => one.list === list && one.id === id) &&
      !removed.some((one) => one.list === list && one.id === id),
  );
}

function idsIn(changed: RunModelPart): Set<string> {
  const { steps = [], decisions = [], items = [], notes = [], sessions = [], messages = [] } = changed;
  return new Set([
    ...steps.map(({ key }) => `steps:${key}`),
    ...Object.entries({ decisions, items, notes, sessions, messages }).flatMap(([list, entries]) =>
      entries.map(({ id }) => `${list}:${id}`),
    ),
  ]);
}

/** The records that an edit settled by removing them from the file. */
function settledBy(removed: readonly Removed[], journal: RunModel, path: string, now: string): RunModelPart {
  const ids = (gone: Removed['gone']) => new Set(removed.filter((one) => one.gone === gone).map(({ id }) => id));
  const [resolved, retracted] = [ids('resolved'), ids('retracted')];
  const isOpen = ({ status }: ModelItem): boolean => status === 'open' || status === 'active' || status === 'bypassed';
  const items = journal.items
    .filter((item) => resolved.has(item.id ?? '') && isOpen(item))
    .map((item): ModelItem => ({ ...item, status: 'resolved', settledAt: now, resolution: `Removed from ${path}.` }));
  const decisions = journal.decisions
    .filter((one) => retracted.has(one.id ?? '') && one.status === 'active')
    .map((one): ModelDecision => ({ ...one, status: 'retracted' }));
  return { ...(items.length > 0 ? { items } : {}), ...(decisions.length > 0 ? { decisions } : {}) };
}

function joined(one: RunModelPart, other: RunModelPart): RunModelPart {
  const items = [...(one.items ?? []), ...(other.items ?? [])];
  const decisions = [...(one.decisions ?? []), ...(other.decisions ?? [])];
  return { ...one, ...(items.length > 0 ? { items } : {}), ...(decisions.length > 0 ? { decisions } : {}) };
}

/** Records the file's side of everything that was asked. */
export async function takeFileSide(
  engine: Engine,
  run: string,
  { format, path }: Mirror,
  asks: readonly Ask[],
  file: RunModel,
  bindings: Bindings,
): Promise<void> {
  for (const { list, id, field } of asks) {
    if (field === null && list === 'steps') {
      await engine.execute(run, { type: 'plan.remove', step: id }, FILE_IDENTITY);
      continue;
    }
    const entry = file[list][bindings[list]?.indexOf(id) ?? -1];
    if (!entry) continue;
    const account = { [list]: [list === 'steps' ? entry : { ...entry, id }] } as RunModelPart;
    await engine.execute(run, { type: 'account.read', format, path, account }, FILE_IDENTITY);
  }
}
