import { join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { withoutShellQuotes } from '../request.ts';
import { readTodoList, resultOf, toolCallOf } from '../tool-call.ts';
import {
  isWithin,
  namesIn,
  type OpenDatabase,
  type ReadDatabase,
  type Transcript,
  type TranscriptClient,
  timeOf,
} from '../transcript.ts';
import { readDocument } from '../transcript-lines.ts';

/**
 * OpenCode: a database for all conversations, whose newest part is in its write-ahead log; older versions keep a file a
 * message and a file a part below `storage/`. The path of a transcript is that of the database or of the session's file.
 */
export const opencode: TranscriptClient = {
  find(home, wanted, open) {
    const isOurs = ({ id, place }: Listed): boolean =>
      wanted.id === null ? wanted.folder === null || isWithin(wanted.folder, place) : id === wanted.id;
    const names = namesIn(home, 'file').filter((name) => name === 'opencode.db');
    return [...names.flatMap((name) => conversationsIn(join(home, name), open)), ...inStorage(join(home, 'storage'))]
      .filter(isOurs)
      .map(asTranscript);
  },
  *read(transcript, open) {
    try {
      if (transcript.path.endsWith('.json')) yield* readStorage(transcript);
      else yield* readTables(transcript, open);
    } catch (thrown) {
      yield { kind: 'problem', line: 1, message: `cannot be read: ${(thrown as Error).message}` };
    }
  },
  recognises: (path, head) =>
    /opencode[^\\/]*\.db$/.test(path) || /[\\/]storage[\\/]session[\\/]/.test(path) || head.includes('"projectID"'),
};

/** A conversation and the folder it is about. */
export type Listed = Omit<Transcript, 'client'> & { place: string | null };

export const asTranscript = ({ id, path, writtenMs }: Listed): Transcript => ({
  client: 'opencode',
  id,
  path,
  writtenMs,
});

/** All that a database of OpenCode holds; a copy of it may have any name. */
export function conversationsIn(file: string, open: OpenDatabase): Listed[] {
  return withDatabase(file, open, [] as Listed[], (database) =>
    database.all('SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL').map((row) => {
      const { id, directory, time_updated: updated } = objectOf(row);
      return { id: textOf(id) ?? '', path: file, place: textOf(directory), writtenMs: countOf(updated) ?? 0 };
    }),
  );
}

function withDatabase<T>(file: string, open: OpenDatabase, otherwise: T, work: (database: ReadDatabase) => T): T {
  try {
    const database = open(file);
    try {
      return work(database);
    } finally {
      database.close();
    }
  } catch {
    return otherwise;
  }
}

function inStorage(storage: string): Listed[] {
  const sessions = join(storage, 'session');
  return namesIn(sessions, 'folder').flatMap((project) =>
    namesIn(join(sessions, project), 'file').flatMap((name) => {
      const path = join(sessions, project, name);
      const document = name.endsWith('.json') ? readDocument(path) : null;
      const id = textOf(document?.['id']);
      const updated = countOf(objectOf(document?.['time'])['updated']) ?? 0;
      return id === null ? [] : [{ id, path, place: textOf(document?.['directory']), writtenMs: updated }];
    }),
  );
}

function* readTables({ id, path }: Transcript, open: OpenDatabase): Generator<TranscriptEntry> {
  const database = open(path);
  try {
    const [session] = database.all('SELECT id, directory FROM session WHERE id = ? OR ? = ? LIMIT 1', id, id, '');
    const own = textOf(objectOf(session)['id']) ?? id;
    yield { kind: 'session', id: own, cwd: textOf(objectOf(session)['directory']) };
    const messages = database.iterate(
      'SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id',
      own,
    );
    for (const row of messages) {
      const { id: message, data } = objectOf(row);
      const parts = database.all(
        'SELECT data FROM part WHERE message_id = ? ORDER BY time_created, id',
        textOf(message) ?? '',
      );
      const read = parts.map((part) => parse(objectOf(part)['data']));
      yield* messageEntries({ ...parse(data), id: message }, read);
    }
    const todos = database.all('SELECT content, status FROM todo WHERE session_id = ? ORDER BY position', own);
    if (todos.length > 0) yield { kind: 'todos', change: readTodoList(todos) };
  } finally {
    database.close();
  }
}

function parse(data: unknown): JsonObject {
  try {
    return objectOf(JSON.parse(textOf(data) ?? '{}'));
  } catch {
    return {};
  }
}

function* readStorage({ id, path }: Transcript): Generator<TranscriptEntry> {
  const storage = join(path, '..', '..', '..');
  const session = readDocument(path);
  yield { kind: 'session', id: textOf(session?.['id']) ?? id, cwd: textOf(session?.['directory']) };
  const folder = join(storage, 'message', textOf(session?.['id']) ?? id);
  const messages = namesIn(folder, 'file').flatMap((name): JsonObject[] => {
    const document = readDocument(join(folder, name));
    return document ? [document] : [];
  });
  const created = (message: JsonObject): number => countOf(objectOf(message['time'])['created']) ?? 0;
  for (const message of messages.sort((a, b) => created(a) - created(b))) {
    const below = join(storage, 'part', textOf(message['id']) ?? '');
    const parts = namesIn(below, 'file')
      .sort()
      .flatMap((name): JsonObject[] => {
        const document = readDocument(join(below, name));
        return document ? [document] : [];
      });
    yield* messageEntries(message, parts);
  }
}

function messageEntries(message: JsonObject, parts: readonly JsonObject[]): TranscriptEntry[] {
  const at = timeOf(objectOf(message['time'])['created']);
  const text = parts
    .filter((part) => part['type'] === 'text' && part['synthetic'] !== true)
    .map((part) => textOf(part['text']) ?? '')
    .join('\n')
    .trim();
  if (message['role'] === 'user') return text === '' ? [] : [{ kind: 'request', at, text: withoutShellQuotes(text) }];
  const entries: TranscriptEntry[] = [];
  const model = textOf(message['modelID']);
  if (model) entries.push({ kind: 'model', at, name: model });
  const isSummary = message['summary'] === true;
  if (text !== '') entries.push({ kind: isSummary ? 'summary' : 'message', at, text });
  for (const part of parts) entries.push(...partEntries(part, at));
  // A message's own sum is written when it is finished; its parts have it as they go.
  const steps = parts.filter((part) => part['type'] === 'step-finish' && part['tokens'] !== undefined);
  for (const { tokens } of steps.length > 0 ? steps : [message]) entries.push(...usageEntries(objectOf(tokens), at));
  const error =
    textOf(objectOf(objectOf(message['error'])['data'])['message']) ?? textOf(objectOf(message['error'])['name']);
  if (error) entries.push({ kind: 'error', at, text: error });
  const isEnd = textOf(message['finish']) === 'stop' || steps.at(-1)?.['reason'] === 'stop';
  return isEnd ? [...entries, { kind: 'turn-ended', at }] : entries;
}

function partEntries(part: JsonObject, at: string | null): TranscriptEntry[] {
  if (part['type'] === 'patch') {
    const files = listOf(part['files']).flatMap((path) => textOf(path) ?? []);
    return [{ kind: 'files', at, files: files.map((path) => ({ path, read: false, change: 'modified' })) }];
  }
  const call = textOf(part['callID']);
  if (part['type'] !== 'tool' || call === null) return [];
  const { status, input, time, output, metadata, error } = objectOf(part['state']);
  const { start, end } = objectOf(time);
  const toolCall = toolCallOf(textOf(part['tool']) ?? '', objectOf(input), { metadata });
  const begun: TranscriptEntry = { kind: 'tool-began', at: timeOf(start) ?? at, call, toolCall };
  if (status !== 'completed' && status !== 'error') return [begun];
  const result = resultOf({ output, metadata, error }, status === 'error');
  return [begun, { kind: 'tool-ended', at: timeOf(end) ?? at, call, toolCall, result }];
}

/** Its input is without the cache, its output without the reasoning. */
function usageEntries(tokens: JsonObject, at: string | null): TranscriptEntry[] {
  const cache = objectOf(tokens['cache']);
  const count = (value: unknown): number => countOf(value) ?? 0;
  const cached = count(cache['read']);
  const input = count(tokens['input']) + cached + count(cache['write']);
  const output = count(tokens['output']) + count(tokens['reasoning']);
  return input + output === 0 ? [] : [{ kind: 'usage', at, id: null, spent: { input, output, cached } }];
}
