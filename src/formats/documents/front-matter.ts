/** The keys of a snapshot, in YAML or as people write them without it. */
export type Report = (code: string, line: number, message: string) => void;

/** No relevant line is longer; the rest of a line is ignored. */
export const LINE_CHARS = 2000;

export type Key =
  | 'session'
  | 'agent'
  | 'timestamp'
  | 'closeReason'
  | 'token'
  | 'branch'
  | 'head'
  | 'journalVersion'
  | 'run'
  | 'reconstructed'
  | 'endedAt'
  | 'sessionOpen';

/** The correct keys, and their names in real files. */
export const keyNames: ReadonlyMap<string, Key> = new Map<string, Key>([
  ['session_id', 'session'],
  ['session', 'session'],
  ['agent', 'agent'],
  ['timestamp', 'timestamp'],
  ['date', 'timestamp'],
  ['close_reason', 'closeReason'],
  ['revision', 'token'],
  ['revision_token', 'token'],
  ['branch', 'branch'],
  ['head', 'head'],
  ['commit', 'head'],
  ['journal_version', 'journalVersion'],
  ['turnfile_revision', 'journalVersion'],
  ['run', 'run'],
  ['reconstructed', 'reconstructed'],
  ['ended_at', 'endedAt'],
  ['session_open', 'sessionOpen'],
]);
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

export const present = (value: string | undefined): string | null =>
  value === undefined || value === '' || value === 'null' || value === '~' ? null : value;
