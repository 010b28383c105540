import { basename, join } from 'node:path';
import { type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, type TouchedFile, toolCallOf } from '../tool-call.ts';
import {
  type ClientTranscript,
  fieldIn,
  isWithin,
  readByLine,
  type Transcript,
  type TranscriptFiles,
  timeOf,
  transcriptAt,
} from '../transcript.ts';
import { spentOf } from './hooks.ts';

/** Codex CLI: `sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`, older ones compressed. */
export const transcript: ClientTranscript = {
  home: (environment, userHome) => environment['CODEX_HOME'] || join(userHome, '.codex'),
  find(home, { folder, id }, files) {
    const found = rollouts(files, home).filter((one) => id === null || one.id === id);
    if (id !== null || folder === null) return found;
    const newest = found.sort((a, b) => b.writtenMs - a.writtenMs).slice(0, OPENED_LIMIT);
    return newest.filter(({ path }) => isWithin(files, folder, fieldIn(files.readHead(path), 'cwd')));
  },
  read: ({ path }, files) => readByLine(files, path, createReader()),
  recognises: (path, head) =>
    /rollout-[^\\/]*\.jsonl(?:\.zst)?$/.test(path) ||
    /"type":\s*"(?:session_meta|turn_context|event_msg)"|^\s*\{"(?:timestamp|created_at)":"[^"]*","(?:role|type)":"(?:user|assistant|tool_call|function_call)","(?:content|message)":"/.test(
      head,
    ),
  specificity: 7,
  idIn: (path, head) => rolloutId(basename(path)) ?? fieldIn(head, 'id'),
};

/** The folder of a conversation is inside its file; of very many files only the newest are opened. */
const OPENED_LIMIT = 500;

function rollouts(files: TranscriptFiles, home: string): Transcript[] {
  const below = (folder: string): string[] => files.namesIn(folder, 'folder').map((name) => join(folder, name));
  const days = below(join(home, 'sessions')).flatMap(below).flatMap(below);
  return [join(home, 'archived_sessions'), ...days].flatMap((folder) =>
    files.namesIn(folder, 'file').flatMap((name) => {
      const id = rolloutId(name);
      return id === null ? [] : (transcriptAt(files, 'codex', id, join(folder, name)) ?? []);
    }),
  );
}

/** The conversation that a rollout is named after. */
function rolloutId(name: string): string | null {
  return /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+?)(?:_[^_]+)?\.jsonl(?:\.zst)?$/.exec(name)?.[1] ?? null;
}

type Entries = TranscriptEntry[];

function createReader(): (entry: JsonObject) => Entries {
  const texts = createTexts();
  const calls = createCalls();
  return (entry) => {
    const at = timeOf(entry['timestamp'] ?? entry['created_at']);
    const payload = objectOf(entry['payload']);
    switch (entry['type']) {
      case 'session_meta':
        return [sessionEntry(payload, at)];
      case 'turn_context': {
        const model = textOf(payload['model']);
        return model ? [{ kind: 'model', at, name: model }] : [];
      }
      case 'response_item':
        return itemEntries(payload, at, texts, calls);
      case 'event_msg':
        return payload['type'] === 'item_completed'
          ? completedEntries(objectOf(payload['item']), at, texts)
          : eventEntries(payload, at, texts);
      case 'compacted': {
        const text = textOf(payload['message']);
        return text ? [{ kind: 'summary', at, text }] : [];
      }
      case 'token_usage_record':
        return totalEntry(payload['thread_token_usage'], at);
      default:
        // The oldest rollouts have the items themselves as lines.
        return itemEntries(entry, at, texts, calls);
    }
  };
}

type Texts = (kind: 'request' | 'message', text: string | null, at: string | null) => Entries;

/** Rollouts hold a text twice, as what the model saw and as an event; only the first one counts. */
function createTexts(): Texts {
  const last = { request: '', message: '' };
  return (kind, text, at) => {
    if (!text?.trim() || last[kind] === text.trim() || (kind === 'request' && isContext(text))) return [];
    last[kind] = text.trim();
    last[kind === 'request' ? 'message' : 'request'] = '';
    return [{ kind, at, text }];
  };
}

/** What the client sends in the user's name. */
const isContext = (text: string): boolean =>
  /^\s*(?:<(?:environment_context|user_instructions|permissions|skills|turn_aborted|subagent|INSTRUCTIONS)|# AGENTS\.md)/.test(
    text,
  );

interface Calls {
  begin(id: string | null): string;
  end(id: string | null): string;
}

/** Old rollouts have calls without an id: an output belongs to the last of them. */
function createCalls(): Calls {
  let unnamed = 0;
  return {
    begin(id) {
      if (id === null) unnamed += 1;
      return id ?? `unnamed-${unnamed}`;
    },
    end: (id) => id ?? `unnamed-${unnamed}`,
  };
}

function itemEntries(item: JsonObject, at: string | null, texts: Texts, calls: Calls): Entries {
  const id = textOf(item['call_id']) ?? textOf(item['id']);
  switch (item['type'] ?? (item['role'] === undefined ? null : 'message')) {
    case 'message': {
      const text = contentText(item['content'] ?? item['message']);
      if (item['role'] === 'assistant') return texts('message', text, at);
      return item['role'] === 'user' ? texts('request', text, at) : [];
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'tool_call': {
      const name = textOf(item['name']) ?? textOf(objectOf(item['function'])['name']) ?? 'local_shell';
      const input = argumentsOf(item['arguments'] ?? item['input'] ?? item['action']);
      return [{ kind: 'tool-began', at, call: calls.begin(id), toolCall: toolCallOf(name, input, null) }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'tool_result':
    case 'function_result':
      return [endEntry(calls.end(id), item['output'] ?? item['result'], at)];
    case 'error':
      return [{ kind: 'error', at, text: textOf(item['text']) ?? 'An error.' }];
    default:
      return [];
  }
}

/** The events of new rollouts. */
function completedEntries(item: JsonObject, at: string | null, texts: Texts): Entries {
  const call = textOf(item['id']) ?? '';
  const result = resultOf(item, item['status'] === 'failed' || item['status'] === 'declined');
  switch (item['type']) {
    case 'UserMessage':
      return texts('request', contentText(item['content']), at);
    case 'AgentMessage':
      return texts('message', contentText(item['content']), at);
    case 'CommandExecution':
      return [{ kind: 'tool-ended', at, call, toolCall: toolCallOf('shell', item, null), result }];
    case 'FileChange':
      return [{ kind: 'tool-ended', at, call, files: changedFiles(item['changes']), result }];
    default:
      return [];
  }
}

/** The events of old rollouts, and those that both have. */
function eventEntries(payload: JsonObject, at: string | null, texts: Texts): Entries {
  const call = textOf(payload['call_id']) ?? '';
  switch (payload['type']) {
    case 'user_message':
      return texts('request', textOf(payload['message']), at);
    case 'agent_message':
      return texts('message', textOf(payload['message']), at);
    case 'exec_command_end': {
      const toolCall = toolCallOf('shell', payload, null);
      return [{ kind: 'tool-ended', at, call, toolCall, result: resultOf(payload) }];
    }
    case 'patch_apply_end':
      return [{ kind: 'tool-ended', at, call, files: changedFiles(payload['changes']), result: resultOf(payload) }];
    case 'token_count':
      return totalEntry(objectOf(payload['info'])['total_token_usage'], at);
    case 'turn.completed':
      return payload['usage'] === undefined
        ? [{ kind: 'turn-ended', at }]
        : [{ kind: 'usage', at, id: null, spent: spentOf(objectOf(payload['usage'])) }];
    case 'task_complete':
      return [...texts('message', textOf(payload['last_agent_message']), at), { kind: 'turn-ended', at }];
    case 'turn_aborted':
      return [{ kind: 'error', at, text: `The turn was aborted: ${textOf(payload['reason']) ?? 'no reason given'}.` }];
    case 'error':
    case 'stream_error': {
      const message = textOf(payload['message']) ?? textOf(objectOf(payload['error'])['message']);
      return [{ kind: 'error', at, text: message ?? 'An error.' }];
    }
    default:
      return [];
  }
}

function sessionEntry(payload: JsonObject, at: string | null): TranscriptEntry {
  const branch = textOf(objectOf(payload['git'])['branch']);
  return { kind: 'session', at, id: textOf(payload['id']), cwd: textOf(payload['cwd']), branch };
}

function endEntry(call: string, output: unknown, at: string | null): TranscriptEntry {
  const text = typeof output === 'string' ? output : '';
  const result = resultOf(text.startsWith('{') ? argumentsOf(text)['metadata'] : output);
  // Its newest tool writes the code into the text for the model.
  const code = /^Process exited with code (-?\d{1,5})$/m.exec(text.slice(0, 600))?.[1];
  if (code === undefined) return { kind: 'tool-ended', at, call, result };
  return {
    kind: 'tool-ended',
    at,
    call,
    result: { ...result, exitCode: Number(code), isFailure: Number(code) !== 0 },
  };
}

function argumentsOf(given: unknown): JsonObject {
  if (typeof given !== 'string') return objectOf(given);
  try {
    return objectOf(JSON.parse(given));
  } catch {
    // The text of a patch.
    return { input: given };
  }
}

function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  const texts = listOf(content).flatMap((part) => textOf(objectOf(part)['text']) ?? []);
  return texts.length > 0 ? texts.join('\n') : null;
}

const changes = { add: 'created', update: 'modified', delete: 'deleted' } as const;

function changedFiles(given: unknown): TouchedFile[] {
  return Object.entries(objectOf(given)).flatMap(([path, written]): TouchedFile[] => {
    const { type, move_path: moved } = objectOf(written);
    const target = textOf(moved);
    if (target === null) return [{ path, read: false, change: changes[type as keyof typeof changes] ?? 'modified' }];
    return [
      { path, read: false, change: 'deleted' },
      { path: target, read: false, change: 'created' },
    ];
  });
}

function totalEntry(total: unknown, at: string | null): TranscriptEntry[] {
  if (typeof total !== 'object' || total === null) return [];
  return [{ kind: 'usage', at, id: null, spent: spentOf(objectOf(total)), isTotal: true }];
}
