import * as v from 'valibot';
import type { ModelFile, ModelItem, ModelStep } from '../../core/model/run-model.ts';
import { Severity } from '../../core/words.ts';
import { all, at, type MapNode, type Node, plain, wordsOf } from '../text/node.ts';
import { readRows } from '../text/rows.ts';
import { filesOnOneLine, namesIn } from './comma-list.ts';
import { flat, label, path, words } from './field-values.ts';
import { contextLabels, errorRows, phaseRows } from './table.ts';
import { type StepStatus, stepStatus } from './transitions.ts';

/** One entry of `phases`. */
export interface Phase {
  node: MapNode;
  /** The id as written; null when there is no usable one. */
  id: string | null;
  idStart: number;
  /** Its dependencies as written; with the key of the phase, once all are known. */
  blockedBy: { id: string; start: number; key?: string }[];
  parentId: string | null;
  /** Null when the file does not say. */
  status: StepStatus | null;
  step: Omit<ModelStep, 'key' | 'status' | 'title'> & { title?: string };
  errors: { item: ModelItem; node: MapNode }[];
  findings: { item: ModelItem; node: Node }[];
  addressed: string[];
  /** Unknown keys, kept to be written back. */
  kept: Record<string, unknown>;
}

export type Complain = (code: string, level: 'error' | 'warning', offset: number, message: string) => void;

/** Both keys occur; people use the second one. */
export const dependencyKeys = ['blocked_by', 'depends_on'] as const;

export const manifests = { created: 'files_created', modified: 'files_modified', deleted: 'files_deleted' } as const;

const known = new Set([
  ...['id', 'name', 'title', 'status', 'agents', 'agent', 'parallel', 'started', 'completed', 'errors', 'files'],
  ...['retry_count', 'downstream_context', 'final_artifacts', 'parent', ...dependencyKeys, ...Object.values(manifests)],
]);

export function readPhase(node: MapNode, complain: Complain): Phase {
  const id = at(node, 'id');
  const idWords = id?.type === 'scalar' && id.value !== null && !/^\.nan$/i.test(id.words) ? id.words.trim() : '';
  if (id?.type === 'scalar' && /^\.nan$/i.test(id.words)) {
    complain('nan_id', 'error', id.start, 'The id of this phase was lost (.nan); its position is used.');
  }
  const statusNode = at(node, 'status');
  const statusWords = wordsOf(statusNode);
  const status = statusWords === null ? null : stepStatus(statusWords);
  if (statusWords !== null && status === null) {
    complain('unknown_status', 'warning', statusNode?.start ?? node.start, `"${statusWords}" is not a phase status.`);
  }
  const { artifacts, built } = readWork(node, complain);
  const { status: _, ...said } = readRows(phaseRows, node);
  const step: Phase['step'] = {
    kind: 'phase',
    ...said,
    ...optional('artifacts', artifacts),
    ...optional('built', built),
  };
  const kept = Object.fromEntries(
    node.pairs
      .filter(({ key, value }) => !known.has(key) || (key === 'files' && !listsFiles(value)))
      .filter(({ key, value }) => !(key === 'kind' && wordsOf(value) === step.kind))
      .map((pair) => [pair.key, plain(pair.value)]),
  );
  return {
    node,
    id: idWords === '' ? null : idWords,
    idStart: id?.start ?? node.start,
    blockedBy: dependencyKeys
      .flatMap((key) => namesIn(at(node, key)))
      .map((entry) => ({ id: entry.words.trim(), start: entry.start })),
    parentId: wordsOf(at(node, 'parent')),
    status,
    step,
    errors: readErrors(at(node, 'errors'), complain),
    findings: readFindings(at(node, 'findings')),
    addressed: namesIn(at(node, 'addressed_finding_ids')).map((entry) => entry.words),
    kept,
  };
}

/** Files and context. Some models indent the manifests one level too deep, into the context. */
function readWork(node: MapNode, complain: Complain): { artifacts: ModelFile[]; built: string[] } {
  const artifacts: ModelFile[] = [];
  const seen = new Set<string>();
  const take = (from: Node | null, change: ModelFile['change']) => {
    for (const file of readFiles(from, complain)) {
      const mark = `${change} ${file.path}`;
      if (seen.has(mark)) continue;
      seen.add(mark);
      artifacts.push({ path: file.path, ...(change ? { change } : {}), ...(file.note ? { note: file.note } : {}) });
    }
  };
  const context = at(node, 'downstream_context');
  for (const [change, key] of Object.entries(manifests) as [keyof typeof manifests, string][]) {
    for (const list of all(node, key)) take(list, change);
    const misplaced = at(context, key);
    if (misplaced && plainLength(misplaced) > 0) {
      complain(
        'misplaced_manifest',
        'warning',
        misplaced.start,
        `"${key}" is inside the context; it is read as the phase's own.`,
      );
      take(misplaced, change);
    }
  }
  take(at(node, 'final_artifacts'), undefined);
  if (listsFiles(at(node, 'files'))) take(at(node, 'files'), undefined);
  return { artifacts, built: readContext(context) };
}

/** `files` is used for different things: only a list of paths counts as the files of the phase. */
export const listsFiles = (node: Node | null): boolean =>
  node?.type === 'list'
    ? node.items.every((item) => item.type === 'scalar')
    : filesOnOneLine(node) !== null || /^\S+$/.test(wordsOf(node) ?? '');

const plainLength = (node: Node): number =>
  node.type === 'list' ? node.items.length : node.type === 'map' ? node.pairs.length : 1;

function readFiles(node: Node | null, complain: Complain): { path: string; note?: string }[] {
  const onOneLine = filesOnOneLine(node);
  if (onOneLine) return onOneLine.flatMap((part) => fileOf(part) ?? []);
  const entries = node?.type === 'list' ? node.items : node ? [node] : [];
  return entries.flatMap((entry) => {
    const file = readFile(entry);
    if (file === null && wordsOf(entry) !== null) {
      complain('not_a_path', 'warning', entry.start, 'This is too long for a file path.');
    }
    return file ?? [];
  });
}

/** `src/a.ts`, `src/a.ts (new route)`, `{ path: src/a.ts, description: new route }`, `src/a.ts: new route`. */
function readFile(node: Node): { path: string; note?: string } | null {
  if (node.type === 'map') {
    const named = ['path', 'file', 'filename', 'name'].find((key) => wordsOf(at(node, key)) !== null);
    const first = node.pairs[0];
    const found = path(named ? wordsOf(at(node, named)) : (first?.key ?? null));
    const rest = named ? node.pairs.filter((pair) => pair.key !== named) : node.pairs;
    const note = rest
      .map((pair) => sentence(pair.value))
      .filter((part) => part !== '')
      .join('; ');
    return found === undefined ? null : { path: found, ...(note === '' ? {} : { note: words(note) }) };
  }
  const whole = wordsOf(node);
  return whole === null ? null : fileOf(whole);
}

function fileOf(whole: string): { path: string; note?: string } | null {
  const commented = whole.length < 8192 ? /^(\S+|[^\n]*\.\w{1,8})\s+\(([^\n]*)\)$/.exec(whole) : null;
  const found = path(commented?.[1] ?? whole);
  return found === undefined ? null : { path: found, ...(commented?.[2] ? { note: commented[2] } : {}) };
}

function readContext(node: Node | null): string[] {
  if (node === null) return [];
  if (node.type !== 'map') return says(node);
  return node.pairs
    .filter((pair) => !(Object.values(manifests) as string[]).includes(pair.key))
    .flatMap((pair) => says(pair.value).map((entry) => words(`${contextLabels[pair.key] ?? `${pair.key}: `}${entry}`)));
}

function says(node: Node): string[] {
  const entries = node.type === 'list' ? node.items : [node];
  return entries
    .map(sentence)
    .filter((entry) => entry !== '' && !/^(?:none|n\/a|not applicable)\.?$/i.test(entry.trim()));
}

function sentence(node: Node): string {
  if (node.type === 'scalar') return wordsOf(node) ?? '';
  if (node.type === 'list') return node.items.map(sentence).filter(Boolean).join(', ');
  return node.pairs.map((pair) => `${pair.key}: ${sentence(pair.value)}`).join('; ');
}

export function readErrors(node: Node | null, complain: Complain): Phase['errors'] {
  if (node?.type !== 'list') return [];
  return node.items.flatMap((entry) => {
    if (entry.type !== 'map') {
      const text = sentence(entry);
      const bare: MapNode = { type: 'map', start: entry.start, end: entry.end, flow: true, pairs: [] };
      return text === ''
        ? []
        : [{ item: { kind: 'error' as const, text: words(text), status: 'open' as const }, node: bare }];
    }
    const item = readError(entry, complain);
    return item ? [{ item, node: entry }] : [];
  });
}

function readError(node: MapNode, complain: Complain): ModelItem | null {
  const said = readRows(errorRows, node);
  const typeWords = wordsOf(at(node, 'type'));
  if (typeWords !== null && said.type === undefined) {
    complain(
      'unknown_error_type',
      'warning',
      at(node, 'type')?.start ?? node.start,
      `"${typeWords}" is not an error type.`,
    );
  }
  if (!said.text && !typeWords && !said.resolution) return null;
  const resolved = at(node, 'resolved');
  const isResolved = resolved?.type === 'scalar' && (resolved.value === true || resolved.words === 'true');
  const status = wordsOf(at(node, 'status'));
  return {
    ...said,
    kind: 'error',
    // Without its type: the words identify the entry, and the type may be written into it later.
    text: said.text ?? 'An error without a message.',
    status: status === 'deferred' || status === 'withdrawn' ? status : isResolved ? 'resolved' : 'open',
  };
}

const severities: Readonly<Record<string, v.InferOutput<typeof Severity>>> = {
  critical: 'must_fix',
  blocker: 'must_fix',
  high: 'must_fix',
  major: 'must_fix',
  medium: 'should_fix',
  minor: 'should_fix',
  low: 'suggestion',
  info: 'suggestion',
};

function readFindings(node: Node | null): Phase['findings'] {
  if (node?.type !== 'list') return [];
  return node.items.flatMap((entry) => {
    const named = ['message', 'description', 'title', 'summary', 'text'].find(
      (key) => wordsOf(at(entry, key)) !== null,
    );
    const text = named ? (wordsOf(at(entry, named)) ?? '') : sentence(entry);
    if (flat(text) === '') return [];
    const alias = label(wordsOf(at(entry, 'id')));
    const level = wordsOf(at(entry, 'severity'))?.toLowerCase() ?? '';
    const severity = v.is(Severity, level) ? (level as v.InferOutput<typeof Severity>) : severities[level];
    const done =
      plain(at(entry, 'resolved')) === true ||
      stepStatus(wordsOf(at(entry, 'status')) ?? '') === 'completed' ||
      wordsOf(at(entry, 'status')) === 'resolved';
    const item: ModelItem = {
      kind: 'finding',
      text: words(text),
      status: done ? 'resolved' : 'open',
      ...(alias ? { alias } : {}),
      ...(severity ? { severity } : {}),
    };
    return [{ item, node: entry }];
  });
}

function optional<K extends string, T>(key: K, values: T[]): { [name in K]?: T[] } {
  return (values.length > 0 ? { [key]: values } : {}) as { [name in K]?: T[] };
}
