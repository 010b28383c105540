import { failureOf, readClaudeEvent } from '../claude/hooks.ts';
import type { Payload } from '../json-value.ts';
import { objectOf, textOf } from '../json-value.ts';
import type { Dialect, Moment, MomentKind, Scene } from '../moment.ts';
import type { Deed, TodoChange } from '../tool-call.ts';
import { deedOf, resultOf, todoStatus } from '../tool-call.ts';

/**
 * Copilot CLI. The case of an event's name chooses its payload: its own, or Claude's. It runs Claude's hooks too, and
 * takes text for the model at the top of the answer only.
 */
export const copilot: Dialect = {
  read: (event, payload) =>
    /^[A-Z]/.test(event) ? readClaudeEvent(event, payload, 'copilot') : readCopilotEvent(event, payload),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  tellsCompacted: false,
  answer: (_, context) => ({ additionalContext: context }),
};

function readCopilotEvent(event: string, payload: Payload): Moment | null {
  const scene: Scene = {
    client: 'copilot',
    conversation: textOf(payload['sessionId']) ?? textOf(payload['session_id']),
    id: payload['timestamp'] === undefined ? null : String(payload['timestamp']),
    cwd: textOf(payload['cwd']),
    transcript: textOf(payload['transcriptPath']),
    subagent: subagentOf(payload),
    pid: null,
  };
  switch (event) {
    case 'sessionStart':
      return {
        ...scene,
        kind: 'session-start',
        source: payload['source'] === 'resume' ? 'resume' : 'startup',
        request: textOf(payload['initialPrompt']),
      };
    case 'userPromptSubmitted': {
      const request = textOf(payload['prompt'])?.trim();
      return request ? { ...scene, kind: 'prompt', request } : null;
    }
    case 'preToolUse':
      return { ...scene, kind: 'tool-before', deed: toolIn(payload) };
    case 'postToolUse':
    case 'postToolUseFailure':
      return {
        ...scene,
        kind: 'tool-after',
        deed: toolIn(payload),
        result: resultOf(payload['toolResult'] ?? payload['error'], event === 'postToolUseFailure'),
      };
    case 'subagentStart':
      return { ...scene, kind: 'subagent-start' };
    case 'subagentStop':
      return { ...scene, kind: 'subagent-stop', said: null };
    case 'agentStop':
      return { ...scene, kind: 'turn-end', said: null, pressure: null };
    case 'errorOccurred':
      return { ...scene, kind: 'turn-failed', ...failureOf(payload['error'], payload['errorContext']) };
    case 'preCompact':
      return { ...scene, kind: 'compact-before', isCertain: true, pressure: null };
    case 'sessionEnd':
      return { ...scene, kind: 'session-end', reason: textOf(payload['reason']) ?? 'other' };
    default:
      return null;
  }
}

function subagentOf(payload: Payload): Scene['subagent'] {
  const id = textOf(payload['agentId']) ?? textOf(payload['agent_id']);
  return id === null ? null : { id, type: textOf(payload['agentName']) ?? textOf(payload['agentType']) };
}

function toolIn(payload: Payload): Deed {
  const tool = textOf(payload['toolName']) ?? '';
  const given = payload['toolArgs'];
  const input = objectOf(typeof given === 'string' ? parsed(given) : given);
  const deed = deedOf(tool, input, payload['toolResult']);
  return tool === 'sql' ? { ...deed, todos: todosInSql(textOf(input['query']) ?? '') } : deed;
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
