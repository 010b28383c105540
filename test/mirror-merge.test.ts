import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOf, type Folder, newFolder } from './command-line.ts';

const STATE = 'agent-output/shop/00-session-state.json';

/** A small state file of apex, as its own agents write it. */
function sessionState(): string {
  const step = (name: string, status: string, more = {}) => ({ name, agent: '02-Worker', status, ...more });
  const state = {
    schema_version: '3.0',
    project: 'shop',
    updated: '2026-03-01T10:00:00Z',
    current_step: 2,
    decisions: { region: 'westeurope', budget: '500 EUR' },
    open_findings: ['No zone redundancy', 'Public network access is on'],
    decision_log: [
      { id: 'D001', step: 1, title: 'Where data lives', choice: 'Table storage', rationale: 'Cheap' },
      { id: 'D002', step: 1, title: 'Login', choice: 'Entra', rationale: 'Everyone has it' },
    ],
    steps: {
      '1': step('Requirements', 'complete', { artifacts: ['01-requirements.md'] }),
      '2': step('Architecture', 'in_progress', { sub_step: 'phase_2_waf', artifacts: [] }),
      '3': step('Design', 'pending'),
    },
  };
  return `${JSON.stringify(state, null, 2)}\n`;
}

const session = `---
session_id: 2026-05-02-lighthouse
created: '2026-05-02T08:00:00Z'
updated: '2026-05-02T09:00:00Z'
status: in_progress
current_phase: 1
total_phases: 2
phases:
  - id: 1
    name: Lamps
    status: in_progress
    agents: [coder]
    errors:
      - agent: coder
        timestamp: '2026-05-02T08:30:00Z'
        type: runtime
        message: The wick does not burn
        resolution: pending
        resolved: false
    retry_count: 0
  - id: 2
    name: Lenses
    status: pending
    agents: []
    errors: []
    retry_count: 0
---

# Lighthouse Orchestration Log
`;

function put(folder: Folder, path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const textOf = (folder: Folder, path = STATE): string => readFileSync(join(folder.path, path), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: the file's own shape
const stateOf = (folder: Folder): any => JSON.parse(textOf(folder));

// biome-ignore lint/suspicious/noExplicitAny: the file's own shape
function edit(folder: Folder, change: (state: any) => void): void {
  const state = stateOf(folder);
  change(state);
  put(folder, STATE, `${JSON.stringify(state, null, 2)}\n`);
}

const adopted = (): Folder =>
  copyOf('merged', () => {
    const folder = newFolder();
    put(folder, STATE, sessionState());
    folder.data('adopt', '--mirror');
    return folder;
  });

const itemsOf = (folder: Folder, ...words: string[]): { text: string; status: string }[] =>
  folder.data('items', ...words)['items'];
const decisionsOf = (folder: Folder): { decision: string; status: string }[] => folder.data('decisions')['decisions'];
const synced = (folder: Folder, ...words: string[]) => folder.data('mirror', 'sync', ...words)['mirrors'][0];

describe('an edit of a mirrored file', () => {
  it('resolves an error without an id once, and it stays resolved', () => {
    const folder = newFolder();
    const path = '.gemini/state/active-session.md';
    put(folder, path, session);
    folder.env['HOLDFAST_AGENT'] = 'ada';
    folder.data('adopt', '--mirror');
    const solved = textOf(folder, path)
      .replace('resolved: false', 'resolved: true')
      .replace('resolution: pending', 'resolution: dried it');
    put(folder, path, solved);
    for (const words of [['resume'], ['note', 'one'], ['note', 'two'], ['mirror', 'sync']]) folder.data(...words);
    const text = textOf(folder, path);
    expect(text.match(/message: /g)).toHaveLength(1);
    expect(text).toContain('resolved: true');
    expect(itemsOf(folder)).toEqual([]);
    expect(itemsOf(folder, '--all')).toMatchObject([{ text: 'The wick does not burn', resolution: 'dried it' }]);
    expect(synced(folder).written).toEqual([]);
  });

  it('resolves a finding by removing its title, and it does not come back', () => {
    const folder = adopted();
    edit(folder, (state) => state.open_findings.shift());
    const { err } = folder.run('note', 'Looked at it');
    expect(err).toContain('finding "No zone redundancy" resolved');
    expect(stateOf(folder).open_findings).toEqual(['Public network access is on']);
    expect(itemsOf(folder).map(({ text }) => text)).toEqual(['Public network access is on']);
    expect(synced(folder)).toMatchObject({ absorbed: 0, written: [] });
  });

  it('hides a decision by removing it, and shows the same one again when it is back', () => {
    const folder = adopted();
    const [first] = stateOf(folder).decision_log;
    edit(folder, (state) => state.decision_log.shift());
    folder.data('note', 'Looked at it');
    expect(stateOf(folder).decision_log).toMatchObject([{ id: 'D002' }]);
    const count = decisionsOf(folder).length;
    expect(decisionsOf(folder).map(({ decision }) => decision)).toContain('Table storage');
    edit(folder, (state) => state.decision_log.push(first));
    folder.data('note', 'Looked again');
    expect(stateOf(folder).decision_log).toMatchObject([{ id: 'D002' }, { id: 'D001' }]);
    expect(decisionsOf(folder)).toHaveLength(count);
  });

  it('changes the record it was made of, also if the entry has no id', () => {
    const folder = adopted();
    const count = itemsOf(folder).length;
    edit(folder, (state) => {
      state.open_findings[0] = 'No zone redundancy in the database';
      state.open_findings.reverse();
    });
    folder.data('mirror', 'sync');
    expect(itemsOf(folder)).toHaveLength(count);
    expect(itemsOf(folder).map(({ text }) => text)).toContain('No zone redundancy in the database');
    expect(synced(folder)).toMatchObject({ absorbed: 0, written: [] });
  });

  it.each([
    ['journal', 'phase_3_cost', 'phase_3_cost'],
    ['file', 'phase_4_challenger', 'phase_4_challenger'],
  ])('that meets another change of the same field changes neither until --keep %s', (side, here, there) => {
    const folder = adopted();
    folder.env['HOLDFAST_AGENT'] = 'ada';
    folder.data('start', '2');
    const before = stateOf(folder);
    folder.env['HOLDFAST_RUN'] = 'shop';
    // The file is edited, then a command records another checkpoint before it reads the edit.
    edit(folder, (state) => (state.steps['2'].sub_step = 'phase_4_challenger'));
    const { err } = folder.run('checkpoint', 'phase_3_cost');
    expect(err).toContain('checkpoint is `phase_4_challenger` there and `phase_3_cost` here');
    expect(stateOf(folder).steps['2'].sub_step).toBe('phase_4_challenger');
    expect(before.steps['2'].sub_step).toBe('phase_2_waf');
    expect(folder.data('resume')['conflicts'].length).toBeGreaterThan(0);
    folder.data('mirror', 'sync', '--keep', side);
    expect(stateOf(folder).steps['2'].sub_step).toBe(there);
    const steps = folder.data('plan', 'show')['steps'] as { key: string; checkpoint: { name: string } | null }[];
    expect(steps.find(({ key }) => key === '2')?.checkpoint?.name).toBe(here);
    expect(synced(folder)).toMatchObject({ absorbed: 0, written: [], asks: [] });
  });

  it('that takes back what is done is asked, neither obeyed nor undone', () => {
    const folder = adopted();
    edit(folder, (state) => (state.steps['1'].status = 'pending'));
    const { err } = folder.run('note', 'Looked at it');
    expect(err).toContain('status is `pending` there and `completed` here');
    expect(stateOf(folder).steps['1'].status).toBe('pending');
    expect(folder.data('plan', 'show')['steps'][0].status).toBe('completed');
    expect(synced(folder, '--keep', 'journal').asks).toEqual([]);
    expect(stateOf(folder).steps['1'].status).toBe('complete');
  });

  it('that removes a step is asked', () => {
    const folder = adopted();
    edit(folder, (state) => delete state.steps['3']);
    expect(synced(folder)).toMatchObject({ asks: [{ list: 'steps', id: '3', field: null }] });
    expect(stateOf(folder).steps['3']).toBeUndefined();
    expect(folder.data('plan', 'show')['steps']).toHaveLength(3);
    folder.data('mirror', 'sync', '--keep', 'journal');
    expect(stateOf(folder).steps['3'].status).toBe('pending');
  });
});

describe('a mirrored file that is no edit', () => {
  it('pauses the mirror at an older version, until one side is kept', () => {
    const folder = adopted();
    const old = textOf(folder);
    folder.data('decide', '--context', 'Tokens', '--decision', 'Use jose', '--reason', 'small');
    const recent = textOf(folder);
    put(folder, STATE, old);
    const { err } = folder.run('note', 'Looked at it');
    expect(err).toContain('is at the version of');
    expect(textOf(folder)).toBe(old);
    expect(decisionsOf(folder).map(({ decision }) => decision)).toContain('Use jose');
    // Back at the present version the mirror goes on by itself.
    put(folder, STATE, recent);
    expect(synced(folder)).toMatchObject({ paused: null });
    put(folder, STATE, old);
    expect(synced(folder, '--keep', 'journal')).toMatchObject({
      paused: null,
      written: expect.arrayContaining([STATE]),
    });
    expect(textOf(folder)).toContain('Use jose');
  });

  it('pauses it after a checkout of an older commit', () => {
    const folder = adopted();
    const git = (...words: string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], {
        cwd: folder.path,
        env: folder.env,
      });
    git('init', '-q');
    git('add', 'agent-output');
    const env = { ...folder.env, GIT_COMMITTER_DATE: '2026-03-01T10:00:00Z', GIT_AUTHOR_DATE: '2026-03-01T10:00:00Z' };
    // A version that Holdfast never saw.
    const committed = textOf(folder).replace('Entra', 'Kerberos');
    put(folder, STATE, committed);
    git('add', STATE);
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'state'], {
      cwd: folder.path,
      env,
    });
    put(folder, STATE, sessionState());
    folder.data('decide', '--context', 'Tokens', '--decision', 'Use jose', '--reason', 'small');
    git('checkout', '-q', '--', STATE);
    expect(textOf(folder)).toBe(committed);
    expect(synced(folder)).toMatchObject({
      paused: expect.stringContaining('2026-03-01 10:00'),
      absorbed: 0,
      written: [],
    });
    expect(decisionsOf(folder).map(({ decision }) => decision)).not.toContain('Kerberos');
  });

  it('takes back what only others wrote', () => {
    const folder = adopted();
    const old = textOf(folder);
    edit(folder, (state) => state.open_findings.push('One more'));
    folder.data('resume');
    put(folder, STATE, old);
    folder.data('note', 'Looked at it');
    expect(itemsOf(folder).map(({ text }) => text)).not.toContain('One more');
    expect(synced(folder)).toMatchObject({ paused: null, absorbed: 0 });
  });

  it('pauses it for a copy that says it is older', () => {
    const folder = adopted();
    edit(folder, (state) => {
      state.updated = '2026-02-01T10:00:00Z';
      state.open_findings = [];
    });
    expect(synced(folder).paused).toContain('2026-02-01T10:00:00Z');
    expect(itemsOf(folder)).toHaveLength(2);
    expect(synced(folder).paused).toContain('2026-02-01T10:00:00Z');
    expect(synced(folder, '--keep', 'file')).toMatchObject({ paused: null });
    expect(itemsOf(folder)).toHaveLength(0);
  });

  it('follows a finished maestro session into the archive', () => {
    const folder = newFolder();
    const path = '.gemini/state/active-session.md';
    put(
      folder,
      path,
      session
        .replace('status: in_progress\n    agents', 'status: completed\n    agents')
        .replace('status: pending', 'status: completed'),
    );
    folder.data('adopt', '--mirror');
    put(folder, '.gemini/state/archive/2026-05-02-lighthouse.md', textOf(folder, path));
    rmSync(join(folder.path, path));
    expect(synced(folder)).toMatchObject({ paused: null, written: [] });
    expect(folder.data('runs', '--all')['runs']).toMatchObject([{ status: 'archived' }]);
    expect(() => textOf(folder, path)).toThrow();
  });

  it('does not write a deleted file again by itself', () => {
    const folder = adopted();
    rmSync(join(folder.path, STATE));
    expect(folder.run('note', 'Looked at it').err).toContain('is gone and was not written again');
    expect(() => textOf(folder)).toThrow();
    folder.data('mirror', 'sync', '--keep', 'journal');
    expect(stateOf(folder).project).toBe('shop');
  });
});

describe('looking', () => {
  /** Names, bytes and times of everything in the tree but our own data. */
  function treeOf(folder: Folder): string {
    const hash = createHash('sha256');
    const walk = (path: string): void => {
      for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const file = join(path, entry.name);
        if (entry.name.startsWith('.')) continue;
        if (entry.isDirectory()) walk(file);
        else hash.update(`${file} ${statSync(file).mtimeMs}`).update(readFileSync(file));
      }
    };
    walk(folder.path);
    return hash.digest('hex');
  }

  it('records an edit and writes nothing into the tree', () => {
    const folder = adopted();
    folder.data('decide', '--context', 'Tokens', '--decision', 'Use jose', '--reason', 'small');
    edit(folder, (state) => (state.open_findings = []));
    const before = treeOf(folder);
    for (const words of [['resume'], ['status'], ['brief'], ['mirror', 'list'], ['doctor'], ['resume']])
      folder.run(...words);
    expect(treeOf(folder)).toBe(before);
    expect(itemsOf(folder)).toEqual([]);
  });
});
