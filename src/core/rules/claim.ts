import { Fault, quoted } from '../fault.ts';
import type { Claim, State } from '../fold/state.ts';
import { isGone, type Liveness, leaseEnd } from '../views/liveness.ts';

/** A live claim of another session that one of some files falls under. */
export interface Held {
  claim: Claim;
  file: string;
  until: string;
}

export function claimOn(
  context: Liveness & { state: State },
  files: readonly string[],
  mine: string | null,
  overlap = pathsOverlap,
): Held | null {
  for (const claim of context.state.claims.values()) {
    const holder = context.state.sessions.get(claim.session);
    if (!holder || holder.id === mine || isGone(holder, context)) continue;
    const file = files.find((wanted) => claim.files.some((held) => overlap(held, wanted)));
    if (file !== undefined) return { claim, file, until: leaseEnd(holder, context) };
  }
  return null;
}

export function claimedBy({ claim, file, until }: Held): Fault {
  const { id, agent, session } = claim;
  return new Fault('held', `${quoted(file)} is claimed by ${agent} (${session}) until ${until}: ${id}.`, {
    hints: [`Wait for it with \`holdfast wait --for ${id}\`, or work on other files.`],
    data: { claim: id, session, agent, until, file },
  });
}

/**
 * Whether a session may write a file: null, or the fault that says why not. Nobody writes under another's claim, and a
 * session that has ended or was superseded writes nothing.
 */
export function writableBy(state: State, liveness: Liveness, session: string | null, path: string): Fault | null {
  if (session !== null && !state.sessions.has(session)) {
    return new Fault('fenced', `Session ${session} writes no more: ${quoted(path)} was left as it is.`, {
      hints: ['Begin another with `holdfast session start --agent NAME`.'],
      data: { session, file: path },
    });
  }
  const held = claimOn({ ...liveness, state }, [path], session, (claimed, file) => covers(bare(claimed), file));
  return held ? claimedBy(held) : null;
}

/** Whether two paths or patterns can mean the same file. A path may be a folder: it stands for all that is below it. */
export function pathsOverlap(a: string, b: string): boolean {
  const [first, second] = [bare(a), bare(b)];
  return covers(first, second) || covers(second, first);
}

/** Whether a path or pattern means a file, or a file below it; patterns mean files. */
function covers(held: string, file: string): boolean {
  if (isPattern(held)) return meet(held, file);
  if (isPattern(file)) return meet(held, file) || meet(`${held}/**`, file);
  return held === file || file.startsWith(`${held}/`);
}

const bare = (path: string): string => path.replace(/\/+$/, '');
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
