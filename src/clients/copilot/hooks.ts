import { readClaudeEvent } from '../claude-events.ts';
import { countOf, type JsonObject, objectOf, textOf } from '../json-value.ts';
import type { ClientHooks, Moment, MomentKind, UsageReport } from '../moment.ts';
import { modelIn, type Spent, type TodoChange, todoStatus } from '../tool-call.ts';

/**
 * Copilot CLI. The case of an event's name chooses the form of its input: its own, or Claude's. It runs Claude's hooks
 * too, and accepts text for the model only at the top level of the answer.
 */
export const hooks: ClientHooks = {
  read(event, input) {
    if (!/^[A-Z]/.test(event)) return readCopilotEvent(event, input);
    const moment = readClaudeEvent(event, input, 'copilot');
    // Both forms of the start have the prompt: the one that is read second has nothing more to say.
    return moment?.kind === 'session-start' ? { ...moment, request: textOf(input['initial_prompt']) } : moment;
  },
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  answer: (_, context) => ({ additionalContext: context }),
  areRunByOthers: true,
  usageIn,
};

const claudeNames: ReadonlyMap<string, string> = new Map([
  ['sessionStart', 'SessionStart'],
  ['userPromptSubmitted', 'UserPromptSubmit'],
  ['preToolUse', 'PreToolUse'],
  ['postToolUse', 'PostToolUse'],
  ['postToolUseFailure', 'PostToolUseFailure'],
  ['subagentStart', 'SubagentStart'],
  ['subagentStop', 'SubagentStop'],
  ['agentStop', 'Stop'],
  ['errorOccurred', 'StopFailure'],
  ['preCompact', 'PreCompact'],
  ['sessionEnd', 'SessionEnd'],
]);

/** Its own events are Claude's under other names. */
function readCopilotEvent(event: string, input: JsonObject): Moment | null {
  const toolInput = argumentsOf(input['toolArgs']);
  const asClaude = {
    session_id: textOf(input['sessionId']) ?? input['session_id'],
    timestamp: input['timestamp'] === undefined ? null : String(input['timestamp']),
    cwd: input['cwd'],
    transcript_path: input['transcriptPath'],
    agent_transcript_path: input['transcriptPath'],
    agent_id: textOf(input['agentId']) ?? input['agent_id'],
    agent_type: textOf(input['agentName']) ?? input['agentType'],
    source: input['source'] === 'resume' ? 'resume' : 'startup',
    prompt: input['prompt'],
    tool_name: input['toolName'],
    tool_input: toolInput,
    tool_response: input['toolResult'],
    error: input['error'],
    error_details: input['errorContext'],
    reason: input['reason'],
  };
  const moment = readClaudeEvent(claudeNames.get(event) ?? '', asClaude, 'copilot');
  if (moment?.kind === 'session-start') return { ...moment, request: textOf(input['initialPrompt']) };
  if (moment?.kind !== 'tool-before' && moment?.kind !== 'tool-after') return moment;
  if (moment.call.tool !== 'sql') return moment;
  return { ...moment, call: { ...moment.call, todos: todosInSql(textOf(toolInput['query']) ?? '') } };
}

function argumentsOf(given: unknown): JsonObject {
  try {
    return objectOf(typeof given === 'string' ? JSON.parse(given) : given);
  } catch {
    return {};
  }
}

export function usageIn(entry: JsonObject): UsageReport | null {
  if (entry['type'] !== 'session.usage_record') return null;
  const data = objectOf(entry['data']);
  return { spent: { ...spentOf(objectOf(data['usage'])), ...modelIn(data) }, id: textOf(entry['id']) };
}

/** Its input includes tokens read from the cache, its output the reasoning. */
export function spentOf(usage: JsonObject): Spent {
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  return { input: count('inputTokens'), output: count('outputTokens'), cached: count('cacheReadTokens') };
}

/** Copilot keeps its to-do list in a table and writes it with SQL. Statements of any other form are ignored. */
function todosInSql(query: string): TodoChange | null {
  const entries: { id: string; text: string | null; status: ReturnType<typeof todoStatus> | null }[] = [];
  for (const statement of query.slice(0, 20_000).split(';')) {
    const inserted = /^\s*INSERT\s+(?:OR\s+\w+\s+)?INTO\s+todos\s*\(([^)]*)\)\s*VALUES([\s\S]*)$/i.exec(statement);
    if (inserted) {
      const columns = (inserted[1] ?? '').split(',').map((name) => name.trim().toLowerCase());
      for (const [, row = ''] of (inserted[2] ?? '').matchAll(/\(((?:'(?:[^']|'')*'|[^')])*)\)/g)) {
        const values = [...row.matchAll(/'((?:[^']|'')*)'|([^,'\s][^,']*)/g)].map(
          (found) => found[1]?.replaceAll("''", "'") ?? found[2]?.trim() ?? '',
        );
        const at = (name: string): string | null => textOf(values[columns.indexOf(name)]);
        const id = at('id');
        if (id !== null) entries.push({ id, text: at('title'), status: todoStatus(at('status')) });
      }
      continue;
    }
    const status = /^\s*UPDATE\s+todos\s+SET\b[^']*?\bstatus\s*=\s*'(\w+)'/i.exec(statement)?.[1];
    const where = /\bWHERE\s+id\s*(?:=|IN\s*\()\s*([\s\S]*)$/i.exec(statement)?.[1];
    if (!status || !where) continue;
    for (const [, id = ''] of where.matchAll(/'([^']+)'/g))
      entries.push({ id, text: null, status: todoStatus(status) });
  }
  return entries.length > 0 ? { kind: 'entries', entries } : null;
}
