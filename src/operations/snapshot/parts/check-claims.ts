import { isSameName } from '../../../core/names.ts';
import { instantOf } from '../../../core/time.ts';
import type { ListedFile } from '../../../formats/documents/snapshot-body.ts';
import type { FoundSnapshot } from '../../../formats/documents/snapshot-reading.ts';
import type { GitHistory } from '../../../workspace/git/history.ts';
import type { Contract, SnapshotState } from './contract.ts';
import { cannotTell, fail, pass, type Verdict } from './verdict.ts';

/** A snapshot among those of its agent in the same place. */
export interface Company {
  /** The one before it, by its number. */
  predecessor: FoundSnapshot | null;
  /** One that stands before it in the same file and has a higher number. */
  ahead: FoundSnapshot | null;
}

/** Clocks of two machines may differ by this much. */
const AHEAD_MS = 5 * 60 * 1000;

/** The time and the commit of a snapshot. */
export async function checkMoment(
  { timestamp, head }: FoundSnapshot,
  { predecessor }: Company,
  git: GitHistory | null,
  now: string,
): Promise<string | null> {
  const at = instantOf(timestamp ?? '');
  if (at !== null && Date.parse(at) > Date.parse(now) + AHEAD_MS) return `Its time ${timestamp} is in the future.`;
  const before = instantOf(predecessor?.timestamp ?? '');
  if (at !== null && before !== null && at < before)
    return `Its time ${timestamp} is before that of number ${predecessor?.revision?.sequence}, ${predecessor?.timestamp}.`;
  if (head !== null && /^[0-9a-f]{7,64}$/.test(head) && (await git?.hasCommit(head)) === false)
    return `There is no commit ${head.slice(0, 12)}.`;
  return null;
}

/** What is wrong with the files that a snapshot names, one sentence each. */
export async function fileLies(
  files: readonly ListedFile[],
  against: Contract,
  git: GitHistory | null,
  state: SnapshotState,
  isUntouched: boolean,
): Promise<string[]> {
  const lies: string[] = [];
  for (const { path, line, mayBeGone, note, tokens } of files) {
    const is = against.file(path);
    const where = `${path} (line ${line})`;
    if (is === 'outside') lies.push(`${where} is outside the workspace`);
    else if (is === 'folder') lies.push(`${where} is a folder`);
    else if (mayBeGone && is === 'present' && state === 'current' && /^\W*(?:deleted|removed|absent)\b/i.test(note))
      lies.push(`${where} is said to be deleted and is there`);
    else if (mayBeGone && is === 'absent' && /^\W*deleted\b/i.test(note) && !against.knows(path)) {
      if ((await git?.everHad(path)) === false) lies.push(`${where} is said to be deleted and never was there`);
    } else if (tokens !== null && is === 'present' && isUntouched) {
      const actual = against.tokens(path);
      const [less, more] = [Math.min(tokens, actual ?? tokens), Math.max(tokens, actual ?? tokens)];
      if (more > less * 2 && more - less > BUDGET_TOKENS)
        lies.push(`${where} has about ${actual} tokens, not ${tokens}`);
    }
  }
  return lies;
}

const BUDGET_TOKENS = 200;

/** An empty list although commits since the snapshot before changed files. */
export async function emptyLie(
  { modified, head }: FoundSnapshot,
  { predecessor }: Company,
  git: GitHistory | null,
  isOwn: (path: string) => boolean,
): Promise<string | null> {
  if (modified === null || modified.length > 0 || !head || !predecessor?.head || !git) return null;
  const changed = (await git.changedBetween(predecessor.head, head))?.filter((path) => !isOwn(path)) ?? [];
  return changed.length === 0
    ? null
    : `It lists none; commits since the snapshot before changed ${changed.slice(0, 5).join(', ')}.`;
}

/** Decisions must be in the index of decisions, in the same words. */
export function checkDecisions({ decisions }: FoundSnapshot, against: Contract | null): Verdict {
  const index = against?.decisions() ?? null;
  if (decisions === null) return cannotTell('It has no section on decisions.');
  const said = namedIn(decisions);
  if (said.length === 0) return pass('It names none.');
  if (index === null) return cannotTell('There is no index of decisions here.');
  const known = index.map(plain);
  const unknown = said.filter((text) => {
    const words = plain(quotedIn(text).replace(/…$/, ''));
    return words !== '' && !known.some((one) => one.includes(words) || (one.length > 11 && words.includes(one)));
  });
  if (unknown.length > 0)
    return fail(`Not in the index of decisions: ${unknown.slice(0, 3).join('; ').slice(0, 300)}.`);
  return pass(said.length === 1 ? 'It is in the index.' : `All ${said.length} are in the index.`);
}

/** The worklog must point to the snapshot. */
export function checkPlacement({ title, agent }: FoundSnapshot, file: string, against: Contract | null): Verdict {
  const number = /^Session (\S+) closing state/i.exec(title ?? '')?.[1];
  const chat = /(?:^|\/)(chat-[^/]+\.md)$/.exec(file.replaceAll('\\', '/'))?.[1];
  if (!number || !chat || !agent) return cannotTell('It is not an entry of a chat file.');
  const pointers = against?.pointers() ?? null;
  if (pointers === null) return cannotTell('There is no worklog here.');
  const own = pointers.filter((words) => words.includes(`§ Session ${number} `));
  if (own.some((words) => words.includes(chat))) return pass('The worklog points to it.');
  return own.length > 0
    ? fail(`The worklog points to another place: ${own[0]?.slice(0, 200)}`)
    : fail(`The worklog does not point to session ${number} in ${chat}.`);
}

/** Promises must be those of the journal, or of the files and the snapshot before. */
export function checkCommitments(
  { commitments, agent, keys }: FoundSnapshot,
  against: Contract | null,
  { predecessor }: Company,
): Verdict {
  if (commitments === null) return cannotTell('It has no section on commitments.');
  const said = namedIn(commitments);
  const recorded = agent === null ? null : (against?.commitments(agent) ?? null);
  // Only our snapshots are made from the same records as the item index.
  const promises = recorded === null && keys.has('journal_version') ? (against?.promises ?? null) : null;
  if (recorded === null && promises === null) return cannotTell('There is no list of commitments here.');
  const before = namedIn(predecessor?.commitments ?? []);
  const known = recorded ?? (promises ?? []).map(({ text }) => text);
  const open =
    recorded ??
    (promises ?? [])
      .filter(
        ({ isOpen, by, text }) =>
          isOpen && (by ? isSameName(by, agent ?? '') : before.some((one) => isSame(one, text))),
      )
      .map(({ text }) => text);
  const invented = said.filter((text) => !known.some((one) => isSame(text, one)));
  const isCut = commitments.some((text) => /^\d+ more, left out/.test(text));
  const left = isCut ? [] : open.filter((one) => !said.some((text) => isSame(text, one)));
  if (invented.length > 0) return fail(`Not known: ${invented[0]?.slice(0, 200)}.`);
  if (left.length > 0) return fail(`Left out: ${left[0]?.slice(0, 200)}.`);
  return pass(said.length === 0 ? 'There are none.' : 'They are as known.');
}

const namedIn = (entries: readonly string[]): string[] =>
  entries.filter((text) => !/^none\b/i.test(text) && !/^\d+ more, left out/.test(text));

const isSame = (said: string, known: string): boolean => {
  const [a, b] = [plain(quotedIn(said).replace(/…$/, '')), plain(known)];
  return a !== '' && (b.startsWith(a) || a.includes(b));
};

/** The words of an entry in our form: `D-8: "…"`; otherwise the whole entry. */
const quotedIn = (text: string): string => /"([^"]+)"(?:\s+Why:.*)?(?:\s*\(.*\))?$/.exec(text)?.[1] ?? text;

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
