import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';

describe('file locks', () => {
  it('refuse overlapping claims of another agent, in both directions, and name the holder', () => {
    const folder = newWorkspace();
    const { id } = folder.data('claim', 'src/**', '--agent', 'ada');
    const fault = folder.fault('claim', 'src/a.ts', '--agent', 'bob');
    expect(fault).toMatchObject({ code: 'held', exit: 1, data: { claim: id, agent: 'ada', file: 'src/a.ts' } });
    expect(fault.hints[0]).toContain(`holdfast wait --for ${id}`);
    folder.data('claim', 'docs/a.md', '--agent', 'bob');
    expect(folder.fault('claim', 'docs/*.md', '--agent', 'ada')).toMatchObject({
      code: 'held',
      data: { agent: 'bob' },
    });
    folder.data('claim', 'lib/deep/a.ts', '--agent', 'bob');
    expect(folder.fault('claim', 'lib', '--agent', 'ada').code).toBe('held');
    expect(folder.fault('claim', '**/*.ts', '--agent', 'bob').code).toBe('held');
    folder.data('claim', 'web/**/*.tsx', '--agent', 'bob');
  });

  it('are shown with their expiry, and released by their holder or a person', () => {
    const folder = newWorkspace();
    const { id } = folder.data('claim', 'src/**', '--agent', 'ada');
    expect(folder.data('status')['claims']).toMatchObject([{ id, agent: 'ada', until: expect.stringMatching(/Z$/) }]);
    expect(folder.run('status').out).toMatch(new RegExp(`${id} ada: src/\\*\\* until `));
    expect(folder.data('resume', '--agent', 'bob')['text']).toContain('claims "src/**"');
    expect(folder.fault('release', id, '--agent', 'bob').code).toBe('held');
    folder.data('release', id, '--agent', 'ada');
    const next = folder.data('claim', 'src/a.ts', '--agent', 'bob');
    folder.person.data('release', next['id']);
    expect(folder.data('status')['claims']).toEqual([]);
  });

  it('are released when their holder has died', async () => {
    const folder = newWorkspace();
    const { spawn } = await import('node:child_process');
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    folder.data('claim', 'src/**', '--agent', 'ada');
    delete folder.env['HOLDFAST_PID'];
    expect(folder.fault('claim', 'src/a.ts', '--agent', 'bob').code).toBe('held');
    const gone = new Promise((resolve) => owner.once('exit', resolve));
    owner.kill('SIGKILL');
    await gone;
    const taken = folder.data('claim', 'src/a.ts', '--agent', 'bob');
    expect(folder.data('status')['claims']).toMatchObject([{ id: taken['id'], agent: 'bob' }]);
  });

  it('keep the worklog unchanged while another session holds it', async () => {
    const folder = newWorkspace();
    const { readFileSync } = await import('node:fs');
    const file = folder.own(`worklog/WORKLOG.md`);
    folder.data('note', 'first');
    const { id } = folder.data('claim', '.git/holdfast/worklog/**', '--agent', 'ada');
    folder.data('note', 'second', '--agent', 'bob');
    expect(readFileSync(file, 'utf8')).not.toContain('second');
    folder.data('release', id, '--agent', 'ada');
    folder.data('note', 'third', '--agent', 'bob');
    expect(readFileSync(file, 'utf8')).toMatch(/second[\s\S]*third/);
  });
});
