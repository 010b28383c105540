import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';

/** A short history with something of every derived kind. */
function live(folder: Folder): void {
  folder.data('start', 't1', '--agent', 'ada', '--idempotency', 'k-1');
  folder.data('checkpoint', 'drafted', '--agent', 'ada', '--idempotency', 'k-2');
  folder.data('complete', '--agent', 'ada', '--summary', 'naïve ☃ 𝄞 hunter2hunter2');
  folder.data('decide', '--context', 'c', '--decision', 'Use opaque tokens', '--reason', 'r');
  folder.data('raise', 'question', 'Which region?');
}

/** Everything visible of a run except what depends on the folder, and the mark of an import. */
function look(folder: Folder, run: string) {
  const of = (...words: string[]) => folder.data(...words, '--run', run);
  const { now: _, version: _version, run: shown, ...status } = of('status');
  const log = of('log', '--limit', '1000')['events'] as { type: string; hash: string }[];
  return {
    status,
    title: shown.title,
    log: log.filter(({ type }) => type !== 'run.imported').map(({ hash }) => hash),
    decisions: of('decisions', '--all'),
    items: of('items'),
    found: of('search', 'opaque'),
    sessions: of('sessions')['sessions'],
  };
}

describe('journal export and import', () => {
  for (const there of ['SQLite', 'PostgreSQL']) {
    it(`carry a run to ${there} and back, with its chain and everything derived from it`, () => {
      const run = `moved-${process.pid}-${Date.now()}`;
      const here = newFolder();
      here.data('init', '--title', 'Moved', '--id', run);
      for (const [key, title] of [
        ['t1', 'First'],
        ['t2', 'Second'],
      ] as const)
        here.data('plan', 'add', key, title);
      live(here);
      const file = join(here.path, 'run.jsonl');
      expect(here.data('journal', 'export', '--out', file)).toMatchObject({ run, text: null });
      expect(here.run('journal', 'export').out).toBe(readFileSync(file, 'utf8'));

      const far = newFolder();
      far.env['HOLDFAST_STORE'] = there === 'SQLite' ? join(far.path, 'team.db') : inject('postgresUrl');
      const version = here.data('log')['version'];
      expect(far.person.data('journal', 'import', file)).toMatchObject({ run, taken: version, version: version + 1 });
      expect(look(far, run)).toEqual(look(here, run));
      expect(far.data('doctor', '--run', run)).toMatchObject({ findings: [] });
      expect(far.person.data('journal', 'import', file)).toMatchObject({ taken: 0, changed: [] });

      // It continues there, and comes back.
      far.data('note', 'from afar', '--run', run);
      far.person.data('erase', 't1', '--reason', 'a password', '--run', run);
      const back = join(far.path, 'back.jsonl');
      far.data('journal', 'export', '--out', back, '--run', run);
      expect(readFileSync(back, 'utf8')).not.toContain('hunter2hunter2');
      // With the mark of the import there.
      expect(here.person.data('journal', 'import', back)).toMatchObject({ taken: 3 });
      expect(look(here, run)).toEqual(look(far, run));
      expect(here.data('search', 'hunter2hunter2')['results']).toEqual([]);
      expect(here.data('doctor')).toMatchObject({ findings: [] });
      expect(readFileSync(here.own('journal.db')).includes('hunter2hunter2')).toBe(false);
      // The older file has nothing new.
      expect(here.person.data('journal', 'import', file)).toMatchObject({ taken: 0 });
      expect(here.data('search', 'hunter2hunter2')['results']).toEqual([]);
    });
  }

  it('refuse a diverged history, and change nothing', () => {
    const here = newWorkspace();
    const file = join(here.path, 'run.jsonl');
    here.data('journal', 'export', '--out', file);
    here.data('note', 'this way');
    const other = newFolder();
    other.data('init', '--title', 'Other');
    other.person.data('journal', 'import', file);
    other.data('note', 'that way', '--run', 'auth');
    other.data('journal', 'export', '--out', `${file}.other`, '--run', 'auth');
    const before = look(here, 'auth');
    expect(here.person.fault('journal', 'import', `${file}.other`)).toMatchObject({
      code: 'illegal',
      data: { run: 'auth' },
    });
    expect(look(here, 'auth')).toEqual(before);
  });

  it('refuse a file that was changed, cut off, or is not a journal, and import nothing', () => {
    const here = newWorkspace();
    live(here);
    const lines = (here.data('journal', 'export')['text'] as string).split('\n');
    const far = newFolder();
    far.data('init', '--title', 'Far');
    const file = join(far.path, 'x.jsonl');
    const change = (index: number, edit: (event: Record<string, unknown>) => unknown) =>
      lines.map((line, at) => (at === index ? JSON.stringify(edit(JSON.parse(line))) : line));
    const files: [string, string[]][] = [
      ['corrupt', change(3, (event) => ({ ...event, at: '2020-01-01T00:00:00.000Z' }))],
      ['corrupt', change(3, (event) => ({ ...event, body: { ...(event['body'] as object), title: 'Other' } }))],
      ['corrupt', lines.filter((_, index) => index !== 4)],
      ['invalid', lines.slice(0, -1)],
      ['invalid', lines.slice(1)],
      ['invalid', [...lines.slice(0, 3), '{"run":', ...lines.slice(3)]],
      ['invalid', change(3, (event) => ({ ...event, actor: { kind: 'god', name: 'x' } }))],
      ['invalid', change(3, (event) => ({ ...event, body: {} }))],
      ['newer_schema', change(3, (event) => ({ ...event, type: 'step.dreamt' }))],
      ['newer_schema', change(0, (header) => ({ ...header, format: 99 }))],
      ['invalid', ['hello']],
      ['invalid', []],
    ];
    for (const [code, content] of files) {
      writeFileSync(file, content.join('\n'));
      expect([content.length, far.person.fault('journal', 'import', file).code]).toEqual([content.length, code]);
    }
    expect(far.person.fault('journal', 'import', 'nowhere.jsonl').code).toBe('not_found');
    expect(far.data('runs')['runs']).toHaveLength(1);
    expect(far.fault('status', '--run', 'auth').code).toBe('not_found');
  });
});
