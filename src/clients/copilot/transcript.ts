import { dirname, join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { readTodoList, resultOf, type TouchedFile, toolCallOf } from '../tool-call.ts';
import {
  isWithin,
  namesIn,
  type OpenDatabase,
  type Transcript,
  type TranscriptClient,
  timeOf,
  transcriptAt,
  transcriptsIn,
} from '../transcript.ts';
import { fieldIn, readHead, readRecords } from '../transcript-lines.ts';

/** Copilot CLI: `session-state/ID/events.jsonl`, its to-do list in a database beside it; before that `ID.jsonl`. */
export const copilot: TranscriptClient = {
  find(home, { folder, id }) {
    const state = join(home, 'session-state');
    const found: Transcript[] = [
      ...namesIn(state, 'folder').flatMap(
        (name) => transcriptAt('copilot', name, join(state, name, 'events.jsonl')) ?? [],
      ),
      ...transcriptsIn('copilot', state, '.jsonl'),
    ];
    if (id !== null) return found.filter((one) => one.id === id);
    return found.filter(({ path }) => folder === null || isWithin(folder, placeOf(path)));
  },
  *read({ path }, open) {
    for (const { line, record, problem } of readRecords(path)) {
      if (record) yield* entriesOf(record);
      else yield { kind: 'problem', line, message: problem };
    }
    yield* todosBeside(path, open);
  },
  recognises: (path, head) =>
    /[\\/]session-state[\\/]/.test(path) ||
    /"type":\s*"(?:session\.start|user\.message|assistant\.message)"/.test(head),
};

function placeOf(path: string): string | null {
  const written = /^cwd:\s*(.+?)\s*$/m.exec(readHead(join(dirname(path), 'workspace.yaml'), 8192))?.[1];
  return written?.replace(/^(["'])(.*)\1$/, '$2') ?? fieldIn(readHead(path), 'cwd');
}

/** The agent keeps its list by writing SQL. */
function* todosBeside(path: string, open: OpenDatabase): Generator<TranscriptEntry> {
  const file = join(dirname(path), 'session.db');
  if (!namesIn(dirname(path), 'file').includes('session.db')) return;
  try {
    const database = open(file);
    try {
      const rows = database.all('SELECT title, status FROM todos ORDER BY rowid LIMIT 200');
      if (rows.length > 0) yield { kind: 'todos', change: readTodoList(rows) };
    } finally {
      database.close();
    }
  } catch {
    // No list was kept.
  }
}

function entriesOf(record: JsonObject): TranscriptEntry[] {
  const at = timeOf(record['timestamp']);
  const data = objectOf(record['data']);
  switch (record['type']) {
    case 'session.start':
    case 'session.resume':
      return sessionEntries(data, at);
    case 'session.model_change':
      return textOf(data['newModel']) ? [{ kind: 'model', at, name: textOf(data['newModel']) ?? '' }] : [];
    case 'user.message':
      return textOf(data['content'])?.trim() ? [{ kind: 'request', at, text: textOf(data['content']) ?? '' }] : [];
    case 'assistant.message':
      return messageEntries(data, at);
    case 'tool.execution_start':
      return beginEntries(data['toolCallId'], data['toolName'], data['arguments'], at);
    case 'tool.execution_complete':
      return endEntries(data, at);
    case 'session.usage_record':
      return [usageEntry(objectOf(data['usage']), textOf(record['id']), at)];
    case 'session.compaction_complete':
      return textOf(data['summaryContent'])
        ? [{ kind: 'summary', at, text: textOf(data['summaryContent']) ?? '' }]
        : [];
    case 'session.error':
      return [{ kind: 'error', at, text: textOf(data['message']) ?? 'An error.' }];
    case 'session.shutdown':
      return [...shutdownEntries(data, at), { kind: 'closed', at }];
    default:
      return [];
  }
}

function sessionEntries(data: JsonObject, at: string | null): TranscriptEntry[] {
  const context = objectOf(data['context']);
  const model = textOf(data['selectedModel']);
  return [
    {
      kind: 'session',
      at,
      id: textOf(data['sessionId']),
      cwd: textOf(context['cwd']),
      branch: textOf(context['branch']),
    },
    ...(model ? [{ kind: 'model' as const, at, name: model }] : []),
  ];
}

function messageEntries(data: JsonObject, at: string | null): TranscriptEntry[] {
  const text = textOf(data['content']);
  return [
    ...(text?.trim() ? [{ kind: 'message' as const, at, text }] : []),
    ...listOf(data['toolRequests']).flatMap((request) => {
      const { toolCallId, name, arguments: given } = objectOf(request);
      return beginEntries(toolCallId, name, given, at);
    }),
  ];
}

function beginEntries(id: unknown, name: unknown, given: unknown, at: string | null): TranscriptEntry[] {
  const call = textOf(id);
  return call === null
    ? []
    : [{ kind: 'tool-began', at, call, toolCall: toolCallOf(textOf(name) ?? '', objectOf(given), null) }];
}

const kinds = { create: 'created', edit: 'modified', delete: 'deleted' } as const;

function endEntries(data: JsonObject, at: string | null): TranscriptEntry[] {
  const call = textOf(data['toolCallId']);
  if (call === null) return [];
  const result = resultOf(objectOf(data['result'])['content'], data['success'] === false);
  const exitCode = countOf(objectOf(data['shellExecution'])['exitCode']) ?? result.exitCode;
  const files = listOf(data['fileEdits']).flatMap((one): TouchedFile[] => {
    const { path, kind } = objectOf(one);
    const file = textOf(path);
    return file === null ? [] : [{ path: file, read: false, change: kinds[kind as keyof typeof kinds] ?? 'modified' }];
  });
  return [
    {
      kind: 'tool-ended',
      at,
      call,
      result: { ...result, exitCode, isFailure: result.isFailure || (exitCode ?? 0) !== 0 },
    },
    ...(files.length > 0 ? [{ kind: 'files' as const, at, files }] : []),
  ];
}

/** Its input has what came from the cache inside, its output the reasoning. */
function usageEntry(usage: JsonObject, id: string | null, at: string | null): TranscriptEntry {
  return { kind: 'usage', at, id, spent: spentOf(usage) };
}

function spentOf(usage: JsonObject) {
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  return { input: count('inputTokens'), output: count('outputTokens'), cached: count('cacheReadTokens') };
}

/** Older versions count at the end only. */
function shutdownEntries(data: JsonObject, at: string | null): TranscriptEntry[] {
  const snapshot = objectOf(data['accountingSnapshot'] ?? data);
  const spent = { input: 0, output: 0, cached: 0 };
  for (const metrics of Object.values(objectOf(snapshot['modelMetrics']))) {
    const { input, output, cached } = spentOf(objectOf(objectOf(metrics)['usage']));
    spent.input += input;
    spent.output += output;
    spent.cached += cached;
  }
  return spent.input + spent.output > 0 ? [{ kind: 'usage', at, id: null, spent, isTotal: true }] : [];
}
