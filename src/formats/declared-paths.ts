import { isDeviceName } from '../core/portable-name.ts';

/** Endings of files that no program runs. */
const ENDINGS = ['md', 'json', 'yaml', 'yml', 'sql', 'md.bak'];

/** Folders whose files make other programs do something: nothing is written there, whatever caller asks. */
const OBEYED = new Set([
  ...['.git', '.hg', '.svn', '.jj', '.holdfast'],
  ...['.vscode', '.idea', '.github', '.husky', '.claude', '.codex', '.cursor'],
]);

/**
 * Why a path must not be written by a format that declares these patterns; null if it may be. In a pattern `*` stands for
 * any characters of a name, `**` for any folders, `{md,json}` for either.
 */
export function whyNotDeclared(patterns: readonly string[], path: string): string | null {
  const parts = path.split('/');
  const obeyed = parts.find((part) => OBEYED.has(folded(part)));
  if (obeyed !== undefined) return `other programs obey what lies in ${obeyed}`;
  // Windows takes such a name for another one, or for a device: `.git.`, `GIT~1`, `a.md:stream`, `aux.md`.
  const odd = parts.find((part) => /^(?:|\.|\.\.)$|[. ]$|[:\\]|~\d|\p{Cc}/u.test(part) || isDeviceName(part));
  if (odd !== undefined) return `${JSON.stringify(odd)} is not a name that means the same everywhere`;
  if (!ENDINGS.some((ending) => folded(path).endsWith(`.${ending}`)))
    return `only files that end in ${ENDINGS.map((ending) => `.${ending}`).join(', ')} are written`;
  return patterns.some((pattern) => matches(pattern, path)) ? null : `it writes only ${patterns.join(', ')}`;
}

/** Some file systems ignore case, the form of accents, and characters without a shape. */
const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();

function matches(pattern: string, path: string): boolean {
  const source = pattern.replace(/\*\*\/|\*|\{[^}]*\}|[.+^$()|[\]\\]/g, (found) => {
    if (found === '**/') return '(?:[^/]+/)*';
    if (found === '*') return '[^/]*';
    return found.startsWith('{') ? `(?:${found.slice(1, -1).replaceAll(',', '|')})` : `\\${found}`;
  });
  return new RegExp(`^${source}$`, 'iu').test(path);
}
