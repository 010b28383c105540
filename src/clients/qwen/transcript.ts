import { join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';
import { type ClientTranscript, findInProjects, readByLine, timeOf } from '../transcript.ts';
import { usageIn } from './hooks.ts';

/** Qwen Code: `projects/FOLDER/chats/ID.jsonl`, Claude's chain with Gemini's messages. */
export const transcript: ClientTranscript = {
  home: (environment, userHome) => environment['QWEN_HOME'] || join(userHome, '.qwen'),
  find: (home, wanted, files) => findInProjects(files, 'qwen', home, wanted, 'chats'),
  read({ path }, files) {
    let isFirst = true;
    return readByLine(files, path, (entry) => {
      const session = isFirst ? [sessionEntry(entry)] : [];
      isFirst = false;
      return [...session, ...entriesOf(entry)];
    });
  },
  specificity: 3,
  recognises: (path, head) =>
    /[\\/]chats[\\/][^\\/]+\.jsonl$/.test(path) && /"(?:parentUuid|provenance)"/.test(head)
      ? true
      : head.includes('"parentUuid"') && head.includes('"parts"'),
};

function sessionEntry(entry: JsonObject): TranscriptEntry {
  return {
    kind: 'session',
    at: timeOf(entry['timestamp']),
    id: textOf(entry['sessionId']),
    cwd: textOf(entry['cwd']),
    branch: textOf(entry['gitBranch']),
  };
}

function entriesOf(entry: JsonObject): TranscriptEntry[] {
  const at = timeOf(entry['timestamp']);
  const parts = listOf(objectOf(entry['message'])['parts']).map(objectOf);
  const payload = objectOf(entry['systemPayload']);
  const isSide = entry['isSidechain'] === true;
  switch (entry['type']) {
    case 'user': {
      const text = textOf(payload['displayText']) ?? textIn(parts);
      const isOther = entry['subtype'] === 'notification' || isSide;
      return isOther || text.trim() === '' ? [] : [{ kind: 'request', at, text }];
    }
    case 'assistant':
      return assistantEntries(entry, parts, isSide, at);
    case 'tool_result':
      return parts.flatMap((part) => endEntries(objectOf(part['functionResponse']), entry, at));
    case 'system':
      return systemEntries(entry, payload, at);
    default:
      return [];
  }
}

function assistantEntries(
  entry: JsonObject,
  parts: readonly JsonObject[],
  isSide: boolean,
  at: string | null,
): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  const model = textOf(entry['model']);
  if (model) entries.push({ kind: 'model', at, name: model });
  const usage = usageIn(entry);
  if (usage) entries.push({ kind: 'usage', at, ...usage });
  const text = textIn(parts.filter((part) => part['thought'] !== true));
  if (text.trim() !== '' && !isSide) entries.push({ kind: 'message', at, text });
  for (const part of parts) {
    const { id, name, args } = objectOf(part['functionCall']);
    const call = textOf(id);
    if (call === null) continue;
    // A tool that the model found by searching is called through `tool_call`.
    const { name: inner, arguments: given } = objectOf(args);
    const toolCall =
      name === 'tool_call'
        ? toolCallOf(textOf(inner) ?? '', objectOf(given), null)
        : toolCallOf(textOf(name) ?? '', objectOf(args), null);
    entries.push({ kind: 'tool-began', at, call, toolCall });
  }
  return entries;
}

function endEntries(answer: JsonObject, entry: JsonObject, at: string | null): TranscriptEntry[] {
  const written = objectOf(entry['toolCallResult']);
  const call = textOf(answer['id']) ?? textOf(written['callId']);
  if (call === null) return [];
  const display = objectOf(written['resultDisplay']);
  const result = resultOf(answer['response'], written['status'] === 'error');
  const exitCode = countOf(display['exitCode']) ?? result.exitCode;
  const path = textOf(display['filePath']);
  // A file that was empty before was created by the call.
  const change = display['originalContent'] === '' ? 'created' : 'modified';
  return [
    {
      kind: 'tool-ended',
      at,
      call,
      files: path === null ? [] : [{ path, read: false, change }],
      result: {
        exitCode,
        isFailure: result.isFailure || (exitCode ?? 0) !== 0,
        isCancelled: result.isCancelled || written['status'] === 'cancelled',
      },
    },
  ];
}

function systemEntries(entry: JsonObject, payload: JsonObject, at: string | null): TranscriptEntry[] {
  if (entry['subtype'] !== 'chat_compression') return [];
  const [first] = listOf(payload['compressedHistory']).map(objectOf);
  const text = textIn(listOf(first?.['parts']).map(objectOf));
  return text.trim() === '' ? [] : [{ kind: 'summary', at, text }];
}

/** The text without additions of hooks. */
function textIn(parts: readonly JsonObject[]): string {
  return parts
    .map((part) => textOf(part['text']) ?? '')
    .filter((text) => text !== '' && !text.startsWith('<qwen:'))
    .join('\n');
}
