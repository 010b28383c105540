import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { parseCim, parseCimTable } from './cim.ts';
import { parseCommands, parseProcesses, psPort, wordsOf } from './ps.ts';
import { runningIn } from './running.ts';

/** As macOS prints it: whole paths, with their spaces. */
const psOutput = [
  '    1     0 Ss   Mon Nov 16 07:00:02 2026     /sbin/launchd',
  '  512     1 S    Wed Nov 18 09:12:44 2026     /Applications/Visual Studio Code.app/Contents/MacOS/Electron',
  ' 7001   512 S+   Wed Nov  8 09:12:44 2026     claude',
  ' 7002  7001 Z    Wed Nov 18 09:13:00 2026     (sh)',
  ' 7003  7001 S    Mit 18 Nov 09:13:00 2026     sh',
  '',
].join('\n');

describe('processes as ps lists them', () => {
  const listed = parseProcesses(psOutput);

  it('have a parent, the name of their program and a start in UTC', () => {
    expect(listed.get(512)).toEqual({
      name: 'Electron',
      parent: 1,
      path: '/Applications/Visual Studio Code.app/Contents/MacOS/Electron',
      start: `ps:${Date.UTC(2026, 10, 18, 9, 12, 44) / 1000}`,
    });
    expect(listed.get(7001)).toMatchObject({ name: 'claude', start: `ps:${Date.UTC(2026, 10, 8, 9, 12, 44) / 1000}` });
  });

  it('have ended when only their parent has not looked, and a line in another form is left out', () => {
    expect(listed.get(7002)?.start).toBe('ended');
    expect(listed.has(7003)).toBe(false);
  });

  it('keep a path with spaces as one word', () => {
    const commands = parseCommands(
      '  512 /Applications/Visual Studio Code.app/Contents/MacOS/Electron --type utility\n 7001 claude -p hi\n',
    );
    expect(wordsOf(commands.get(512) ?? '', listed.get(512)?.path ?? '')).toEqual([
      '/Applications/Visual Studio Code.app/Contents/MacOS/Electron',
      '--type',
      'utility',
    ]);
    expect(wordsOf(commands.get(7001) ?? '', 'claude')).toEqual(['claude', '-p', 'hi']);
    expect(wordsOf('', '')).toEqual([]);
  });
});

const children: ReturnType<typeof spawn>[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

describe.runIf(existsSync('/bin/ps'))('the ps of this machine', () => {
  it('tells a process from another one, and the same one twice', () => {
    const child = spawn('sleep', ['300'], { stdio: 'ignore' });
    children.push(child);
    const pid = child.pid ?? 0;
    const look = psPort.look();
    expect(look.read(pid)).toMatchObject({ name: 'sleep', parent: process.pid });
    expect(look.words(pid)).toEqual(['sleep', '300']);
    expect(psPort.start(pid)).toMatch(/^ps:\d{10}$/);
    expect(psPort.start(pid)).toBe(look.start(pid));
    expect(psPort.start(process.pid)).toBe(psPort.look().start(process.pid));
    expect(psPort.start(2 ** 22 + 7)).toBeNull();
  });
});

/** As `ConvertTo-Json -Compress` prints `Win32_Process`. */
const cimOutput = JSON.stringify([
  { ProcessId: 0, ParentProcessId: 0, Name: 'System Idle Process', CommandLine: null, Started: null },
  {
    ProcessId: 4100,
    ParentProcessId: 900,
    Name: 'claude.exe',
    CommandLine: '"C:\\Program Files\\Claude\\claude.exe" --resume',
    Started: '2026-11-18T09:12:44.1234567Z',
  },
  {
    ProcessId: 4200,
    ParentProcessId: 4100,
    Name: 'cmd.exe',
    CommandLine: 'cmd /c node hook.cjs',
    Started: '2026-11-18T09:12:45.0000000Z',
  },
  // The number of its parent was given to a process that started later.
  {
    ProcessId: 4300,
    ParentProcessId: 4200,
    Name: 'node.exe',
    CommandLine: 'node a.js',
    Started: '2026-11-17T09:00:00.0000000Z',
  },
]);

describe('processes as Windows lists them', () => {
  const listed = parseCimTable(cimOutput);

  it('have a parent, a name without its ending, their words and a start', () => {
    expect(listed.get(4100)).toEqual({
      name: 'claude',
      parent: 900,
      words: ['C:\\Program Files\\Claude\\claude.exe', '--resume'],
      start: `cim:${Date.parse('2026-11-18T09:12:44.123Z')}`,
    });
    expect(listed.get(0)).toMatchObject({ words: [], start: null });
  });

  it('have no parent that is younger than they are', () => {
    expect(listed.get(4200)?.parent).toBe(4100);
    expect(listed.get(4300)?.parent).toBe(0);
  });

  it('are unknown where PowerShell printed something else, and one alone is a list', () => {
    expect(parseCim('Get-CimInstance : Access denied')).toBeNull();
    expect(runningIn('')).toBeNull();
    expect(
      runningIn('{"ProcessId":7,"ParentProcessId":1,"CommandLine":"x y","Started":"2026-11-18T00:00:00Z"}'),
    ).toEqual([{ pid: 7, parent: 1, startedMs: Date.UTC(2026, 10, 18), folder: null, command: 'x y' }]);
    expect(runningIn(cimOutput)?.map(({ pid }) => pid)).toEqual([4100, 4200, 4300]);
  });
});
