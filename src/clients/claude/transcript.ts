import { dirname, join } from 'node:path';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { resultOf, type ToolCall, toolCallOf } from '../tool-call.ts';
import { type ClientTranscript, fieldIn, findInProjects, readByLine, timeOf, transcriptsIn } from '../transcript.ts';
import { usageIn } from './hooks.ts';

/**
 * Claude Code: `projects/FOLDER/ID.jsonl`, one line per block of a message. Subagents have files of their own, in
 * `ID/subagents/`; older versions put them beside the conversation, and the oldest into its file.
 */
export const transcript: ClientTranscript = {
  home: (environment, userHome) => environment['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude'),
  find: (home, wanted, files) => findInProjects(files, 'claude', home, wanted).filter((one) => !isSubagentName(one.id)),
  subagents({ path, id }, files) {
    const place = path.replace(/\.jsonl$/, '');
    if (place === path) return [];
    const below = transcriptsIn(files, 'claude', join(place, 'subagents'), '.jsonl');
    const beside = transcriptsIn(files, 'claude', dirname(path), '.jsonl').filter(
      (one) => isSubagentName(one.id) && fieldIn(files.readHead(one.path), 'sessionId') === id,
    );
    return [...below, ...beside].map((one) => {
      const type = textOf(files.readDocument(one.path.replace(/\.jsonl$/, '.meta.json'))?.['agentType']);
      return { ...one, subagent: { id: one.id.replace(/^agent-/, ''), type } };
    });
  },
  *read(transcript, files) {
    const { path } = transcript;
    const entriesOf = createReader('subagent' in transcript);
    if (!path.endsWith('.json')) return yield* readByLine(files, path, entriesOf, isBulk);
    for (const line of listOf(files.readDocument(path)?.['loglines'])) yield* entriesOf(objectOf(line));
  },
  specificity: 1,
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

/** Copies of what is sent to the model: most of the bytes, and nothing that other lines do not have. */
function isBulk(text: string): boolean {
  return /^.{0,400}?"type":"(?:api-request|progress|file-history-snapshot|attachment)/s.test(text);
}

/** In a subagent's own file every entry is marked as a side chain, and none of them is one. */
function createReader(isSubagent: boolean): (entry: JsonObject) => TranscriptEntry[] {
  const calls = new Map<string, { tool: string; input: JsonObject; toolCall: ToolCall }>();
  let isFirst = true;
  return (entry) => {
    const at = timeOf(entry['timestamp']);
    const entries: TranscriptEntry[] = [];
    if (isFirst && textOf(entry['sessionId'])) {
      isFirst = false;
      entries.push({
        kind: 'session',
        at,
        id: textOf(entry['sessionId']),
        cwd: textOf(entry['cwd']),
        branch: textOf(entry['gitBranch']),
      });
    }
    const message = objectOf(entry['message']);
    const isSide = entry['isSidechain'] === true && !isSubagent;
    if (entry['type'] === 'assistant' || (entry['type'] === undefined && message['usage'] !== undefined))
      entries.push(...assistantEntries(entry, message, isSide, at));
    if (entry['type'] === 'user') entries.push(...userEntries(entry, message, isSide, at));
    if (entry['type'] === 'cost-state') entries.push(totalEntry(objectOf(entry['modelUsage']), at));
    if (entry['type'] === 'summary') entries.push(...summaryEntry(textOf(entry['summary'])));
    return entries;
  };

  function assistantEntries(
    entry: JsonObject,
    message: JsonObject,
    isSide: boolean,
    at: string | null,
  ): TranscriptEntry[] {
    const entries: TranscriptEntry[] = [];
    const model = textOf(message['model']);
    if (entry['isApiErrorMessage'] === true) {
      const texts = listOf(message['content']).map((block) => textOf(objectOf(block)['text']) ?? '');
      return [{ kind: 'error', at, text: texts.join('\n') || 'The request to the model failed.' }];
    }
    if (model === '<synthetic>') return [];
    if (model) entries.push({ kind: 'model', at, name: model });
    const usage = usageIn(entry);
    if (usage) entries.push({ kind: 'usage', at, ...usage });
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

  function userEntries(entry: JsonObject, message: JsonObject, isSide: boolean, at: string | null): TranscriptEntry[] {
    const content = message['content'];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
    if (entry['isCompactSummary'] === true) return summaryEntry(textIn(blocks));
    const entries: TranscriptEntry[] = [];
    for (const block of blocks) {
      const { type, tool_use_id: id, is_error: failed, content: answer } = objectOf(block);
      const call = textOf(id);
      if (type !== 'tool_result' || call === null) continue;
      const begun = calls.get(call);
      calls.delete(call);
      const response = objectOf(entry['toolUseResult']);
      const result = resultOf(Object.keys(response).length > 0 ? response : answer, failed === true);
      const words = typeof answer === 'string' ? answer : textIn(listOf(answer).map(objectOf));
      const code = failed === true ? /^Exit code (\d{1,5})/.exec(words)?.[1] : undefined;
      const toolCall = begun ? { toolCall: toolCallOf(begun.tool, begun.input, response) } : {};
      const exitCode =
        code === undefined ? (result.exitCode ?? shellCode(begun?.toolCall, failed === true)) : Number(code);
      entries.push({ kind: 'tool-ended', at, call, ...toolCall, result: { ...result, exitCode } });
    }
    const text = textIn(blocks);
    const isRequest = entries.length === 0 && !isSide && entry['isMeta'] !== true && !isLocal(text);
    if (isRequest && text.trim() !== '') entries.push({ kind: 'request', at, text });
    return entries;
  }
}

/** A command that did not fail ended with 0: only failures have a code. */
function shellCode(call: ToolCall | undefined, isFailure: boolean): number | null {
  return call?.command && !call.inBackground && !isFailure ? 0 : null;
}

/** Text that the client itself puts into the conversation. */
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

/** The client's own total, which includes requests that leave no message, such as those of a compaction. */
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
