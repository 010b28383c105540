import type { RunModel } from '../../core/model/run-model.ts';
import type { Found, Tree } from '../format.ts';

/**
 * Where Maestro keeps its files: `<state dir>/state/active-session.md`, `<state dir>/state/archive/<id>.md`, `<state
 * dir>/plans/`, `<state dir>/plans/archive/`, `<state dir>/state/<id>.design-gate.json`. The state dir is `.gemini`
 * before 1.4 and `docs/maestro` since, unless configured; each package of a monorepo may have one.
 */
export const ACTIVE = 'state/active-session.md';

export function detectSessions(tree: Tree): Found[] {
  const gates = tree.paths.filter((path) => /(?:^|\/)state\/[^/]+\.design-gate\.json$/.test(path));
  const all = new Set(tree.paths);
  const found: Found[] = [];
  for (const main of tree.paths) {
    const dir = stateDir(main);
    if (dir === null) continue;
    const text = tree.read(main);
    const isHome = /(?:^|\/)(?:\.gemini|docs\/maestro)\/$/.test(dir);
    if (!(isHome && !isArchived(main)) && !(text !== null && looksLikeSession(text))) continue;
    const id = text === null ? null : field(text, 'session_id');
    const own = gates.filter(
      (gate) => gate.startsWith(`${dir}state/`) && (gate === `${dir}state/${id}.design-gate.json` || !isArchived(main)),
    );
    const documents = ['design_document', 'implementation_plan'].flatMap((key) => {
      const pointer = text === null ? null : field(text, key);
      return pointer === null ? [] : (findDocument(pointer, dir, all) ?? []);
    });
    found.push({ format: 'maestro', main, files: [...new Set([main, ...own, ...documents])] });
  }
  return found;
}

/** The location of a new session: beside the documents of the run, else in `docs/maestro/` if there is only that. */
export function homeOf(model: RunModel, isThere: (folder: string) => boolean = () => false): Found {
  const documents = [model.run.design?.path, model.run.plan];
  const isBeside = (folder: string): boolean => documents.some((path) => path?.startsWith(folder));
  const isNewer = isBeside('docs/maestro/') || (isThere('docs/maestro') && !isThere('.gemini'));
  const dir = isNewer && !isBeside('.gemini/') ? 'docs/maestro/' : '.gemini/';
  const main = model.run.status === 'archived' ? `${dir}state/archive/${sessionId(model, '')}.md` : dir + ACTIVE;
  return { format: 'maestro', main, files: [main] };
}

/** With a trailing slash; null unless the path is a session's. */
export function stateDir(path: string): string | null {
  const found = /^(.*?\/)?state\/(?:active-session\.md|archive\/[^/]+\.md)$/.exec(path);
  return found ? (found[1] ?? '') : null;
}

/** Where the protocol moves the file of a session when it is over. */
export function archivedAs(main: string, text: string): string | null {
  const [dir, id] = [stateDir(main), field(text, 'session_id')];
  return dir === null || isArchived(main) || id === null || !/^[\w.-]+$/.test(id)
    ? null
    : `${dir}state/archive/${id}.md`;
}

export function isArchived(path: string): boolean {
  return /(?:^|\/)state\/archive\/[^/]+\.md$/.test(path);
}

/** `YYYY-MM-DD-<topic>`, from the run's name and start. */
export function sessionId(model: RunModel, now: string): string {
  const { alias, id, openedAt, title } = model.run;
  if (alias && /^[\w.-]+$/.test(alias)) return alias;
  const date = /^\d{4}-\d{2}-\d{2}/.exec(openedAt ?? '')?.[0] ?? /^\d{4}-\d{2}-\d{2}/.exec(now)?.[0];
  const slug = (id ?? title)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^\d{4}-\d{2}-\d{2}-/, '')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '');
  return [date, slug || 'session'].filter(Boolean).join('-');
}

/** Finds a document by its pointer, which may be absolute, from another machine, or older than its archiving. */
export function findDocument(pointer: string, dir: string, paths: ReadonlySet<string>): string | null {
  const slashed = pointer.replaceAll('\\', '/').replace(/^\.\//, '');
  if (paths.has(slashed)) return slashed;
  const name = slashed.split('/').at(-1) ?? '';
  const near = [`${dir}plans/${name}`, `${dir}plans/archive/${name}`].find((path) => paths.has(path));
  return name === '' ? null : (near ?? null);
}

function looksLikeSession(text: string): boolean {
  const head = text.slice(0, 4096);
  return /^[\s\ufeff`a-z]*---/.test(head) && /\bsession_id\b/.test(head);
}

/** A scalar of the front matter by key, without parsing all of it. */
function field(text: string, key: string): string | null {
  const found = new RegExp(`^[ \\t]*"?${key}"?:[ \\t]*(.+?),?[ \\t]*\\r?$`, 'm').exec(text.slice(0, 65_536));
  const words = found?.[1]?.replace(/^\\?["']|\\?["']$/g, '') ?? '';
  return words === '' || words === 'null' ? null : words;
}
