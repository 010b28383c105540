import { join } from 'node:path';
import { type ClientInstall, mcpEntry } from '../installation.ts';
import { skillFiles } from '../installed-files.ts';
import { RULE_FILE, ruleText } from './rule.ts';

/** Cursor. A rule of its own replaces the block in AGENTS.md, which it also reads. */
export const install: ClientInstall = {
  commands: ['cursor', 'cursor-agent'],
  folders: ['.cursor'],
  launch: {
    start: ['cursor-agent'],
    headless: ['cursor-agent', '-p'],
    resume: ['cursor-agent', '--resume'],
    resumeLast: ['cursor-agent', 'resume'],
  },
  files(place) {
    const folder = join(place.scope === 'user' ? place.home : place.root, '.cursor');
    return [
      {
        path: join(folder, 'hooks.json'),
        holds: 'hooks',
        edits: [
          { kind: 'default', path: ['version'], value: 1 },
          { kind: 'hooks', events: cursorEvents(place.start.hook) },
        ],
      },
      {
        path: join(folder, 'mcp.json'),
        holds: 'MCP server',
        edits: [{ kind: 'entry', path: ['mcpServers', 'holdfast'], value: mcpEntry(place) }],
      },
      ...(place.scope === 'user'
        ? []
        : [
            {
              path: join(place.root, RULE_FILE),
              holds: 'rule',
              edits: [{ kind: 'whole', text: ruleText(null), grows: true } as const],
            },
          ]),
      ...skillFiles(place, '.agents'),
    ];
  },
  steps: ({ scope }) => [
    `Open ${scope === 'project' ? 'the folder in Cursor' : 'Cursor'} and switch on the MCP server \`holdfast\` in its settings; its settings list the hooks too.`,
  ],
};

/** Only documented names: an unknown one may make it drop the whole file. */
export function cursorEvents(hook: string): Record<string, object> {
  return Object.fromEntries(
    [
      'sessionStart',
      'beforeSubmitPrompt',
      'beforeShellExecution',
      'afterShellExecution',
      'beforeReadFile',
      'afterFileEdit',
      'postToolUse',
      'preCompact',
      'stop',
      'sessionEnd',
    ].map((event) => [event, { command: `${hook} cursor ${event}`, timeout: 10 }]),
  );
}
