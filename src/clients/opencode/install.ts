import { join } from 'node:path';
import { type ClientInstall, ownFolder, type Place } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** OpenCode has no hook commands; a plugin writes reports into the inbox, and calls our program for answers. */
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
  const { launcher, start } = place;
  if (launcher === null) return text;
  const { writer, machine, state } = launcher;
  return text
    .replace(/^const COMMAND = .*$/m, () => `const COMMAND = ${JSON.stringify(start.words)};`)
    .replace(/^const INBOX = .*$/m, () => `const INBOX = ${JSON.stringify({ writer, machine, state })};`);
}
