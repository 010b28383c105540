import { shortName } from '../prompt/run-id.ts';
import { plainWords } from '../prompt/words.ts';

interface Named {
  run: string;
  title: string;
}

/** How a name fits: the ways of finding a run by its name, the surest first. */
const ways: readonly ((name: string, run: Named) => boolean)[] = [
  (name, { run }) => run === name,
  (name, { run }) => shortName(run) === name.toLowerCase(),
  (name, { run }) => run.replace(DATE, '') === name,
  (name, { run }) => run.startsWith(name),
  (name, { run }) => name.length >= SUFFIX_CHARS && run.endsWith(name),
  (name, { title }) => plainWords(title) === plainWords(name) && plainWords(name) !== '',
];

const DATE = /^\d{4}-\d\d-\d\d-/;
const SUFFIX_CHARS = 6;
const PART_CHARS = 3;

/** The runs that a name may mean: one if it is clear, none or several if not. To read, a part of a title is enough. */
export function runsNamed<T extends Named>(name: string, runs: readonly T[], toRead = false): readonly T[] {
  for (const fits of ways) {
    const found = runs.filter((run) => fits(name, run));
    if (found.length > 0) return found;
  }
  const words = plainWords(name);
  if (!toRead || words.length < PART_CHARS) return [];
  return runs.filter(({ title }) => plainWords(title).includes(words));
}

const TITLE_CHARS = 12;

/** The run that a text names: by its id, the end of it as a word, its title or that of an unfinished step. */
export function runNamedIn<T extends Named & { facts: { steps: readonly string[] } }>(
  text: string,
  runs: readonly T[],
): T | null {
  const tokens = new Set(text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}._-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? []);
  // An id that is a plain word may be any word of the text.
  const byId = runs.filter(({ run }) => /[^\p{L}]/u.test(run) && tokens.has(run.toLowerCase()));
  if (byId.length === 1) return byId[0] ?? null;
  const bySuffix = runs.filter(({ run }) => [...tokens].some((token) => isSuffix(run, token)));
  if (bySuffix.length === 1) return bySuffix[0] ?? null;
  const words = ` ${plainWords(text)} `;
  const says = (title: string): boolean => {
    const plain = plainWords(title);
    return plain.length >= TITLE_CHARS && words.includes(` ${plain} `);
  };
  const byTitle = runs.filter(({ title, facts }) => says(title) || facts.steps.some(says));
  return byTitle.length === 1 ? (byTitle[0] ?? null) : null;
}

/** A word of six characters or more that is the end of an id, from one of its parts on. */
function isSuffix(run: string, token: string): boolean {
  if (token.length < SUFFIX_CHARS) return false;
  return shortName(run) === token || (run.toLowerCase().endsWith(`-${token}`) && /\d/.test(token));
}
