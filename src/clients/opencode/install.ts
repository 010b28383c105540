import { join } from 'node:path';
import { type ClientInstall, LAUNCHER, ownFolder, type Place } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** OpenCode has no hook commands; a plugin calls our program. */
export const install: ClientInstall = {
  commands: ['opencode'],
  folders: ['.config/opencode'],
  launch: {
    start: ['opencode', '--prompt'],
    headless: ['opencode', 'run'],
    resume: ['opencode', '--session'],
    resumeLast: ['opencode', '--continue'],
  },
  files(place) {
    const user = place.scope === 'user';
    const folder = user ? join(ownFolder(place, 'XDG_CONFIG_HOME', '.config'), 'opencode') : place.root;
    const commented = join(folder, 'opencode.jsonc');
    return [
      {
        path: join(folder, user ? 'plugins/holdfast.js' : '.opencode/plugins/holdfast.js'),
        holds: 'plugin',
        edits: [{ kind: 'whole', text: plugin(place) }],
      },
      {
        path: place.exists(commented) ? commented : join(folder, 'opencode.json'),
        holds: 'MCP server',
        edits: [
          { kind: 'default', path: ['$schema'], value: 'https://opencode.ai/config.json' },
          {
            kind: 'entry',
            path: ['mcp', 'holdfast'],
            value: { type: 'local', command: [...place.start.words, 'mcp'], enabled: true },
          },
        ],
      },
      ...skillFiles(place, '.agents'),
      ...(user ? [] : [agentsFile(place)]),
    ];
  },
  steps: () => [],
};

/** The plugin with the path of the program: in a project relative to the plugin, since OpenCode may run in a subfolder. */
function plugin(place: Place): string {
  const text = place.packaged('plugins/opencode/holdfast.js');
  const words =
    place.scope === 'user'
      ? JSON.stringify(place.start.words)
      : `['node', fileURLToPath(new URL('../../${LAUNCHER}', import.meta.url))]`;
  const imported = place.scope === 'user' ? '' : "import { fileURLToPath } from 'node:url';\n";
  return text
    .replace("const COMMAND = ['holdfast'];", () => `const COMMAND = ${words};`)
    .replace("import { spawn } from 'node:child_process';\n", (line) => line + imported);
}
