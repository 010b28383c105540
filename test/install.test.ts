import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'jsonc-parser';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { packagedFiles } from '../scripts/packages.ts';
import { codexHash, codexKey } from '../src/clients/codex/trust.ts';
import { clientNames } from '../src/clients/index.ts';
import { newFolder, program } from './command-line.ts';
import { contextIn, inputsOf } from './hook-player.ts';
import { briefHooks, type Ground, newGround, newGroundAtWork, seeds, treeOf } from './installation.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

function seed(ground: Ground, client: string, eol = '\n'): void {
  for (const [path, text] of Object.entries(seeds[client] ?? {})) ground.put(path, text.replaceAll('\n', eol));
}

/** What a client would run: the line from the settings, in a shell, with an event on standard input. */
function runLine(line: string, ground: Ground, payload: unknown, env: Record<string, string> = {}) {
  const ran = spawnSync('/bin/sh', ['-c', line], {
    cwd: ground.project.path,
    env: { ...ground.project.env, ...env },
    input: JSON.stringify(payload),
    encoding: 'utf8',
    timeout: 25_000,
  });
  return {
    code: ran.status,
    out: ran.stdout,
    err: ran.stderr,
    answer: ran.stdout === '' ? null : JSON.parse(ran.stdout),
  };
}

describe.each(clientNames)('%s', (client) => {
  it.each([
    ['lines of Unix', '\n'],
    ['lines of Windows', '\r\n'],
  ])('is installed beside what is there and removed byte for byte, with %s', (_, eol) => {
    const ground = newGround();
    seed(ground, client, eol);
    const { path } = ground.project;
    const before = treeOf(path);
    ground.project.data('install', client, '--project');
    for (const [file, text] of Object.entries(seeds[client] ?? {})) {
      const now = ground.text(file);
      if (eol === '\r\n') expect(now.replaceAll('\r\n', '')).not.toContain('\n');
      // Every line is still there, in order; a comma may follow it now.
      const lines = now.split(eol);
      let at = 0;
      for (const line of text
        .split('\n')
        .filter((one) => one.trim() !== '' && !/fileName|"mcp": \{\}|^\{ "hooks"/.test(one))) {
        at = lines.findIndex(
          (one, index) =>
            index >= at &&
            one.replace(/,(?=\s*(\/\/.*)?$)/, '').startsWith(line.replace(/,(?=\s*(\/\/.*)?$)/, '').trimEnd()),
        );
        expect([file, line, at >= 0]).toEqual([file, line, true]);
      }
    }
    expect(treeOf(path)).not.toEqual(before);
    ground.project.data('uninstall', client, '--project');
    expect(treeOf(path)).toEqual(before);
    expect(readdirSync(ground.project.state('installed'))).toEqual([]);
  });

  it('is installed once however often it is run, and leaves nothing behind', () => {
    const ground = newGround();
    const { path } = ground.project;
    const planned = ground.project.data('install', client, '--project', '--dry-run');
    expect(treeOf(path)).toEqual({});
    const done = ground.project.data('install', client, '--project');
    expect(done['files']).toEqual(planned['files']);
    const once = treeOf(path);
    const again = ground.project.data('install', client, '--project');
    expect(again.changed).toEqual([]);
    expect(treeOf(path)).toEqual(once);
    ground.project.data('uninstall', client, '--project');
    expect(treeOf(path)).toEqual({});
    expect(ground.project.data('uninstall', client, '--project')).toMatchObject({ files: [], changed: [] });
  });

  it('is installed for a user with absolute paths, and removed again', () => {
    const ground = newGround();
    const { home, project } = ground;
    writeFileSync(join(home, '.profile'), 'x\n');
    ground.put('untouched.txt', 'x');
    const before = treeOf(home);
    project.data('install', client, '--user');
    expect(treeOf(project.path)).toEqual({ 'untouched.txt': 'x' });
    const now = treeOf(home);
    expect(Object.values(now).some((text) => text.includes(program))).toBe(true);
    expect(
      Object.entries(now)
        .filter(([, text]) => text.includes('.holdfast/holdfast.cjs'))
        .map(([name]) => name),
    ).toEqual([]);
    expect(project.data('install', client, '--user').changed).toEqual([]);
    project.data('uninstall', client, '--user');
    const after = treeOf(home);
    delete after['.config/'];
    expect(after).toEqual(before);
  });

  it('keeps a byte order mark', () => {
    const ground = newGround();
    for (const [path, text] of Object.entries(seeds[client] ?? {})) ground.put(path, `\ufeff${text}`);
    const before = treeOf(ground.project.path);
    ground.project.data('install', client, '--project');
    ground.project.data('uninstall', client, '--project');
    expect(treeOf(ground.project.path)).toEqual(before);
  });

  it('keeps what others wrote into its files since, and removes only its own entries', () => {
    const ground = newGround();
    seed(ground, client);
    ground.project.data('install', client, '--project');
    const edited: string[] = [];
    for (const file of Object.keys(seeds[client] ?? {}).filter(
      (name) => /\.jsonc?$/.test(name) && !name.includes('team'),
    )) {
      const text = ground.text(file);
      ground.put(file, text.replace('{', '{ "added": [1, 2],'));
      edited.push(file);
    }
    ground.project.data('uninstall', client, '--project');
    for (const file of edited) {
      const expected = parse((seeds[client]?.[file] ?? '').replace('{', '{ "added": [1, 2],'));
      expect([file, parse(ground.text(file))]).toEqual([file, expected]);
      for (const [comment] of (seeds[client]?.[file] ?? '').matchAll(/\/\/.*|\/\*.*\*\//g))
        expect(ground.text(file)).toContain(comment.trimEnd());
    }
  });
});

describe('what was installed', () => {
  it.each(Object.keys(briefHooks))('brings the brief to %s by the line in its settings', (client) => {
    const ground = newGroundAtWork();
    ground.project.data('install', client, '--project');
    const { file, event, command } = briefHooks[client] ?? { file: '', event: '', command: () => '' };
    const line = command(join(ground.project.path, file), event);
    const found = inputsOf(client, ground.project).find((one) => one.event === event);
    const ran = runLine(line, ground, found?.input);
    expect([ran.code, ran.err]).toEqual([0, '']);
    expect(contextIn({ ...ran })).toMatch(/Holdfast (brief|record)/);
  });

  it('brings the brief to OpenCode by its plugin', async () => {
    const ground = newGroundAtWork();
    ground.project.data('install', 'opencode', '--project');
    const file = join(ground.project.path, '.opencode/plugins/holdfast.mjs');
    cpSync(join(ground.project.path, '.opencode/plugins/holdfast.js'), file);
    const { Holdfast } = await import(pathToFileURL(file).href);
    vi.stubEnv('PATH', ground.project.env['PATH'] ?? '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const plugin = await Holdfast({ client: {}, directory: ground.project.path });
    const output = { message: { id: 'm1' }, parts: [{ type: 'text', text: 'Go on' }] };
    await plugin['chat.message']({ sessionID: 's1' }, output);
    expect(output.parts[0]?.text).toMatch(/Holdfast (brief|record)/);
  });

  it('works in a clone with the program elsewhere, and hardly affects people without Holdfast', () => {
    const ground = newGround();
    ground.project.data('install', 'claude', '--project');
    const clone = newGroundAtWork();
    cpSync(ground.project.path, clone.project.path, { recursive: true, filter: (path) => !/\.git$/.test(path) });
    const payload = inputsOf('claude', clone.project)[0]?.input;
    const line = briefHooks['claude']?.command(join(clone.project.path, '.claude/settings.json'), 'SessionStart') ?? '';
    const found = clone.project.env['PATH'] ?? '';
    clone.project.env['PATH'] = '/usr/bin:/bin';
    expect(runLine(line, clone, payload)).toMatchObject({ code: 0, out: '' });
    clone.project.env['PATH'] = found;
    expect(contextIn({ ...runLine(line, clone, payload) })).toMatch(/Holdfast (brief|record)/);
    // The colleague removes it without a manifest.
    clone.project.data('uninstall', 'claude', '--project');
    expect(Object.keys(treeOf(clone.project.path)).filter((name) => !name.endsWith('/'))).toEqual([]);
  });

  it('says so where the project needs the program on the search path and it is not there', () => {
    const { project } = newGround();
    project.env['PATH'] = '/usr/bin:/bin';
    expect(project.data('install', 'claude', '--project')['steps'].join()).toContain('search path');
    expect(project.data('install', 'claude', '--user')['steps'].join()).not.toContain('search path');
  });

  it('is recognised when Copilot runs the file for VS Code', () => {
    const ground = newGroundAtWork();
    ground.project.data('install', 'vscode', '--project');
    const line = briefHooks['vscode']?.command(
      join(ground.project.path, '.github/hooks/holdfast-vscode.json'),
      'SessionStart',
    );
    const payload = { hook_event_name: 'SessionStart', session_id: 'c1', cwd: ground.project.path, source: 'startup' };
    const ran = runLine(line ?? '', ground, payload, { COPILOT_CLI: '1' });
    expect(ran.answer).toMatchObject({ additionalContext: expect.stringMatching(/Holdfast (brief|record)/) });
  });

  it('stays as long as one of the clients that share it', () => {
    const ground = newGround();
    ground.project.data('install', 'claude', '--project');
    ground.project.data('install', 'copilot', '--project');
    const taken = ground.project.data('uninstall', 'claude', '--project');
    expect(taken['files']).toContainEqual(
      expect.objectContaining({ path: '.mcp.json', action: 'kept', why: 'copilot needs it' }),
    );
    expect(ground.text('.mcp.json')).toContain('holdfast');
    expect(existsSync(join(ground.project.path, 'CLAUDE.md'))).toBe(false);
    ground.project.data('uninstall', 'copilot', '--project');
    expect(treeOf(ground.project.path)).toEqual({});
  });

  it('is reported: what a dry run would do, which clients it is removed from, and that nothing is installed', () => {
    const { project } = newGround();
    const trial = project.run('install', 'claude', '--project', '--dry-run').out;
    expect(trial).toMatch(/^This would be installed for Claude Code in this project:$/m);
    expect(trial).toMatch(/^ {2}create \.claude\/settings\.json \(hooks\)$/m);
    expect(trial).not.toContain('created');
    project.data('install', 'claude', '--project');
    project.data('install', 'gemini', '--project');
    expect(project.data('uninstall', 'all', '--project', '--dry-run')['clients']).toEqual(['claude', 'gemini']);
    rmSync(project.state('installed'), { recursive: true });
    expect(project.data('uninstall', 'all', '--project')['clients']).toEqual(['claude', 'gemini']);
    expect(project.run('uninstall', 'gemini', '--project').out).toContain(
      'Nothing of Holdfast is installed for Gemini CLI',
    );
  });

  it('brings changed entries up to date, and leaves the backup as it was', () => {
    const ground = newGround();
    seed(ground, 'codex');
    const before = treeOf(ground.project.path);
    ground.project.data('install', 'codex', '--project');
    const old = ground.text('.codex/hooks.json').replaceAll('"timeout": 10', '"timeout": 11');
    ground.put('.codex/hooks.json', old);
    ground.project.data('install', 'codex', '--project');
    const { hooks } = JSON.parse(ground.text('.codex/hooks.json'));
    expect(hooks.Stop).toMatchObject([{ hooks: [{ command: 'beep' }] }, { hooks: [{ timeout: 10 }] }]);
    ground.project.data('uninstall', 'codex', '--project');
    const { '.codex/hooks.json': _, ...rest } = before;
    expect(treeOf(ground.project.path)).toMatchObject(rest);
    expect(JSON.parse(ground.text('.codex/hooks.json'))).toEqual(
      JSON.parse(seeds['codex']?.['.codex/hooks.json'] ?? ''),
    );
  });
});

describe('install refuses', () => {
  it('a file that is read-only, and changes nothing else either', () => {
    const ground = newGround();
    seed(ground, 'claude');
    chmodSync(join(ground.project.path, 'CLAUDE.md'), 0o444);
    const before = treeOf(ground.project.path);
    const fault = ground.project.fault('install', 'claude', '--project');
    expect(fault).toMatchObject({
      code: 'unavailable',
      exit: 3,
      message: expect.stringContaining('CLAUDE.md is read-only'),
    });
    expect(fault.hints.join(' ')).toContain('Make it writable');
    expect(treeOf(ground.project.path)).toEqual(before);
    chmodSync(join(ground.project.path, 'CLAUDE.md'), 0o640);
    ground.project.data('install', 'claude', '--project');
    expect(statSync(join(ground.project.path, 'CLAUDE.md')).mode & 0o777).toBe(0o640);
    chmodSync(join(ground.project.path, 'CLAUDE.md'), 0o444);
    expect(ground.project.fault('uninstall', 'claude', '--project')).toMatchObject({ code: 'unavailable' });
    expect(ground.text('.claude/settings.json')).toContain('hook claude');
  });

  it('settings that cannot be parsed, with their line', () => {
    const ground = newGround();
    ground.put('.claude/settings.json', '{\n  "hooks": {\n');
    expect(ground.project.fault('install', 'claude', '--project')).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/settings\.json cannot be read: line 3/),
    });
    ground.put('.claude/settings.json', '{ "hooks": [] }');
    expect(ground.project.fault('install', 'claude', '--project')).toMatchObject({ code: 'invalid' });
    ground.put('.claude/settings.json', '[]');
    expect(ground.project.fault('install', 'claude', '--project')).toMatchObject({ code: 'invalid' });
    ground.put('.claude/settings.json', '{}');
    ground.put('AGENTS.md', '<!-- holdfast:begin -->\n');
    expect(ground.project.fault('install', 'claude', '--project')).toMatchObject({ code: 'invalid' });
    expect(ground.text('.claude/settings.json')).toBe('{}');
  });

  it('a link that leads out of project and home, and follows one that does not', () => {
    const ground = newGround();
    const outside = newFolder().path;
    writeFileSync(join(outside, 'settings.json'), '{}');
    mkdirSync(join(ground.project.path, '.claude'));
    symlinkSync(join(outside, 'settings.json'), join(ground.project.path, '.claude/settings.json'));
    expect(ground.project.fault('install', 'claude', '--project').message).toContain('outside the project');
    expect(readFileSync(join(outside, 'settings.json'), 'utf8')).toBe('{}');
    rmSync(join(ground.project.path, '.claude/settings.json'));
    symlinkSync(join(ground.project.path, 'nowhere.json'), join(ground.project.path, '.claude/settings.json'));
    expect(ground.project.fault('install', 'claude', '--project').message).toContain('leads nowhere');
    ground.put('nowhere.json', '{ "a": 1 }');
    ground.project.data('install', 'claude', '--project');
    expect(ground.text('nowhere.json')).toContain('hook claude');
    ground.project.data('uninstall', 'claude', '--project');
    expect(ground.text('nowhere.json')).toBe('{ "a": 1 }');
  });

  it('unknown clients, and to guess if none is found', () => {
    const ground = newGround();
    expect(ground.project.fault('install', 'emacs', '--project')).toMatchObject({ code: 'invalid' });
    expect(ground.project.fault('install', 'claude', '--user', '--project')).toMatchObject({ code: 'usage' });
    ground.project.env['PATH'] = '/nowhere';
    expect(ground.project.fault('install', 'all', '--project')).toMatchObject({ code: 'not_found' });
    mkdirSync(join(ground.home, '.codex'));
    mkdirSync(join(ground.home, '.gemini'));
    expect(ground.project.data('install', 'all', '--project')['clients']).toEqual(['codex', 'gemini']);
    ground.project.data('uninstall', 'all', '--project');
    expect(treeOf(ground.project.path)).toEqual({});
  });

  it('to overwrite an entry, a table or a file of the same name', () => {
    const ground = newGround();
    ground.put('.mcp.json', '{ "mcpServers": { "holdfast": { "command": "mine" } } }');
    ground.put('.claude/skills/holdfast/SKILL.md', 'mine\n');
    ground.put('.codex/config.toml', '[mcp_servers.holdfast]\ncommand = "mine"\n');
    const files = [
      ...ground.project.data('install', 'claude', '--project')['files'],
      ...ground.project.data('install', 'codex', '--project')['files'],
    ];
    for (const path of ['.mcp.json', '.claude/skills/holdfast/SKILL.md', '.codex/config.toml'])
      expect(files).toContainEqual(expect.objectContaining({ path, action: 'left', why: expect.any(String) }));
    ground.project.data('uninstall', 'all', '--project');
    expect(ground.text('.mcp.json')).toContain('mine');
    expect(ground.text('.claude/skills/holdfast/SKILL.md')).toBe('mine\n');
    expect(ground.text('.codex/config.toml')).toBe('[mcp_servers.holdfast]\ncommand = "mine"\n');
  });
});

describe("Codex's settings", () => {
  it('keep tables that Codex wrote below ours, and lose sub-tables of ours', () => {
    const ground = newGround();
    ground.project.data('install', 'codex', '--project');
    const text = ground.text('.codex/config.toml');
    ground.put(
      '.codex/config.toml',
      `model = "m"\n\n${text}\n[mcp_servers.holdfast.tools.resume]\napproval_mode = "approve"\n\n# kept\n[projects."/x"]\ntrust_level = "trusted"\n`,
    );
    ground.project.data('uninstall', 'codex', '--project');
    expect(ground.text('.codex/config.toml')).toMatch(
      /^model = "m"\n+# kept\n\[projects\."\/x"\]\ntrust_level = "trusted"\n$/,
    );
  });
});

describe('doctor', () => {
  const findingsOf = (ground: Ground): { code: string; at: string; message: string }[] =>
    ground.project.data('doctor')['findings'];

  it('reports what is not trusted, has never reported, is missing or fails', () => {
    const ground = newGround();
    ground.project.data('install', 'codex', '--project');
    expect(findingsOf(ground).map(({ code }) => code)).toEqual(['install.untrusted', 'install.silent']);
    const file = join(ground.project.path, '.codex/hooks.json');
    const { hooks } = JSON.parse(readFileSync(file, 'utf8')) as {
      hooks: Record<string, { matcher?: string; hooks: Record<string, unknown>[] }[]>;
    };
    const trust = Object.entries(hooks).map(([event, [group]]) => {
      const hook = { event, group: 0, handler: 0, matcher: group?.matcher, handlerWords: group?.hooks[0] ?? {} };
      return `[hooks.state.${JSON.stringify(codexKey(file, hook))}]\ntrusted_hash = "${codexHash(hook)}"\n`;
    });
    mkdirSync(join(ground.home, '.codex'));
    writeFileSync(join(ground.home, '.codex/config.toml'), trust.join('\n'));
    for (const event of ['SessionStart', 'UserPromptSubmit']) {
      const found = inputsOf('codex', ground.project).find((one) => one.event === event);
      runLine(briefHooks['codex']?.command(file, event) ?? '', ground, found?.input);
    }
    expect(findingsOf(ground)).toEqual([]);
    writeFileSync(join(ground.home, '.codex/config.toml'), trust.slice(1).join('\n'));
    expect(findingsOf(ground)).toMatchObject([
      { code: 'install.untrusted', message: expect.stringContaining('SessionStart') },
    ]);
    writeFileSync(join(ground.home, '.codex/config.toml'), trust.join('\n'));
    rmSync(join(ground.project.path, 'AGENTS.md'));
    writeFileSync(join(ground.project.path, '.codex/config.toml'), '');
    ground.project.env['PATH'] = '/usr/bin:/bin';
    expect(findingsOf(ground).map(({ code, at }) => `${code} ${at}`)).toEqual([
      'install.missing .codex/config.toml',
      'install.missing AGENTS.md',
      'install.unreachable holdfast-hook',
    ]);
  });

  it('computes the hash that Codex gives a hook', () => {
    const handlerWords = { type: 'command', command: 'node x hook codex Stop', timeout: 10 };
    const hook = { event: 'Stop', group: 0, handler: 0, matcher: 'ignored', handlerWords };
    // Of {"event_name":"stop","hooks":[{"async":false,"command":"node x hook codex Stop","timeout":10,"type":"command"}]}
    expect(codexHash(hook)).toBe('sha256:2a5d81aa2de128bee7441e6a83f48c648fad3939a60e0a9cdece3744de0ecc6e');
    expect(codexKey('/p/hooks.json', { ...hook, event: 'SessionStart' })).toBe('/p/hooks.json:session_start:0:0');
  });
});

describe('the packaged forms', () => {
  it('equal what install writes (`node scripts/run.mjs scripts/plugins.ts` rebuilds them)', () => {
    const files = packagedFiles((path) => readFileSync(join(root, path), 'utf8'));
    for (const name of ['claude', 'gemini', 'cursor']) {
      const wanted = [...files]
        .filter(([path]) => path.startsWith(`${name}/`))
        .map(([path, text]) => [path.slice(name.length + 1), text]);
      const found = Object.entries(treeOf(join(root, 'plugins', name))).filter(([path]) => !path.endsWith('/'));
      const utf8 = found.map(([path, text]) => [path, Buffer.from(text, 'latin1').toString('utf8')]);
      expect(Object.fromEntries(utf8)).toEqual(Object.fromEntries(wanted));
    }
  });

  it('bring the brief from any folder', () => {
    const ground = newGroundAtWork();
    const plugin = join(ground.home, 'cache', 'holdfast', '0.1.0');
    cpSync(join(root, 'plugins/claude'), plugin, { recursive: true });
    const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
    const line = hooks.SessionStart[0].hooks[0].command;
    for (const [client, env] of Object.entries({
      claude: { CLAUDECODE: '1' },
      codex: {},
      qwen: { QWEN_PROJECT_DIR: '/' },
    })) {
      const payload = inputsOf(client, ground.project)[0]?.input;
      const ran = runLine(line, ground, payload, { CLAUDE_PLUGIN_ROOT: plugin, ...env } as Record<string, string>);
      expect([client, contextIn({ ...ran })]).toEqual([client, expect.stringMatching(/Holdfast (brief|record)/)]);
    }
  });
});
