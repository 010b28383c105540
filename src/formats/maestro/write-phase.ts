import type { ModelFile, ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import type { Editor } from '../text/editor.ts';
import { at, type ListNode, type MapNode } from '../text/node.ts';
import { sameTime } from '../text/values.ts';
import { filesOnOneLine, setList } from './comma-list.ts';
import { flat, same } from './field-values.ts';
import { contextLabels, dependencyKeys, listsFiles, manifests, type Phase } from './phase.ts';
import type { Session } from './session-file.ts';

/** A new entry of `phases`, with all keys in the template's order. */
export function newPhase(
  model: RunModel,
  step: ModelStep,
  ids: (key: string) => string | number,
): Record<string, unknown> {
  const artifacts = step.artifacts ?? [];
  const listed = (change: ModelFile['change']) => artifacts.filter((file) => file.change === change).map(fileWords);
  const kept = keptOf(model, step.key);
  return {
    id: ids(step.key),
    name: step.title,
    status: step.status,
    ...(step.kind === 'phase' ? {} : { kind: step.kind }),
    ...(step.parent ? { parent: ids(step.parent) } : {}),
    agents: step.agents ?? [],
    parallel: step.parallel ?? false,
    started: step.startedAt ?? null,
    completed: step.endedAt ?? null,
    blocked_by: (step.after ?? []).map(ids),
    files_created: listed('created'),
    files_modified: listed('modified'),
    files_deleted: listed('deleted'),
    ...(listed(undefined).length > 0 ? { final_artifacts: listed(undefined) } : {}),
    downstream_context: context(step.built ?? []),
    errors: model.items.filter((item) => item.kind === 'error' && item.step === step.key).map(newError),
    retry_count: step.retries ?? 0,
    ...kept,
  };
}

/** Integers as in the template, other ids as text. */
export function phaseId(step: ModelStep): string | number {
  const words = step.alias ?? step.key;
  return /^(?:0|[1-9]\d{0,14})$/.test(words) ? Number(words) : words;
}

/** Updates one phase to its step; equal values are not touched. */
export function editPhase(
  editor: Editor,
  session: Session,
  before: ModelStep,
  step: ModelStep,
  ids: (key: string) => string | number,
): void {
  const placed = session.phases.get(before.key);
  if (!placed || placed.phase.node.pairs.length === 0) return;
  const { node } = placed.phase;
  const isRoot = node === session.root;
  const moved = step.status !== before.status;
  if (!isRoot && !same(step.title, before.title)) editor.set(node, 'name', step.title, ['id']);
  if (moved) editor.set(node, 'status', step.status, ['name', 'id']);
  if (step.kind !== before.kind) editor.set(node, 'kind', step.kind, ['status']);
  if (step.parent !== before.parent && (step.parent || before.parent))
    editor.set(node, 'parent', step.parent ? ids(step.parent) : null, ['status']);
  if (step.agents && !sameList(step.agents, before.agents))
    setList(editor, node, at(node, 'agents') || !at(node, 'agent') ? 'agents' : 'agent', step.agents, ['status']);
  if (step.parallel !== undefined && step.parallel !== (before.parallel ?? false))
    editor.set(node, 'parallel', step.parallel, ['agents', 'status']);
  editTime(editor, node, 'started', step.startedAt, before.startedAt, moved);
  editTime(editor, node, 'completed', step.endedAt, before.endedAt, moved);
  if (step.after && !sameList(step.after, before.after)) editDependencies(editor, placed.phase, step.after, ids);
  if (step.retries !== undefined && step.retries !== (before.retries ?? 0))
    editor.set(node, 'retry_count', step.retries);
  editManifests(editor, node, before.artifacts ?? [], step.artifacts ?? []);
  editContext(editor, node, before.built ?? [], step.built ?? []);
}

/** Existing entries keep position and spelling, also unknown ones; outdated ones are removed, new ones appended. */
function editDependencies(
  editor: Editor,
  { node, blockedBy }: Phase,
  after: readonly string[],
  ids: (key: string) => string | number,
): void {
  const listed = new Set(blockedBy.map(({ key }) => key));
  const left = blockedBy.filter(({ key }) => key === undefined || after.includes(key));
  // A phase that the file names and does not have is listed under its id.
  const spelled = new Set(blockedBy.map(({ id }) => id));
  const added = after.filter((key) => !listed.has(key) && !spelled.has(String(ids(key)))).map(ids);
  const [first = 'blocked_by', ...others] = dependencyKeys.filter((key) => at(node, key));
  for (const key of others) editor.set(node, key, []);
  const known = left.map(({ id, key }) => (key !== undefined && String(ids(key)) === id ? ids(key) : id));
  setList(editor, node, first, [...known, ...added], ['completed', 'started', 'status']);
}

function editTime(
  editor: Editor,
  node: MapNode,
  key: 'started' | 'completed',
  now: string | undefined,
  before: string | undefined,
  moved: boolean,
): void {
  if (sameTime(now, before)) return;
  // An absent time is unknown; a time is removed only when the phase went back.
  if (now !== undefined || moved)
    editor.set(node, key, now ?? null, key === 'completed' ? ['started', 'status'] : ['status']);
}

/** Manifests only grow. A path counts as listed however much of it the file spells out. */
function editManifests(editor: Editor, node: MapNode, before: readonly ModelFile[], after: readonly ModelFile[]): void {
  const listed = new Set(before.map((file) => `${file.change} ${fileWords(file)}`));
  const names = new Map<string, ModelFile[]>();
  for (const file of before) {
    const others = names.get(lastPart(file.path));
    if (others) others.push(file);
    else names.set(lastPart(file.path), [file]);
  }
  const isListed = (file: ModelFile) =>
    listed.has(`${file.change} ${fileWords(file)}`) ||
    (names.get(lastPart(file.path)) ?? []).some(
      (one) => (file.change === undefined || one.change === file.change) && isSamePath(one.path, file.path),
    );
  for (const change of ['created', 'modified', 'deleted', undefined] as const) {
    const added = after.filter((file) => file.change === change && !isListed(file)).map(fileWords);
    const plain = at(node, 'final_artifacts') || !listsFiles(at(node, 'files')) ? 'final_artifacts' : 'files';
    const key = change ? manifests[change] : plain;
    const onOneLine = filesOnOneLine(at(node, key));
    if (onOneLine) {
      if (added.length > 0) setList(editor, node, key, [...onOneLine, ...added]);
      continue;
    }
    appendTo(editor, node, key, added, [
      'files_deleted',
      'files_modified',
      'files_created',
      'blocked_by',
      'completed',
      'status',
    ]);
  }
}

function editContext(editor: Editor, node: MapNode, before: readonly string[], after: readonly string[]): void {
  const listed = new Set(before.map(flat));
  const added = after.filter((sentence) => !listed.has(flat(sentence)));
  if (added.length === 0) return;
  const there = at(node, 'downstream_context');
  const fresh = context(added);
  if (there?.type !== 'map' || there.pairs.length === 0) {
    const said =
      there?.type === 'scalar' && there.value !== null ? [there.words] : there?.type === 'list' ? before : [];
    editor.set(node, 'downstream_context', context([...said, ...added]), [
      'planned_files',
      'files_deleted',
      'files_modified',
      'files_created',
    ]);
    return;
  }
  for (const [key, sentences] of Object.entries(fresh)) appendTo(editor, there, key, sentences, []);
}

function appendTo(
  editor: Editor,
  node: MapNode,
  key: string,
  added: readonly unknown[],
  after: readonly string[],
): void {
  if (added.length === 0) return;
  const there = at(node, key);
  if (there?.type === 'list') editor.append(there as ListNode, added);
  else if (there?.type === 'scalar' && there.value !== null) editor.set(node, key, [there.words, ...added]);
  else editor.set(node, key, added, after);
}

/** Sorts sentences back under their labels; those without one are what the phase introduced. */
function context(built: readonly string[]): Record<string, string[]> {
  const drawers = Object.fromEntries(Object.keys(contextLabels).map((key) => [key, [] as string[]]));
  for (const sentence of built) {
    const [key = 'key_interfaces_introduced', label = ''] =
      Object.entries(contextLabels).find(([, start]) => start !== '' && sentence.startsWith(start)) ?? [];
    drawers[key]?.push(sentence.slice(label.length));
  }
  return drawers;
}

export function newError(item: ModelItem): Record<string, unknown> {
  const alias = item.alias ?? item.id;
  return {
    ...(alias ? { id: alias } : {}),
    agent: item.by ?? null,
    timestamp: item.raisedAt ?? null,
    type: item.type ?? null,
    message: item.text,
    resolution: item.resolution ?? 'pending',
    resolved: item.status === 'resolved',
    ...(item.status === 'deferred' || item.status === 'withdrawn' ? { status: item.status } : {}),
  };
}

export function editError(editor: Editor, node: MapNode, before: ModelItem, item: ModelItem): void {
  if (node.pairs.length === 0) return;
  if (item.status !== before.status) {
    editor.set(node, 'resolved', item.status === 'resolved');
    const word = item.status === 'deferred' || item.status === 'withdrawn' ? item.status : null;
    if (word !== null || at(node, 'status')) editor.set(node, 'status', word);
  }
  if (item.resolution !== undefined && !same(item.resolution, before.resolution))
    editor.set(node, 'resolution', item.resolution, ['message']);
  if (!same(item.text, before.text)) editor.set(node, 'message', item.text);
  if (item.type && item.type !== before.type) editor.set(node, 'type', item.type);
}

const lastPart = (path: string): string => path.split(/[\\/]/).at(-1) ?? '';

const isSamePath = (one: string, other: string): boolean =>
  one === other || (/^(?:\/|[A-Za-z]:|\.\/)/.test(one) && one.replaceAll('\\', '/').endsWith(`/${other}`));

const fileWords = (file: ModelFile): string => (file.note ? `${file.path} (${flat(file.note)})` : file.path);

const sameList = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  (one ?? []).length === (other ?? []).length && (one ?? []).every((entry, index) => entry === other?.[index]);

function keptOf(model: RunModel, key: string): Record<string, unknown> {
  const kept = model.kept?.['maestro'] as { phases?: Record<string, Record<string, unknown>> } | undefined;
  return kept?.phases?.[key] ?? {};
}
