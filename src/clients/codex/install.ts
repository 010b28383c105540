import { join } from 'node:path';
import { type ClientInstall, matchedHooks, mcpEntry, ownFolder, type Place, type WantedFile } from '../installation.ts';
import { agentsFile, skillFiles } from '../installed-files.ts';

/** Codex CLI: hooks in JSON, servers in TOML. It skips a hook until its user has trusted it. */
export const install: ClientInstall = {
  commands: ['codex'],
  folders: ['.codex'],
  launch: {
    start: ['codex'],
    headless: ['codex', 'exec'],
    resume: ['codex', 'resume'],
    resumeLast: ['codex', 'resume', '--last'],
  },
  files(place) {
    const user = place.scope === 'user';
    const folder = user ? ownFolder(place, 'CODEX_HOME', '.codex') : join(place.root, '.codex');
    const { command, args } = mcpEntry(place);
    const files: WantedFile[] = [
      {
        path: join(folder, 'hooks.json'),
        holds: 'hooks',
        edits: [{ kind: 'hooks', events: codexEvents(place) }],
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
    `${scope === 'project' ? 'Start `codex` here, trust the project' : 'Start `codex`'}, open \`/hooks\` and trust the hooks of Holdfast: until then it silently skips them.`,
  ],
};

/** The user has to trust the hooks again after any change to this text. */
function codexEvents({ start: { hook }, scope }: Place): Record<string, object> {
  const matchers: Record<string, string | null> = {
    SessionStart: 'startup|resume|clear|compact',
    UserPromptSubmit: null,
    PreToolUse: 'Bash|request_user_input',
    PostToolUse: 'Bash|apply_patch|update_plan|request_user_input',
    SubagentStart: null,
    SubagentStop: null,
    PreCompact: null,
    Stop: null,
    SessionEnd: null,
  };
  return matchedHooks(matchers, (event) => ({
    // Settings in git: a teammate may not have the program, and one on Windows has no shell that knows `||`.
    command: `${hook} codex ${event}${scope === 'project' ? ' || true' : ''}`,
    ...(scope === 'project' ? { commandWindows: `${hook} codex ${event}` } : {}),
    timeout: event === 'SessionEnd' ? 3 : 10,
  }));
}

/** A JSON string is a valid basic string of TOML. */
const tomlText = (text: string): string => JSON.stringify(text);
