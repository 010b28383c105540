import type { ModelFile, ModelStep } from '../../core/model/run-model.ts';
import type { Editor } from '../text/editor.ts';
import { at, type ListNode, type MapNode } from '../text/node.ts';
import { editRows, isSame, newEntry } from '../text/rows.ts';
import { filesOnOneLine, setList } from './comma-list.ts';
import { flat } from './field-values.ts';
import { dependencyKeys, listsFiles, manifests, type Phase } from './phase.ts';
import type { Session } from './session-file.ts';
import { type About, contextOf, errorRows, fileWords, phaseRows } from './table.ts';

/** A new entry of `phases`, with all keys in the template's order. */
export function newPhase(step: ModelStep, about: About): Record<string, unknown> {
  const { model } = about;
  const kept = (model.kept?.['maestro'] as { phases?: Record<string, Record<string, unknown>> } | undefined)?.phases;
  const errors = model.items.filter((item) => item.kind === 'error' && item.step === step.key);
  const entry = newEntry(phaseRows, step, about, { kept: kept?.[step.key] ?? {} });
  return errors.length > 0 ? { ...entry, errors: errors.map((item) => newEntry(errorRows, item, about)) } : entry;
}

/** Integers as in the template, other ids as text. */
export function phaseId(step: ModelStep): string | number {
  const words = step.alias ?? step.key;
  return /^(?:0|[1-9]\d{0,14})$/.test(words) ? Number(words) : words;
}

/** Updates one phase to its step; equal values are not touched. */
export function editPhase(editor: Editor, session: Session, before: ModelStep, step: ModelStep, about: About): void {
  const placed = session.phases.get(before.key);
  if (!placed || placed.phase.node.pairs.length === 0) return;
  const { node } = placed.phase;
  // A session of the smallest tier is its own phase, and has its task for a name.
  const rows = node === session.root ? phaseRows.filter(({ is }) => is !== 'title') : phaseRows;
  editRows(editor, rows, node, before, step, about);
  if (step.after && !isSame(step.after, before.after)) editDependencies(editor, placed.phase, step.after, about.ids);
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
  const fresh = contextOf(added);
  if (there?.type !== 'map' || there.pairs.length === 0) {
    const said =
      there?.type === 'scalar' && there.value !== null ? [there.words] : there?.type === 'list' ? before : [];
    editor.set(node, 'downstream_context', contextOf([...said, ...added]), [
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

const lastPart = (path: string): string => path.split(/[\\/]/).at(-1) ?? '';

const isSamePath = (one: string, other: string): boolean =>
  one === other || (/^(?:\/|[A-Za-z]:|\.\/)/.test(one) && one.replaceAll('\\', '/').endsWith(`/${other}`));
