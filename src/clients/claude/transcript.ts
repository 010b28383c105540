import { dirname, join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, type ToolCall, toolCallOf } from '../tool-call.ts';
import { isWithin, projectFolders, type TranscriptClient, timeOf, transcriptsIn } from '../transcript.ts';
import { fieldIn, readDocument, readHead, readRecords } from '../transcript-lines.ts';

/**
 * Claude Code: `projects/FOLDER/ID.jsonl`, one line a block of a message. Subagents have files of their own, in
 * `ID/subagents/`; older versions put them beside the conversation, and the oldest into its file.
 */
export const claude: TranscriptClient = {
  find(home, { folder, id }) {
    const found = projectFolders(join(home, 'projects'), id === null ? folder : null, projectName)
      .flatMap((place) => transcriptsIn('claude', place, '.jsonl'))
      .filter((one) => !isSubagentName(one.id));
    if (id !== null) return found.filter((one) => one.id === id);
    return found.filter(({ path }) => folder === null || isWithin(folder, fieldIn(readHead(path), 'cwd')));
  },
  subagents({ path, id }) {
    const place = path.replace(/\.jsonl$/, '');
    if (place === path) return [];
    const below = transcriptsIn('claude', join(place, 'subagents'), '.jsonl');
    const beside = transcriptsIn('claude', dirname(path), '.jsonl').filter(
      (one) => isSubagentName(one.id) && fieldIn(readHead(one.path), 'sessionId') === id,
    );
    return [...below, ...beside].map((one) => {
      const type = textOf(readDocument(one.path.replace(/\.jsonl$/, '.meta.json'))?.['agentType']);
      return { ...one, subagent: { id: one.id.replace(/^agent-/, ''), type } };
    });
  },
  *read(transcript) {
    const { path } = transcript;
    const entriesOf = createReader('subagent' in transcript);
    if (path.endsWith('.json')) {
      for (const line of listOf(readDocument(path)?.['loglines'])) yield* entriesOf(objectOf(line));
      return;
    }
    for (const { line, record, problem } of readRecords(path, isBulk)) {
      if (record) yield* entriesOf(record);
      else yield { kind: 'problem', line, message: problem };
    }
  },
  recognises: (path, head) =>
    /[\\/]projects[\\/][^\\/]+[\\/][^\\/]+\.jsonl$/.test(path) && !head.includes('"parts"')
      ? true
      : /"loglines"|"parentUuid"|"cache_read_input_tokens"|"type":\s*"(?:user|assistant|summary|file-history-snapshot)"/.test(
          head,
        ) &&
        !head.includes('"parts"') &&
        !/"type":"(?:session_meta|session\.start)"/.test(head),
};

const isSubagentName = (name: string): boolean => name.startsWith('agent-');

/** The folder of a project: its path with everything but letters and digits as dashes. */
export function projectName(path: string): string {
  return path.replace(/[^A-Za-z0-9]/g, '-');
}

/** Copies of what is sent to the model: most of the bytes, and nothing that is not said elsewhere. */
function isBulk(text: string): boolean {
  return /^.{0,400}?"type":"(?:api-request|progress|file-history-snapshot|attachment)/s.test(text);
}

/** In a subagent's own file everything is on its side of the conversation. */
function createReader(isSubagent: boolean): (record: JsonObject) => TranscriptEntry[] {
  const calls = new Map<string, { tool: string; input: JsonObject; toolCall: ToolCall }>();
  let isFirst = true;
  return (record) => {
    const at = timeOf(record['timestamp']);
    const entries: TranscriptEntry[] = [];
    if (isFirst && textOf(record['sessionId'])) {
      isFirst = false;
      entries.push({
        kind: 'session',
        at,
        id: textOf(record['sessionId']),
        cwd: textOf(record['cwd']),
        branch: textOf(record['gitBranch']),
      });
    }
    const message = objectOf(record['message']);
    const isSide = record['isSidechain'] === true && !isSubagent;
    if (record['type'] === 'assistant' || (record['type'] === undefined && message['usage'] !== undefined))
      entries.push(...assistantEntries(record, message, isSide, at));
    if (record['type'] === 'user') entries.push(...userEntries(record, message, isSide, at));
    if (record['type'] === 'cost-state') entries.push(totalEntry(objectOf(record['modelUsage']), at));
    if (record['type'] === 'summary') entries.push(...summaryEntry(textOf(record['summary'])));
    return entries;
  };

  function assistantEntries(
    record: JsonObject,
    message: JsonObject,
    isSide: boolean,
    at: string | null,
  ): TranscriptEntry[] {
    const entries: TranscriptEntry[] = [];
    const model = textOf(message['model']);
    if (record['isApiErrorMessage'] === true) {
      const told = listOf(message['content']).map((block) => textOf(objectOf(block)['text']) ?? '');
      return [{ kind: 'error', at, text: told.join('\n') || 'The request to the model failed.' }];
    }
    if (model === '<synthetic>') return [];
    if (model) entries.push({ kind: 'model', at, name: model });
    if (message['usage'] !== undefined) entries.push(usageEntry(message, at));
    const content = message['content'];
    for (const block of typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)) {
      const { type, id, name, input, text } = objectOf(block);
      if (type === 'text' && !isSide && textOf(text)) entries.push({ kind: 'message', at, text: text as string });
      const call = textOf(id);
      if (type !== 'tool_use' || call === null) continue;
      const tool = textOf(name) ?? '';
      const toolCall = toolCallOf(tool, objectOf(input), null);
      calls.set(call, { tool, input: objectOf(input), toolCall });
      entries.push({ kind: 'tool-began', at, call, toolCall });
    }
    return entries;
  }

  function userEntries(record: JsonObject, message: JsonObject, isSide: boolean, at: string | null): TranscriptEntry[] {
    const content = message['content'];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
    if (record['isCompactSummary'] === true) return summaryEntry(textIn(blocks));
    const entries: TranscriptEntry[] = [];
    for (const block of blocks) {
      const { type, tool_use_id: id, is_error: failed, content: answer } = objectOf(block);
      const call = textOf(id);
      if (type !== 'tool_result' || call === null) continue;
      const begun = calls.get(call);
      calls.delete(call);
      const told = objectOf(record['toolUseResult']);
      const result = resultOf(Object.keys(told).length > 0 ? told : answer, failed === true);
      const words = typeof answer === 'string' ? answer : textIn(listOf(answer).map(objectOf));
      const code = failed === true ? /^Exit code (\d{1,5})/.exec(words)?.[1] : undefined;
      const toolCall = begun ? { toolCall: toolCallOf(begun.tool, begun.input, told) } : {};
      const exitCode =
        code === undefined ? (result.exitCode ?? shellCode(begun?.toolCall, failed === true)) : Number(code);
      entries.push({ kind: 'tool-ended', at, call, ...toolCall, result: { ...result, exitCode } });
    }
    const text = textIn(blocks);
    const isRequest = entries.length === 0 && !isSide && record['isMeta'] !== true && !isLocal(text);
    if (isRequest && text.trim() !== '') entries.push({ kind: 'request', at, text });
    return entries;
  }
}

/** A command that did not fail ended with zero: only failures are told with their code. */
function shellCode(call: ToolCall | undefined, isFailure: boolean): number | null {
  return call?.command && !call.inBackground && !isFailure ? 0 : null;
}

/** What the client puts into the conversation itself. */
function isLocal(text: string): boolean {
  return /^\s*(?:<(?:command-name|command-message|local-command|bash-|system-reminder|task-notification)|\[Request interrupted|Caveat: )/.test(
    text,
  );
}

function textIn(blocks: readonly JsonObject[]): string {
  return blocks
    .filter((block) => block['type'] === 'text')
    .map((block) => textOf(block['text']) ?? '')
    .join('\n');
}

function summaryEntry(text: string | null): TranscriptEntry[] {
  return text ? [{ kind: 'summary', text }] : [];
}

/** What the client counts itself, with requests that leave no message: those for a compaction. */
function totalEntry(models: JsonObject, at: string | null): TranscriptEntry {
  const spent = { input: 0, output: 0, cached: 0 };
  for (const model of Object.values(models)) {
    const count = (field: string): number => countOf(objectOf(model)[field]) ?? 0;
    const cached = count('cacheReadInputTokens');
    spent.input += count('inputTokens') + cached + count('cacheCreationInputTokens');
    spent.output += count('outputTokens');
    spent.cached += cached;
  }
  return { kind: 'usage', at, id: null, spent, isTotal: true };
}

/** Its input is without what came from a cache or went there. */
function usageEntry(message: JsonObject, at: string | null): TranscriptEntry {
  const usage = objectOf(message['usage']);
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  const cached = count('cache_read_input_tokens');
  const input = count('input_tokens') + cached + count('cache_creation_input_tokens');
  return { kind: 'usage', at, id: textOf(message['id']), spent: { input, output: count('output_tokens'), cached } };
}
