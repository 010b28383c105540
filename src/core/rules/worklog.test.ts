import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { proofOf, worklogEntries } from '../views/worklog.ts';
import { ada, leave, note, sam, scenario, startSession } from './scenario.suite.ts';
import { WORKLOG_FILE } from './worklog.ts';

const compact = (version: number, ...entries: string[]): Command => ({
  type: 'worklog.compact',
  entries,
  proof: 'h',
  version,
});

const written = () => scenario().given(ada, startSession(), note('One.'), note('Two\nlines.'), leave());

describe('compacting the worklog', () => {
  it('is for a person, opens no session, and waits for the claims of others', () => {
    const run = written();
    const { version } = run.state;
    expect(run.refusal(ada, compact(version, 'N-1')).code).toBe('not_allowed');
    for (const file of [WORKLOG_FILE, 'working-session/WORKLOG_ARCHIVE.md']) {
      const claimed = written()
        .given(sam, { type: 'mirror.add', format: 'snap', path: 'working-session/TURNFILE.yaml' })
        .given(ada, startSession(), { type: 'claim.take', files: [file] });
      expect(claimed.refusal(sam, compact(claimed.state.version, 'N-1')).code).toBe('held');
    }
    const { body, changed } = run.when(sam, compact(version, 'N-1', 'S-1'));
    expect(body('worklog.compacted')).toMatchObject({ archive: 1, entries: ['N-1', 'S-1'], lines: 9 });
    expect(changed.map((change) => change.path)).toEqual(['note.N-1.archive', 'session.S-1.archive']);
    expect([...run.state.sessions.values()]).toEqual([]);
    expect(run.state.worklog).toMatchObject({ lines: 5, entries: 1, archives: [{ number: 1, by: 'sam', entries: 2 }] });
  });

  it('is decided at the version it was planned at', () => {
    const run = written();
    const { version } = run.state;
    run.given(ada, note('Three.'));
    expect(run.refusal(sam, compact(version, 'N-1')).code).toBe('conflict');
  });

  it('moves no entry twice, no unknown one, and no active session', () => {
    const run = written();
    run.given(sam, compact(run.state.version, 'N-1'));
    for (const id of ['N-1', 'N-9', 'S-2', 'M-1'])
      expect(run.refusal(sam, compact(run.state.version, id))).toMatchObject({ code: 'illegal', data: { id } });
    expect(run.when(sam, compact(run.state.version)).types).toEqual([]);
  });
});

describe('the entries of a worklog', () => {
  it('have as many lines as the state counts', () => {
    for (const text of ['One.', 'a\nb', 'a\r\nb\rc', '\n\nx', '# x\n```\n---', 'a\u2028b\u000bc']) {
      const run = scenario().given(ada, startSession(), note(text), leave());
      const entries = worklogEntries([run.row('note', 'N-1')], [run.row('session', 'S-1')], []);
      expect(entries.reduce((sum, entry) => sum + entry.lines, 0)).toBe(run.state.worklog.lines);
      expect(entries.flatMap((entry) => entry.text.split('\n')).filter((line) => line.startsWith('#'))).toHaveLength(2);
    }
  });

  it('give another proof in any other order or wording', () => {
    const run = scenario().given(ada, note('One.'), note('Two.'));
    const entries = worklogEntries([run.row('note', 'N-1'), run.row('note', 'N-2')], [], []);
    const proof = proofOf(entries);
    expect(proofOf([...entries].reverse())).not.toBe(proof);
    expect(proofOf(entries.slice(1))).not.toBe(proof);
    expect(proofOf(worklogEntries([run.row('note', 'N-2'), run.row('note', 'N-1')], [], []))).toBe(proof);
  });
});
