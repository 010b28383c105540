import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';
import {
  isWithin,
  namesIn,
  spellingsOf,
  type Transcript,
  type TranscriptClient,
  timeOf,
  transcriptAt,
} from '../transcript.ts';
import { fieldIn, readDocument, readHead, readRecords } from '../transcript-lines.ts';

/**
 * Gemini CLI: `tmp/PROJECT/chats/session-TIME-ID.jsonl`, a log of changes in which a message with a known id takes the
 * place of the earlier one and a compaction replaces all of them; before that `.json`, one document.
 */
export const gemini: TranscriptClient = {
  find(home, { folder, id }) {
    const tmp = join(home, 'tmp');
    const projects = namesIn(tmp, 'folder').filter((name) => id !== null || isProject(home, name, folder));
    const found = projects.flatMap((name) => chatsIn(join(tmp, name, 'chats')));
    return id === null ? found : found.filter((one) => one.id === id || id.startsWith(`${one.id}-`));
  },
  *read({ path }) {
    const entriesOf = createReader();
    if (path.endsWith('.json')) {
      const document = readDocument(path);
      if (document === null) yield { kind: 'problem', line: 1, message: 'and the rest is no JSON document.' };
      yield* entriesOf({ ...document, messages: undefined });
      for (const message of [...listOf(document?.['messages']), ...listOf(document?.['history'])])
        yield* entriesOf(objectOf(message));
      return;
    }
    for (const { line, record, problem } of readRecords(path)) {
      if (record) yield* entriesOf(record);
      else yield { kind: 'problem', line, message: problem };
    }
  },
  recognises: (path, head) =>
    /[\\/]chats[\\/]session-[^\\/]*\.jsonl?$/.test(path) || /"projectHash"|"\$set"|"history":/.test(head),
};

function isProject(home: string, name: string, folder: string | null): boolean {
  if (folder === null) return true;
  const root = readHead(join(home, 'tmp', name, '.project_root'), 8192).trim();
  if (root !== '') return isWithin(folder, root);
  // Before it kept the path, it named the folder by its hash.
  return spellingsOf(folder).some((path) => createHash('sha256').update(path).digest('hex') === name);
}

function chatsIn(folder: string): Transcript[] {
  return namesIn(folder, 'file').flatMap((name) => {
    const short = /^session-.*?-?([0-9a-f]{8})\.jsonl?$/.exec(name)?.[1];
    if (!/\.jsonl?$/.test(name)) return [];
    const path = join(folder, name);
    const id = fieldIn(readHead(path, 64 * 1024), 'sessionId') ?? short ?? name;
    return transcriptAt('gemini', id, path) ?? [];
  });
}

function createReader(): (record: JsonObject) => TranscriptEntry[] {
  const ended = new Set<string>();
  return (record) => {
    const patch = objectOf(record['$set']);
    if (record['$set'] !== undefined) return [...sessionEntries(patch), ...summaryEntries(patch['messages'])];
    if (record['type'] === undefined && record['role'] === undefined) return sessionEntries(record);
    return messageEntries(record);
  };

  function messageEntries(message: JsonObject): TranscriptEntry[] {
    const at = timeOf(message['timestamp'] ?? message['ts']);
    const text = ownText(message['content'] ?? message['parts']);
    const entries: TranscriptEntry[] = [];
    switch (message['type'] ?? message['role']) {
      case 'user':
        return text === '' || text.startsWith('<session_context>') ? [] : [{ kind: 'request', at, text }];
      case 'error':
        return text === '' ? [] : [{ kind: 'error', at, text }];
      case 'gemini':
      case 'model':
        break;
      default:
        return [];
    }
    const model = textOf(message['model']);
    if (model) entries.push({ kind: 'model', at, name: model });
    if (message['tokens'] !== undefined) entries.push(usageEntry(message, at));
    if (text !== '') entries.push({ kind: 'message', at, text });
    for (const one of listOf(message['toolCalls'])) entries.push(...callEntries(objectOf(one), at));
    return entries;
  }

  /** A call is written again with its answer; what has ended is told once. */
  function callEntries(told: JsonObject, at: string | null): TranscriptEntry[] {
    const call = textOf(told['id']);
    if (call === null || ended.has(call)) return [];
    const { name, args, status, resultDisplay, result } = told;
    const toolCall = toolCallOf(textOf(name) ?? '', objectOf(args), { returnDisplay: resultDisplay });
    const when = timeOf(told['timestamp']) ?? at;
    const begun: TranscriptEntry = { kind: 'tool-began', at: when, call, toolCall };
    if (status === 'executing' || status === 'scheduled' || status === 'validating') return [begun];
    if (status === undefined && result === undefined) return [begun];
    ended.add(call);
    const answer = objectOf(objectOf(listOf(result)[0])['functionResponse'])['response'];
    const found = resultOf(answer, status === 'error');
    const isSilent = toolCall.command !== null && found.exitCode === null && !found.isFailure && status === 'success';
    // A code is written only where it is not zero.
    const exitCode = isSilent && toolCall.inBackground !== true ? 0 : found.exitCode;
    const isCancelled = found.isCancelled || status === 'cancelled';
    return [begun, { kind: 'tool-ended', at: when, call, result: { ...found, exitCode, isCancelled } }];
  }
}

function sessionEntries(header: JsonObject): TranscriptEntry[] {
  const id = textOf(header['sessionId']);
  const at = timeOf(header['startTime'] ?? header['start_time']);
  return id === null && at === null ? [] : [{ kind: 'session', at, id }];
}

/** After a compaction all messages are replaced: a request for a summary's sake, then the client's thanks for it. */
function summaryEntries(messages: unknown): TranscriptEntry[] {
  const list = listOf(messages).map(objectOf);
  const thanks = list.findIndex((one) => /^Got it\. Thanks for the additional context/.test(ownText(one['content'])));
  const summary = ownText(list[thanks - 1]?.['content']);
  return thanks > 0 && summary !== '' && !summary.startsWith('<session_context>')
    ? [{ kind: 'summary', text: summary }]
    : [];
}

/** Without what hooks and the client itself added. */
function ownText(content: unknown): string {
  const parts = typeof content === 'string' ? [content] : listOf(content).map((part) => objectOf(part)['text']);
  return parts
    .map((part) => (textOf(part) ?? '').replace(/<hook_context>[\s\S]*?(?:<\/hook_context>|$)/g, '').trim())
    .filter((part) => part !== '')
    .join('\n');
}

/** Its input has what came from the cache inside; its thoughts stand beside the output. */
function usageEntry(message: JsonObject, at: string | null): TranscriptEntry {
  const tokens = objectOf(message['tokens']);
  const count = (field: string): number => countOf(tokens[field]) ?? 0;
  const spent = { input: count('input'), output: count('output') + count('thoughts'), cached: count('cached') };
  return { kind: 'usage', at, id: textOf(message['id']), spent };
}
