import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { act, execute } from './act.ts';
import type { Context } from './context.ts';
import { loadOperation, type OperationName } from './index.ts';
import { openContext } from './open.ts';
import { callOperation } from './operation.ts';

const opened: { dir: string; context: Context & { close(): Promise<void> } }[] = [];
afterEach(async () => {
  for (const { dir, context } of opened.splice(0)) {
    await context.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

/** A workspace with a run of one step, which an agent holds. */
async function openWork() {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-follow-'));
  const context = openContext({ dir, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
  opened.push({ dir, context });
  const call = async (name: OperationName, input: object = {}, within: Context = context) =>
    (await callOperation(await loadOperation(name), within, input)).data as Record<string, unknown>;
  await call('init', { title: 'Tokens', id: 'auth' });
  await call('plan.add', { key: 't1', title: 'Issue tokens' });
  await call('start', { key: 't1' });
  const file = (path: string) => join(context.workspace()?.folder ?? '', path);
  return {
    dir,
    context,
    call,
    file,
    resume: () => readFileSync(file('RESUME.md'), 'utf8'),
    worklog: () => readFileSync(file('worklog/WORKLOG.md'), 'utf8'),
  };
}

describe('RESUME.md', () => {
  it('shows the decisions and constraints that resume shows', async () => {
    const { call, resume } = await openWork();
    await call('decide', { context: 'Storage', decision: 'Opaque tokens', reason: 'They can be revoked' });
    await call('note', { text: 'No new dependency', kind: 'constraint' });
    const shown = (await call('resume'))['text'] as string;
    await call('checkpoint', { name: 'half', next: 'Write the queries' });
    for (const words of ['Opaque tokens', 'They can be revoked', 'No new dependency']) {
      expect(shown).toContain(words);
      expect(resume()).toContain(words);
    }
    expect(resume()).toContain('Write the queries');
  });

  it('is written after a decision and after a constraint, not only after steps', async () => {
    const { call, resume } = await openWork();
    await call('decide', { context: 'Storage', decision: 'Opaque tokens', reason: 'r' });
    expect(resume()).toContain('Opaque tokens');
    await call('note', { text: 'No new dependency', kind: 'constraint' });
    expect(resume()).toContain('No new dependency');
  });

  it('gets a new position and next action from a checkpoint, and says which event the rest is from', async () => {
    const { call, context, resume } = await openWork();
    await call('decide', { context: 'Storage', decision: 'Opaque tokens', reason: 'They can be revoked' });
    await call('checkpoint', { name: 'half', next: 'Write the queries' });
    await call('resume');
    const before = resume();
    const { version } = await (await context.engine()).load('auth');
    await call('checkpoint', { name: 'most', next: 'Test them' });
    await call('checkpoint', { name: 'all', next: 'Tidy up' });
    const [header, headline, next, reached, rest, run] = resume().split('\n');
    expect(header).toMatch(/^Holdfast record of \S+ \S+ UTC: unfinished work in this folder\./);
    expect(headline).toBe('Resuming from Task: "Issue tokens" (checkpoint: "all")');
    expect(next).toMatch(/^Next, as "ada" wrote \(\d\d:\d\d\): "Tidy up"$/);
    expect(reached).toMatch(/^Step "t1" reached checkpoint "all" at \d\d:\d\d\.$/);
    expect(rest).toBe(`What follows is from event ${version}, before that.`);
    expect(run).toMatch(/^Run "auth" "Tokens": /);
    expect(resume()).not.toMatch(/most|Test them|Write the queries/);
    expect(resume().match(/^(Holdfast|Resuming|Next)/gm)).toHaveLength(3);
    const kept = before.split('\n').filter((line) => line !== '' && !/^(Holdfast|Resuming|Next)/.test(line));
    expect(kept.length).toBeGreaterThan(4);
    for (const line of kept) expect(resume().split('\n')).toContain(line);
  });

  it('names the checkpoints of all steps since it was composed', async () => {
    const { call, context, resume } = await openWork();
    const eve: Context = { ...context, identity: { ...context.identity, actor: { kind: 'agent', name: 'eve' } } };
    await call('plan.add', { key: 't2', title: 'Rotate tokens' });
    await call('start', { key: 't2' }, eve);
    await call('checkpoint', { name: 'hers', step: 't2' }, eve);
    await call('checkpoint', { name: 'mine', step: 't1' });
    expect(resume()).toMatch(/^Step "t1" reached checkpoint "mine" at .*\nStep "t2" reached checkpoint "hers" at /m);
    await call('note', { text: 'No new dependency', kind: 'constraint' });
    expect(resume()).not.toContain('What follows is from event');
    expect(resume()).toContain('No new dependency');
  });

  it('is about the chosen run, then the one at work, and names the others', async () => {
    const { call, context, resume } = await openWork();
    await call('init', { title: 'Second', id: 'second' });
    expect(resume()).toMatch(/^Run "second" "Second": planned /m);
    expect(resume()).toMatch(
      /^Working now: "ada" \(S-1\), "Tokens", last sign .*\.\nFrom event \d+ of run "second", /m,
    );
    await call('use', { clear: true });
    expect(resume()).toMatch(/^Run "auth" "Tokens": /m);
    expect(resume()).toMatch(
      /^Also here: "second" "Second", not started, planned .*\.\nFrom event \d+ of run "auth", /m,
    );
    const shown = await call('resume', {}, { ...context, run: 'second' });
    expect(shown['text']).toMatch(/^Run "second"/m);
    expect(resume()).toMatch(/^Run "auth" "Tokens": /m);
  });

  it('speaks of a session by its name, also when that session itself asked', async () => {
    const { call, resume } = await openWork();
    expect((await call('resume'))['text']).toMatch(/^Run "auth" "Tokens": this session \(S-1\), in a turn since /m);
    expect(resume()).toMatch(/^Run "auth" "Tokens": "ada" \(S-1\) is working on this now/m);
  });

  it('stays about its run when another one reaches a checkpoint, and is composed if it is none of ours', async () => {
    const { call, context, file, resume } = await openWork();
    await call('init', { title: 'Second', id: 'second' });
    const before = resume();
    await call('checkpoint', { name: 'half' }, { ...context, run: 'auth' });
    expect(resume()).toBe(before);
    await call('use', { run: 'auth' });
    writeFileSync(file('RESUME.md'), 'Something else\n');
    await call('checkpoint', { name: 'most' }, { ...context, run: 'auth' });
    expect(resume()).not.toMatch(/Something else|What follows/);
    expect(resume()).toContain('checkpoint: "most"');
  });

  it('says that nothing is unfinished, and what was finished last', async () => {
    const { call, resume } = await openWork();
    await call('complete', { key: 't1' });
    await call('session.end', { reason: 'completed' });
    expect(resume()).toMatch(/^Nothing is unfinished here\. Last finished: "Tokens", \d\d:\d\d\.\n$/);
  });

  it('shows doctor that the journal lost its last events', async () => {
    const { call, file, resume } = await openWork();
    const lost = async () => ((await call('doctor'))['findings'] as { code: string }[]).map(({ code }) => code);
    expect(await lost()).not.toContain('lost_end');
    writeFileSync(file('RESUME.md'), resume().replace(/\nFrom event \d+/, '\nFrom event 99'));
    expect(await lost()).toContain('lost_end');
  });

  it('is written again by a command that is repeated under its key', async () => {
    const { call, context, file } = await openWork();
    const keyed = { ...context, identity: { ...context.identity, key: 'k1' } };
    await call('checkpoint', { name: 'half' }, keyed);
    rmSync(file('RESUME.md'));
    await call('checkpoint', { name: 'half' }, keyed);
    expect(existsSync(file('RESUME.md'))).toBe(true);
  });

  it('is left alone by what a tool call records, by requests and by commands that change nothing', async () => {
    const { call, context, file } = await openWork();
    rmSync(file('RESUME.md'));
    await act(context, { type: 'files.see', artifacts: [{ path: 'a.ts', sha256: null, bytes: null }] });
    await call('effect.begin', { name: 'npm test' });
    await act(context, { type: 'note.add', kind: 'worklog', text: 'Asked: go on', asked: true });
    await call('start', { key: 't1' });
    expect(readdirSync(file('.'))).not.toContain('RESUME.md');
    expect(existsSync(file('worklog'))).toBe(false);
  });

  it('keeps the conflicts that are still open when one is accepted', async () => {
    const { dir, call, resume } = await openWork();
    for (const name of ['a.ts', 'b.ts']) writeFileSync(join(dir, name), 'one\n');
    await call('checkpoint', { name: 'half', artifacts: ['a.ts', 'b.ts'] });
    await call('session.end', { reason: 'completed' });
    for (const name of ['a.ts', 'b.ts']) writeFileSync(join(dir, name), 'two, longer\n');
    const conflicts = (await call('resume'))['conflicts'] as { id: string; path: string }[];
    const [first, second] = conflicts;
    expect(conflicts).toHaveLength(2);
    await call('accept', { conflict: first?.id });
    expect(resume()).toContain(second?.id);
    expect(resume()).not.toContain(first?.id);
  });
});

describe('the worklog file', () => {
  it('is written after a note and after the end of a session', async () => {
    const { call, worklog } = await openWork();
    await call('note', { text: 'The index is missing' });
    expect(worklog()).toContain('The index is missing');
    await call('session.end', { reason: 'completed', notes: ['Half of it is done'] });
    expect(worklog()).toContain('Half of it is done');
  });
});

describe('a snapshot file', () => {
  it('is written for every snapshot among the events', async () => {
    const { call, dir } = await openWork();
    const { path } = await call('snapshot', { next: 'Write the queries' });
    expect(readFileSync(resolve(dir, path as string), 'utf8')).toContain('Write the queries');
  });
});

describe('a mirror', () => {
  it('is written after any event, and an edit that it brings in is in RESUME.md', async () => {
    const { call, context, dir, resume } = await openWork();
    await call('mirror.add', { format: 'codewalk', path: 'STATE.md' });
    const state = join(dir, 'STATE.md');
    writeFileSync(state, readFileSync(state, 'utf8').replaceAll('Issue tokens', 'Issue opaque tokens'));
    await call('checkpoint', { name: 'half', next: 'Write the queries' });
    expect(readFileSync(state, 'utf8')).toContain('Write the queries');
    expect(resume()).toContain('Issue opaque tokens');
    const unchanged = readFileSync(state, 'utf8');
    await execute(context, 'auth', { type: 'step.checkpoint', name: 'more', next: 'Later' }, { mirrors: false });
    expect(readFileSync(state, 'utf8')).toBe(unchanged);
  });
});
