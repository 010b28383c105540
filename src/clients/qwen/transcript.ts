import { join } from 'node:path';
import { projectName } from '../claude/transcript.ts';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';
import { isWithin, projectFolders, type TranscriptClient, timeOf, transcriptsIn } from '../transcript.ts';
import { fieldIn, readHead, readRecords } from '../transcript-lines.ts';

/** Qwen Code: `projects/FOLDER/chats/ID.jsonl`, Claude's chain with Gemini's messages. */
export const qwen: TranscriptClient = {
  find(home, { folder, id }) {
    const found = projectFolders(join(home, 'projects'), id === null ? folder : null, projectName).flatMap((place) =>
      transcriptsIn('qwen', join(place, 'chats'), '.jsonl'),
    );
    if (id !== null) return found.filter((one) => one.id === id);
    return found.filter(({ path }) => folder === null || isWithin(folder, fieldIn(readHead(path), 'cwd')));
  },
  *read({ path }) {
    let isFirst = true;
    for (const { line, record, problem } of readRecords(path)) {
      if (!record) {
        yield { kind: 'problem', line, message: problem };
        continue;
      }
      if (isFirst) yield sessionEntry(record);
      isFirst = false;
      yield* entriesOf(record);
    }
  },
  recognises: (path, head) =>
    /[\\/]chats[\\/][^\\/]+\.jsonl$/.test(path) && /"(?:parentUuid|provenance)"/.test(head)
      ? true
      : head.includes('"parentUuid"') && head.includes('"parts"'),
};

function sessionEntry(record: JsonObject): TranscriptEntry {
  return {
    kind: 'session',
    at: timeOf(record['timestamp']),
    id: textOf(record['sessionId']),
    cwd: textOf(record['cwd']),
    branch: textOf(record['gitBranch']),
  };
}

function entriesOf(record: JsonObject): TranscriptEntry[] {
  const at = timeOf(record['timestamp']);
  const parts = listOf(objectOf(record['message'])['parts']).map(objectOf);
  const payload = objectOf(record['systemPayload']);
  const isSide = record['isSidechain'] === true;
  switch (record['type']) {
    case 'user': {
      const text = textOf(payload['displayText']) ?? textIn(parts);
      const isTold = record['subtype'] === 'notification' || isSide;
      return isTold || text.trim() === '' ? [] : [{ kind: 'request', at, text }];
    }
    case 'assistant':
      return assistantEntries(record, parts, isSide, at);
    case 'tool_result':
      return parts.flatMap((part) => endEntries(objectOf(part['functionResponse']), record, at));
    case 'system':
      return systemEntries(record, payload, at);
    default:
      return [];
  }
}

function assistantEntries(
  record: JsonObject,
  parts: readonly JsonObject[],
  isSide: boolean,
  at: string | null,
): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  const model = textOf(record['model']);
  if (model) entries.push({ kind: 'model', at, name: model });
  if (record['usageMetadata'] !== undefined) entries.push(usageEntry(record, at));
  const text = textIn(parts.filter((part) => part['thought'] !== true));
  if (text.trim() !== '' && !isSide) entries.push({ kind: 'message', at, text });
  for (const part of parts) {
    const { id, name, args } = objectOf(part['functionCall']);
    const call = textOf(id);
    if (call === null) continue;
    // A tool that was found by searching is called through another one.
    const { name: inner, arguments: given } = objectOf(args);
    const toolCall =
      name === 'tool_call'
        ? toolCallOf(textOf(inner) ?? '', objectOf(given), null)
        : toolCallOf(textOf(name) ?? '', objectOf(args), null);
    entries.push({ kind: 'tool-began', at, call, toolCall });
  }
  return entries;
}

function endEntries(answer: JsonObject, record: JsonObject, at: string | null): TranscriptEntry[] {
  const told = objectOf(record['toolCallResult']);
  const call = textOf(answer['id']) ?? textOf(told['callId']);
  if (call === null) return [];
  const display = objectOf(told['resultDisplay']);
  const result = resultOf(answer['response'], told['status'] === 'error');
  const exitCode = countOf(display['exitCode']) ?? result.exitCode;
  const entries: TranscriptEntry[] = [
    {
      kind: 'tool-ended',
      at,
      call,
      result: {
        exitCode,
        isFailure: result.isFailure || (exitCode ?? 0) !== 0,
        isCancelled: result.isCancelled || told['status'] === 'cancelled',
      },
    },
  ];
  const path = textOf(display['filePath']);
  // A file that was empty before was made here.
  if (path !== null && told['status'] !== 'error')
    entries.push({
      kind: 'files',
      at,
      files: [{ path, read: false, change: display['originalContent'] === '' ? 'created' : 'modified' }],
    });
  return entries;
}

function systemEntries(record: JsonObject, payload: JsonObject, at: string | null): TranscriptEntry[] {
  if (record['subtype'] !== 'chat_compression') return [];
  const [first] = listOf(payload['compressedHistory']).map(objectOf);
  const text = textIn(listOf(first?.['parts']).map(objectOf));
  return text.trim() === '' ? [] : [{ kind: 'summary', at, text }];
}

/** Without what hooks added. */
function textIn(parts: readonly JsonObject[]): string {
  return parts
    .map((part) => textOf(part['text']) ?? '')
    .filter((text) => text !== '' && !text.startsWith('<qwen:'))
    .join('\n');
}

/** Its input has what came from the cache inside; its thoughts stand beside the output. */
function usageEntry(record: JsonObject, at: string | null): TranscriptEntry {
  const usage = objectOf(record['usageMetadata']);
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  return {
    kind: 'usage',
    at,
    id: textOf(record['uuid']),
    spent: {
      input: count('promptTokenCount'),
      output: count('candidatesTokenCount') + count('thoughtsTokenCount'),
      cached: count('cachedContentTokenCount'),
    },
  };
}
