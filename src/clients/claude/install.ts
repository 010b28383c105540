import { join } from 'node:path';
import { type ClientInstall, matchedHooks, mcpEntry, ownFolder, type Place, type WantedFile } from '../installation.ts';
import { agentsFile, mcpFile, skillFiles } from '../installed-files.ts';

/** Claude Code. Copilot, VS Code and Cursor may run the hooks in its file too. */
export const install: ClientInstall = {
  commands: ['claude'],
  folders: ['.claude'],
  launch: {
    start: ['claude'],
    headless: ['claude', '-p'],
    resume: ['claude', '--resume'],
    resumeLast: ['claude', '--continue'],
  },
  files(place) {
    const hooks = { kind: 'hooks', events: claudeEvents(place.start.hook, null, place.platform) } as const;
    if (place.scope === 'user') return userFiles(place, hooks);
    return [
      { path: join(place.root, '.claude/settings.json'), holds: 'hooks', edits: [hooks] },
      mcpFile(place),
      ...skillFiles(place, '.claude'),
      agentsFile(place),
      {
        path: join(place.root, 'CLAUDE.md'),
        holds: 'instructions',
        edits: [{ kind: 'block', lines: ['@AGENTS.md'], unless: '@AGENTS.md' }],
      },
    ];
  },
  steps: ({ scope }) =>
    scope === 'project'
      ? ['Start `claude` here, accept that you trust the folder, and allow the MCP server `holdfast`.']
      : [],
};

function userFiles(place: Place, hooks: WantedFile['edits'][number]): WantedFile[] {
  const folder = ownFolder(place, 'CLAUDE_CONFIG_DIR', '.claude');
  // Its state file is beside the folder, unless a variable names the folder.
  const state = join(place.environment['CLAUDE_CONFIG_DIR'] || place.home, '.claude.json');
  return [
    { path: join(folder, 'settings.json'), holds: 'hooks', edits: [hooks] },
    {
      path: state,
      holds: 'MCP server',
      edits: [{ kind: 'entry', path: ['mcpServers', 'holdfast'], value: { type: 'stdio', ...mcpEntry(place) } }],
    },
    ...skillFiles(place, '.claude', folder),
  ];
}

/** Tools that ask the user. */
const ASKING = 'AskUserQuestion|ExitPlanMode';
const RECORDED = 'Read|Write|Edit|MultiEdit|NotebookEdit|TodoWrite|TaskCreate|TaskUpdate|Bash';

/**
 * Each event with the tools it is wanted for; `alsoTools` are the names that other clients of the same plugin use. No hook
 * may fail, even if the program is gone: Copilot, which reads this file, refuses a tool whose hook fails.
 */
export function claudeEvents(
  hook: string,
  alsoTools: { commands: string; others: string } | null = null,
  platform = 'linux',
) {
  const commands = ['Bash', ...(alsoTools ? [alsoTools.commands] : [])].join('|');
  const matchers: Record<string, string | null> = {
    SessionStart: 'startup|resume|clear|compact|fork',
    UserPromptSubmit: null,
    PreToolUse: [commands, ASKING].join('|'),
    PostToolUse: [RECORDED, ASKING, ...(alsoTools ? [alsoTools.commands, alsoTools.others] : [])].join('|'),
    PostToolUseFailure: [commands, ASKING].join('|'),
    SubagentStart: null,
    SubagentStop: null,
    PreCompact: 'manual|auto',
    Stop: null,
    StopFailure: null,
    SessionEnd: null,
  };
  // PowerShell 5 does not know `||`; there the launcher, which ends with 0, is enough.
  const guard = platform === 'win32' ? '' : ' || true';
  return matchedHooks(matchers, (event) => ({ command: `${hook} claude ${event}${guard}`, timeout: 10 }));
}
