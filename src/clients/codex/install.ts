import { join } from 'node:path';
import { type Client, mcpEntry, ownFolder, type WantedFile } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** Codex CLI: hooks in JSON, servers in TOML. It skips a hook until its user has trusted it. */
export const codex: Client = {
  title: 'Codex CLI',
  commands: ['codex'],
  folders: ['.codex'],
  files(place) {
    const user = place.scope === 'user';
    const folder = user ? ownFolder(place, 'CODEX_HOME', '.codex') : join(place.root, '.codex');
    const { command, args } = mcpEntry(place);
    const files: WantedFile[] = [
      {
        path: join(folder, 'hooks.json'),
        holds: 'hooks',
        // It stands in the folder it was started in, which may lie below the one with the settings.
        edits: [{ kind: 'hooks', events: codexEvents(place.start.shell(REPOSITORY), place.start.shell(null)) }],
      },
      {
        path: join(folder, 'config.toml'),
        holds: 'MCP server',
        edits: [
          {
            kind: 'table',
            name: 'mcp_servers.holdfast',
            lines: [`command = ${tomlText(command)}`, `args = [${args.map(tomlText).join(', ')}]`],
          },
        ],
      },
      ...skillFiles(place, '.agents'),
    ];
    return user ? files : [...files, agentsFile(place)];
  },
  steps: ({ scope }) => [
    `${scope === 'project' ? 'Start `codex` here, trust the project' : 'Start `codex`'}, open \`/hooks\` and trust the hooks of Holdfast: until then it skips them without a word.`,
  ],
};

const REPOSITORY = '$(git rev-parse --show-toplevel 2>/dev/null || pwd)';

/** A change of any of these words makes the user trust them anew. */
function codexEvents(program: string, windows: string): Record<string, object> {
  const matchers: Record<string, string | null> = {
    SessionStart: 'startup|resume|clear|compact',
    UserPromptSubmit: null,
    PreToolUse: 'Bash',
    PostToolUse: 'Bash|apply_patch|update_plan',
    SubagentStart: null,
    SubagentStop: null,
    PreCompact: null,
    Stop: null,
    SessionEnd: null,
  };
  return Object.fromEntries(
    Object.entries(matchers).map(([event, matcher]) => {
      const words = `hook codex ${event}`;
      const command = `${program} ${words}`;
      const handler = {
        type: 'command',
        command,
        ...(program === windows ? {} : { commandWindows: `${windows} ${words}` }),
        timeout: event === 'SessionEnd' ? 3 : 10,
      };
      return [event, { ...(matcher === null ? {} : { matcher }), hooks: [handler] }];
    }),
  );
}

/** A basic string of TOML is written as one of JSON. */
const tomlText = (text: string): string => JSON.stringify(text);
