import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Folder } from './command-line.ts';
import { hook, newAgent, newRepository, startOf } from './hook-player.ts';

type Tell = (event: string, more: object) => void;

/** A conversation of Claude in a process that can be killed. */
function conversation(folder: Folder): { tell: Tell; kill(): Promise<void> } {
  const agent = newAgent();
  const tell: Tell = (event, more) => {
    const input = { ...startOf(folder, 'startup', 'c1'), hook_event_name: event, ...more };
    hook(folder, 'claude', event, input, { HOLDFAST_PID: agent.pid });
  };
  tell('UserPromptSubmit', { prompt: 'Show the opening hours of each branch.' });
  writeFileSync(join(folder.path, 'hours.txt'), 'mon 8-18\n');
  const written = { file_path: join(folder.path, 'hours.txt'), content: 'mon 8-18\n' };
  tell('PostToolUse', { tool_name: 'Write', tool_input: written, tool_use_id: 't1', tool_response: {} });
  return { tell, kill: agent.kill };
}

const failing: readonly [string, object][] = [
  ['PreToolUse', { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 't2' }],
  [
    'PostToolUseFailure',
    { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 't2', error: 'Exit code 1' },
  ],
];

interface Situation {
  what: string;
  events: readonly [string, object][];
  isKilled?: boolean;
  word: string;
  /** The line of the run in RESUME.md. */
  page: RegExp;
  /** The task in the snapshot. */
  task: string;
  next: string;
}

const situations: readonly Situation[] = [
  {
    what: 'ended with a question',
    events: [['Stop', { last_assistant_message: 'Drafted. Should closed days be shown?' }]],
    word: 'needs you',
    page: /^Run \S+: claude \(S-1\) ended its turn with a question to the user at /m,
    task: 'partial',
    next: "the user's answer.",
  },
  {
    what: 'was cut off',
    events: [],
    isKilled: true,
    word: 'cut off',
    page: /^Run \S+: claude \(S-1\) was cut off in the middle of a turn at /m,
    task: 'partial',
    next: 'the request is not known to be finished.',
  },
  {
    what: 'ended after a command that failed',
    events: [...failing, ['Stop', { last_assistant_message: 'The test fails.' }]],
    word: 'open',
    page: /^Run \S+: claude \(S-1\) ended its turn at .*; left: a failed command\./m,
    task: 'partial',
    next: '"npm test" failed last; the request is not known to be finished.',
  },
  {
    what: 'ended with nothing left',
    events: [['Stop', { last_assistant_message: 'The hours are shown.' }]],
    word: 'finished',
    page: /^Nothing is unfinished here\. Last finished: "Show the opening hours of each branch\.", /,
    task: 'complete',
    next: 'nothing is left.',
  },
];

describe('a run that', () => {
  it.each(situations)('$what is called $word in lists, and means the same in files', async (situation) => {
    const folder = newRepository();
    const { tell, kill } = conversation(folder);
    for (const [event, more] of situation.events) tell(event, more);
    if (!situation.isKilled) tell('SessionEnd', { reason: 'other' });
    await kill();
    folder.data('supervise');
    const { word, page, task, next } = situation;
    expect(folder.data('runs')['runs']).toMatchObject([{ standing: { word } }]);
    expect(folder.data('status')['standing']).toMatchObject({ word });
    expect(folder.run('runs').out).toContain(` ${word}, `);
    expect(folder.run('status').out.split('\n')[1]).toMatch(new RegExp(`^${word}(?:[:;]|$)`));
    expect(folder.run('next').out).toContain(`  ${word}`);
    expect(readFileSync(folder.own('RESUME.md'), 'utf8')).toMatch(page);
    const snapshot = readFileSync(folder.own('snapshots', 'claude-1.md'), 'utf8');
    expect(snapshot).toContain(`- Status: ${task}\n`);
    expect(snapshot).toContain(`- Next action: ${next}\n`);
    expect(folder.run('check').code).toBe(0);
  });
});
