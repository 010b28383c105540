import { join } from 'node:path';
import { type ClientInstall, matchedHooks, mcpEntry, namedHandler, ownFolder } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** Gemini CLI. It reads the settings of the folder it is started in, and runs hooks there. */
export const install: ClientInstall = {
  commands: ['gemini'],
  folders: ['.gemini'],
  launch: {
    start: ['gemini', '-i'],
    headless: ['gemini', '-p'],
    resume: ['gemini', '--resume'],
    resumeLast: ['gemini', '--resume', 'latest'],
  },
  files(place) {
    const user = place.scope === 'user';
    const home = ownFolder(place, 'GEMINI_CLI_HOME', '');
    const settings = {
      path: join(user ? home : place.root, '.gemini/settings.json'),
      holds: 'hooks, MCP server',
      edits: [
        { kind: 'hooks', events: geminiEvents(place.start.hook) } as const,
        { kind: 'entry', path: ['mcpServers', 'holdfast'], value: mcpEntry(place) } as const,
      ],
    };
    if (user) return [settings, ...skillFiles(place, '.agents')];
    // It reads only GEMINI.md unless its settings name another file.
    const named = { kind: 'name', path: ['context', 'fileName'], name: 'AGENTS.md', others: ['GEMINI.md'] } as const;
    return [
      { ...settings, holds: 'hooks, MCP server, AGENTS.md', edits: [...settings.edits, named] },
      ...skillFiles(place, '.agents'),
      agentsFile(place),
    ];
  },
  steps: ({ scope }) =>
    scope === 'project'
      ? ['Start `gemini` here and trust the folder (`/permissions`): elsewhere it reads no settings of the project.']
      : [],
};

/** Without its event before a compaction, which it sends before every request: its transcript shows those that took place. */
export function geminiEvents(hook: string): Record<string, object> {
  const matchers = {
    SessionStart: null,
    BeforeAgent: null,
    BeforeTool: 'run_shell_command|ask_user|exit_plan_mode',
    AfterTool:
      'run_shell_command|write_file|replace|edit|read_file|read_many_files|write_todos|ask_user|exit_plan_mode',
    AfterAgent: null,
    SessionEnd: null,
  };
  return matchedHooks(matchers, (event) => namedHandler('gemini', hook, event));
}
