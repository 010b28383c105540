import { pairEntries } from '../../core/model/pair.ts';
import type { ModelDecision, ModelItem, ModelSession, RunModel } from '../../core/model/run-model.ts';
import type { Place } from '../../core/views/phase-progress.ts';
import { isObject } from '../is-object.ts';
import { stepStatus } from '../step-status.ts';
import type { Editor } from '../text/editor.ts';
import { emitPair } from '../text/emit.ts';
import { at, type MapNode, type Node, plain, wordsOf } from '../text/node.ts';
import { editRows, isSame, newEntry, type Row } from '../text/rows.ts';
import { editList } from '../text/values.ts';
import type { Document } from './document.ts';
import { asNumber, builtIn, placeIn, progressIn, slugOf } from './position.ts';
import { type EntryFolder, listAt, PLACE, type Placed, type Reading } from './read.ts';
import { type About, blockerRows, decisionRows, nameIn, sessionRows } from './rows.ts';

type Fields = Record<string, unknown>;

/** A new entry that goes into a file of its own. */
export interface NewFile {
  folder: EntryFolder;
  fields: Fields;
}

/** A whole new STATE.md in the order of the design's template; entries with files of their own are left out. */
export function renderNew(model: RunModel, folders: boolean): { text: string; files: NewFile[] } {
  const about = aboutOf(model, model);
  const place = placeIn(model);
  const blockers = model.items.filter(({ kind }) => kind === 'blocker');
  const lists: Record<EntryFolder, Fields[]> = {
    decisions: model.decisions.map((one) => newEntry(decisionRows, one, about)),
    blockers: blockers
      .filter(({ status }) => folders || status !== 'resolved')
      .map((one) => newEntry(blockerRows, one, about)),
    sessions: model.sessions.map((one) => newEntry(sessionRows, one, about)),
  };
  const list = (name: EntryFolder): Fields => ({ [name]: folders ? [] : lists[name] });
  const kept = model.kept?.['codewalk'];
  const parts: [string, Fields][] = [
    [
      'STATE.md',
      {
        initiative: model.run.alias ?? model.run.id ?? `init-${slugOf(model.run.title, 'run')}`,
        title: model.run.title,
      },
    ],
    ['Current Position', { position: placeFields(place) }],
    ['Progress Tracking', { progress: progressIn(model) }],
    ['Decisions Made', list('decisions')],
    ['Active Blockers', list('blockers')],
    ['Session History', list('sessions')],
    ...(model.next ? [['Next Action', { next_action: model.next }] as [string, Fields]] : []),
    ['Context for Resume', { resume_context: Object.fromEntries(contextOf(model)) }],
    ...(isObject(kept) ? Object.entries(kept).map(([key, value]): [string, Fields] => ['Also', { [key]: value }]) : []),
  ];
  const text = parts.map(([title, fields]) => `# ${title}\n${renderFields(fields)}`).join('\n');
  const files = Object.entries(lists).flatMap(([name, all]) =>
    all.map((fields) => ({ folder: name as EntryFolder, fields })),
  );
  return { text, files: folders ? files : [] };
}

export const renderFields = (fields: Fields): string =>
  Object.entries(fields)
    .map(([key, value]) => `${emitPair(key, value, 0, { style: 'words', overEscaped: false })}\n`)
    .join('');

const placeFields = (place: Place): Fields =>
  Object.fromEntries(
    Object.entries(place).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, isNumber(key) ? asNumber(value) : value]],
    ),
  );

const isNumber = (key: string): boolean => key === 'phase' || key === 'plan' || key === 'wave';

const contextOf = (model: RunModel): [string, string[]][] => [
  ['files_modified_this_session', model.files.map(({ path }) => path)],
  ['key_implementations', builtIn(model)],
  ['open_questions', model.items.filter(isOpenQuestion).map(({ text }) => text)],
];

const isOpenQuestion = ({ kind, status }: ModelItem): boolean => kind === 'question' && status === 'open';

const aboutOf = (before: RunModel, now: RunModel): About => {
  const blocker = nameIn(
    'block',
    now.items.filter(({ kind }) => kind === 'blocker'),
  );
  const session = nameIn('session', now.sessions);
  return { before, now, nameOf: (entry) => ('kind' in entry ? blocker(entry) : session(entry)) };
};

/** Changes the documents to what the run says; new entries of the folder form are returned. */
export function editDocuments(
  reading: Reading,
  main: Document,
  root: MapNode,
  model: RunModel,
  folders: boolean,
  editorOf: (document: Document) => Editor,
): NewFile[] {
  const editor = editorOf(main);
  const before = reading.model;
  const about = aboutOf(before, model);
  if (model.run.title !== before.run.title) editor.set(root, 'title', model.run.title, ['initiative']);
  if ((model.next ?? '') !== (before.next ?? ''))
    editor.set(root, 'next_action', model.next ?? null, ['sessions', 'blockers', 'decisions', 'progress', 'position']);
  editPosition(editor, root, before, model);
  const added: NewFile[] = [];
  const edit = <T extends ModelDecision | ModelItem | ModelSession>(
    folder: EntryFolder,
    list: 'decisions' | 'items' | 'sessions',
    rows: readonly Row<T, About>[],
    entries: Entries<T>,
  ): void => {
    const fresh: Fields[] = [];
    const gone = new Set(entries.placed);
    const known = [...entries.placed.map(({ value }) => value), ...entries.loose];
    const placedAt = new Map(entries.placed.map((one) => [one.value, one]));
    const pairs = pairEntries(list, known as never[], entries.now as never[], true) as ReadonlyMap<unknown, T>;
    for (const entry of entries.now) {
      const was = pairs.get(entry);
      const placed = was && placedAt.get(was);
      const isOver = 'kind' in entry && entry.status === 'resolved';
      if (!was && !isOver) fresh.push(newEntry(rows, entry, about));
      // A blocker that is resolved leaves the page; in a file of its own it stays.
      if (!placed || (isOver && placed.document === main && placed.value.status !== 'resolved')) continue;
      gone.delete(placed);
      editRows(editorOf(placed.document), rows, placed.node, placed.value, entry, about);
    }
    const inPage = folders ? [] : fresh;
    added.push(...fresh.slice(inPage.length).map((fields) => ({ folder, fields })));
    // An entry that is no longer in the run model keeps its own file: only people delete files.
    editEntries(
      editor,
      root,
      folder,
      new Set([...gone].filter(({ document }) => document === main).map(({ node }) => node)),
      inPage,
    );
  };
  const blockers = model.items.filter(({ kind }) => kind === 'blocker');
  edit('decisions', 'decisions', decisionRows, {
    placed: reading.decisions,
    loose: reading.loose.decisions,
    now: model.decisions,
  });
  edit('blockers', 'items', blockerRows, { placed: reading.blockers, loose: reading.loose.items, now: blockers });
  edit('sessions', 'sessions', sessionRows, {
    placed: reading.sessions,
    loose: reading.loose.sessions,
    now: model.sessions,
  });
  editContext(editor, root, before, model);
  return added;
}

interface Entries<T> {
  placed: readonly Placed<T>[];
  loose: readonly T[];
  now: readonly T[];
}

function editPosition(editor: Editor, root: MapNode, before: RunModel, model: RunModel): void {
  const position = at(root, 'position');
  const now = placeIn(model);
  const said = statusSaid(wordsOf(at(position, 'status')));
  // The journal also knows what blocks the step, which a page may say in another place only.
  const was = { ...placeIn(before), ...(model.run.id !== undefined && said !== null ? { status: said } : {}) };
  if (!isSame(was, now)) {
    if (position?.type !== 'map') editor.set(root, 'position', placeFields(now), ['title', 'initiative']);
    else
      for (const [index, key] of PLACE.entries()) {
        const value = now[key];
        if (value === was[key]) continue;
        const before = PLACE.slice(0, index).reverse();
        const after = before.some((one) => at(position, one)) ? before : 'first';
        if (value === undefined) editor.removeKey(position, key);
        else editor.set(position, key, isNumber(key) ? asNumber(value) : value, after);
      }
  }
  // A file that says what the run says keeps its own counters, right or wrong.
  const [counted, counts] = [progressIn(before), progressIn(model)];
  const progress = at(root, 'progress');
  if (progress?.type !== 'map' || isSame(counted, counts)) return;
  for (const [key, value] of Object.entries(counts)) if (at(progress, key)) editor.set(progress, key, value);
}

/** A status in the words of a position; null where the page says none. */
function statusSaid(words: string | null): string | null {
  if (words === null || /^(?:blocked|open)$/i.test(words)) return words?.toLowerCase() ?? null;
  return stepStatus(words);
}

/** Removes entries from the list under a key and adds others at its end. */
function editEntries(
  editor: Editor,
  root: MapNode,
  key: string,
  gone: ReadonlySet<Node>,
  added: readonly Fields[],
): void {
  if (gone.size + added.length === 0) return;
  const list = listAt(root, key);
  if (list) {
    for (const item of list.items) if (gone.has(item)) editor.remove(list, item);
    editor.append(list, added);
    return;
  }
  // A single entry without a list becomes the first of the list.
  const only = at(root, key);
  editor.set(root, key, [...(only?.type === 'map' && !gone.has(only) ? [plain(only)] : []), ...added]);
}

function editContext(editor: Editor, root: MapNode, before: RunModel, model: RunModel): void {
  const was = new Map(contextOf(before));
  const now = contextOf(model);
  const context = at(root, 'resume_context');
  if (now.every(([key, list]) => isSame(was.get(key), list))) return;
  if (context?.type !== 'map') return editor.set(root, 'resume_context', Object.fromEntries(now));
  for (const [key, list] of now) {
    if (isSame(was.get(key), list)) continue;
    const there = listAt(context, key);
    if (there) editList(editor, there, list);
    else editor.set(context, key, list);
  }
}
