import { type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { toolCallOf } from '../tool-call.ts';
import { type ReadDatabase, type TranscriptFiles, timeOf } from '../transcript.ts';

export const STORE_FILE = 'store.db';

/**
 * A conversation of Cursor's command line: a database of pieces, each named by its hash. The root piece names the messages
 * in their order, directly or through further pieces. Messages are JSON, the rest is in Protocol Buffers, in which this
 * reader looks only for names of other pieces and for messages. The encryption key beside them is not used.
 */
export function* readCursorStore(files: TranscriptFiles, path: string): Generator<TranscriptEntry> {
  let database: ReadDatabase;
  try {
    database = files.openDatabase(path);
  } catch (thrown) {
    yield { kind: 'problem', line: 0, message: `cannot be opened: ${(thrown as Error).message}` };
    return;
  }
  try {
    const meta = metaOf(database);
    yield { kind: 'session', at: timeOf(meta['createdAt']), id: textOf(meta['agentId']), cwd: textOf(meta['cwd']) };
    const model = textOf(meta['lastUsedModel']);
    if (model) yield { kind: 'model', name: model };
    const entriesOf = createReader();
    for (const message of messagesFrom(database, textOf(meta['latestRootBlobId']) ?? '')) yield* entriesOf(message);
  } catch (thrown) {
    yield { kind: 'problem', line: 0, message: `cannot be read: ${(thrown as Error).message}` };
  } finally {
    database.close();
  }
}

/** JSON, written in hexadecimal digits. */
function metaOf(database: ReadDatabase): JsonObject {
  for (const row of database.all("SELECT value FROM meta WHERE key = '0'")) {
    const value = textOf(objectOf(row)['value']) ?? '';
    const text = /^(?:[0-9a-f]{2})+$/i.test(value) ? Buffer.from(value, 'hex').toString('utf8') : value;
    const found = parsed(text);
    if (found) return found;
  }
  return {};
}

const PIECES_LIMIT = 100_000;

function* messagesFrom(database: ReadDatabase, root: string): Generator<JsonObject> {
  const seen = new Set<string>();
  // A list instead of recursion, so that no file decides how deep this goes.
  const waiting: (string | Uint8Array)[] = [root];
  while (waiting.length > 0 && seen.size < PIECES_LIMIT) {
    const next = waiting.pop() ?? '';
    if (typeof next === 'string') {
      if (seen.has(next)) continue;
      seen.add(next);
    }
    const bytes = typeof next === 'string' ? pieceOf(database, next) : next;
    if (bytes === null) continue;
    const message = bytes[0] === OPENING_BRACE ? parsed(Buffer.from(bytes).toString('utf8')) : null;
    if (message) {
      if (typeof message['role'] === 'string') yield message;
      continue;
    }
    const inside = fieldsIn(bytes).flatMap((field): (string | Uint8Array)[] => {
      if (field.length === HASH_BYTES) return [Buffer.from(field).toString('hex')];
      return field[0] === OPENING_BRACE ? [field] : [];
    });
    waiting.push(...inside.reverse());
  }
}

const OPENING_BRACE = 0x7b;
const HASH_BYTES = 32;

function pieceOf(database: ReadDatabase, id: string): Uint8Array | null {
  for (const row of database.all('SELECT data FROM blobs WHERE id = ?', id)) {
    const { data } = objectOf(row);
    if (data instanceof Uint8Array) return data;
    if (typeof data === 'string') return Buffer.from(data, 'utf8');
  }
  return null;
}

/** The fields with a length of a message in Protocol Buffers; none if the bytes are something else. */
function fieldsIn(bytes: Uint8Array): Uint8Array[] {
  const fields: Uint8Array[] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) throw new RangeError('It ends in the middle of a number.');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('A number is too long.');
  };
  try {
    while (at < bytes.length) {
      const kind = number() & 7;
      if (kind === 0) number();
      else if (kind === 1) at += 8;
      else if (kind === 5) at += 4;
      else if (kind === 2) {
        const length = number();
        if (at + length > bytes.length) return [];
        fields.push(bytes.subarray(at, at + length));
        at += length;
      } else return [];
    }
  } catch {
    return [];
  }
  return fields;
}

function createReader(): (message: JsonObject) => TranscriptEntry[] {
  const calls = new Map<string, { tool: string; input: JsonObject }>();
  return (message) => {
    const { role, content } = message;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
    return (blocks as JsonObject[]).flatMap((block): TranscriptEntry[] => {
      const call = textOf(block['toolCallId']);
      const words = textOf(block['text'])?.trim();
      if (block['type'] === 'text' && words && role === 'user') return requestIn(words);
      if (block['type'] === 'text' && words && role === 'assistant') return [{ kind: 'message', text: words }];
      if (block['type'] === 'tool-call' && call !== null) {
        const tool = textOf(block['toolName']) ?? '';
        const input = objectOf(block['args'] ?? block['input']);
        calls.set(call, { tool, input });
        return [{ kind: 'tool-began', call, toolCall: toolCallOf(tool, input, null) }];
      }
      if (block['type'] !== 'tool-result' || call === null) return [];
      const begun = calls.get(call);
      calls.delete(call);
      const answer = block['result'] ?? block['output'] ?? block['content'];
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer ?? '');
      const code = /\bexit code:? (\d{1,5})\b/i.exec(text)?.[1];
      const exitCode = code === undefined ? null : Number(code);
      const isFailure = block['isError'] === true || (exitCode !== null && exitCode !== 0);
      const toolCall = begun ? { toolCall: toolCallOf(begun.tool, begun.input, null) } : {};
      return [{ kind: 'tool-ended', call, ...toolCall, result: { isFailure, isCancelled: false, exitCode } }];
    });
  };
}

/** The user's text is inside the query; the client puts its own text before and after it. */
function requestIn(words: string): TranscriptEntry[] {
  const query = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/.exec(words)?.[1];
  const text = query ?? (/^<\w+>/.test(words) ? '' : words);
  return text === '' ? [] : [{ kind: 'request', text }];
}

function parsed(text: string): JsonObject | null {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as JsonObject) : null;
  } catch {
    return null;
  }
}
