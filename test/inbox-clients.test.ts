import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clientNames } from '../src/clients/index.ts';
import { type Folder, program } from './command-line.ts';
import { environments, type HookInput, hook, inputsOf, journal, newRepository } from './hook-player.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const shellClients = clientNames.filter((name) => name !== 'opencode');

/** Which events of a session are reported through the inbox; the others are answered at once. */
const answered: Record<string, readonly string[]> = {
  claude: ['SessionStart', 'UserPromptSubmit'],
  codex: ['SessionStart', 'UserPromptSubmit'],
  gemini: ['BeforeAgent'],
  qwen: ['SessionStart', 'UserPromptSubmit'],
  copilot: ['sessionStart', 'userPromptSubmitted'],
  vscode: ['SessionStart', 'UserPromptSubmit'],
  cursor: ['sessionStart', 'beforeSubmitPrompt'],
};
const draining = /^(?:Stop|stop|agentStop|AfterAgent|PreCompact)$/;

/** The lines in the settings of a client, by event. */
function linesOf(folder: Folder, client: string, isUser: boolean): Map<string, string> {
  folder.env['HOME'] = join(folder.path, '.git/home');
  mkdirSync(folder.env['HOME'], { recursive: true });
  const data = folder.data('install', client, ...(isUser ? [] : ['--project']));
  const files = data['files'] as { path: string; holds: string }[];
  const named = files.find(({ holds }) => /^hooks/.test(holds))?.path ?? '';
  const text = readFileSync(isUser ? named.replace(/^~/, folder.env['HOME']) : join(folder.path, named), 'utf8');
  const lines = [...text.matchAll(/"(?:command|bash)": ("(?:[^"\\]|\\.)*")/g)].map(([, one = '']) => JSON.parse(one));
  return new Map(lines.map((line) => [/ (\w+)(?: \|\| true)?$/.exec(line)?.[1] ?? '', line]));
}

const inboxOf = (folder: Folder): string[] => readdirSync(folder.own('inbox')).filter((name) => name.endsWith('.in'));

/** What is recorded, without what differs between two folders. */
function recordedIn(folder: Folder): unknown[] {
  const text = JSON.stringify(
    journal(folder).map(({ type, session, agent, body }) => ({ type, session, agent, body })),
  );
  const same = text.replaceAll(folder.path, '{cwd}').replace(/"stamp":[\d.]+/g, '"stamp":0');
  return JSON.parse(same).map((event: { body: { mark?: unknown } }) => ({
    ...event,
    body: { ...event.body, mark: undefined, owner: undefined, workspace: undefined, clone: undefined, tree: undefined },
  }));
}

/** As the client runs it: Codex in a login shell. */
function runLine(
  folder: Folder,
  client: string,
  line: string,
  input: object,
  env: Record<string, string> = {},
): string {
  const [shell, flag] = client === 'codex' ? ['bash', '-lc'] : ['sh', '-c'];
  const ran = spawnSync(shell, [flag, line], {
    cwd: folder.path,
    env: { ...folder.env, ...environments[client], ...env },
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  return ran.stdout;
}

const known = new Map<string, unknown[]>();

/** The session of a client as it is recorded without an inbox, played once for all tests. */
function recordedByProgram(client: string, inputs: (folder: Folder) => HookInput[]): unknown[] {
  let recorded = known.get(client);
  if (recorded === undefined) {
    const folder = newRepository();
    for (const { event, input } of inputs(folder)) hook(folder, client, event, input);
    recorded = recordedIn(folder);
    known.set(client, recorded);
  }
  return recorded;
}

describe.each(shellClients)('hooks of %s', (client) => {
  const inputs = (folder: Folder) => inputsOf(client, folder).filter(({ event }) => event !== 'PreCompress');

  it.each([true, false])('record through the launcher what the program records (of a user: %s)', (isUser) => {
    const folder = newRepository();
    const lines = linesOf(folder, client, isUser);
    if (!isUser) {
      const bin = join(folder.path, '.git/bin');
      mkdirSync(bin);
      symlinkSync(program, join(bin, 'holdfast'));
      symlinkSync(join(dirname(program), 'holdfast-hook'), join(bin, 'holdfast-hook'));
      // A login shell sets the search path again.
      writeFileSync(join(folder.env['HOME'] ?? '', '.bash_profile'), `PATH=${bin}:$PATH\n`);
      folder.env['PATH'] = `${bin}:${folder.env['PATH']}`;
    }
    let waiting = 0;
    for (const { event, input } of inputs(folder)) {
      const line = lines.get(event) ?? '';
      expect(line).toMatch(isUser ? /^sh .*holdfast-hook\.sh / : /^holdfast-hook /);
      runLine(folder, client, line, input);
      // The first hook makes the folder.
      const isReport = !answered[client]?.includes(event) && !draining.test(event);
      waiting = isReport && event !== 'SessionStart' ? waiting + 1 : 0;
      expect([event, inboxOf(folder).length]).toEqual([event, waiting]);
    }
    expect(recordedIn(folder)).toEqual(recordedByProgram(client, inputs));
  });

  it('record through the writer for systems without a shell what the program records', () => {
    const folder = newRepository();
    const { machine } = machineOf(folder);
    const file = folder.state('holdfast-hook.cjs');
    const values: Record<string, string> = { PROGRAM: program, MACHINE: machine, STATE: folder.state() };
    const text = readFileSync(join(root, 'launcher/inbox-writer.cjs'), 'utf8');
    writeFileSync(
      file,
      text.replace(/@([A-Z]+)@/g, (_, name: string) => values[name] ?? ''),
    );
    const written: string[] = [];
    for (const { event, input } of inputs(folder)) {
      runLine(folder, client, `'${process.execPath}' '${file}' ${client} ${event}`, input);
      if (inboxOf(folder).length > 0) written.push(event);
    }
    expect(written).toEqual(
      inputs(folder)
        .map(({ event }) => event)
        .filter((event) => !answered[client]?.includes(event) && !draining.test(event)),
    );
    expect(recordedIn(folder)).toEqual(recordedByProgram(client, inputs));
  });
});

/** The state folder is made by any hook. */
function machineOf(folder: Folder): { machine: string } {
  hook(folder, 'claude', 'SessionStart', { session_id: 'other', cwd: folder.path, source: 'startup' });
  return JSON.parse(readFileSync(folder.state('machine.json'), 'utf8'));
}
