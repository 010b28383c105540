import { dirname, join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { readTodoList, resultOf, type TouchedFile, toolCallOf } from '../tool-call.ts';
import {
  type ClientTranscript,
  fieldIn,
  isWithin,
  readByLine,
  type Transcript,
  type TranscriptFiles,
  timeOf,
  transcriptAt,
  transcriptsIn,
} from '../transcript.ts';
import { spentOf, usageIn } from './hooks.ts';

/** Copilot CLI: `session-state/ID/events.jsonl`, its to-do list in a database beside it; older versions write `ID.jsonl`. */
export const transcript: ClientTranscript = {
  home: (environment, userHome) => environment['COPILOT_HOME'] || join(userHome, '.copilot'),
  find(home, { folder, id }, files) {
    const state = join(home, 'session-state');
    const found: Transcript[] = [
      ...files
        .namesIn(state, 'folder')
        .flatMap((name) => transcriptAt(files, 'copilot', name, join(state, name, 'events.jsonl')) ?? []),
      ...transcriptsIn(files, 'copilot', state, '.jsonl'),
    ];
    if (id !== null) return found.filter((one) => one.id === id);
    return found.filter(({ path }) => folder === null || isWithin(files, folder, folderOf(files, path)));
  },
  *read({ path }, files) {
    yield* readByLine(files, path, entriesOf);
    yield* todosBeside(files, path);
  },
  specificity: 6,
  recognises: (path, head) =>
    /[\\/]session-state[\\/]/.test(path) ||
    /"type":\s*"(?:session\.start|user\.message|assistant\.message)"/.test(head),
};

function folderOf(files: TranscriptFiles, path: string): string | null {
  const written = /^cwd:\s*(.+?)\s*$/m.exec(files.readHead(join(dirname(path), 'workspace.yaml'), 8192))?.[1];
  return written?.replace(/^(["'])(.*)\1$/, '$2') ?? fieldIn(files.readHead(path), 'cwd');
}

function* todosBeside(files: TranscriptFiles, path: string): Generator<TranscriptEntry> {
  if (!files.namesIn(dirname(path), 'file').includes('session.db')) return;
  try {
    const database = files.openDatabase(join(dirname(path), 'session.db'));
    try {
      const rows = database.all('SELECT title, status FROM todos ORDER BY rowid LIMIT 200');
      if (rows.length > 0) yield { kind: 'todos', change: readTodoList(rows) };
    } finally {
      database.close();
    }
  } catch {
    // It has no to-do list.
  }
}

function entriesOf(entry: JsonObject): TranscriptEntry[] {
  const at = timeOf(entry['timestamp']);
  const data = objectOf(entry['data']);
  switch (entry['type']) {
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
    case 'session.usage_record': {
      const usage = usageIn(entry);
      return usage ? [{ kind: 'usage', at, ...usage }] : [];
    }
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
      files,
      result: { ...result, exitCode, isFailure: result.isFailure || (exitCode ?? 0) !== 0 },
    },
  ];
}

/** Older versions report tokens only at the end. */
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
