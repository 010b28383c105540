import { join } from 'node:path';
import { type ClientInstall, mcpEntry, ownFolder, type Place, type WantedFile } from '../installation.ts';
import { agentsFile, mcpFile, skillFiles } from '../installed-files.ts';

/** Copilot CLI: a hook file of our own among others. */
export const install: ClientInstall = {
  commands: ['copilot'],
  folders: ['.copilot'],
  launch: {
    start: ['copilot', '-i'],
    headless: ['copilot', '-p'],
    resume: ['copilot', '--resume='],
    resumeLast: ['copilot', '--continue'],
  },
  files(place) {
    if (place.scope === 'user') {
      const folder = ownFolder(place, 'COPILOT_HOME', '.copilot');
      const value = { type: 'local', ...mcpEntry(place), tools: ['*'] };
      return [
        hookFile(place, join(folder, 'hooks/holdfast.json')),
        {
          path: join(folder, 'mcp-config.json'),
          holds: 'MCP server',
          edits: [{ kind: 'entry', path: ['mcpServers', 'holdfast'], value }],
        },
        ...skillFiles(place, '.agents'),
      ];
    }
    return [
      hookFile(place, join(place.root, '.github/hooks/holdfast.json')),
      mcpFile(place),
      ...skillFiles(place, '.agents'),
      agentsFile(place),
    ];
  },
  steps: ({ scope }) =>
    scope === 'project'
      ? ['Start `copilot` here and trust the folder: elsewhere it runs no hooks of the project.']
      : [],
};

function hookFile({ start }: Place, path: string): WantedFile {
  // Copilot refuses a tool whose hook fails, so no hook may fail, even if the program is gone.
  const hooks = Object.fromEntries(
    events.map((event) => [
      event,
      [
        {
          type: 'command',
          bash: `${start.hook} copilot ${event} || true`,
          powershell: `${start.hook} copilot ${event}; exit 0`,
          timeoutSec: 10,
        },
      ],
    ]),
  );
  return {
    path,
    holds: 'hooks',
    edits: [{ kind: 'whole', text: `${JSON.stringify({ version: 1, hooks }, null, 2)}\n` }],
  };
}

const events: readonly string[] = [
  'sessionStart',
  'userPromptSubmitted',
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'subagentStart',
  'subagentStop',
  'agentStop',
  'errorOccurred',
  'preCompact',
  'sessionEnd',
];
