import { claude } from './claude/hooks.ts';
import { codex } from './codex/hooks.ts';
import type { ClientName } from './conversation.ts';
import { clientNames } from './conversation.ts';
import { copilot } from './copilot/hooks.ts';
import { cursor } from './cursor/hooks.ts';
import { gemini } from './gemini/hooks.ts';
import type { JsonObject } from './json-value.ts';
import type { Dialect } from './moment.ts';
import { opencode } from './opencode/hooks.ts';
import { qwen } from './qwen/hooks.ts';
import { vscode } from './vscode/hooks.ts';

const dialects: Readonly<Record<ClientName, Dialect>> = {
  claude,
  codex,
  gemini,
  qwen,
  copilot,
  vscode,
  cursor,
  opencode,
};

export function dialectOf(client: ClientName): Dialect {
  return dialects[client];
}

const readByOthers: ReadonlySet<ClientName> = new Set(['claude', 'copilot', 'vscode'] as const);

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Which client runs the hook. The command line names the one it was installed for, but other clients read its file too:
 * their environment tells them. The order matters, since they set one another's variables. Null for a name nobody has.
 */
export function whoCalls(named: string | undefined, payload: JsonObject, environment: Environment): ClientName | null {
  const installed = clientNames.find((name) => name === named) ?? null;
  if (installed === null && named !== 'auto') return null;
  // Only the files of these are read by others.
  if (installed !== null && !readByOthers.has(installed)) return installed;
  const found = byEnvironment(environment);
  // Claude's variables are inherited by whatever is started from its shell, and it reads nobody else's file.
  if (found === 'claude' && installed !== 'claude' && installed !== null) return byPayload(payload) ?? installed;
  return found ?? byPayload(payload) ?? installed;
}

function byEnvironment(environment: Environment): ClientName | null {
  const has = (...names: string[]): boolean => names.some((name) => environment[name]);
  if (has('QWEN_PROJECT_DIR', 'QWEN_CODE_SESSION_ID')) return 'qwen';
  if (has('COPILOT_CLI', 'COPILOT_PROJECT_DIR')) return 'copilot';
  if (has('CURSOR_VERSION')) return 'cursor';
  if (has('GEMINI_SESSION_ID')) return 'gemini';
  if (has('CLAUDE_PID', 'CLAUDE_CODE_SESSION_ID', 'CLAUDECODE')) return 'claude';
  return null;
}

function byPayload(payload: JsonObject): ClientName | null {
  const path = payload['transcript_path'];
  const transcript = typeof path === 'string' ? path : '';
  if (payload['turn_id'] !== undefined || /[\\/]\.codex[\\/]sessions[\\/]/.test(transcript)) return 'codex';
  if (/[\\/]GitHub\.copilot-chat[\\/]/.test(transcript)) return 'vscode';
  if (payload['source'] === 'new' && payload['session_id'] !== undefined && payload['hook_event_name'] !== undefined)
    return 'vscode';
  return null;
}
