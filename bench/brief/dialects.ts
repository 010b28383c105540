import { join } from 'node:path';

/** What each client sends to its hooks: the same moments in eight forms. */

export type Client = 'claude' | 'codex' | 'qwen' | 'gemini' | 'copilot' | 'opencode' | 'vscode' | 'cursor';

export interface Todo {
  content: string;
  status: 'pending' | 'in_progress' | 'completed';
}

/** A moment of a story, in one form for all clients. */
export type Act =
  | { is: 'start'; source: 'startup' | 'resume' | 'clear' | 'compact' }
  | { is: 'prompt'; text: string }
  | { is: 'written'; paths: readonly string[] }
  | { is: 'began'; command: string; background: boolean }
  | { is: 'ran'; command: string; background: boolean; exitCode: number }
  | { is: 'listed'; todos: readonly Todo[] }
  /** A tool of Claude's that shows something to the user. */
  | { is: 'shows' | 'answered'; tool: string; input: object }
  | { is: 'subagent' }
  | { is: 'stop'; words: string; running: number }
  | { is: 'failed'; error: string; message: string }
  | { is: 'compacts' }
  | { is: 'end'; reason: string };

export interface Place {
  id: string;
  folder: string;
  pid: number;
  /** Distinguishes calls; the two reports of one call share it. */
  call: number;
  transcript: string | null;
  subagent: { id: string; type: string } | null;
}

interface Told {
  event: string;
  input: object;
}

interface Dialect {
  env: Readonly<Record<string, string>>;
  /** The variable with which a shell of the client names the conversation. */
  shell: string | null;
  /** Null if the client does not report this. */
  tell(act: Act, place: Place): Told | null;
}

const shells: Partial<Record<Client, string>> = {
  claude: 'Bash',
  codex: 'Bash',
  vscode: 'run_in_terminal',
};

/** Claude's events, which four others send with small differences. */
function likeClaude(client: 'claude' | 'codex' | 'qwen' | 'vscode'): Dialect['tell'] {
  return (act, place) => {
    const tool = (name: string, input: object): object => ({
      tool_name: name,
      tool_input: input,
      tool_use_id: `${place.id}-${place.call}`,
    });
    const told = (event: string, more: object): Told => ({
      event,
      input: {
        session_id: place.id,
        cwd: place.folder,
        hook_event_name: event,
        timestamp: new Date().toISOString(),
        ...(client === 'codex' ? { turn_id: `${place.id}-${place.call}` } : {}),
        ...(place.transcript === null ? {} : { transcript_path: place.transcript }),
        ...(place.subagent ? { agent_id: place.subagent.id, agent_type: place.subagent.type } : {}),
        ...more,
      },
    });
    const shell = shells[client] ?? 'run_shell_command';
    const done = { success: true, llmContent: 'Done' };
    switch (act.is) {
      case 'start':
        return told('SessionStart', { source: client === 'vscode' ? 'new' : act.source });
      case 'prompt':
        return told('UserPromptSubmit', { prompt: act.text, prompt_id: `${place.id}-${place.call}` });
      case 'written':
        return told('PostToolUse', { ...writing(client, act.paths, place.folder, tool), tool_response: done });
      case 'began':
        return told('PreToolUse', tool(shell, { command: act.command, ...inBackground(act) }));
      case 'ran': {
        const call = tool(shell, { command: act.command, ...inBackground(act) });
        // Claude reports a command that failed with another event.
        if (client === 'claude' && act.exitCode !== 0)
          return told('PostToolUseFailure', { ...call, error: `Exit code ${act.exitCode}\nfailed` });
        return told('PostToolUse', { ...call, tool_response: responseOf(client, act.exitCode) });
      }
      case 'listed': {
        const todos = act.todos.map((one, index) => ({ ...one, id: String(index + 1), activeForm: one.content }));
        const call =
          client === 'codex'
            ? tool('update_plan', { plan: act.todos.map(({ content, status }) => ({ step: content, status })) })
            : tool(client === 'claude' ? 'TodoWrite' : 'todo_write', { todos });
        return told('PostToolUse', { ...call, tool_response: done });
      }
      case 'shows':
        return told('PreToolUse', tool(act.tool, act.input));
      case 'answered':
        return told('PostToolUse', { ...tool(act.tool, act.input), tool_response: done });
      case 'subagent':
        return told('SubagentStart', {});
      case 'stop': {
        const background = client === 'claude' ? { background_tasks: Array(act.running).fill({ id: 'b' }) } : {};
        return told('Stop', { last_assistant_message: act.words, stop_hook_active: false, ...background });
      }
      case 'failed':
        return told('StopFailure', { error: act.error, error_details: act.message });
      case 'compacts':
        return told('PreCompact', { trigger: 'auto' });
      case 'end':
        return told('SessionEnd', { reason: act.reason });
      default:
        return act satisfies never;
    }
  };
}

const inBackground = ({ background }: { background: boolean }): object =>
  background ? { run_in_background: true } : {};

function writing(
  client: Client,
  paths: readonly string[],
  folder: string,
  tool: (name: string, input: object) => object,
): object {
  if (client === 'codex') {
    const parts = paths.map((path) => `*** Update File: ${path}\n@@\n+x`);
    return tool('apply_patch', { command: `*** Begin Patch\n${parts.join('\n')}\n*** End Patch` });
  }
  const [first = ''] = paths;
  if (paths.length === 1)
    return tool(client === 'claude' ? 'Write' : 'write_file', { file_path: join(folder, first), content: 'x' });
  return tool('multi_replace_string_in_file', { files: paths.map((path) => join(folder, path)) });
}

function responseOf(client: Client, exitCode: number): unknown {
  const output = exitCode === 0 ? 'ok' : `failed\nExit Code: ${exitCode}`;
  if (client === 'codex') return exitCode === 0 ? 'ok\n' : `Exit code: ${exitCode}\nOutput:\nfailed`;
  return client === 'claude' ? { stdout: 'ok', stderr: '', interrupted: false } : { llmContent: `Output: ${output}` };
}

const geminiNames: Readonly<Record<string, string>> = {
  UserPromptSubmit: 'BeforeAgent',
  PreToolUse: 'BeforeTool',
  PostToolUse: 'AfterTool',
  Stop: 'AfterAgent',
  PreCompact: 'PreCompress',
};

function likeGemini(act: Act, place: Place): Told | null {
  const told = likeClaude('qwen')(act, place);
  if (told === null || act.is === 'subagent' || act.is === 'failed') return null;
  const event = geminiNames[told.event] ?? told.event;
  const said = act.is === 'stop' ? { prompt_response: act.words } : {};
  return { event, input: { ...told.input, hook_event_name: event, ...said } };
}

const copilotNames: Readonly<Record<string, string>> = {
  SessionStart: 'sessionStart',
  UserPromptSubmit: 'userPromptSubmitted',
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  SubagentStart: 'subagentStart',
  Stop: 'agentStop',
  PreCompact: 'preCompact',
  SessionEnd: 'sessionEnd',
};

function likeCopilot(act: Act, place: Place): Told | null {
  const { event = '', input } = likeClaude('qwen')(act, place) ?? {};
  const base = {
    sessionId: place.id,
    timestamp: Date.now(),
    cwd: place.folder,
    ...(place.subagent ? { agentId: place.subagent.id, agentName: place.subagent.type } : {}),
  };
  const name = copilotNames[event];
  if (name === undefined || input === undefined) return null;
  const told = (more: object): Told => ({ event: name, input: { ...base, ...more } });
  const tool = (toolName: string, toolArgs: object, result?: string, isFailure = false): Told =>
    told({
      toolName,
      toolArgs,
      ...(result === undefined
        ? {}
        : { toolResult: { resultType: isFailure ? 'failure' : 'success', textResultForLlm: result } }),
    });
  switch (act.is) {
    case 'start':
      return told({ source: act.source === 'resume' ? 'resume' : 'new' });
    case 'prompt':
      return told({ prompt: act.text });
    case 'written':
      if (act.paths.length > 1) return tool('edit_files', { files: act.paths }, 'Edited');
      return tool('create', { path: join(place.folder, act.paths[0] ?? ''), file_text: 'x' }, 'Created file');
    case 'began':
      return tool('bash', { command: act.command });
    case 'ran': {
      const result = `ok\n<shellId: 0 completed with exit code ${act.exitCode}>`;
      return tool('bash', { command: act.command }, result, act.exitCode !== 0);
    }
    case 'listed':
      return tool('sql', { query: act.todos.map(inSql).join(' ') }, 'Executed');
    case 'stop':
      return told({ stopReason: 'end_turn', stop_hook_active: false });
    default:
      return told({});
  }
}

const inSql = ({ content, status }: Todo, index: number): string =>
  `INSERT OR REPLACE INTO todos (id, title, description, status) VALUES ('t${index}', '${content.replaceAll("'", "''")}', '', '${status}');`;

function likeOpencode(act: Act, place: Place): Told | null {
  const base = { directory: place.folder, pid: place.pid, sessionID: place.id };
  const call = { sessionID: place.id, callID: `call_${place.call}` };
  const after = (tool: string, args: object, output: object): Told => ({
    event: 'tool.execute.after',
    input: { ...base, input: { tool, ...call, args }, output },
  });
  switch (act.is) {
    case 'start':
      return { event: 'session.created', input: { ...base, info: { id: place.id, directory: place.folder } } };
    case 'prompt': {
      const output = { message: { id: `msg_${place.call}` }, parts: [{ type: 'text', text: act.text }] };
      return { event: 'chat.message', input: { ...base, input: { sessionID: place.id }, output } };
    }
    case 'written':
      return after('write', { files: act.paths, filePath: join(place.folder, act.paths[0] ?? '') }, { metadata: {} });
    case 'began':
      return {
        event: 'tool.execute.before',
        input: { ...base, input: { tool: 'bash', ...call }, output: { args: { command: act.command } } },
      };
    case 'ran':
      return after('bash', { command: act.command }, { metadata: { exit: act.exitCode }, output: 'ok' });
    case 'listed':
      return { event: 'todo.updated', input: { ...base, todos: act.todos } };
    case 'stop':
      return { event: 'session.idle', input: base };
    case 'compacts':
      return { event: 'experimental.session.compacting', input: { ...base, input: { sessionID: place.id } } };
    case 'end':
      return { event: 'session.deleted', input: base };
    default:
      return null;
  }
}

function likeCursor(act: Act, place: Place): Told | null {
  const told = (event: string, more: object): Told => ({
    event,
    input: {
      ...{ conversation_id: place.id, session_id: place.id, generation_id: `${place.id}-${place.call}` },
      ...{ hook_event_name: event, cursor_version: '3.12.17', workspace_roots: [place.folder], cwd: place.folder },
      ...more,
    },
  });
  switch (act.is) {
    case 'start':
      return told('sessionStart', { composer_mode: 'agent' });
    case 'prompt':
      return told('beforeSubmitPrompt', { prompt: act.text, attachments: [] });
    case 'written':
      return told('afterFileEdit', { file_path: join(place.folder, act.paths[0] ?? ''), edits: [] });
    case 'began':
      return told('beforeShellExecution', { command: act.command });
    case 'ran':
      return told('afterShellExecution', { command: act.command, output: 'ok', exit_code: act.exitCode });
    case 'listed':
      return told('postToolUse', { tool_name: 'todo_write', tool_input: { todos: act.todos }, tool_output: '{}' });
    case 'stop':
      return told('stop', { status: 'completed' });
    default:
      return null;
  }
}

export const dialects: Readonly<Record<Client, Dialect>> = {
  claude: { env: { CLAUDECODE: '1' }, shell: 'CLAUDE_CODE_SESSION_ID', tell: likeClaude('claude') },
  codex: { env: {}, shell: 'CODEX_THREAD_ID', tell: likeClaude('codex') },
  qwen: {
    env: { QWEN_PROJECT_DIR: '/', GEMINI_PROJECT_DIR: '/', CLAUDE_PROJECT_DIR: '/' },
    shell: 'QWEN_CODE_SESSION_ID',
    tell: likeClaude('qwen'),
  },
  gemini: { env: { GEMINI_SESSION_ID: 'g', CLAUDE_PROJECT_DIR: '/' }, shell: 'GEMINI_SESSION_ID', tell: likeGemini },
  copilot: {
    env: { COPILOT_CLI: '1', CLAUDE_PROJECT_DIR: '/' },
    shell: 'COPILOT_AGENT_SESSION_ID',
    tell: likeCopilot,
  },
  opencode: { env: {}, shell: null, tell: likeOpencode },
  vscode: { env: {}, shell: null, tell: likeClaude('vscode') },
  cursor: { env: { CURSOR_VERSION: '3.12.17', CLAUDE_PROJECT_DIR: '/' }, shell: null, tell: likeCursor },
};

interface Answer {
  hookSpecificOutput?: { additionalContext?: string };
  additionalContext?: string;
  additional_context?: string;
  context?: string;
}

/** The text for the model in any client's form of answer. */
export function textIn(output: string): string {
  if (output === '') return '';
  const { hookSpecificOutput, ...answer } = JSON.parse(output) as Answer;
  return (
    hookSpecificOutput?.additionalContext ??
    answer.additionalContext ??
    answer.additional_context ??
    answer.context ??
    ''
  );
}
