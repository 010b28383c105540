import { join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { withoutShellQuotes } from '../request.ts';
import { readTodoList, resultOf, toolCallOf } from '../tool-call.ts';
import {
  type ClientTranscript,
  fieldIn,
  isWithin,
  type LocatedTranscript,
  type Transcript,
  type TranscriptFiles,
  timeOf,
} from '../transcript.ts';
import { spentOf } from './hooks.ts';

/**
 * OpenCode: a database for all conversations, whose newest part is in its write-ahead log; older versions keep one
 * file per message and per part below `storage/`. The path of a transcript is that of the database or of the session's file.
 */
export const transcript: ClientTranscript = {
  home: (environment, userHome) => join(environment['XDG_DATA_HOME'] || join(userHome, '.local', 'share'), 'opencode'),
  find(home, wanted, files) {
    const isWanted = ({ id, folder }: LocatedTranscript): boolean =>
      wanted.id === null ? wanted.folder === null || isWithin(files, wanted.folder, folder) : id === wanted.id;
    const names = files.namesIn(home, 'file').filter((name) => name === 'opencode.db');
    const inTables = names.flatMap((name) => conversationsIn(files, join(home, name)));
    return [...inTables, ...inStorage(files, join(home, 'storage'))].filter(isWanted);
  },
  *read(transcript, files) {
    try {
      if (transcript.path.endsWith('.json')) yield* readStorage(files, transcript);
      else yield* readTables(files, transcript);
    } catch (thrown) {
      yield { kind: 'problem', line: 1, message: `cannot be read: ${(thrown as Error).message}` };
    }
  },
  recognises: (path, head) =>
    /opencode[^\\/]*\.db$/.test(path) || /[\\/]storage[\\/]session[\\/]/.test(path) || head.includes('"projectID"'),
  specificity: 5,
  idIn: (_, head) => fieldIn(head, 'id') ?? '',
  conversationsIn: (path, files) => (path.endsWith('.db') ? conversationsIn(files, path) : null),
};

/** The conversations in a database, which may be a copy of any name. */
function conversationsIn(files: TranscriptFiles, path: string): LocatedTranscript[] {
  try {
    const database = files.openDatabase(path);
    try {
      return database.all('SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL').map((row) => {
        const { id, directory, time_updated: updated } = objectOf(row);
        return located(textOf(id) ?? '', path, directory, updated);
      });
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

function located(id: string, path: string, folder: unknown, updated: unknown): LocatedTranscript {
  return { client: 'opencode', id, path, folder: textOf(folder), writtenMs: countOf(updated) ?? 0 };
}

function inStorage(files: TranscriptFiles, storage: string): LocatedTranscript[] {
  const sessions = join(storage, 'session');
  return files.namesIn(sessions, 'folder').flatMap((project) =>
    documentsIn(files, join(sessions, project)).flatMap(({ path, document }) => {
      const id = path.endsWith('.json') ? textOf(document['id']) : null;
      return id === null ? [] : [located(id, path, document['directory'], objectOf(document['time'])['updated'])];
    }),
  );
}

function documentsIn(files: TranscriptFiles, folder: string): { path: string; document: JsonObject }[] {
  return files.namesIn(folder, 'file').flatMap((name) => {
    const document = files.readDocument(join(folder, name));
    return document ? [{ path: join(folder, name), document }] : [];
  });
}

function* readTables(files: TranscriptFiles, { id, path }: Transcript): Generator<TranscriptEntry> {
  const database = files.openDatabase(path);
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

function* readStorage(files: TranscriptFiles, { id, path }: Transcript): Generator<TranscriptEntry> {
  const storage = join(path, '..', '..', '..');
  const session = files.readDocument(path);
  yield { kind: 'session', id: textOf(session?.['id']) ?? id, cwd: textOf(session?.['directory']) };
  const messages = documentsIn(files, join(storage, 'message', textOf(session?.['id']) ?? id));
  const created = (message: JsonObject): number => countOf(objectOf(message['time'])['created']) ?? 0;
  for (const { document: message } of messages.sort((a, b) => created(a.document) - created(b.document))) {
    const parts = documentsIn(files, join(storage, 'part', textOf(message['id']) ?? ''));
    const inOrder = parts.sort((a, b) => (a.path < b.path ? -1 : 1));
    yield* messageEntries(
      message,
      inOrder.map(({ document }) => document),
    );
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
  // A message has its sum when it is finished; its steps have theirs before that.
  const steps = parts.filter((part) => part['type'] === 'step-finish' && part['tokens'] !== undefined);
  for (const { tokens } of steps.length > 0 ? steps : [message]) {
    const spent = spentOf(objectOf(tokens));
    if (spent.input + spent.output > 0) entries.push({ kind: 'usage', at, id: null, spent });
  }
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
