import { join } from 'node:path';
import { sha256 } from '../../core/sha256.ts';
import { type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';
import {
  type ClientTranscript,
  fieldIn,
  isWithin,
  readByLine,
  spellingsOf,
  type Transcript,
  type TranscriptFiles,
  timeOf,
  transcriptAt,
} from '../transcript.ts';
import { usageIn } from './hooks.ts';

/**
 * Gemini CLI: `tmp/PROJECT/chats/session-TIME-ID.jsonl`, a log of changes in which a message with a known id
 * replaces the earlier one and a compaction replaces all of them; older versions write `.json`, one document.
 */
export const transcript: ClientTranscript = {
  home: (environment, userHome) => join(environment['GEMINI_CLI_HOME'] || userHome, '.gemini'),
  find(home, { folder, id }, files) {
    const tmp = join(home, 'tmp');
    const names = files.namesIn(tmp, 'folder');
    const projects = names.filter((name) => id !== null || isProject(files, join(tmp, name), name, folder));
    const found = projects.flatMap((name) => chatsIn(files, join(tmp, name, 'chats')));
    return id === null ? found : found.filter((one) => one.id === id || id.startsWith(`${one.id}-`));
  },
  *read({ path }, files) {
    const entriesOf = createReader();
    if (!path.endsWith('.json')) return yield* readByLine(files, path, entriesOf);
    const document = files.readDocument(path);
    if (document === null) yield { kind: 'problem', line: 1, message: 'and the rest is not a JSON document.' };
    yield* entriesOf({ ...document, messages: undefined });
    for (const message of [...listOf(document?.['messages']), ...listOf(document?.['history'])])
      yield* entriesOf(objectOf(message));
  },
  specificity: 4,
  recognises: (path, head) =>
    /[\\/]chats[\\/]session-[^\\/]*\.jsonl?$/.test(path) || /"projectHash"|"\$set"|"history":/.test(head),
};

function isProject(files: TranscriptFiles, place: string, name: string, folder: string | null): boolean {
  if (folder === null) return true;
  const root = files.readHead(join(place, '.project_root'), 8192).trim();
  if (root !== '') return isWithin(files, folder, root);
  // Older versions do not write the path; they name the folder by its hash.
  return spellingsOf(files, folder).some((path) => sha256(path) === name);
}

function chatsIn(files: TranscriptFiles, folder: string): Transcript[] {
  return files.namesIn(folder, 'file').flatMap((name) => {
    const short = /^session-.*?-?([0-9a-f]{8})\.jsonl?$/.exec(name)?.[1];
    if (!/\.jsonl?$/.test(name)) return [];
    const path = join(folder, name);
    const id = fieldIn(files.readHead(path, 64 * 1024), 'sessionId') ?? short ?? name;
    return transcriptAt(files, 'gemini', id, path) ?? [];
  });
}

function createReader(): (entry: JsonObject) => TranscriptEntry[] {
  const ended = new Set<string>();
  return (entry) => {
    const patch = objectOf(entry['$set']);
    if (entry['$set'] !== undefined) return [...sessionEntries(patch), ...summaryEntries(patch['messages'])];
    if (entry['type'] === undefined && entry['role'] === undefined) return sessionEntries(entry);
    return messageEntries(entry);
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
    const usage = usageIn(message);
    if (usage) entries.push({ kind: 'usage', at, ...usage });
    if (text !== '') entries.push({ kind: 'message', at, text });
    for (const one of listOf(message['toolCalls'])) entries.push(...callEntries(objectOf(one), at));
    return entries;
  }

  /** The client writes a call again with its answer; its end is reported once. */
  function callEntries(written: JsonObject, at: string | null): TranscriptEntry[] {
    const call = textOf(written['id']);
    if (call === null || ended.has(call)) return [];
    const { name, args, status, resultDisplay, result } = written;
    const toolCall = toolCallOf(textOf(name) ?? '', objectOf(args), { returnDisplay: resultDisplay });
    const when = timeOf(written['timestamp']) ?? at;
    const begun: TranscriptEntry = { kind: 'tool-began', at: when, call, toolCall };
    if (status === 'executing' || status === 'scheduled' || status === 'validating') return [begun];
    if (status === undefined && result === undefined) return [begun];
    ended.add(call);
    const answer = objectOf(objectOf(listOf(result)[0])['functionResponse'])['response'];
    const found = resultOf(answer, status === 'error');
    const isSilent = toolCall.command !== null && found.exitCode === null && !found.isFailure && status === 'success';
    // The client writes only codes other than 0.
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

/** A compaction replaces all messages by a request with the summary and a fixed answer to it. */
function summaryEntries(messages: unknown): TranscriptEntry[] {
  const list = listOf(messages).map(objectOf);
  const answer = list.findIndex((one) => /^Got it\. Thanks for the additional context/.test(ownText(one['content'])));
  const summary = ownText(list[answer - 1]?.['content']);
  return answer > 0 && summary !== '' && !summary.startsWith('<session_context>')
    ? [{ kind: 'summary', text: summary }]
    : [];
}

/** The text without additions of hooks and of the client itself. */
function ownText(content: unknown): string {
  const parts = typeof content === 'string' ? [content] : listOf(content).map((part) => objectOf(part)['text']);
  return parts
    .map((part) => (textOf(part) ?? '').replace(/<hook_context>[\s\S]*?(?:<\/hook_context>|$)/g, '').trim())
    .filter((part) => part !== '')
    .join('\n');
}
