import {
  emptyRunModel,
  type ModelDecision,
  type ModelItem,
  type ModelSession,
  type RunModel,
} from '../../core/model/run-model.ts';
import type { Place } from '../../core/views/phase-progress.ts';
import type { Files, Found, Problem } from '../format.ts';
import { at, type ListNode, type MapNode, type Node, plain, wordsOf } from '../text/node.ts';
import { scanPage } from '../text/page.ts';
import { type Row, readRows, unknownFields } from '../text/rows.ts';
import { asCount, asLabel, asPath } from '../text/values.ts';
import { findContradictions } from './contradictions.ts';
import { type Document, openDocument, openMain } from './document.ts';
import { type Counters, readPlace } from './position.ts';
import { blockerRows, decisionRows, sessionRows, splitNotes, texts } from './rows.ts';

/** STATE.md with the files of its folder form: the run model, and the node of each entry. */
export interface Reading {
  model: RunModel;
  main: Document | null;
  decisions: Placed<ModelDecision>[];
  blockers: Placed<ModelItem>[];
  sessions: Placed<ModelSession>[];
  questions: ModelItem[];
  /** Entries in prose or plain lists: read, never edited. */
  loose: Pick<RunModel, 'decisions' | 'items' | 'sessions'>;
  problems: Problem[];
}

export interface Placed<T> {
  value: T;
  document: Document;
  node: MapNode;
}

export type EntryFolder = 'decisions' | 'blockers' | 'sessions';

export function entryFolder(path: string): EntryFolder | null {
  const [, folder] = /(?:^|\/)(decisions|blockers|sessions)\/[^/]+\.(?:md|ya?ml)$/i.exec(path) ?? [];
  return (folder?.toLowerCase() as EntryFolder | undefined) ?? null;
}

export function readCodewalk(found: Found, files: Files): Reading {
  const text = files.get(found.main);
  const isEmpty = text === undefined || text.trim() === '';
  const main = isEmpty ? null : openMain(found.main, text);
  const reading: Reading = {
    model: emptyRunModel('Initiative'),
    main,
    decisions: [],
    blockers: [],
    sessions: [],
    questions: [],
    loose: { decisions: [], items: [], sessions: [] },
    problems: [...(main?.problems ?? [])],
  };
  const report = (code: string, line: number | null, message: string): void =>
    void reading.problems.push({ code, level: 'error', path: found.main, line, message });
  if (isEmpty) report('empty', text === undefined ? null : 1, 'The file is empty.');
  else if (main?.root) readRoot(reading, main, main.root);
  else report('no_map', 1, 'The file has no YAML with keys and values.');
  for (const [path, content] of files) {
    const folder = path === found.main ? null : entryFolder(path);
    if (folder) readEntryFile(reading, folder, path, content);
  }
  const { model, decisions, blockers, questions, sessions, loose } = reading;
  model.decisions = [...decisions.map(({ value }) => value), ...loose.decisions];
  model.items = [...blockers.map(({ value }) => value), ...loose.items, ...questions];
  model.sessions = [...sessions.map(({ value }) => value), ...loose.sessions];
  if (main?.root) findContradictions(reading, main, main.root);
  return reading;
}

export const PLACE = ['phase', 'phase_name', 'plan', 'plan_name', 'task', 'wave', 'status'] as const;
const COUNTERS = ['phases_total', 'phases_completed', 'current_phase_tasks', 'current_phase_completed'] as const;
const KNOWN = [
  'initiative',
  'title',
  'position',
  'progress',
  'decisions',
  'blockers',
  'sessions',
  'next_action',
  'resume_context',
];

function readRoot(reading: Reading, document: Document, root: MapNode): void {
  const { model } = reading;
  const id = wordsOf(at(root, 'initiative'));
  const alias = asLabel(id);
  if (alias) model.run.alias = alias;
  model.run.title = wordsOf(at(root, 'title')) ?? id ?? 'Initiative';
  const next = wordsOf(at(root, 'next_action'))?.trimEnd();
  if (next) model.next = next;
  place(reading.decisions, document, mapsIn(at(root, 'decisions')), readDecision);
  place(reading.blockers, document, mapsIn(at(root, 'blockers')), readBlocker);
  place(reading.sessions, document, mapsIn(at(root, 'sessions')), readSession);
  for (const decision of textsIn(scalarsIn(at(root, 'decisions'))))
    reading.loose.decisions.push({ decision, status: 'active' });
  const context = at(root, 'resume_context');
  const paths = textsIn(at(context, 'files_modified_this_session')).flatMap((path) => asPath(path) ?? []);
  model.files = [...new Set(paths)].map((path) => ({ path, change: 'modified' as const }));
  reading.questions = textsIn(at(context, 'open_questions')).map((text) => ({
    kind: 'question',
    text,
    status: 'open',
  }));
  const position = at(root, 'position');
  const { kept, ...read } = readPlace(placeAt(position), countersIn(at(root, 'progress')));
  Object.assign(model, read);
  const said =
    position?.type === 'map' ? position.pairs.map(({ key, value }) => `${key}: ${wordsOf(value) ?? ''}`) : [];
  if (model.position && said.length > 0) model.position.words = said.join('\n');
  const built = textsIn(at(context, 'key_implementations'));
  const here = model.steps.find(({ key }) => key === model.position?.step);
  if (here && built.length > 0) here.built = built;
  const others = unknownFields(
    KNOWN.map((key) => ({ at: key })),
    root,
  );
  if (Object.keys(others).length > 0) model.kept = { codewalk: others };
  if (kept) model.kept = { ...model.kept, ...kept };
}

function placeAt(node: Node | null): Place | null {
  if (node?.type !== 'map') return null;
  return Object.fromEntries(PLACE.map((key) => [key, wordsOf(at(node, key)) ?? undefined]));
}

function countersIn(node: Node | null): Counters {
  return Object.fromEntries(
    COUNTERS.flatMap((key) => {
      const count = asCount(plain(at(node, key)));
      return count === undefined ? [] : [[key, count]];
    }),
  );
}

/** The maps of a list; a single entry without a list counts. */
function mapsIn(node: Node | null): MapNode[] {
  if (node?.type === 'map') return [node];
  return node?.type === 'list' ? node.items.filter((item): item is MapNode => item.type === 'map') : [];
}

const scalarsIn = (node: Node | null): Node | null =>
  node?.type === 'list' ? { ...node, items: node.items.filter(({ type }) => type === 'scalar') } : null;

const textsIn = (node: Node | null): string[] => (node ? ((texts.read(plain(node), node) ?? []) as string[]) : []);

function place<T>(
  list: Placed<T>[],
  document: Document,
  nodes: readonly MapNode[],
  read: (entry: Entry) => T | null,
): void {
  for (const node of nodes) {
    const value = read(node);
    if (value) list.push({ value, document, node });
  }
}

/** An entry of a document, or the fields of a page with headings. */
type Entry = MapNode | Readonly<Record<string, unknown>>;

const rowsOf = <E>(rows: readonly Row<E, never>[], entry: Entry): Partial<E> => readRows(rows, entry as Node);

export function readDecision(entry: Entry): ModelDecision | null {
  const said = rowsOf(decisionRows, entry);
  return said.decision === undefined ? null : { ...(said as ModelDecision), status: said.status ?? 'active' };
}

export function readBlocker(entry: Entry): ModelItem | null {
  const said = rowsOf(blockerRows, entry);
  if (said.text === undefined) return null;
  return { ...(said as ModelItem), kind: 'blocker', status: said.status ?? (said.resolution ? 'resolved' : 'active') };
}

export function readSession(entry: Entry): ModelSession | null {
  const said = rowsOf(sessionRows, entry);
  if (said.alias === undefined && said.startedAt === undefined && said.agent === undefined) return null;
  const ended = said.endedAt ? 'completed' : 'active';
  const status = said.status ?? (said.why && /context/i.test(said.why) ? 'context-exhausted' : ended);
  const { notes } = rowsOf<ModelSession>([{ at: 'notes', is: 'notes', as: texts, says: '' }], entry);
  return { ...said, status, ...splitNotes(notes ?? [], status) };
}

/** Reads one entry from its own file: YAML, front matter, or a page with headings named like the keys. */
function readEntryFile(reading: Reading, folder: EntryFolder, path: string, text: string): void {
  const document = openDocument(path, text);
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
  const node = document.isDamaged ? null : document.root;
  const fields = node ? {} : readHeadings(text);
  const entry = node ?? fields;
  const put = <T>(list: Placed<T>[], loose: T[], value: T | null): boolean => {
    if (value === null) return false;
    if (node) list.push({ value, document, node });
    else loose.push(value);
    return true;
  };
  const day = /^\d{4}-\d\d-\d\d/.exec(name)?.[0];
  const { loose } = reading;
  const isRead =
    folder === 'decisions'
      ? put(
          reading.decisions,
          loose.decisions,
          readDecision(node ?? { decision: fields['title'], date: day, ...fields }),
        )
      : folder === 'blockers'
        ? put(reading.blockers, loose.items, named(readBlocker(entry), /^[a-z]+-\d+/i.exec(name)?.[0]))
        : put(reading.sessions, loose.sessions, named(readSession(node ?? { id: name, ...fields }), name));
  if (!isRead || (folder === 'sessions' && !node && Object.keys(fields).length <= 1)) {
    if (folder === 'sessions' && text.trim() !== '') {
      if (isRead) loose.sessions.pop();
      const alias = asLabel(name);
      loose.sessions.push({ ...(alias ? { alias } : {}), status: 'completed', notes: [text.trim().slice(0, 300_000)] });
    } else
      reading.problems.push({
        code: 'not_understood',
        level: 'warning',
        path,
        line: 1,
        message: `Nothing in this file could be read as one of the ${folder}.`,
      });
  }
}

function named<T extends { alias?: string | undefined }>(entry: T | null, name: string | undefined): T | null {
  const alias = asLabel(name);
  return entry && !entry.alias && alias ? { ...entry, alias } : entry;
}

/** The sections of a page by their headings, in the spelling of the keys; a list is one, and the word null is nothing. */
function readHeadings(text: string): Record<string, unknown> {
  const page = scanPage(text);
  const fields: Record<string, unknown> = {};
  for (const { title, level, line, bodyEnd } of page.headings) {
    const body = page.prose(line + 1, bodyEnd);
    if (level === 1) fields['title'] = title.replace(/^(?:decision|blocker|session):\s*/i, '');
    else if (body !== '' && !/^(?:null|none|~)\.?$/i.test(body)) fields[keyIn(title)] = listIn(body) ?? body;
  }
  return fields;
}

const keyIn = (title: string): string =>
  title
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

function listIn(body: string): string[] | null {
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  return lines.every((line) => /^\s*[-*+]\s/.test(line))
    ? lines.map((line) => line.replace(/^\s*[-*+]\s+/, '').trim())
    : null;
}

/** The list under a key; null where it is missing or something else. */
export const listAt = (root: MapNode, key: string): ListNode | null => {
  const node = at(root, key);
  return node?.type === 'list' ? node : null;
};
