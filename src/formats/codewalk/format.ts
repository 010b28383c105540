import type { GoneRule } from '../../core/model/merge.ts';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Format, Found, Parsed, Repaired, Tree } from '../format.ts';
import { type EntryFolder, entryFolder, readCodewalk } from './read.ts';
import type { Reading } from './reading.ts';
import { isCodewalkState } from './sniff.ts';
import { editDocument, entryChanges, renderNew } from './write.ts';
import { type Entries, renderEntries } from './write-yaml.ts';
import { applySplices, eolOf, type Splice, type YamlPage } from './yaml-page.ts';

/** A blocker or question is removed when it is resolved; decisions and sessions are history. */
const gone: GoneRule = (list) => (list === 'items' ? 'resolved' : list === 'steps' ? 'ask' : 'hidden');

/** STATE.md as one YAML document, alone or with folders of entries beside it; see docs/formats/codewalk.md. */
export const codewalk: Format = {
  name: 'codewalk',
  detect,
  parse,
  render,
  home: () => ({ format: 'codewalk', main: 'STATE.md', files: ['STATE.md'] }),
  loses: [
    'run.goal',
    'run.status',
    'run.openedAt',
    'run.design',
    'run.plan',
    'run.branch',
    'run.reason',
    'steps',
    'decisions.alias',
    'decisions.key',
    'decisions.type',
    'decisions.affects',
    'decisions.step',
    'decisions.by',
    'decisions.supersedes',
    'items[kind=finding]',
    'items[kind=commitment]',
    'items[kind=error]',
    'items[kind=question][status=resolved]',
    'items[kind=question][status=deferred]',
    'items[kind=question][status=withdrawn]',
    'items[kind=question].alias',
    'items[kind=question].affects',
    'items[kind=question].followUp',
    'items[kind=question].raisedAt',
    'items[kind=question].workaround',
    'items.severity',
    'items.type',
    'items.step',
    'items.to',
    'items.due',
    'items.by',
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
  const { model, page, problems, writable, decisions, blockers, sessions } = readCodewalk(found, files);
  const nothing = !page?.root && decisions.length + blockers.length + sessions.length === 0;
  return {
    model: nothing ? null : model,
    version: page?.root ? '1' : null,
    writable: writable && !!page?.root,
    problems,
  };
}

function repair(found: Found, tree: Tree): Repaired | null {
  const folder = found.main.slice(0, found.main.lastIndexOf('/') + 1);
  const files = new Map<string, string>();
  for (const path of [`${found.main}.bak`, ...tree.paths]) {
    const text =
      path.startsWith(folder) && (path === `${found.main}.bak` || entryFolder(path.slice(folder.length)))
        ? tree.read(path)
        : null;
    if (text !== null && text.trim() !== '') files.set(path === `${found.main}.bak` ? found.main : path, text);
  }
  if (files.size === 0) return null;
  const { model } = readCodewalk(found, files);
  const { steps, decisions, items, sessions } = model;
  if (steps.length + decisions.length + items.length + sessions.length === 0) return null;
  return {
    model,
    sources: [...files.keys()].map((path) => (path === found.main ? `${found.main}.bak` : path)),
    confidence: steps.map(({ key, status }) => ({
      step: key,
      confidence: status === 'pending' ? ('low' as const) : ('medium' as const),
      from: `${found.main}.bak`,
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

function isEntryPath(rest: string): boolean {
  return /^(?:decisions|blockers|sessions)\/[^/]+\.(?:md|ya?ml)$/i.test(rest);
}

function render(model: RunModel, place: Found, previous: Files, now: string): Files {
  const before = previous.get(place.main);
  if (before === undefined || before.trim() === '') return new Map([[place.main, renderNew(model)]]);
  const reading = readCodewalk(place, previous);
  const files = new Map<string, string>();
  if (!reading.page?.root || !reading.writable) return files;
  const changes = entryChanges(reading, model);
  const splices = editDocument(reading, model, changes);
  const text = splices.length === 0 ? before : applySplices(reading.page, splices);
  if (text !== before) files.set(place.main, text);
  if (!reading.folders) return files;
  const others = new Map<string, { page: YamlPage; splices: Splice[] }>();
  // An entry that is no longer in the run model keeps its own file: only people delete files.
  for (const { placed, splices: at } of changes.changed) {
    if (placed.path === place.main) continue;
    const there = others.get(placed.path) ?? { page: placed.page, splices: [] };
    there.splices.push(...at);
    others.set(placed.path, there);
  }
  for (const [path, { page, splices: at }] of others) files.set(path, applySplices(page, at));
  addEntryFiles(
    reading,
    place,
    files,
    { decisions: changes.decisions, blockers: changes.blockers, sessions: changes.sessions },
    now,
    previous,
  );
  return files;
}

function addEntryFiles(
  reading: Reading,
  place: Found,
  files: Map<string, string>,
  added: Record<EntryFolder, readonly Entries[]>,
  now: string,
  previous: Files,
): void {
  const folder = place.main.slice(0, place.main.lastIndexOf('/') + 1);
  const eol = reading.page ? eolOf(reading.page) : '\n';
  for (const [name, list] of Object.entries(added)) {
    for (const entry of list) {
      const value = (key: string) => String(new Map(entry).get(key) ?? '');
      const words = value('context') || value('decision') || value('description');
      const stem =
        name === 'decisions'
          ? `${(value('date') || now).slice(0, 10)}-${slug(words)}`
          : name === 'blockers'
            ? `${value('id')}-${slug(words)}`
            : slug(value('id'));
      let path = `${folder}${name}/${stem}.md`;
      for (let count = 2; files.has(path) || previous.has(path); count++) path = `${folder}${name}/${stem}-${count}.md`;
      files.set(path, `---${eol}${renderEntries(entry, 0, eol)}${eol}---${eol}`);
    }
  }
}

function slug(words: string): string {
  return (
    words
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40) || 'record'
  );
}
