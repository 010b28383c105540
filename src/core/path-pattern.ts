/** Whether two paths or patterns can match the same file. A path may be a folder and then covers everything below it. */
export function pathsOverlap(a: string, b: string): boolean {
  const [first, second] = [withoutSlash(a), withoutSlash(b)];
  return covers(first, second) || covers(second, first);
}

/** Whether a path covers a file or a file below it, or a pattern matches it. Patterns match files only. */
export function covers(held: string, file: string): boolean {
  if (isPattern(held)) return meet(held, file);
  if (isPattern(file)) return meet(held, file) || meet(`${held}/**`, file);
  return held === file || file.startsWith(`${held}/`);
}

export const withoutSlash = (path: string): string => path.replace(/\/+$/, '');
const isPattern = (path: string): boolean => /[*?]/.test(path);

/**
 * Whether some text matches both patterns. Both are walked at once, and every pair of offsets is visited at most once. A
 * regular expression would backtrack without end on a hostile pattern, and can compare a pattern with text only.
 */
function meet(a: string, b: string): boolean {
  const [first, second] = [tokensOf(a), tokensOf(b)];
  const width = second.length + 1;
  const seen = new Uint8Array((first.length + 1) * width);
  const open: number[] = [];
  const reach = (i: number, j: number): void => {
    const pair = i * width + j;
    if (i > first.length || j > second.length || seen[pair]) return;
    seen[pair] = 1;
    open.push(pair);
  };
  reach(0, 0);
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [i, j] = [Math.floor(pair / width), pair % width];
    if (i === first.length && j === second.length) return true;
    const [one, other] = [first[i], second[j]];
    for (const skip of skips(one)) reach(i + skip, j);
    for (const skip of skips(other)) reach(i, j + skip);
    if (one === undefined || other === undefined || !agree(one, other)) continue;
    reach(isStar(one) ? i : i + 1, isStar(other) ? j : j + 1);
  }
  return false;
}

/** `**` crosses folders, `*` and `?` do not. `**` with a slash matches any folders or none, which the token `?/` marks. */
function tokensOf(pattern: string): string[] {
  return (pattern.match(/\*\*\/|\*\*|./gsu) ?? []).flatMap((token) => (token === '**/' ? ['?/', '**', '/'] : [token]));
}

const isStar = (token: string): boolean => token === '*' || token === '**';

/** How many tokens may be skipped without matching a character. */
function skips(token: string | undefined): readonly number[] {
  if (token === undefined) return [];
  if (token === '?/') return [1, 3];
  return isStar(token) ? [1] : [];
}

/** Whether one character can match both. */
function agree(one: string, other: string): boolean {
  if (one === '?/' || other === '?/') return false;
  if (one === '**' || other === '**') return true;
  const [isWild, isOtherWild] = [one, other].map((token) => token === '*' || token === '?');
  if (isWild && isOtherWild) return true;
  if (isWild) return other !== '/';
  return isOtherWild ? one !== '/' : one === other;
}
