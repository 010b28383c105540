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
const interfaces = ['cli', 'hooks', 'http', 'mcp'];
const noRuleHere = 'An interface turns input into an operation and knows no other interface; bin wires them together.';

/**
 * core <- workspace <- store <- engine <- operations <- interfaces, index <- bin
 * core <- formats, clients <- operations
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
    name: 'index',
    holds: [
      'src/index.ts',
      'src/testing.ts',
      'src/holdfast.ts',
      'src/codewalk.ts',
      'src/call-options.ts',
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
    name: 'bin',
    holds: ['src/bin/'],
    imports: [...belowInterfaces, ...interfaces, 'index'],
    modules: ['node:*'],
    why: 'bin wires the interfaces together.',
  },
  {
    name: 'web',
    holds: ['web/'],
    imports: ['core'],
    types: ['operations'],
    modules: ['preact', '@preact/signals', 'uplot', 'valibot'],
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
  // Files, processes and parsers outside their layer.
  'src/hooks/hook.ts node:fs',
  'src/http/login-link.ts node:child_process',
  'src/http/login-link.ts node:fs',
  'src/http/notify.ts node:child_process',
  'src/http/web.ts node:fs',
  'src/operations/install/parts/json-text.ts jsonc-parser',
];
