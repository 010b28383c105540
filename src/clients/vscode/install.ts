import { join } from 'node:path';
import { type ClientInstall, mcpEntry, ownFolder, type Place } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** VS Code's agent mode: a hook file of our own, which Copilot CLI reads too; its environment shows which one runs it. */
export const install: ClientInstall = {
  commands: ['code', 'code-insiders'],
  folders: ['.vscode'],
  files(place) {
    const user = place.scope === 'user';
    const hooks = Object.fromEntries(
      events.map((event) => [
        event,
        [{ type: 'command', command: `${place.start.hook} vscode ${event}`, timeout: 10 }],
      ]),
    );
    return [
      {
        path: user
          ? join(ownFolder(place, 'COPILOT_HOME', '.copilot'), 'hooks/holdfast-vscode.json')
          : join(place.root, '.github/hooks/holdfast-vscode.json'),
        holds: 'hooks',
        edits: [{ kind: 'whole', text: `${JSON.stringify({ hooks }, null, 2)}\n` }],
      },
      {
        path: join(user ? profileFolder(place) : join(place.root, '.vscode'), 'mcp.json'),
        holds: 'MCP server',
        edits: [{ kind: 'entry', path: ['servers', 'holdfast'], value: { type: 'stdio', ...mcpEntry(place) } }],
      },
      ...skillFiles(place, '.agents'),
      ...(user ? [] : [agentsFile(place)]),
    ];
  },
  steps: ({ scope }) => [
    `${scope === 'project' ? 'Open the folder in VS Code, trust it' : 'Open VS Code'}, and start the MCP server \`holdfast\` when it asks; hooks are a preview there (setting \`chat.hookFilesLocations\`).`,
  ],
};

function profileFolder({ platform, home, environment }: Place): string {
  if (platform === 'win32') return join(environment['APPDATA'] || join(home, 'AppData/Roaming'), 'Code/User');
  if (platform === 'darwin') return join(home, 'Library/Application Support/Code/User');
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'Code/User');
}

const events: readonly string[] = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'Stop',
];
