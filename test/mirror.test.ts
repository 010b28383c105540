import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { type Folder, newFolder } from './command-line.ts';

interface Findings {
  findings: { code: string; message: string }[];
}

const STATE = 'agent-output/shop/00-session-state.json';

/** As the tool that owns the format writes it, with an unknown key. */
function sessionState(change: Record<string, unknown> = {}): string {
  const step = (name: string, status: string, more = {}) => ({
    name,
    agent: '02-Worker',
    status,
    sub_step: null,
    started: status === 'pending' ? null : '2026-03-01T09:00:00Z',
    completed: status === 'complete' ? '2026-03-01T10:00:00Z' : null,
    artifacts: [],
    context_files_used: [],
    ...more,
  });
  const state = {
    schema_version: '3.0',
    project: 'shop',
    iac_tool: 'Bicep',
    region: 'swedencentral',
    branch: 'main',
    updated: '2026-03-01T10:00:00Z',
    current_step: 2,
    house_rule: { 'kept by': 'someone', order: [3, 1, 2] },
    decisions: {
      region: 'swedencentral',
      compliance: 'GDPR',
      budget: '500 EUR',
      architecture_pattern: 'Web App',
      deployment_strategy: 'phased',
      complexity: 'simple',
    },
    open_findings: ['Public network access is on'],
    decision_log: [
      {
        id: 'D001',
        step: 1,
        agent: '02-Requirements',
        title: 'Where data lives',
        choice: 'Table storage',
        rationale: 'Cheap',
        timestamp: '2026-03-01T09:30:00Z',
      },
    ],
    review_audit: {},
    steps: {
      '1': step('Requirements', 'complete', { artifacts: ['01-requirements.md'] }),
      '2': step('Architecture', 'in_progress', { sub_step: 'phase_2_waf' }),
      '3': step('Design', 'pending'),
      '3_5': step('Governance', 'pending'),
      '4': step('IaC Plan', 'pending'),
      '5': step('IaC Code', 'pending'),
      '6': step('Deploy', 'pending'),
      '7': step('As-Built', 'pending'),
    },
    ...change,
  };
  return `${JSON.stringify(state, null, 2)}\n`;
}

function put(folder: Folder, path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const textOf = (folder: Folder, path = STATE): string => readFileSync(join(folder.path, path), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: the file's own shape
const stateOf = (folder: Folder): any => JSON.parse(textOf(folder));

function adopted(): Folder {
  const folder = newFolder();
  put(folder, STATE, sessionState());
  folder.data('adopt', '--mirror');
  return folder;
}

describe('adopting', () => {
  it('says in words what was taken over, left and contradictory', () => {
    const folder = newFolder();
    put(folder, STATE, sessionState({ current_step: 1 }));
    const { out } = folder.run('adopt', '--mirror');
    expect(out.split('\n').slice(0, 4)).toEqual([
      `Adopted ${STATE} (apex 3.0) as run shop; the file is kept in sync.`,
      '  Taken over: 8 steps (1 complete, 1 in progress), 7 decisions, 1 open finding, 1 artifact.',
      '  Position: step 2 Architecture after phase_2_waf.',
      expect.stringMatching(/^ {2}Left in the file, searchable: .*house_rule \(line \d+\)/),
    ]);
    expect(out).toContain('current_step is 1');
  });

  it.each(['resume', 'init'])('is what `%s` names where there is only the state of another tool', (word) => {
    const folder = newFolder();
    put(folder, STATE, sessionState());
    const fault = folder.fault(word);
    expect(fault.message).toContain(`${STATE}: apex 3.0, step 2 Architecture after phase_2_waf`);
    expect(fault.hints.join()).toContain('holdfast adopt --mirror');
    expect(folder.run('init', '--title', 'Other work').code).toBe(0);
  });

  it('of nothing that can be read exits with 1', () => {
    const folder = newFolder();
    put(folder, STATE, '{');
    expect(folder.run('adopt').code).toBe(1);
  });

  it('needs no workspace, and a dry run shows what is there and changes nothing', () => {
    const folder = newFolder();
    put(folder, STATE, sessionState());
    const { found } = folder.data('adopt', '--dry-run');
    expect(found).toMatchObject([{ format: 'apex', version: '3.0', path: STATE, run: null, steps: 8, items: 1 }]);
    expect(existsSync(folder.own())).toBe(false);
  });

  it('makes the work resumable and leaves the file alone', () => {
    const folder = newFolder();
    put(folder, STATE, sessionState());
    put(folder, 'agent-output/shop/01-requirements.md', '# Requirements\n');
    expect(folder.data('adopt')).toMatchObject({ found: [{ outcome: 'adopted', run: 'shop', decisions: 7 }] });
    expect(textOf(folder)).toBe(sessionState());
    const brief = folder.data('resume');
    expect(brief['headline']).toContain('phase_2_waf');
    expect(brief['decisions'].map((one: { decision: string }) => one.decision)).toContain('Table storage');
    expect(brief['conflicts']).toEqual([]);
    const [first] = folder.data('decisions')['decisions'].filter((one: { alias: string }) => one.alias === 'D001');
    expect(first).toMatchObject({ at: '2026-03-01T09:30:00.000Z', by: '02-Requirements' });
  });

  it('twice is the same as once; an edit in between is absorbed', () => {
    const folder = newFolder();
    put(folder, STATE, sessionState());
    folder.data('adopt');
    const version = folder.data('status')['version'];
    expect(folder.data('adopt')['found']).toMatchObject([{ outcome: 'known', run: 'shop' }]);
    expect(folder.data('status')['version']).toBe(version);
    put(folder, STATE, sessionState({ open_findings: ['Public network access is on', 'No backup'] }));
    expect(folder.data('adopt')['found']).toMatchObject([{ outcome: 'changed', run: 'shop' }]);
    expect(folder.data('items')['items'].map((one: { text: string }) => one.text)).toContain('No backup');
  });

  it('hashes files that were missing the first time', () => {
    const folder = newFolder();
    const requirements = 'agent-output/shop/01-requirements.md';
    put(folder, STATE, sessionState().replace('01-requirements.md', requirements));
    folder.data('adopt');
    put(folder, requirements, '# Requirements\n');
    expect(folder.data('adopt')['found']).toMatchObject([{ outcome: 'known' }]);
    const version = folder.data('status')['version'];
    put(folder, requirements, '# Requirements, changed\n');
    folder.data('adopt');
    expect(folder.data('status')['version']).toBe(version);
    expect(folder.data('resume')['conflicts']).toMatchObject([{ path: requirements }]);
  });

  it('adopts a file outside the workspace by its absolute path, and does not mirror it', () => {
    const [folder, other] = [newFolder(), newFolder()];
    put(folder, STATE, sessionState());
    put(other, STATE, sessionState({ open_findings: [] }));
    folder.data('adopt');
    const { found } = folder.data('adopt', other.path);
    expect(found).toMatchObject([{ outcome: 'adopted', run: 'shop-2', path: join(other.path, STATE), items: 0 }]);
    expect(folder.data('adopt', join(other.path, STATE))['found']).toMatchObject([{ outcome: 'known', run: 'shop-2' }]);
    expect(folder.fault('adopt', other.path, '--mirror')).toMatchObject({ code: 'not_allowed' });
    expect(textOf(folder)).toBe(sessionState());
  });

  it('treats a folder whose name starts with that of the workspace as another one', () => {
    const folder = newFolder();
    put(folder, 'shop/agent-output/shop/00-session-state.json', sessionState());
    put(folder, 'shop-old/agent-output/old/00-session-state.json', sessionState({ project: 'old' }));
    const dir = join(folder.path, 'shop');
    expect(folder.data('adopt', '../shop-old', '--dry-run', '--dir', dir)['found']).toMatchObject([
      { path: join(folder.path, 'shop-old/agent-output/old/00-session-state.json') },
    ]);
  });

  it('adopts a file with an unusual name if it is given', () => {
    const folder = newFolder();
    put(folder, 'old/state-of-the-shop.json', sessionState());
    expect(folder.data('adopt')['found']).toEqual([]);
    expect(folder.data('adopt', 'old/state-of-the-shop.json')['found']).toMatchObject([
      { outcome: 'adopted', steps: 8 },
    ]);
  });
});

describe('a mirror', () => {
  it('shows what a command recorded, and keeps every other byte', () => {
    const folder = adopted();
    const before = textOf(folder).split('\n');
    folder.data('start', '2', '--agent', 'ada');
    folder.data('checkpoint', 'phase_3_cost', '--agent', 'ada');
    const after = textOf(folder).split('\n');
    expect(stateOf(folder).steps['2']).toMatchObject({ status: 'in_progress', sub_step: 'phase_3_cost' });
    expect(after).toHaveLength(before.length);
    const changed = after.filter((line, index) => line !== before[index]).map((line) => line.trim().split(':')[0]);
    expect(changed.filter((name) => name !== '"updated"')).toEqual(['"sub_step"']);
    expect(existsSync(join(folder.path, `${STATE}.bak`))).toBe(true);
  });

  it('absorbs what another tool wrote, under the name of the file', () => {
    const folder = adopted();
    const state = stateOf(folder);
    state.steps['2'] = { ...state.steps['2'], status: 'complete', sub_step: null, completed: '2026-03-02T08:00:00Z' };
    state.steps['3'].status = 'in_progress';
    put(folder, STATE, `${JSON.stringify(state, null, 2)}\n`);
    expect(folder.data('mirror', 'sync')['mirrors']).toMatchObject([{ absorbed: 1, rejected: null }]);
    const steps = folder.data('plan', 'show')['steps'] as { key: string; status: string }[];
    expect(steps.filter((step) => step.key === '2' || step.key === '3').map((step) => step.status)).toEqual([
      'completed',
      'in_progress',
    ]);
    expect(folder.data('log', '--limit', '1')['events']).toMatchObject([{ type: 'account.read', agent: 'file' }]);
  });

  it('keeps a copy of an edit that cannot be read', () => {
    const folder = adopted();
    const before = stateOf(folder);
    put(folder, STATE, '{ "schema_version": "3.0", "project": "sh');
    const [synced] = folder.data('mirror', 'sync')['mirrors'] as { rejected: string }[];
    expect(textOf(folder, synced?.rejected)).toBe('{ "schema_version": "3.0", "project": "sh');
    expect(stateOf(folder).steps).toEqual(before.steps);
  });

  it('leaves the files beside an edit that cannot be read alone', () => {
    const folder = adopted();
    folder.data('start', '2');
    for (const name of ['one', 'two', 'three']) folder.data('checkpoint', name, '--step', '2');
    put(folder, STATE, '{ "steps": ');
    folder.data('checkpoint', 'phase_4_challenger', '--step', '2');
    expect(stateOf(folder).steps['2'].sub_step).toBe('phase_4_challenger');
    const names = readdirSync(join(folder.path, 'agent-output/shop'));
    expect(names.filter((name) => name.endsWith('.bak.bak'))).toEqual([]);
    expect(JSON.parse(textOf(folder, `${STATE}.bak`)).project).toBe('shop');
  });

  it('is refused for a file that belongs to another run or tool', () => {
    const folder = newFolder();
    put(folder, STATE, sessionState());
    folder.data('init', '--title', 'Other', '--plan', 'apex');
    expect(folder.fault('mirror', 'add', 'apex', STATE)).toMatchObject({ code: 'illegal' });
    expect(textOf(folder)).toBe(sessionState());
  });

  it('belongs to one run only, also if a run created the file', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'First', '--id', 'first');
    folder.data('mirror', 'add', 'codewalk');
    folder.data('init', '--title', 'Second', '--id', 'second');
    expect(folder.fault('mirror', 'add', 'codewalk', '--run', 'second')).toMatchObject({ code: 'illegal' });
    expect(textOf(folder, 'STATE.md')).toContain('First');
    expect(folder.data('adopt')['found']).toMatchObject([{ run: 'first', outcome: 'known' }]);
    folder.data('mirror', 'remove', 'STATE.md', '--run', 'first');
    folder.data('mirror', 'add', 'codewalk', '--run', 'first');
  });

  it('is not written under the claim of another session, and is written after its release', () => {
    const folder = adopted();
    const lock = folder.data('claim', 'agent-output/**', '--agent', 'bob');
    folder.data('start', '2', '--agent', 'ada');
    const ran = folder.run('checkpoint', 'phase_3_cost', '--agent', 'ada');
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('bob')]);
    expect(stateOf(folder).steps['2'].sub_step).toBe('phase_2_waf');
    folder.data('release', lock['id'], '--agent', 'bob');
    expect(stateOf(folder).steps['2'].sub_step).toBe('phase_3_cost');
  });

  it('of several files is completed after a crash between them', () => {
    const folder = adopted();
    const page = 'agent-output/shop/00-handoff.md';
    const mirrors = folder.own('mirrors');
    const base = join(mirrors, readdirSync(mirrors).find((name) => name.endsWith('.json')) ?? '');
    const before = JSON.parse(readFileSync(base, 'utf8')) as { files: [string, string][] };
    folder.person.data('archive', '--run', 'shop', '--reason', 'Done with it');
    const wanted = textOf(folder, page);
    const { files } = JSON.parse(readFileSync(base, 'utf8')) as typeof before;
    // As after a crash when the state file was written and the page was not.
    rmSync(join(folder.path, page));
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
    const writing = files.map(([path, text]) => [path, hashOf(text)]);
    writeFileSync(base, JSON.stringify({ ...before, writing }));
    const litter = 'agent-output/shop/.00-handoff.md.0123456789abcdef.tmp';
    put(folder, litter, 'half');
    utimesSync(join(folder.path, litter), 0, 0);
    expect(folder.data('mirror', 'sync', '--run', 'shop')['mirrors']).toMatchObject([
      { absorbed: 0, rejected: null, written: [page] },
    ]);
    expect(textOf(folder, page)).toBe(wanted);
    expect(readdirSync(join(folder.path, 'agent-output/shop')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is left alone once it is removed', () => {
    const folder = adopted();
    expect(folder.data('mirror', 'list')['mirrors']).toMatchObject([{ format: 'apex', path: STATE }]);
    folder.data('mirror', 'remove', 'apex');
    const before = textOf(folder);
    folder.data('start', '2', '--agent', 'ada');
    expect(textOf(folder)).toBe(before);
  });

  it('equals the journal after 24 concurrent decisions and step changes', async () => {
    const folder = adopted();
    folder.data('start', '2', '--agent', 'ada');
    const deciders = Array.from({ length: 12 }, (_, index) =>
      folder.start(
        'decide',
        '--context',
        `c${index}`,
        '--decision',
        `Choice ${index}`,
        '--reason',
        'r',
        '--agent',
        'bob',
      ),
    );
    const steppers = Array.from({ length: 12 }, (_, index) =>
      folder.start('checkpoint', `phase_${index}`, '--agent', 'ada'),
    );
    const codes = (await Promise.all([...deciders, ...steppers])).map((ran) => ran.code);
    expect(codes).toEqual(codes.map(() => 0));
    folder.data('mirror', 'sync');
    const { decision_log: log, steps } = stateOf(folder);
    expect(log.map((one: { choice: string }) => one.choice).sort()).toEqual(
      ['Table storage', ...Array.from({ length: 12 }, (_, index) => `Choice ${index}`)].sort(),
    );
    const [last] = folder
      .data('log', '--limit', '40')
      ['events'].filter((one: { type: string }) => one.type === 'step.checkpointed')
      .slice(-1);
    expect(steps['2'].sub_step).toBe(last.body.name);
  });
});

describe('repairing a damaged file', () => {
  it('shows what can be repaired, repairs it on request, and keeps the damaged bytes', () => {
    const folder = newFolder();
    put(folder, STATE, '{ "schema_version": "3.0", "updated": "');
    put(folder, 'agent-output/shop/01-requirements.md', '# Requirements\n');
    put(folder, 'agent-output/shop/02-architecture-assessment.md', '# Architecture\n');
    const shown = folder.run('doctor', 'agent-output/shop', '--json');
    expect(shown.code).toBe(4);
    const codes = (shown.json.data as unknown as Findings).findings.map((finding) => finding.code);
    expect(codes).toContain('salvageable');
    expect(existsSync(folder.own())).toBe(false);
    const repaired = folder.run('doctor', 'agent-output/shop', '--repair', '--json');
    const findings = (repaired.json.data as unknown as Findings).findings;
    expect(repaired.code).toBe(0);
    expect(findings.map((finding) => finding.code)).toContain('repaired');
    const kept = /kept as (\S+)\./.exec(findings.map((finding) => finding.message).join('\n'))?.[1] ?? '';
    expect(textOf(folder, kept)).toBe('{ "schema_version": "3.0", "updated": "');
    const types = folder.data('log')['events'].map((event: { type: string }) => event.type);
    expect(types).toContain('recovery.made');
    expect(stateOf(folder)).toMatchObject({ schema_version: '3.0', project: 'shop' });
    expect(stateOf(folder).steps).toMatchObject({ '1': { status: 'complete' }, '2': { status: 'in_progress' } });
    expect(folder.run('doctor', 'agent-output/shop', '--json').code).toBe(0);
    expect(folder.data('adopt')['found']).toMatchObject([{ outcome: 'known', run: 'shop' }]);
  });

  it('uses a good backup and leaves it alone', () => {
    const folder = newFolder();
    const backup = sessionState({ decisions: { region: 'westeurope', compliance: 'GDPR' } });
    put(folder, STATE, backup.slice(0, 200));
    put(folder, `${STATE}.bak`, backup);
    folder.run('doctor', 'agent-output/shop', '--repair', '--json');
    expect(readFileSync(join(folder.path, `${STATE}.bak`), 'utf8')).toBe(backup);
    expect(stateOf(folder).decisions).toMatchObject({ region: 'westeurope', compliance: 'GDPR' });
    expect(stateOf(folder).steps['2']).toMatchObject({ status: 'in_progress', sub_step: 'phase_2_waf' });
  });

  it('rewrites a mirror from the journal and keeps the good backup', () => {
    const folder = adopted();
    folder.data('start', '2');
    folder.data('checkpoint', 'phase_3_cost', '--step', '2');
    const before = readFileSync(join(folder.path, `${STATE}.bak`), 'utf8');
    put(folder, STATE, '{ "schema_version": "3.0", "upd');
    folder.run('doctor', STATE, '--repair', '--json');
    expect(stateOf(folder).steps['2'].sub_step).toBe('phase_3_cost');
    expect(stateOf(folder).house_rule).toEqual({ 'kept by': 'someone', order: [3, 1, 2] });
    expect(readFileSync(join(folder.path, `${STATE}.bak`), 'utf8')).toBe(before);
  });
});

describe('the tables of codewalk', () => {
  it('are exported as a script that SQLite loads, and adopted from the database or a dump, each initiative once', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Tides', '--id', 'tides');
    folder.data('plan', 'add', '1', 'Read', '--kind', 'phase');
    folder.data('decide', '--context', "The harbour's rows", '--decision', 'Rows; not text', '--reason', 'Queries');
    folder.data('raise', 'blocker', 'No key', '--affects', '1');
    const { files, loses } = folder.data('export', '--format', 'codewalk', '--as', 'sql', '--out', 'out');
    expect(files).toEqual(['initiative.sql']);
    expect(loses).toContainEqual({ what: 'run.title', count: 1 });
    const script = readFileSync(join(folder.path, 'out/initiative.sql'), 'utf8');
    const database = openDatabase(join(folder.path, 'out/theirs.db'), false);
    // Twice: the second time brings the same rows up to date.
    database.exec(script);
    database.exec(script);
    database.exec("INSERT INTO initiative_decisions (id, initiative_id, decision) VALUES ('x', 'other', 'Go')");
    database.close();
    const other = newFolder();
    const theirs = join(folder.path, 'out/theirs.db');
    expect(other.data('adopt', theirs)['found']).toMatchObject([
      { format: 'codewalk', version: 'sql', run: 'tides', outcome: 'adopted', decisions: 1, items: 1 },
      { run: 'other', outcome: 'adopted', decisions: 1 },
    ]);
    expect(other.data('adopt', theirs)['found']).toMatchObject([{ outcome: 'known' }, { outcome: 'known' }]);
    const [decision] = other.data('decisions', '--run', 'tides')['decisions'];
    expect(decision).toMatchObject({ alias: 'D-1', decision: 'Rows; not text', context: "The harbour's rows" });
    put(other, 'dump.sql', script.replace("'Rows; not text'", "'Rows, in one table'"));
    const kept = other.run('adopt', 'dump.sql', '--mirror', '--json').json as { warnings?: string[] };
    expect(kept.warnings?.[0]).toContain('is not mirrored');
    put(other, 'dump.sql', script.replace("'No key'", "'No key at all'"));
    expect(other.data('adopt', 'dump.sql')['found']).toMatchObject([{ run: 'tides-2', outcome: 'changed' }]);
    expect(folder.fault('export', '--format', 'gsd', '--as', 'sql')).toMatchObject({ code: 'usage' });
  });
});

describe('exporting', () => {
  it('writes any run in a format and lists what the format cannot hold', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Shop', '--plan', 'apex', '--goal', 'Sell');
    folder.data('note', 'Mind the gap', '--kind', 'constraint');
    const { files, loses } = folder.data('export', '--format', 'apex', '--out', 'out');
    expect(files).toContain('agent-output/shop/00-session-state.json');
    expect(loses).toContainEqual({ what: 'notes', count: 1 });
    expect(folder.run('export', '--format', 'apex', '--out', 'other').out).toContain(
      'There is no place for note (1) in it; they stay in the journal.',
    );
    put(folder, 'out/agent-output/shop/00-session-state.json', '{}');
    expect(folder.fault('export', '--format', 'apex', '--out', 'out')).toMatchObject({ code: 'illegal' });
  });
});
