import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, LAUNCHER, ownFolder, type Place } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** OpenCode has no hook commands; its plugin calls ours. */
export const opencode: Client = {
  title: 'OpenCode',
  commands: ['opencode'],
  folders: ['.config/opencode'],
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
        path: existsSync(commented) ? commented : join(folder, 'opencode.json'),
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

/** With the way to the program in it; in a project from where the plugin lies, for OpenCode may stand below. */
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
