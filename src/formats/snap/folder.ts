import type { Found, Tree } from '../format.ts';
import { nameKey } from './names.ts';

/** The files of one folder, by kind. */
export interface Folder {
  /** With a trailing slash, or empty. */
  path: string;
  turnfile: string | null;
  mailbox: string | null;
  mailboxArchive: string | null;
  /** The mailbox for other programs. */
  mailboxJson: string | null;
  worklog: string | null;
  worklogArchive: string | null;
  questions: string | null;
  /** By the agent's name in the file name. */
  chats: ReadonlyMap<string, string>;
}

type Kind = Exclude<keyof Folder, 'path' | 'chats'>;

export const fileNames: Readonly<Record<Kind, string>> = {
  turnfile: 'TURNFILE.yaml',
  mailbox: 'MAILBOX.md',
  mailboxArchive: 'MAILBOX_ARCHIVE.md',
  mailboxJson: 'MAILBOX.json',
  worklog: 'WORKLOG.md',
  worklogArchive: 'WORKLOG_ARCHIVE.md',
  questions: 'OPEN_QUESTIONS.md',
};

/** Copies have a prefix or a suffix: `7c336fb-MAILBOX.md`, `WORKLOG.excerpt.md`. */
const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['turnfile', /^(?:.*[-_.])?TURNFILE(?:\.[\w-]+)*\.ya?ml$/],
  ['mailboxArchive', /^(?:.*[-_.])?MAILBOX_ARCHIVE(?:\.[\w-]+)*\.md$/],
  ['mailbox', /^(?:.*[-_.])?MAILBOX(?:\.[\w-]+)*\.md$/],
  ['mailboxJson', /^MAILBOX\.json$/],
  ['worklogArchive', /^(?:.*[-_.])?WORKLOG_ARCHIVE(?:\.[\w-]+)*\.md$/],
  ['worklog', /^(?:.*[-_.])?WORKLOG(?:\.[\w-]+)*\.md$/],
  ['questions', /^(?:.*[-_.])?OPEN_QUESTIONS(?:\.[\w-]+)*\.md$/],
];

export function sortFolder(paths: Iterable<string>, path: string): Folder {
  const found: Record<Kind, string | null> = {
    turnfile: null,
    mailbox: null,
    mailboxArchive: null,
    mailboxJson: null,
    worklog: null,
    worklogArchive: null,
    questions: null,
  };
  const chats = new Map<string, string>();
  for (const one of paths) {
    if (folderOf(one) !== path) continue;
    const name = one.slice(path.length);
    const chat = /^chat-([\p{L}\p{N}_-]+?)(?:\.[\w.-]+)?\.md$/u.exec(name)?.[1];
    const kind = kinds.find(([, pattern]) => pattern.test(name))?.[0];
    // The plain name has priority over a copy.
    if (kind !== undefined && (found[kind] === null || name === fileNames[kind])) found[kind] = one;
    if (chat !== undefined) chats.set(name === `chat-${chat}.md` ? nameKey(chat) : name, one);
  }
  return { path, ...found, chats };
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

export function filesOf(folder: Folder): string[] {
  const { turnfile, mailbox, worklog, questions, mailboxArchive, mailboxJson, worklogArchive, chats } = folder;
  const derived = mailbox === null ? null : mailboxJson;
  const paths = [turnfile, mailbox, worklog, questions, mailboxArchive, worklogArchive, ...chats.values(), derived];
  return paths.filter((path) => path !== null);
}

/**
 * Finds folders with a Turnfile, or with mailbox and worklog; also a `working-session` or chats with snapshots alone.
 */
export function detect(tree: Tree): Found[] {
  const byFolder = new Map<string, string[]>();
  for (const path of tree.paths) {
    const name = path.slice(folderOf(path).length);
    if (!/^chat-.*\.md$/u.test(name) && !kinds.some(([, pattern]) => pattern.test(name))) continue;
    const list = byFolder.get(folderOf(path));
    if (list) list.push(path);
    else byFolder.set(folderOf(path), [path]);
  }
  return [...byFolder].flatMap(([path, paths]) => {
    const folder = sortFolder(paths, path);
    const files = filesOf(folder);
    const [first] = files;
    const isNamed = /(?:^|\/)working-session\/$/.test(path);
    const isWhole = folder.turnfile !== null || (folder.mailbox !== null && folder.worklog !== null);
    const hasSnapshots = (): boolean =>
      [...folder.chats.values()].some((chat) =>
        /^[ \t]*close_reason:|\bREV-\d{8}-snapshot-/m.test(tree.read(chat) ?? ''),
      );
    if (first === undefined || !(isWhole || isNamed || hasSnapshots())) return [];
    return [{ format: 'snap', main: folder.turnfile ?? folder.mailbox ?? first, files }];
  });
}
