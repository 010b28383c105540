import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';

const logOf = (folder: Folder): string => readFileSync(folder.own('worklog/WORKLOG.md'), 'utf8');
const archiveOf = (folder: Folder, number = 1): string => folder.own(`worklog/archive-${number}.md`);

/** Two agents, one of them still active: S-1 and N-1 to N-3 are done, the rest is not. */
function worked(): Folder {
  const folder = newWorkspace();
  folder.data('start', 't1', '--agent', 'ada');
  folder.data('note', 'Chose cookies over storage', '--agent', 'ada');
  folder.data('decide', '--context', 'c', '--decision', 'Cookies | only', '--reason', 'XSS', '--agent', 'ada');
  folder.data('complete', 't1', '--agent', 'ada');
  folder.data('session', 'end', '--reason', 'completed', '--note', 'Tokens are issued.', '--agent', 'ada');
  folder.data('note', 'Two\n## lines');
  folder.data('note', 'A note that others build on');
  folder.data('start', 't2', '--agent', 'ada');
  folder.data('note', 'Rotation follows N-3', '--agent', 'ada');
  folder.data('note', 'no new dependency', '--kind', 'constraint');
  return folder;
}

describe('a link instead of one of our folders, as an unpacked archive may have it', () => {
  it.each(['worklog', 'snapshots'])('is not written through: %s', (name) => {
    const [folder, elsewhere] = [newWorkspace(), newFolder()];
    symlinkSync(elsewhere.path, folder.own(name));
    folder.data('start', 't1', '--agent', 'ada');
    const ran = [
      folder.run('note', 'Chose cookies', '--agent', 'ada'),
      folder.run('session', 'end', '--reason', 'completed', '--agent', 'ada'),
    ];
    expect(ran.map(({ code }) => code)).toEqual([0, 0]);
    expect(ran.map(({ err }) => err).join()).toContain('is not a real folder');
    expect(readdirSync(elsewhere.path)).toEqual(['.git']);
  });
});

describe('the worklog', () => {
  it('has its status within ten lines, the decisions, and a reference to each session', () => {
    const folder = worked();
    const text = logOf(folder);
    const top = text.split('\n').slice(0, 10).join('\n');
    expect(top).toContain('# Worklog: "User authentication"');
    expect(top).toContain('Now Working ("ada"): "t2" "Rotate tokens"');
    expect(top).toContain('Maintainer Focus: ');
    expect(top).toContain('Next Review Checkpoint: ');
    expect(text).toMatch(/\| D-1: "Cookies ¦ only" \| "ada" \| \S+Z \| S-1 \|/);
    expect(text).toMatch(/session S-1 ended, completed\n\nCompleted "t1"\. "Tokens are issued\."\n/);
    expect(text).toContain('> ## lines');
    expect(folder.data('worklog')).toMatchObject({ text, entries: 6, lines: 4 + 5 + 5 + 4 + 4 + 4 });
  });

  it('proposes a compaction above 500 lines', () => {
    const folder = newWorkspace();
    expect(folder.data('note', 'x\n'.repeat(495))['hints']).toEqual([]);
    const { hints } = folder.data('note', 'one more');
    expect(hints[0]).toContain('The worklog has 503 lines, more than 500');
    folder.data('session', 'start', '--agent', 'ada');
    expect(folder.data('session', 'end', '--reason', 'completed', '--agent', 'ada')['hints'][0]).toContain('compact');
  });

  it('shows for every entry whether it could be archived, and why not', () => {
    const folder = worked();
    const { entries } = folder.data('compact');
    const told = Object.fromEntries(entries.map((one: { id: string; why: string }) => [one.id, one.why]));
    expect(told).toEqual({
      'N-1': 'It is done, and nothing open refers to it.',
      'S-1': 'It is the last session of ada.',
      'N-2': 'It is done, and nothing open refers to it.',
      'N-3': 'N-4 refers to it, and stays.',
      'N-4': 'Its session S-2 is at work.',
      'N-5': 'A constraint is in every brief.',
    });
    folder.data('raise', 'question', 'Was N-2 right?');
    folder.data('note', 'Storage was tried', '--kind', 'dead-end');
    const later = folder.data('compact')['entries'];
    expect(later.find((one: { id: string }) => one.id === 'N-2')).toMatchObject({
      moves: false,
      why: 'Q-1 refers to it, and is open.',
    });
    expect(later.at(-1)).toMatchObject({ id: 'N-6', moves: false, why: 'A dead-end is in every brief.' });
  });

  it('is compacted by a person only, with nothing lost', () => {
    const folder = worked();
    const entriesIn = (text: string): string[] =>
      text
        .split(/^(?=### )/m)
        .slice(1)
        .map((part) => part.split(/^Generated from/m)[0] ?? '');
    const before = entriesIn(logOf(folder));
    expect(folder.fault('compact', '--approve', '--agent', 'ada').code).toBe('not_allowed');
    const { archive, linesAfter } = folder.person.data('compact', '--approve');
    const kept = entriesIn(logOf(folder)).filter((text) => before.includes(text));
    const moved = entriesIn(readFileSync(archiveOf(folder), 'utf8'));
    expect(moved).toHaveLength(2);
    expect([...kept, ...moved].sort()).toEqual([...before].sort());
    const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
    const idOf = (text: string): string => /: (?:session )?([NS]-\d+)/.exec(text)?.[1] ?? '';
    expect(archive.proof).toBe(sha(before.map((text) => `${idOf(text)} ${sha(text)}\n`).join('')));
    expect(linesAfter).toBe(17);
    expect(logOf(folder)).toContain('| D-1: "Cookies');
    expect(logOf(folder)).toContain('| archive-1.md |');
    expect(folder.data('search', 'Chose')['results']).toMatchObject([{ id: 'N-1' }]);
    expect(folder.data('status')).toMatchObject({ claims: [], sessions: [{ agent: 'ada' }] });
    expect(folder.data('log', '--limit', '1')['events']).toMatchObject([{ type: 'worklog.compacted' }]);
    expect(folder.data('sessions')['sessions'].map((one: { agent: string }) => one.agent)).not.toContain('root');
    expect(folder.data('doctor')['findings']).toEqual([]);
    expect(folder.person.data('compact', '--approve')).toMatchObject({ archive: null, changed: [] });
  });

  it('moves the chosen entries only', () => {
    const folder = worked();
    folder.person.data('compact', '--approve', '--entry', 'N-2');
    expect(logOf(folder)).toContain('Chose cookies');
    expect(logOf(folder)).not.toContain('## lines');
    expect(folder.person.fault('compact', '--entry', 'N-9').code).toBe('not_found');
    expect(folder.person.fault('compact', '--entry', 'N-2').code).toBe('not_found');
    folder.person.data('compact', '--approve');
    expect(readFileSync(archiveOf(folder, 2), 'utf8')).toContain('Chose cookies');
  });

  it('is completed by the next compaction if the first was cut off', () => {
    const folder = worked();
    folder.person.data('compact', '--approve');
    const archived = readFileSync(archiveOf(folder), 'utf8');
    // As after a crash between the event and the file.
    rmSync(folder.own('worklog'), { recursive: true });
    expect(folder.data('compact')['unfinished']).toEqual([1]);
    folder.person.data('compact', '--approve');
    expect(readFileSync(archiveOf(folder), 'utf8')).toBe(archived);
    expect(folder.data('compact')['unfinished']).toEqual([]);
    expect(logOf(folder)).toContain('Rotation follows N-3');
  });

  it('is not compacted under the claim of another session', () => {
    const folder = worked();
    folder.data('claim', '.git/holdfast/**', '--agent', 'bob');
    expect(folder.person.fault('compact', '--approve')).toMatchObject({ code: 'held', data: { agent: 'bob' } });
    expect(existsSync(archiveOf(folder))).toBe(false);
  });

  it('loses erased text in its archives too', () => {
    const folder = worked();
    folder.person.data('compact', '--approve');
    folder.person.data('erase', 'N-1', '--reason', 'secret');
    expect(readFileSync(archiveOf(folder), 'utf8')).not.toContain('Chose cookies');
    expect(logOf(folder)).not.toContain('Chose cookies');
  });
});
