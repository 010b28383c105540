import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newWorkspace, type Ran } from './command-line.ts';
import { signed } from './signed.ts';

const claude = ['--agent', 'claude'];
const codex = ['--agent', 'codex'];

/** Every snapshot of the run, in the data folder and in the files that people read. */
function allPass(folder: Folder): void {
  for (const words of [
    ['check', '--all'],
    ['check', 'working-session', '--all'],
  ]) {
    const ran = folder.run(...words, '--json');
    expect([words, ran.code, failedRules(ran)]).toEqual([words, 0, []]);
  }
}

interface Checked {
  rules: { rule: string; result: string; why: string }[];
}

const failedRules = (ran: Ran): string[] =>
  (ran.json.data as unknown as Checked).rules.filter((rule) => rule.result === 'fail').map((rule) => rule.rule);

/** A process that owns a session and dies before ending it. */
async function dyingOwner(): Promise<{ pid: string; kill(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  return {
    pid: String(child.pid),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('the contract over eight sessions of two agents and a maintainer', () => {
  it('holds at every closing, and every planted lie is found', { timeout: 120_000 }, async () => {
    const folder = newWorkspace();
    folder.data('mirror', 'add', 'snap');
    const put = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);

    // 1. A session that runs out of context in the middle of a step.
    folder.data('session', 'start', ...claude);
    folder.data('start', 't1', ...claude);
    put('issue.ts', 'export const issue = 1;\n');
    folder.data('checkpoint', 'drafted', '--artifact', 'issue.ts', '--next', 'Write the test', ...claude);
    folder.data('decide', '--context', 'Store', '--decision', 'Cookies', '--reason', 'XSS', ...claude);
    folder.data('raise', 'question', 'Who owns the vault?', '--to', 'maintainer', ...claude);
    folder.data('session', 'end', '--reason', 'context-exhausted', '--next', 'Write the test', ...claude);
    allPass(folder);

    // 2. The same agent resumes by itself: its brief shows the position and the next action.
    const second = folder.data('session', 'start', ...claude);
    expect(second['brief']).toContain('Write the test');
    folder.data('start', 't1', ...claude);
    folder.data('complete', '--summary', 'Tokens are issued', ...claude);
    folder.data(
      'mail',
      'send',
      '--to',
      'codex',
      '--type',
      'request',
      '--subject',
      'Review',
      '--body',
      'Look',
      ...claude,
    );
    folder.data('raise', 'commitment', 'Document the rotation', '--to', 'codex', ...claude);
    folder.data('session', 'end', '--reason', 'completed', ...claude);
    allPass(folder);

    // 3. The other agent reads its mail, answers, starts the next step and hands it over.
    folder.data('session', 'start', ...codex);
    folder.data('mail', 'ack', 'M-1', '--note', 'On it', ...codex);
    folder.data('mail', 'reply', 'M-1', '--body', 'Looks right', ...codex);
    folder.data('start', 't2', ...codex);
    folder.data('checkpoint', 'half', '--next', 'Rotate at midnight', ...codex);
    const offer = folder.data('handoff', '--to', 'claude', '--message', 'Out of time', ...codex);
    allPass(folder);

    // 4. Claude accepts it; codex may no longer write.
    folder.data('session', 'start', ...claude);
    folder.data('handoff', 'accept', offer['id'], ...claude);
    expect(folder.fault('checkpoint', 'late', '--step', 't2', ...codex).code).toMatch(/fenced|held/);
    folder.data('checkpoint', 'rotated', ...claude);
    folder.data('session', 'end', '--reason', 'timeout', '--next', 'Run it for a night', ...claude);
    allPass(folder);

    // 5. A session whose process dies: its snapshot is reconstructed.
    const owner = await dyingOwner();
    folder.env['HOLDFAST_PID'] = owner.pid;
    folder.data('session', 'start', ...codex);
    folder.data('start', 't2', ...codex);
    delete folder.env['HOLDFAST_PID'];
    await owner.kill();
    expect(folder.data('supervise')['crashed']).toHaveLength(1);
    const crashed = folder.data('check', '--all')['snapshots'].at(-1);
    expect(readFileSync(join(folder.path, crashed.at), 'utf8')).toContain('reconstructed: true');
    allPass(folder);

    // 6. The maintainer offers what the dead session left; much happens before anyone accepts.
    const dead = folder.data('sessions')['sessions'].find((one: { status: string }) => one.status === 'crashed');
    const stale = folder.person.data('handoff', '--to', 'claude', '--from', dead.id);
    for (let count = 0; count < 10; count++) folder.data('note', `Meanwhile ${count}`);
    folder.data('session', 'start', ...claude);
    const taken = folder.data('handoff', 'accept', stale['id'], ...claude);
    expect(taken['stale'].events).toBeGreaterThanOrEqual(10);
    folder.data('complete', 't2', ...claude);
    folder.data('session', 'end', '--reason', 'completed', ...claude);
    allPass(folder);

    // 7. The worklog is compacted by the maintainer, with nothing lost.
    const before = folder.data('search', 'Meanwhile', '--limit', '100')['results'].length;
    expect(folder.fault('compact', '--approve', ...claude).code).toBe('not_allowed');
    folder.person.data('compact', '--approve');
    const turns = readFileSync(join(folder.path, 'working-session/TURNFILE.yaml'), 'utf8');
    expect(turns.match(/role: "\w+"/g)).toEqual(['role: "agent"', 'role: "agent"']);
    expect(folder.data('search', 'Meanwhile', '--limit', '100')['results']).toHaveLength(before);
    allPass(folder);

    // 8. The last session settles what is open and ends the work.
    folder.data('session', 'start', ...codex);
    folder.data('settle', 'Q-1', '--as', 'resolved', '--note', 'mara');
    folder.data('settle', 'C-1', '--as', 'resolved', '--note', 'done', ...claude);
    folder.data('mail', 'close', 'M-1', '--as', 'resolved', '--note', 'thanks', ...claude);
    folder.data('start', 't3', ...codex);
    folder.data('complete', ...codex);
    folder.data('session', 'end', '--reason', 'completed', ...codex);
    allPass(folder);
    expect(folder.data('doctor')['findings']).toEqual([]);

    const latest = folder.data('check')['snapshots'].find((one: { agent: string }) => one.agent === 'claude')
      .at as string;
    const file = join(folder.path, latest);
    const honest = readFileSync(file, 'utf8');
    const token = /REV-\S+-h[0-9a-f]{8}/.exec(honest)?.[0] ?? '';
    const lies: [string, string, string][] = [
      ['a changed byte', honest.replace('Rotate tokens', 'Rotate tokans'), 'token'],
      ['a faked token', honest.replace(token, token.replace(/h.{8}$/, 'h00000000')), 'token'],
      ['a wrong inbox count', signed(honest.replace(/Unread \(0\)/, 'Unread (7)')), 'mailbox'],
      [
        'a missing file',
        signed(honest.replace('### Files to read', '- `gone.ts` — modified\n\n### Files to read')),
        'files-modified',
      ],
      ['an unknown question', signed(`${honest.trimEnd()}\n- Q-99: "What is this?"\n`), 'questions'],
    ];
    expect(signed(honest)).toBe(honest);
    for (const [name, text, rule] of lies) {
      expect(text).not.toBe(honest);
      writeFileSync(file, text);
      const ran = folder.run('check', latest, '--json');
      // The journal has the original text, so `recorded` finds every lie; the other rule names it.
      expect([name, ran.code, failedRules(ran).sort()]).toEqual([name, 1, [rule, 'recorded'].sort()]);
    }
  });
});
