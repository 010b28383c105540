import { failureOf, readClaudeEvent } from '../claude/hooks.ts';
import type { JsonObject } from '../json-value.ts';
import { objectOf, textOf } from '../json-value.ts';
import type { Dialect, HookSource, Moment, MomentKind } from '../moment.ts';
import type { TodoChange, ToolCall } from '../tool-call.ts';
import { resultOf, todoStatus, toolCallOf } from '../tool-call.ts';

/**
 * Copilot CLI. The case of an event's name chooses its payload: its own, or Claude's. It runs Claude's hooks too, and
 * takes text for the model at the top of the answer only.
 */
export const copilot: Dialect = {
  read: (event, input) =>
    /^[A-Z]/.test(event) ? readClaudeEvent(event, input, 'copilot') : readCopilotEvent(event, input),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  tellsCompacted: false,
  answer: (_, context) => ({ additionalContext: context }),
};

function readCopilotEvent(event: string, input: JsonObject): Moment | null {
  const source: HookSource = {
    client: 'copilot',
    conversation: textOf(input['sessionId']) ?? textOf(input['session_id']),
    id: input['timestamp'] === undefined ? null : String(input['timestamp']),
    cwd: textOf(input['cwd']),
    transcript: textOf(input['transcriptPath']),
    subagent: subagentOf(input),
    pid: null,
  };
  switch (event) {
    case 'sessionStart':
      return {
        ...source,
        kind: 'session-start',
        source: input['source'] === 'resume' ? 'resume' : 'startup',
        request: textOf(input['initialPrompt']),
      };
    case 'userPromptSubmitted': {
      const request = textOf(input['prompt'])?.trim();
      return request ? { ...source, kind: 'prompt', request } : null;
    }
    case 'preToolUse':
      return { ...source, kind: 'tool-before', call: toolIn(input) };
    case 'postToolUse':
    case 'postToolUseFailure':
      return {
        ...source,
        kind: 'tool-after',
        call: toolIn(input),
        result: resultOf(input['toolResult'] ?? input['error'], event === 'postToolUseFailure'),
      };
    case 'subagentStart':
      return { ...source, kind: 'subagent-start' };
    case 'subagentStop':
      return { ...source, kind: 'subagent-stop', said: null };
    case 'agentStop':
      return { ...source, kind: 'turn-end', said: null, pressure: null };
    case 'errorOccurred':
      return { ...source, kind: 'turn-failed', ...failureOf(input['error'], input['errorContext']) };
    case 'preCompact':
      return { ...source, kind: 'compact-before', isCertain: true, pressure: null };
    case 'sessionEnd':
      return { ...source, kind: 'session-end', reason: textOf(input['reason']) ?? 'other' };
    default:
      return null;
  }
}

function subagentOf(input: JsonObject): HookSource['subagent'] {
  const id = textOf(input['agentId']) ?? textOf(input['agent_id']);
  return id === null ? null : { id, type: textOf(input['agentName']) ?? textOf(input['agentType']) };
}

function toolIn(payload: JsonObject): ToolCall {
  const tool = textOf(payload['toolName']) ?? '';
  const given = payload['toolArgs'];
  const input = objectOf(typeof given === 'string' ? parsed(given) : given);
  const call = toolCallOf(tool, input, payload['toolResult']);
  return tool === 'sql' ? { ...call, todos: todosInSql(textOf(input['query']) ?? '') } : call;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Copilot keeps its to-do list in a table and writes it with SQL. What is not plainly such a statement is left alone. */
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
