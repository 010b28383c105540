import { id, line, time, unquotable, word } from '../../core/line.ts';
import { newEntry, type Row, readRows, type Value } from '../text/rows.ts';

/** The keys of a snapshot, in YAML or as people write them without it. */
export type Report = (code: string, line: number, message: string) => void;

/** No relevant line is longer; the rest of a line is ignored. */
export const LINE_CHARS = 2000;

/** What identifies a snapshot, as found. */
export interface Identity {
  session: string | null;
  agent: string | null;
  timestamp: string | null;
  closeReason: string | null;
  /** Taken in the middle of a session. */
  sessionOpen: boolean;
  reconstructed: boolean;
  endedAt: string | null;
  run: string | null;
  branch: string | null;
  head: string | null;
  journalVersion: number | null;
  token: string | null;
}
export type Key = keyof Identity;

type Mail = Readonly<Record<'unread' | 'pendingAcks' | 'unansweredUnread' | 'awaitingClose', readonly unknown[]>>;

const NULL = line`null`;
/** Words that are read as they are; each row says how it writes them, so that nobody's text becomes YAML. */
const written = (write: (value: string) => string): Value => ({ read: present, write });
const flag: Value = { read: (raw) => raw === 'true', write: String };
/** A quotation that YAML reads as the same text. */
const quotation = written((value) => JSON.stringify(unquotable(value, SCALAR_CHARS)));
const SCALAR_CHARS = 200;

const closeReasons = ['completed', 'context-exhausted', 'timeout', 'maintainer-directed'];
const count = (entries: Record<string, number>): string =>
  Object.entries(entries)
    .map(([name, number]) => `\n  ${name}: ${number}`)
    .join('');

/** The keys of the front matter; the other spellings are those of real files. */
export const identityRows: readonly Row<Identity, Mail>[] = [
  { at: 'session_id|session', is: 'session', as: written(id), says: 'The session that is closed.' },
  { at: 'agent', is: 'agent', as: quotation, says: 'Whose session it is.' },
  { at: 'timestamp|date', is: 'timestamp', as: written(time), says: 'When it was taken.' },
  {
    ...{ at: 'close_reason', is: 'closeReason', says: `One of ${closeReasons.join(', ')}.`, fresh: NULL },
    as: {
      read: (raw) => closeReasons.find((one) => String(raw).toLowerCase().startsWith(one)) ?? present(raw),
      write: (reason: string) => word(reason),
    },
  },
  {
    at: 'session_open',
    is: 'sessionOpen',
    as: flag,
    says: 'Where the session continues.',
    when: (one) => one.sessionOpen,
  },
  {
    ...{ at: 'reconstructed', is: 'reconstructed', as: flag, when: (one) => one.reconstructed },
    says: 'Where another session wrote it, because this one was cut off.',
  },
  { at: 'ended_at', is: 'endedAt', as: written(time), says: 'When it was last seen.' },
  { at: 'run', is: 'run', as: quotation, says: 'The run.' },
  { at: 'branch', is: 'branch', as: quotation, says: 'The branch of git.', fresh: NULL },
  { at: 'head|commit', is: 'head', as: quotation, says: 'The commit.', fresh: NULL },
  {
    ...{ at: 'journal_version|turnfile_revision', is: 'journalVersion', says: 'How far the journal was.' },
    as: { read: (raw) => (/^\d{1,15}$/.test(String(raw)) ? Number(raw) : undefined), write: String },
  },
  {
    ...{ at: 'mailbox', is: '=', as: { read: present, write: count }, says: 'How much mail of each class.' },
    value: (_, { unread, pendingAcks, unansweredUnread, awaitingClose }) => ({
      unread: unread.length,
      pending_acks: pendingAcks.length,
      unanswered: unansweredUnread.length + awaitingClose.length,
    }),
  },
  // The form of a token is fixed by the contract: the name of the agent, a single word, is part of it.
  { at: 'revision|revision_token', is: 'token', as: written(String), says: 'Its token.' },
];

/** The front matter of a snapshot. */
export function renderIdentity(identity: Identity, mail: Mail): string {
  const said = Object.fromEntries(
    Object.entries(identity).filter(([, value]) => value !== null),
  ) as unknown as Identity;
  return Object.entries(newEntry(identityRows, said, mail))
    .map(([key, value]) => `${key}:${String(value).startsWith('\n') ? '' : ' '}${value}`)
    .join('\n');
}

/** What its fields say, with what deviates. */
export function identityOf(fields: ReadonlyMap<Key, Field>, at: number, report: Report): Identity {
  const said = Object.fromEntries(
    identityRows.flatMap((row): [string, string][] => {
      const field = row.is === '=' ? undefined : fields.get(row.is);
      return field ? [[row.at.split('|')[0] as string, field.value]] : [];
    }),
  );
  const { session = null, sessionOpen = false, ...rest } = readRows(identityRows, said);
  const lineOf = (key: Key): number => fields.get(key)?.line ?? at;
  const value = (key: Key): string | undefined => present(fields.get(key)?.value);
  for (const [key, name] of [
    ['session', 'session_id'],
    ['agent', 'agent'],
    ['timestamp', 'timestamp'],
    ['closeReason', 'close_reason'],
  ] as const) {
    if (value(key) === undefined && !(key === 'closeReason' && sessionOpen))
      report('missing_key', lineOf(key), `The key ${name} is missing.`);
  }
  if (value('closeReason') !== undefined && !closeReasons.includes(value('closeReason') ?? ''))
    report('close_reason', lineOf('closeReason'), `The close reason is not one of ${closeReasons.join(', ')}.`);
  if (!/^\d*$/.test(value('journalVersion') ?? ''))
    report('approximate', lineOf('journalVersion'), 'The version is not an exact number.');
  return {
    ...{ timestamp: null, closeReason: null, reconstructed: false, endedAt: null, run: null, branch: null, head: null },
    ...{ journalVersion: null, token: null, session, sessionOpen },
    // `codex-session-14` names the agent where nothing else does.
    agent: /^([A-Za-z][\w.]*)-session-/.exec(session ?? '')?.[1] ?? null,
    ...rest,
  };
}

export const keyNames: ReadonlyMap<string, Key> = new Map(
  identityRows.flatMap(({ at, is }) => (is === '=' ? [] : at.split('|').map((name): [string, Key] => [name, is]))),
);
const renamed: ReadonlyMap<string, string> = new Map([
  ['session', 'session_id'],
  ['date', 'timestamp'],
  ['revision_token', 'revision'],
]);

export const keyOf = (written: string): string =>
  written
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

export interface Field {
  value: string;
  line: number;
  written: string;
}

/** Fields of a section without YAML: `**Close reason:** …` or `- Session: …`. */
export function fieldsIn(lines: readonly string[], from: number, to: number): Map<Key, Field> {
  const found = new Map<Key, Field>();
  for (let index = from; index < to; index++) {
    const line = (lines[index] ?? '').slice(0, LINE_CHARS);
    const match = /^(?:\*\*([^*:]{2,40}):\*\*|- ([^:*]{2,40}):)\s*(.*)$/.exec(line);
    const written = match?.[1] ?? match?.[2];
    const key = written === undefined ? undefined : keyNames.get(keyOf(written.replace(/\s+at .*$/, '')));
    if (key !== undefined && !found.has(key))
      found.set(key, { value: unquoted(match?.[3] ?? ''), line: index + 1, written: written ?? '' });
  }
  return found;
}

/** Reads line by line: text that is invalid for a strict YAML parser (`close_reason: a: b`) still has its keys. */
export function readYaml(
  lines: readonly string[],
  { from, to }: { from: number; to: number },
  report: Report,
): { keys: Map<string, string>; fields: Map<Key, Field> } {
  const keys = new Map<string, string>();
  const fields = new Map<Key, Field>();
  let parent = '';
  for (let index = from; index < to; index++) {
    const line = (lines[index] ?? '').slice(0, LINE_CHARS);
    const match = /^(\s*)([A-Za-z][\w -]{0,60}?)\s*:(?:\s+(.*))?$/.exec(line);
    if (!match) {
      if (line.trim() !== '' && !line.trim().startsWith('#'))
        report('unreadable_line', index + 1, 'A line of the front matter is not a key and value.');
      continue;
    }
    const [, indent = '', written = '', rest = ''] = match;
    if (indent === '') parent = written;
    const name = indent === '' ? written : `${parent}.${written}`;
    if (keys.has(name)) report('duplicate_key', index + 1, `Duplicate key ${written}; the first one counts.`);
    else keys.set(name, unquoted(rest));
    const key = indent === '' ? keyNames.get(keyOf(written)) : undefined;
    if (key === undefined || fields.has(key)) continue;
    fields.set(key, { value: unquoted(rest), line: index + 1, written });
    const better = renamed.get(keyOf(written));
    if (better !== undefined) report('renamed_key', index + 1, `The key ${written} should be ${better}.`);
  }
  return { keys, fields };
}

function unquoted(written: string): string {
  const text = written.trim();
  if (text.startsWith('"')) {
    try {
      const end = text.lastIndexOf('"');
      return String(JSON.parse(text.slice(0, end + 1)));
    } catch {
      return text.replace(/"/g, '');
    }
  }
  const bare = text.startsWith("'") && text.length > 1 ? text.slice(1, text.lastIndexOf("'")) : cutComment(text);
  return bare.replace(/^`(.*)`\.?$/, '$1').trim();
}

function cutComment(text: string): string {
  const at = text.indexOf(' #');
  return at < 0 ? text : text.slice(0, at);
}

function present(value: unknown): string | undefined {
  return typeof value !== 'string' || ['', 'null', '~'].includes(value) ? undefined : value;
}
