import { join } from 'node:path';
import { type ClientInstall, ownFolder, type Place } from '../installation.ts';
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

function plugin(place: Place): string {
  const text = place.packaged('plugins/opencode/holdfast.js');
  return text.replace("const COMMAND = ['holdfast'];", () => `const COMMAND = ${JSON.stringify(place.start.words)};`);
}
