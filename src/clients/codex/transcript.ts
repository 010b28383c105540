import { join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, type Spent, type TouchedFile, toolCallOf } from '../tool-call.ts';
import { isWithin, namesIn, type Transcript, type TranscriptClient, timeOf, transcriptAt } from '../transcript.ts';
import { fieldIn, readHead, readRecords } from '../transcript-lines.ts';

/** Codex CLI: `sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`, older ones compressed. */
export const codex: TranscriptClient = {
  find(home, { folder, id }) {
    const found = rollouts(home).filter((one) => id === null || one.id === id);
    if (id !== null || folder === null) return found;
    const newest = found.sort((a, b) => b.writtenMs - a.writtenMs).slice(0, LOOKED_AT_LIMIT);
    return newest.filter(({ path }) => isWithin(folder, fieldIn(readHead(path), 'cwd')));
  },
  *read({ path }) {
    const entriesOf = createReader();
    for (const { line, record, problem } of readRecords(path)) {
      if (record) yield* entriesOf(record);
      else yield { kind: 'problem', line, message: problem };
    }
  },
  recognises: (path, head) =>
    /rollout-[^\\/]*\.jsonl(?:\.zst)?$/.test(path) ||
    /"type":\s*"(?:session_meta|turn_context|event_msg)"|^\s*\{"(?:timestamp|created_at)":"[^"]*","(?:role|type)":"(?:user|assistant|tool_call|function_call)","(?:content|message)":"/.test(
      head,
    ),
};

/** Where a conversation took place stands inside its file; of very many only the newest are looked into. */
const LOOKED_AT_LIMIT = 500;

function rollouts(home: string): Transcript[] {
  const found = filesIn(join(home, 'archived_sessions'));
  const sessions = join(home, 'sessions');
  for (const year of namesIn(sessions, 'folder'))
    for (const month of namesIn(join(sessions, year), 'folder'))
      for (const day of namesIn(join(sessions, year, month), 'folder'))
        found.push(...filesIn(join(sessions, year, month, day)));
  return found;
}

function filesIn(folder: string): Transcript[] {
  return namesIn(folder, 'file').flatMap((name) => {
    const id = rolloutId(name);
    return id === null ? [] : (transcriptAt('codex', id, join(folder, name)) ?? []);
  });
}

/** The conversation that a rollout is named after. */
export function rolloutId(name: string): string | null {
  return /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+?)(?:_[^_]+)?\.jsonl(?:\.zst)?$/.exec(name)?.[1] ?? null;
}

/** What the client says in the user's name. */
const isContext = (text: string): boolean =>
  /^\s*(?:<(?:environment_context|user_instructions|permissions|skills|turn_aborted|subagent|INSTRUCTIONS)|# AGENTS\.md)/.test(
    text,
  );

type Entries = TranscriptEntry[];

function createReader(): (record: JsonObject) => Entries {
  // Messages are told twice, as what the model saw and as what happened; the first of the two is taken.
  const said = { request: '', message: '' };
  let unnamed = 0;
  const words = (kind: 'request' | 'message', text: string | null, at: string | null): Entries => {
    if (!text?.trim() || said[kind] === text.trim() || (kind === 'request' && isContext(text))) return [];
    said[kind] = text.trim();
    if (kind === 'request') said.message = '';
    else said.request = '';
    return [{ kind, at, text }];
  };

  return (record) => {
    const at = timeOf(record['timestamp'] ?? record['created_at']);
    const payload = objectOf(record['payload']);
    switch (record['type']) {
      case 'session_meta':
        return [sessionEntry(payload, at)];
      case 'turn_context': {
        const model = textOf(payload['model']);
        return model ? [{ kind: 'model', at, name: model }] : [];
      }
      case 'response_item':
        return itemEntries(payload, at);
      case 'event_msg':
        return payload['type'] === 'item_completed'
          ? completedEntries(objectOf(payload['item']), at)
          : eventEntries(payload, at);
      case 'compacted':
        return textOf(payload['message']) ? [{ kind: 'summary', at, text: textOf(payload['message']) ?? '' }] : [];
      case 'token_usage_record':
        return totalEntry(payload['thread_token_usage'], at);
      default:
        // The oldest rollouts have the items themselves as lines.
        return itemEntries(record, at);
    }
  };

  function itemEntries(item: JsonObject, at: string | null): Entries {
    const call = textOf(item['call_id']) ?? textOf(item['id']);
    switch (item['type'] ?? (item['role'] === undefined ? null : 'message')) {
      case 'message': {
        const text = contentText(item['content'] ?? item['message']);
        if (item['role'] === 'assistant') return words('message', text, at);
        return item['role'] === 'user' ? words('request', text, at) : [];
      }
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call':
      case 'tool_call': {
        const name = textOf(item['name']) ?? textOf(objectOf(item['function'])['name']) ?? 'local_shell';
        const input = argumentsOf(item['arguments'] ?? item['input'] ?? item['action']);
        unnamed = call === null ? unnamed + 1 : unnamed;
        return [
          { kind: 'tool-began', at, call: call ?? `unnamed-${unnamed}`, toolCall: toolCallOf(name, input, null) },
        ];
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
      case 'tool_result':
      case 'function_result':
        return [endEntry(call ?? `unnamed-${unnamed}`, item['output'] ?? item['result'], at)];
      case 'error':
        return [{ kind: 'error', at, text: textOf(item['text']) ?? 'An error.' }];
      default:
        return [];
    }
  }

  /** The events of new rollouts. */
  function completedEntries(item: JsonObject, at: string | null): Entries {
    const call = textOf(item['id']) ?? '';
    switch (item['type']) {
      case 'UserMessage':
        return words('request', contentText(item['content']), at);
      case 'AgentMessage':
        return words('message', contentText(item['content']), at);
      case 'CommandExecution': {
        const toolCall = toolCallOf('shell', item, null);
        return [{ kind: 'tool-ended', at, call, toolCall, result: resultOf(item, item['status'] === 'failed') }];
      }
      case 'FileChange':
        return item['status'] === 'failed' ? [] : [{ kind: 'files', at, files: changedFiles(item['changes']) }];
      default:
        return [];
    }
  }

  /** The events of old rollouts, and those that both have. */
  function eventEntries(payload: JsonObject, at: string | null): Entries {
    switch (payload['type']) {
      case 'user_message':
        return words('request', textOf(payload['message']), at);
      case 'agent_message':
        return words('message', textOf(payload['message']), at);
      case 'exec_command_end': {
        const call = textOf(payload['call_id']) ?? '';
        return [
          { kind: 'tool-ended', at, call, toolCall: toolCallOf('shell', payload, null), result: resultOf(payload) },
        ];
      }
      case 'patch_apply_end':
        return payload['success'] === false ? [] : [{ kind: 'files', at, files: changedFiles(payload['changes']) }];
      case 'token_count':
        return totalEntry(objectOf(payload['info'])['total_token_usage'], at);
      case 'turn.completed':
        return payload['usage'] === undefined
          ? [{ kind: 'turn-ended', at }]
          : [{ kind: 'usage', at, id: null, spent: spentOf(objectOf(payload['usage'])) }];
      case 'task_complete':
        return [...words('message', textOf(payload['last_agent_message']), at), { kind: 'turn-ended', at }];
      case 'turn_aborted':
        return [
          { kind: 'error', at, text: `The turn was aborted: ${textOf(payload['reason']) ?? 'no reason given'}.` },
        ];
      case 'error':
      case 'stream_error': {
        const told = textOf(payload['message']) ?? textOf(objectOf(payload['error'])['message']);
        return [{ kind: 'error', at, text: told ?? 'An error.' }];
      }
      default:
        return [];
    }
  }
}

function sessionEntry(payload: JsonObject, at: string | null): TranscriptEntry {
  const branch = textOf(objectOf(payload['git'])['branch']);
  return { kind: 'session', at, id: textOf(payload['id']), cwd: textOf(payload['cwd']), branch };
}

function endEntry(call: string, output: unknown, at: string | null): TranscriptEntry {
  const text = typeof output === 'string' ? output : '';
  const result = resultOf(text.startsWith('{') ? argumentsOf(text)['metadata'] : output);
  // Its newest tool says so in the text that goes to the model.
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
  return Object.entries(objectOf(given)).flatMap(([path, told]) => {
    const { type, move_path: moved } = objectOf(told);
    const change = changes[type as keyof typeof changes] ?? 'modified';
    const target = textOf(moved);
    if (target === null) return [{ path, read: false, change }];
    return [
      { path, read: false, change: 'deleted' as const },
      { path: target, read: false, change: 'created' as const },
    ];
  });
}

function totalEntry(total: unknown, at: string | null): TranscriptEntry[] {
  if (typeof total !== 'object' || total === null) return [];
  return [{ kind: 'usage', at, id: null, spent: spentOf(objectOf(total)), isTotal: true }];
}

/** Its input has what came from the cache inside, its output the reasoning. */
function spentOf(usage: JsonObject): Spent {
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  return { input: count('input_tokens'), output: count('output_tokens'), cached: count('cached_input_tokens') };
}
