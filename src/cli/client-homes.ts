import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Clients } from '../operations/context.ts';

/** The clients' own folders, and the conversations this process belongs to. */
export function clientsFrom(environment: Readonly<Record<string, string | undefined>>): Clients {
  const home = homedir();
  const given = (name: string, fallback: string): string => environment[name] || join(home, fallback);
  const data = environment['XDG_DATA_HOME'] || join(home, '.local', 'share');
  return {
    homes: {
      claude: given('CLAUDE_CONFIG_DIR', '.claude'),
      codex: given('CODEX_HOME', '.codex'),
      gemini: join(environment['GEMINI_CLI_HOME'] || home, '.gemini'),
      qwen: given('QWEN_HOME', '.qwen'),
      copilot: given('COPILOT_HOME', '.copilot'),
      opencode: join(data, 'opencode'),
      cursor: join(home, '.cursor'),
    },
    current: [
      'CLAUDE_CODE_SESSION_ID',
      'QWEN_CODE_SESSION_ID',
      'COPILOT_AGENT_SESSION_ID',
      'GEMINI_SESSION_ID',
      'CODEX_THREAD_ID',
    ].flatMap((name) => environment[name] || []),
  };
}
