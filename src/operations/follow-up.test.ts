import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const file = (path: string) => join(dir, '.holdfast', path);
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
    expect(readFileSync(join(dir, path as string), 'utf8')).toContain('Write the queries');
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
