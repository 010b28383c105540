/** Whether two paths or patterns can mean the same file. A path may be a folder: it stands for all that is below it. */
export function pathsOverlap(a: string, b: string): boolean {
  const [first, second] = [withoutSlash(a), withoutSlash(b)];
  return covers(first, second) || covers(second, first);
}

/** Whether a path or pattern means a file, or a file below it; patterns mean files. */
export function covers(held: string, file: string): boolean {
  if (isPattern(held)) return meet(held, file);
  if (isPattern(file)) return meet(held, file) || meet(`${held}/**`, file);
  return held === file || file.startsWith(`${held}/`);
}

export const withoutSlash = (path: string): string => path.replace(/\/+$/, '');
const isPattern = (path: string): boolean => /[*?]/.test(path);

/**
 * Whether some text fits both patterns: both are walked at once, every pair of places at most once. A regular expression
 * would try the ways through a pattern one by one, without end on a hostile one, and knows one pattern only.
 */
function meet(a: string, b: string): boolean {
  const [first, second] = [tokensOf(a), tokensOf(b)];
  const width = second.length + 1;
  const seen = new Uint8Array((first.length + 1) * width);
  const open: number[] = [];
  const reach = (i: number, j: number): void => {
    const place = i * width + j;
    if (i > first.length || j > second.length || seen[place]) return;
    seen[place] = 1;
    open.push(place);
  };
  reach(0, 0);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const [i, j] = [Math.floor(place / width), place % width];
    if (i === first.length && j === second.length) return true;
    const [one, other] = [first[i], second[j]];
    for (const skip of skips(one)) reach(i + skip, j);
    for (const skip of skips(other)) reach(i, j + skip);
    if (one === undefined || other === undefined || !agree(one, other)) continue;
    reach(isStar(one) ? i : i + 1, isStar(other) ? j : j + 1);
  }
  return false;
}

/** `**` crosses folders, `*` and `?` do not. `**` and a slash stand for any folders or none: `?/` before them says so. */
function tokensOf(pattern: string): string[] {
  return (pattern.match(/\*\*\/|\*\*|./gsu) ?? []).flatMap((token) => (token === '**/' ? ['?/', '**', '/'] : [token]));
}

const isStar = (token: string): boolean => token === '*' || token === '**';

/** How far a place may be left behind without taking a character. */
function skips(token: string | undefined): readonly number[] {
  if (token === undefined) return [];
  if (token === '?/') return [1, 3];
  return isStar(token) ? [1] : [];
}

/** Whether one character can fit both. */
function agree(one: string, other: string): boolean {
  if (one === '?/' || other === '?/') return false;
  if (one === '**' || other === '**') return true;
  const [isWild, isOtherWild] = [one, other].map((token) => token === '*' || token === '?');
  if (isWild && isOtherWild) return true;
  if (isWild) return other !== '/';
  return isOtherWild ? one !== '/' : one === other;
}
