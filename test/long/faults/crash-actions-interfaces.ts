import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { CrashAction } from './crash-actions.ts';
import { type Answer, answerOf, type Environment, newPlace, type Place, program, workedPlace } from './place.ts';

/** Actions through the other interfaces: clients' settings, their hooks and transcripts, the two servers. */
export const interfaceActions: readonly CrashAction[] = [
  {
    name: 'install',
    prepare: withSettings,
    words: ['install', 'claude', '--project'],
    keyless: true,
    leavesFiles: true,
    short: true,
  },
  {
    name: 'install for all',
    prepare: withSettings,
    words: ['install', 'all', '--project'],
    keyless: true,
    leavesFiles: true,
  },
  {
    name: 'install, then taken back',
    prepare: withSettings,
    words: [],
    async carryOut(place, env) {
      await place.start(['install', 'claude', '--project'], { env });
      return place.start(['uninstall', 'claude', '--project']);
    },
    leavesFiles: true,
  },
  {
    name: 'uninstall',
    prepare: withSettings,
    ready: (place) => void place.data('install', 'claude', '--project'),
    words: ['uninstall', 'claude', '--project'],
    keyless: true,
    leavesFiles: true,
  },
  {
    name: 'recover from a transcript',
    prepare: newPlace,
    ready: leaveTranscript,
    words: ['recover', '--transcript', 'session.jsonl'],
    keyless: true,
    // The second run records under its own session.
    once: ['files.seen', 'effect.began', 'effect.ended', 'decision.made', 'usage.added', 'recovery.made', 'plan.added'],
    short: true,
    server: true,
  },
  hook('hook, a session begins', 'SessionStart', { source: 'startup' }),
  hook('hook, a command begins', 'PreToolUse', {
    tool_name: 'Bash',
    tool_use_id: 'u-2',
    tool_input: { command: 'npm run deploy' },
  }),
  hook('hook, a file was written', 'PostToolUse', {
    tool_name: 'Write',
    tool_use_id: 'u-1',
    tool_input: { file_path: 'a.ts', content: 'x' },
    tool_response: { success: true },
  }),
  hook('hook, the turn is over', 'Stop', { stop_hook_active: false }),
  hook('hook, the session is over', 'SessionEnd', { reason: 'other' }),
  {
    name: 'MCP tool calls',
    prepare: workedPlace,
    words: ['mcp', '--agent', 'ada'],
    input: [
      request(1, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'claude-code', version: '1.0.0' },
      }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      request(2, 'tools/call', { name: 'start', arguments: { key: 't3' } }),
      request(3, 'tools/call', { name: 'finish', arguments: { action: 'complete', key: 't3', summary: 'Written' } }),
    ]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join(''),
    keyless: true,
    once: ['step.started', 'step.completed'],
    server: true,
  },
  {
    name: 'serve, several writes',
    prepare: workedPlace,
    words: ['serve'],
    carryOut: serveWrites,
    once: ['note.added', 'decision.made', 'step.completed'],
    server: true,
  },
];

function request(id: number, method: string, params: object): object {
  return { jsonrpc: '2.0', id, method, params };
}

function hook(name: string, event: string, more: object): CrashAction {
  return {
    name,
    prepare: workedPlace,
    words: ['hook', 'claude', event],
    input: JSON.stringify({ session_id: 'c-1', hook_event_name: event, ...more }),
    keyless: true,
    server: true,
  };
}

/** A place with the user's own settings, which must not be touched. */
function withSettings(): Place {
  const place = workedPlace();
  const settings: Record<string, string> = {
    '.claude/settings.json': '{\n  // Mine.\n  "permissions": { "allow": ["Bash(ls:*)"] },\n}\n',
    '.codex/config.toml': 'model = "gpt-5" # mine\n',
    '.gemini/settings.json': '{ "theme": "dark" }',
    'AGENTS.md': '# How we work\n\nSlowly.\n',
  };
  for (const [path, text] of Object.entries(settings)) {
    mkdirSync(join(place.file(path), '..'), { recursive: true });
    writeFileSync(place.file(path), text);
  }
  return place;
}

function leaveTranscript(place: Place): void {
  const transcript = readFileSync(join('test', 'fixtures', 'transcripts', 'claude', 'session.jsonl'), 'utf8');
  mkdirSync(place.file('src'), { recursive: true });
  writeFileSync(place.file('src', 'login.ts'), 'x');
  writeFileSync(place.file('session.jsonl'), transcript.replaceAll('/repo/app', place.path));
}

const WRITES: readonly (readonly [operation: string, input: object])[] = [
  ['note', { text: 'Kept once' }],
  ['decide', { context: 'Here', decision: 'Stay', reason: 'Near' }],
  ['complete', { key: 't1', summary: 'Tokens are issued' }],
];

/** Writes to a server until everything is acknowledged or the server is gone; each write has its own key. */
async function serveWrites(place: Place, env: Environment): Promise<Answer> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    cwd: place.path,
    env: { ...place.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const said = { out: '', err: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { data } = JSON.parse(line) as { data: { url: string; link: string } };
      const token = new URL(data.link).searchParams.get('token') ?? '';
      for (const [operation, input] of WRITES) said.out = await post(`${data.url}/api/${operation}`, token, input);
      break;
    }
  } catch {
    // It was killed before it answered.
  }
  child.kill('SIGTERM');
  const [code] = (await exited) as [number | null];
  return answerOf(code, said.out, said.err);
}

async function post(url: string, token: string, input: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(input),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': url.split('/').at(-1) ?? '',
      'holdfast-run': 'auth',
    },
  });
  return response.text();
}
