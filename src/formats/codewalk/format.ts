import type { GoneRule } from '../../core/model/merge.ts';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Format, Found, Parsed, Repaired, Tree } from '../format.ts';
import type { Editor } from '../text/editor.ts';
import type { Document } from './document.ts';
import { slugOf } from './position.ts';
import { entryFolder, readCodewalk } from './read.ts';
import { isCodewalkState } from './sniff.ts';
import { editDocuments, type NewFile, renderFields, renderNew } from './write.ts';

/** A blocker or question is removed when it is resolved; decisions and sessions are history. */
const gone: GoneRule = (list) => (list === 'items' ? 'resolved' : list === 'steps' ? 'ask' : 'hidden');

/** STATE.md as one YAML document, alone or with folders of entries beside it; see docs/formats/codewalk.md. */
export const codewalk: Format = {
  name: 'codewalk',
  detect,
  parse,
  render,
  home: (_model, _isThere, folders) => {
    const main = folders ? '.planning/STATE.md' : 'STATE.md';
    return { format: 'codewalk', main, files: [main] };
  },
  hasFolders: true,
  loses: [
    ...['goal', 'status', 'openedAt', 'design', 'plan', 'branch', 'reason'].map((name) => `run.${name}`),
    'steps',
    ...['alias', 'at', 'key', 'type', 'affects', 'step', 'by', 'supersedes'].map((name) => `decisions.${name}`),
    ...['finding', 'commitment', 'error'].map((kind) => `items[kind=${kind}]`),
    ...['resolved', 'deferred', 'withdrawn'].map((status) => `items[kind=question][status=${status}]`),
    'items[kind=blocker][status=resolved]',
    ...['alias', 'affects', 'followUp', 'raisedAt', 'workaround'].map((name) => `items[kind=question].${name}`),
    ...['severity', 'type', 'step', 'to', 'due', 'by'].map((name) => `items.${name}`),
    'notes',
    'sessions.role',
    'sessions.next',
    'messages',
    'claims',
    'usage',
    'files.change',
    'files.note',
    'position',
  ],
  writes: ['**/STATE.{md,yaml,yml}', '**/.planning/{decisions,blockers,sessions}/*.{md,yaml,yml}'],
  gone,
  repair,
};

function parse(found: Found, files: Files): Parsed {
  const { model, main, problems, decisions, blockers, sessions } = readCodewalk(found, files);
  const nothing = !main?.root && decisions.length + blockers.length + sessions.length === 0;
  return {
    model: nothing ? null : model,
    version: main?.root ? '1' : null,
    writable: main?.root !== null && main !== null && !main.isDamaged,
    problems,
  };
}

function repair(found: Found, tree: Tree): Repaired | null {
  const folder = found.main.slice(0, found.main.lastIndexOf('/') + 1);
  const copy = `${found.main}.bak`;
  const files = new Map<string, string>();
  for (const path of [copy, ...tree.paths]) {
    const isOurs = path === copy || (path.startsWith(folder) && entryFolder(path.slice(folder.length)) !== null);
    const text = isOurs ? tree.read(path) : null;
    if (text !== null && text.trim() !== '') files.set(path === copy ? found.main : path, text);
  }
  if (files.size === 0) return null;
  const { model } = readCodewalk(found, files);
  const { steps, decisions, items, sessions } = model;
  if (steps.length + decisions.length + items.length + sessions.length === 0) return null;
  return {
    model,
    sources: [...files.keys()].map((path) => (path === found.main ? copy : path)),
    confidence: steps.map(({ key, status }) => ({
      step: key,
      confidence: status === 'pending' ? ('low' as const) : ('medium' as const),
      from: copy,
    })),
  };
}

function detect(tree: Tree): Found[] {
  const found: Found[] = [];
  for (const path of tree.paths) {
    if (!/(?:^|\/)STATE\.(?:md|ya?ml)$/i.test(path)) continue;
    const text = tree.read(path);
    if (text === null || !isCodewalkState(text)) continue;
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const beside = folder.endsWith('.planning/')
      ? tree.paths.filter((one) => one.startsWith(folder) && isEntryPath(one.slice(folder.length)))
      : [];
    found.push({ format: 'codewalk', main: path, files: [path, ...beside] });
  }
  return found;
}

const isEntryPath = (rest: string): boolean => /^(?:decisions|blockers|sessions)\/[^/]+\.(?:md|ya?ml)$/i.test(rest);

function render(model: RunModel, place: Found, previous: Files, now: string): Files {
  const before = previous.get(place.main);
  const isPlanning = /(?:^|\/)\.planning\/[^/]+$/.test(place.main);
  const files = new Map<string, string>();
  if (before === undefined || before.trim() === '') {
    const { text, files: added } = renderNew(model, isPlanning);
    files.set(place.main, text);
    addEntryFiles(added, place, files, previous, now, '\n');
    return files;
  }
  const reading = readCodewalk(place, previous);
  const { main, decisions, blockers, sessions } = reading;
  if (!main?.root || main.isDamaged) return files;
  const placed = [...decisions, ...blockers, ...sessions];
  // In `.planning/` entries have their own files, unless the page lists some.
  const folders =
    [...previous.keys()].some((path) => path !== place.main && entryFolder(path) !== null) ||
    (isPlanning && placed.length === 0);
  const editors = new Map<Document, Editor>();
  const editorOf = (document: Document): Editor => {
    const editor = editors.get(document) ?? document.edit();
    editors.set(document, editor);
    return editor;
  };
  const added = editDocuments(reading, main, main.root, model, folders, editorOf);
  for (const [{ path, text }, editor] of editors) {
    const after = editor.apply();
    if (after !== text) files.set(path, after);
  }
  addEntryFiles(added, place, files, previous, now, before.includes('\r\n') ? '\r\n' : '\n');
  return files;
}

function addEntryFiles(
  added: readonly NewFile[],
  place: Found,
  files: Map<string, string>,
  previous: Files,
  now: string,
  eol: string,
): void {
  const root = place.main.slice(0, place.main.lastIndexOf('/') + 1);
  for (const { folder, fields } of added) {
    const value = (key: string): string => String(fields[key] ?? '');
    const words = slugOf(value('context') || value('decision') || value('description'), 'record');
    const day = /^\d{4}-\d\d-\d\d/.exec(value('date'))?.[0] ?? now.slice(0, 10);
    const stems = {
      decisions: `${day}-${words}`,
      blockers: `${slugOf(value('id'), 'block')}-${words}`,
      sessions: slugOf(value('id'), 'session'),
    };
    let path = `${root}${folder}/${stems[folder]}.md`;
    for (let count = 2; files.has(path) || previous.has(path); count++)
      path = `${root}${folder}/${stems[folder]}-${count}.md`;
    files.set(path, `---\n${renderFields(fields)}---\n`.replaceAll('\n', eol));
  }
}
