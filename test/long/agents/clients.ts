import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codexHash, codexKey } from '../../../src/clients/codex/trust.ts';
import { pathOfCommand } from './bring.ts';

/** One client: where it comes from, and how it is started without a user. */
export interface Client {
  name: ClientName;
  package: string;
  version: string;
  /** The install script of the package; npm does not run it here. */
  finish?: string;
  command: string;
  /** Whether it runs on the installed Node; otherwise it is a native program. */
  onNode: boolean;
  /** What its user sets once: the model, trust in the folder, permission to run tools. */
  settle(stage: Stage): void;
  environment(stage: Stage): Record<string, string>;
  /** The arguments for a new conversation, and for one that continues. */
  words(prompt: string, continues: boolean): string[];
  /** How it is made to compact: by its own command, or by a model that reports a full context. */
  compaction: { command: string } | { fullTokens: number };
}

export type ClientName = 'claude' | 'codex' | 'gemini' | 'qwen' | 'copilot' | 'opencode';

/** Where a client works: a fresh home folder, and the project. */
export interface Stage {
  home: string;
  project: string;
  /** The scripted model. */
  url: string;
}

export const clients: readonly Client[] = [
  {
    name: 'claude',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    finish: 'install.cjs',
    command: 'claude',
    onNode: false,
    settle({ home, project }) {
      const known = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      writeJson(join(home, '.claude.json'), { hasCompletedOnboarding: true, projects: { [project]: known } });
    },
    environment: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none-is-needed',
      ANTHROPIC_MODEL: 'claude-sonnet-4-5',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    }),
    words: (prompt, continues) => [
      '-p',
      prompt,
      ...(continues ? ['--continue'] : []),
      ...['--output-format', 'json', '--permission-mode', 'acceptEdits'],
      // As root it refuses to skip permissions.
      ...['--allowedTools', 'Bash,Read,Write,Edit,TaskCreate,TaskUpdate,ToolSearch'],
    ],
    compaction: { command: '/compact' },
  },
  {
    name: 'codex',
    package: '@openai/codex',
    version: '0.166.0',
    command: 'codex',
    onNode: true,
    settle({ home, project, url }) {
      const lines = [
        ...['model = "gpt-5.5"', 'model_provider = "scripted"'],
        ...['approval_policy = "never"', 'sandbox_mode = "danger-full-access"', 'check_for_update_on_startup = false'],
        ...['[tools.update_plan]', 'enabled = true', '[analytics]', 'enabled = false'],
        ...['[model_providers.scripted]', 'name = "scripted"', `base_url = "${url}/v1"`, 'wire_api = "responses"'],
        ...['requires_openai_auth = false', 'supports_websockets = false'],
        ...['request_max_retries = 0', 'stream_max_retries = 0'],
        ...[`[projects.${JSON.stringify(project)}]`, 'trust_level = "trusted"'],
        ...codexTrust(join(project, '.codex/hooks.json')),
      ];
      write(join(home, '.codex/config.toml'), `${lines.join('\n')}\n`);
    },
    environment: () => ({}),
    words: (prompt, continues) => ['exec', '--json', ...(continues ? ['resume', '--last'] : []), prompt],
    compaction: { fullTokens: 260_000 },
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    version: '0.61.0',
    command: 'gemini',
    onNode: true,
    settle: ({ home }) =>
      writeJson(join(home, '.gemini/settings.json'), {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    environment: ({ url }) => ({
      GEMINI_API_KEY: 'none-is-needed',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    words: (prompt, continues) => [
      ...['-m', 'gemini-2.5-pro', '--approval-mode', 'yolo', '--output-format', 'json'],
      ...(continues ? ['--resume', 'latest'] : []),
      ...['-p', prompt],
    ],
    compaction: { fullTokens: 900_000 },
  },
  {
    name: 'qwen',
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    command: 'qwen',
    onNode: true,
    settle: ({ home }) =>
      writeJson(join(home, '.qwen/settings.json'), {
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        model: { name: 'scripted' },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    environment: ({ url }) => ({
      OPENAI_API_KEY: 'none-is-needed',
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'scripted',
      QWEN_DISABLE_AUTO_TITLE: '1',
    }),
    words: (prompt, continues) => [
      ...['--approval-mode', 'yolo', '--output-format', 'json'],
      ...(continues ? ['--continue'] : []),
      ...['-p', prompt],
    ],
    compaction: { command: '/compress' },
  },
  {
    name: 'copilot',
    package: '@github/copilot',
    version: '1.0.102',
    command: 'copilot',
    onNode: true,
    settle: ({ home, project }) =>
      writeJson(join(home, '.copilot/settings.json'), { autoUpdate: false, trustedFolders: [project] }),
    environment: ({ url }) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'none-is-needed',
      COPILOT_MODEL: 'scripted',
      COPILOT_OFFLINE: 'true',
      COPILOT_ALLOW_ALL: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    words: (prompt, continues) => [
      ...['-p', prompt],
      ...(continues ? ['--continue'] : []),
      ...['--allow-all-tools', '--allow-all-paths', '--no-color', '--output-format', 'json'],
    ],
    compaction: { command: '/compact' },
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    finish: 'postinstall.mjs',
    command: 'opencode',
    onNode: false,
    settle({ home, url }) {
      // At every start it asks npm for a library that plugins may want, and waits for it.
      write(join(home, '.npmrc'), `registry=${url}/npm/\nfetch-retries=0\n`);
      const limit = { context: 200_000, output: 8000 };
      writeJson(join(home, '.config/opencode/opencode.json'), {
        $schema: 'https://opencode.ai/config.json',
        autoupdate: false,
        share: 'disabled',
        model: 'scripted/scripted',
        small_model: 'scripted/scripted',
        permission: { '*': 'allow' },
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            name: 'scripted',
            options: { baseURL: `${url}/v1`, apiKey: 'none-is-needed' },
            models: { scripted: { name: 'scripted', tool_call: true, limit } },
          },
        },
      });
    },
    environment: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }),
    words: (prompt, continues) => ['run', '--format', 'json', ...(continues ? ['--continue'] : []), prompt],
    compaction: { fullTokens: 195_000 },
  },
];

/** The program and its first arguments. */
export function startOf(client: Client, folder: string, node: string): [string, ...string[]] {
  const command = pathOfCommand(folder, client.command);
  return client.onNode ? [node, command] : [command];
}

/** What `/hooks` writes when a user trusts each hook of the file as it is. */
function codexTrust(hookFile: string): string[] {
  if (!existsSync(hookFile)) return [];
  const { hooks } = JSON.parse(readFileSync(hookFile, 'utf8')) as { hooks: Record<string, CodexGroup[]> };
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher, hooks: handlers }, group) =>
      handlers.flatMap((handlerWords, handler) => {
        const hook = { event, group, handler, matcher, handlerWords };
        const key = JSON.stringify(codexKey(hookFile, hook));
        return [`[hooks.state.${key}]`, `trusted_hash = "${codexHash(hook)}"`];
      }),
    ),
  );
}

interface CodexGroup {
  matcher?: string;
  hooks: Record<string, unknown>[];
}

function writeJson(file: string, value: object): void {
  write(file, `${JSON.stringify(value, null, 2)}\n`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
