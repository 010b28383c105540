/** A layer of the code: its files and what they may import in addition to each other. */
export interface Layer {
  name: string;
  /** Folders (ending in a slash) and single files. */
  holds: readonly string[];
  /** The layers its files may import. */
  imports: readonly string[];
  /** Layers of which it may import types only. */
  types?: readonly string[];
  /** Packages and Node modules; `node:*` stands for all of Node but its SQLite. */
  modules: readonly string[];
  /** Neither clock nor randomness: both are arguments. */
  isPure?: true;
  /** Part of the message when an import is refused. */
  why: string;
}

const belowOperations = ['core', 'workspace', 'store', 'databases', 'engine', 'formats', 'clients'];
/** Also what any test may import, whatever it tests. */
export const belowInterfaces = [...belowOperations, 'operations'];
const interfaces = ['cli', 'hooks', 'http', 'mcp', 'acp'];
const noRuleHere = 'An interface turns input into an operation and knows no other interface; bin wires them together.';

/**
 * core <- workspace <- store <- engine <- operations <- interfaces, index <- bin
 * core <- formats, clients <- operations
 * index <- adapters
 */
export const layers: readonly Layer[] = [
  {
    name: 'core',
    holds: ['src/core/'],
    imports: [],
    modules: ['valibot'],
    isPure: true,
    why: 'The core is pure: no files, clock, randomness or environment.',
  },
  {
    name: 'formats',
    holds: ['src/formats/'],
    imports: ['core'],
    modules: ['valibot', 'yaml', 'jsonc-parser'],
    isPure: true,
    why: 'A format turns text into values and back; it reads no files.',
  },
  {
    name: 'clients',
    holds: ['src/clients/'],
    imports: ['core'],
    modules: ['node:path'],
    isPure: true,
    why: 'What is known about a client is pure: text in, text out.',
  },
  {
    name: 'workspace',
    holds: ['src/workspace/'],
    imports: ['core'],
    modules: ['node:*', 'fzstd'],
    why: 'The workspace is files, git and processes; it knows nothing of journals.',
  },
  {
    name: 'store',
    holds: ['src/store/'],
    imports: ['core', 'workspace', 'databases'],
    modules: ['node:*'],
    why: 'A store keeps events; it does not know what is done with them.',
  },
  {
    name: 'databases',
    holds: ['src/store/memory/', 'src/store/sqlite/', 'src/store/postgres/'],
    imports: ['core', 'workspace', 'store'],
    modules: ['node:*', 'node:sqlite', '@photostructure/sqlite', 'postgres'],
    why: 'A database implements the ports and knows nothing above them.',
  },
  {
    name: 'engine',
    holds: ['src/engine/'],
    imports: ['core', 'workspace', 'store'],
    // Compression has no effect outside.
    modules: ['node:zlib'],
    isPure: true,
    why: 'The engine knows the ports of the store, not its databases, and gets files and processes as arguments.',
  },
  {
    name: 'operations',
    holds: ['src/operations/'],
    imports: belowOperations,
    modules: ['valibot', 'node:path', 'node:os', 'node:crypto', 'node:readline'],
    why: 'An operation does not know which interface called it; only workspace touches files and processes.',
  },
  {
    name: 'cli',
    holds: ['src/cli/'],
    imports: belowInterfaces,
    modules: ['valibot', 'node:path', 'node:os', 'node:readline/promises', 'node:tty'],
    why: noRuleHere,
  },
  {
    name: 'hooks',
    holds: ['src/hooks/'],
    imports: belowInterfaces,
    modules: ['node:path'],
    why: noRuleHere,
  },
  {
    name: 'http',
    holds: ['src/http/'],
    imports: belowInterfaces,
    modules: [
      ...['hono', '@hono/node-server', 'valibot', '@valibot/to-json-schema'],
      ...['node:path', 'node:os', 'node:crypto', 'node:http', 'node:net', 'node:stream', 'node:url'],
    ],
    why: noRuleHere,
  },
  {
    name: 'mcp',
    holds: ['src/mcp/'],
    imports: belowInterfaces,
    modules: [
      ...['@modelcontextprotocol/server', 'valibot', '@valibot/to-json-schema'],
      ...['node:async_hooks', 'node:crypto', 'node:stream'],
    ],
    why: noRuleHere,
  },
  {
    name: 'acp',
    holds: ['src/acp/'],
    imports: belowInterfaces,
    modules: ['valibot', 'node:stream'],
    why: noRuleHere,
  },
  {
    name: 'index',
    holds: [
      'src/index.ts',
      'src/testing.ts',
      'src/holdfast.ts',
      'src/codewalk.ts',
      'src/call-options.ts',
      'src/options.ts',
      'src/method.ts',
      'src/methods/',
      'src/watch.ts',
      'src/hold.ts',
      'src/state.ts',
      'src/effect-run.ts',
    ],
    imports: [...belowInterfaces, 'hooks'],
    modules: ['valibot', 'node:path'],
    why: 'The library calls operations, records what hooks left, and needs no other interface.',
  },
  {
    name: 'adapters',
    holds: ['src/adapters/'],
    imports: ['index'],
    modules: ['@langchain/langgraph-checkpoint', 'node:crypto'],
    why: 'An adapter is a program that uses the library, and nothing in the library knows it.',
  },
  {
    name: 'bin',
    holds: ['src/bin/'],
    imports: [...belowInterfaces, ...interfaces, 'index'],
    modules: ['node:*', 'valibot'],
    why: 'bin wires the interfaces together.',
  },
  {
    name: 'web',
    holds: ['web/'],
    imports: ['core'],
    types: ['operations'],
    modules: ['preact', '@preact/signals', 'valibot'],
    why: 'The dashboard runs in a browser and talks to the server over HTTP.',
  },
  {
    name: 'the build of web',
    holds: ['web/vite.config.ts'],
    imports: [],
    modules: ['vite', 'node:url'],
    why: 'It configures the bundler and is not part of the dashboard.',
  },
];

/**
 * Imports that break the rules and are still there, as `FILE IMPORT`. Each is to be removed; the check also refuses an
 * entry that is no longer needed.
 */
export const stillOpen: readonly string[] = [
  // Writing to standard output and standard error.
  'src/cli/progress.ts node:fs',
  'src/cli/terminal.ts node:fs',
  // Files and parsers outside their layer.
  'src/hooks/hook.ts node:fs',
  'src/http/web.ts node:fs',
  'src/operations/install/parts/json-text.ts jsonc-parser',
];

/** What can do harm. Only the named files do it, whatever their layer may import, so that its rules are in one place. */
export interface Danger {
  what: string;
  /** Modules, and globals that need no import. */
  uses: readonly string[];
  /** Names of these modules that do no harm. */
  harmless?: readonly string[];
  /** Folders (ending in a slash) and single files. */
  only: readonly string[];
}

/** It plays agents, with real processes and git, in a temporary folder of its own. */
const DEMO = 'src/bin/demo/';

export const dangers: readonly Danger[] = [
  {
    what: 'start programs',
    uses: ['node:child_process', 'node:cluster', 'node:worker_threads'],
    only: ['src/workspace/program.ts', 'src/workspace/git/run.ts', DEMO],
  },
  {
    what: 'run git',
    uses: ["'git'"],
    only: ['src/workspace/git/run.ts', DEMO],
  },
  {
    what: 'connect',
    uses: [
      ...['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'],
      ...['node:net', 'node:http', 'node:https', 'node:http2', 'node:tls', 'node:dgram', 'node:dns'],
    ],
    harmless: ['isIP', 'isIPv6', 'BlockList'],
    only: ['src/workspace/connection.ts', 'web/'],
  },
  {
    what: 'connect to a database',
    uses: ['postgres', 'node:sqlite', '@photostructure/sqlite'],
    only: ['src/store/postgres/connection.ts', 'src/store/sqlite/driver.ts', 'src/store/sqlite/addon.ts'],
  },
  {
    what: 'change files',
    uses: ['node:fs', 'node:fs/promises'],
    harmless: [
      ...[
        'accessSync',
        'closeSync',
        'constants',
        'createReadStream',
        'existsSync',
        'fstatSync',
        'lstatSync',
        'opendirSync',
      ],
      ...['openSync', 'readdirSync', 'readFileSync', 'readlinkSync', 'readSync', 'realpathSync', 'statSync'],
    ],
    only: [
      // Own files and files of a working tree: no link is followed.
      ...['src/workspace/guarded/', 'src/workspace/own-files.ts', 'src/workspace/lock.ts', 'src/workspace/inbox.ts'],
      // What the user names, and settings of clients.
      ...['src/workspace/write.ts', 'src/workspace/settings-file.ts', 'src/workspace/workspace.ts'],
      // The state folder, a temporary file, and the folder of version 0.1, which is moved.
      ...['src/workspace/state/folder.ts', 'src/workspace/browser.ts', 'src/workspace/old-folder.ts'],
      // SQLite opens files by path; what lies beside them, and copies of them, cannot be reached otherwise.
      ...['src/store/sqlite/remains.ts', 'src/store/sqlite/file-identity.ts'],
      // Compiled code, before anything else is loaded; standard output.
      ...[
        'src/bin/holdfast.ts',
        'src/store/sqlite/addon.ts',
        'src/cli/terminal.ts',
        'src/cli/progress.ts',
        'src/hooks/hook.ts',
      ],
      DEMO,
    ],
  },
];
