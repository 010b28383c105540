import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Folder, newFolder, program } from './command-line.ts';

/** A project in git and a separate home folder, with or without client settings. */
export interface Ground {
  project: Folder;
  home: string;
  put(path: string, text: string): void;
  text(path: string): string;
}

/** With unfinished work, which a brief tells about. */
export function newGroundAtWork(): Ground {
  const ground = newGround();
  ground.project.data('init', '--title', 'User authentication', '--id', 'auth');
  ground.project.data('plan', 'add', 't1', 'Issue tokens');
  return ground;
}

export function newGround(): Ground {
  const project = newFolder();
  const home = newFolder().path;
  project.env['HOME'] = home;
  // Settings of a project call the program by its name.
  mkdirSync(join(home, 'bin'));
  symlinkSync(program, join(home, 'bin/holdfast'));
  symlinkSync(join(dirname(program), 'holdfast-hook'), join(home, 'bin/holdfast-hook'));
  project.env['PATH'] = `${join(home, 'bin')}:${project.env['PATH']}`;
  return {
    project,
    home,
    put: (path, text) => {
      mkdirSync(dirname(join(project.path, path)), { recursive: true });
      writeFileSync(join(project.path, path), text);
    },
    text: (path) => readFileSync(join(project.path, path), 'utf8'),
  };
}

/** Every file below a folder with its bytes, and every folder; without git's and optionally without ours. */
export function treeOf(folder: string, ...without: string[]): Record<string, string> {
  const tree: Record<string, string> = {};
  const walk = (inside: string): void => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (path === '.git' || without.includes(path)) continue;
      if (entry.isDirectory()) {
        tree[`${path}/`] = '';
        walk(path);
      } else {
        tree[path] = readFileSync(join(folder, path)).toString('latin1');
      }
    }
  };
  if (existsSync(folder)) walk('');
  return tree;
}

const claudeLike = (client: string): string => `{
  // What the team agreed on.
  "model": "large", /* unknown to us */
  "permissions": { "allow": ["Bash(npm test)"], "deny": [] },
  "hooks": {
    "PostToolUse": [
      { "matcher": "Write", "hooks": [{ "type": "command", "command": "prettier --write" }] }, // theirs
    ],
    // an event of theirs
    "Notification": [{ "hooks": [{ "type": "command", "command": "say ${client}" }] }]
  },
  "mcpServers": {
    "other": { "command": "other-server", "args": [] }
  }
}
`;

const servers = (name: string): string => `{
\t// kept
\t"${name}": {
\t\t"other": { "command": "other-server" }
\t}
}`;

/** Settings as people have them: comments, unknown keys, other people's hooks, tabs, no newline at the end. */
export const seeds: Record<string, Record<string, string>> = {
  claude: {
    '.claude/settings.json': claudeLike('claude'),
    '.mcp.json': servers('mcpServers'),
    'CLAUDE.md': '# Ours\n\nUse tabs.\n',
    'AGENTS.md': '# Agents\n\nBe kind.',
  },
  codex: {
    '.codex/hooks.json': '{ "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "beep" } ] } ] } }\n',
    '.codex/config.toml':
      '# mine\nmodel = "gpt-5.5"   # the big one\n\n[mcp_servers.other]\ncommand = "other-server"\n\n[projects."/x"]\ntrust_level = "trusted"\n',
    'AGENTS.md': '# Agents\n',
  },
  gemini: {
    '.gemini/settings.json': `${claudeLike('gemini').slice(0, -3)},\n  "context": { "fileName": "NOTES.md" }\n}\n`,
  },
  qwen: { '.qwen/settings.json': claudeLike('qwen') },
  copilot: { '.mcp.json': servers('mcpServers'), '.github/hooks/team.json': '{ "version": 1, "hooks": {} }\n' },
  vscode: { '.vscode/mcp.json': servers('servers') },
  cursor: {
    '.cursor/hooks.json':
      '{\n  "version": 1,\n  "hooks": {\n    "stop": [\n      { "command": "beep" }\n    ]\n  }\n}\n',
    '.cursor/mcp.json': servers('mcpServers'),
  },
  opencode: { 'opencode.jsonc': '{\n  "theme": "dark", // kept\n  "mcp": {},\n}\n' },
};

/** Where each client has its session start hook, and the event that takes the brief. */
export const briefHooks: Record<string, { file: string; event: string; command(file: string, event: string): string }> =
  {
    claude: { file: '.claude/settings.json', event: 'SessionStart', command: nested },
    codex: { file: '.codex/hooks.json', event: 'SessionStart', command: nested },
    gemini: { file: '.gemini/settings.json', event: 'BeforeAgent', command: nested },
    qwen: { file: '.qwen/settings.json', event: 'SessionStart', command: nested },
    copilot: { file: '.github/hooks/holdfast.json', event: 'sessionStart', command: flat },
    vscode: { file: '.github/hooks/holdfast-vscode.json', event: 'SessionStart', command: flat },
    cursor: { file: '.cursor/hooks.json', event: 'sessionStart', command: flat },
  };

type Entry = { command?: string; bash?: string; hooks?: Entry[] };

function entryOf(file: string, event: string): Entry {
  const { hooks } = JSON.parse(readFileSync(file, 'utf8')) as { hooks: Record<string, Entry[]> };
  return hooks[event]?.at(-1) ?? {};
}

function nested(file: string, event: string): string {
  return entryOf(file, event).hooks?.[0]?.command ?? '';
}

function flat(file: string, event: string): string {
  const { bash, command } = entryOf(file, event);
  return bash ?? command ?? '';
}
