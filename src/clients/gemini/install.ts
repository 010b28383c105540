import { join } from 'node:path';
import { type Client, mcpEntry, ownFolder } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** Gemini CLI. It reads the settings of the folder it is started in, and runs hooks there. */
export const gemini: Client = {
  title: 'Gemini CLI',
  commands: ['gemini'],
  folders: ['.gemini'],
  files(place) {
    const user = place.scope === 'user';
    const home = ownFolder(place, 'GEMINI_CLI_HOME', '');
    const settings = {
      path: join(user ? home : place.root, '.gemini/settings.json'),
      holds: 'hooks, MCP server',
      edits: [
        { kind: 'hooks', events: geminiEvents(place.start.shell(null)) } as const,
        { kind: 'entry', path: ['mcpServers', 'holdfast'], value: mcpEntry(place) } as const,
      ],
    };
    if (user) return [settings, ...skillFiles(place, '.agents')];
    // It reads GEMINI.md only, unless it is told of another name.
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

/** Times in milliseconds. */
export function geminiEvents(program: string): Record<string, object> {
  const matchers: Record<string, string | null> = {
    SessionStart: null,
    BeforeAgent: null,
    BeforeTool: 'run_shell_command',
    AfterTool: 'run_shell_command|write_file|replace|edit|read_file|read_many_files|write_todos',
    AfterAgent: null,
    PreCompress: null,
    SessionEnd: null,
  };
  return namedEvents('gemini', program, matchers);
}

/** One handler for each event, with a name that the client shows. */
export function namedEvents(
  client: 'gemini' | 'qwen',
  program: string,
  matchers: Readonly<Record<string, string | null>>,
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(matchers).map(([event, matcher]) => {
      const handler = {
        type: 'command',
        name: `holdfast-${event}`,
        command: `${program} hook ${client} ${event}`,
        timeout: 10_000,
      };
      return [event, { ...(matcher === null ? {} : { matcher }), hooks: [handler] }];
    }),
  );
}
