import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { short } from '../../formats/codewalk/samples.suite.ts';
import type { Context } from '../context.ts';
import { loadOperation, type OperationName } from '../index.ts';
import { openContext } from '../open.ts';
import { callOperation } from '../operation.ts';

const opened: { dir: string; close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const { dir, close } of opened.splice(0)) {
    await close();
    rmSync(dir, { recursive: true, force: true });
  }
});

/** A run with two phases that is mirrored, worked on by agents that have no process. */
async function mirrored(input: { folders?: boolean } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-codewalk-'));
  let minutes = 0;
  const now = (): string => new Date(Date.UTC(2026, 0, 1, 9, minutes)).toISOString();
  const contexts = new Map<string, Context & { close(): Promise<void> }>();
  const as = (agent: string) => {
    const context =
      contexts.get(agent) ?? openContext({ dir, actor: { kind: 'agent', name: agent }, evidence: 'library', now });
    contexts.set(agent, context);
    return async (name: OperationName, given: object = {}) =>
      (await callOperation(await loadOperation(name), context, given)).data as Record<string, unknown>;
  };
  opened.push({ dir, close: async () => void (await Promise.all([...contexts.values()].map((one) => one.close()))) });
  const call = as('worker-abc');
  await call('init', { title: 'Auth', id: 'auth' });
  for (const [key, title, kind, parent] of [
    ['1', 'Schema', 'phase'],
    ['1-1', 'Database setup', 'plan', '1'],
    ['2', 'JWT', 'phase'],
    ['2-3', 'Refresh rotation', 'plan', '2'],
    ['2-3.1', 'Rotate', 'task', '2-3'],
    ['2-3.2', 'Configure production', 'task', '2-3'],
    ['3', 'OAuth', 'phase'],
    ['3-1', 'Get credentials', 'plan', '3'],
  ])
    await call('plan.add', { key, title, kind, ...(parent ? { parent } : {}) });
  await call('mirror.add', { format: 'codewalk', ...input });
  const pass = (more: number): void => {
    minutes += more;
  };
  const text = (path = 'STATE.md'): string => readFileSync(join(dir, path), 'utf8');
  return { dir, as, call, text, state: () => parse(text()), pass };
}

describe('STATE.md of a run', () => {
  it('says what sessions completed, work on, noted, found, and why they ended', async () => {
    const { call, state } = await mirrored();
    await call('start', { key: '1-1' });
    expect(state().position).toEqual({
      phase: 1,
      phase_name: 'Schema',
      plan: 1,
      plan_name: 'Database setup',
      status: 'in_progress',
    });
    await call('complete', { built: 'users table' });
    await call('start', { key: '2-3.1' });
    await call('checkpoint', { name: 'half', built: 'HS256 in sign.ts' });
    await call('note', { text: 'Used jose instead', kind: 'deviation' });
    await call('verify', { key: '2-3.1', result: 'pass' });
    await call('raise', { kind: 'finding', text: 'Tokens are logged' });
    await call('session.end', { reason: 'context-exhausted', contextUsage: 62, issues: ['Context exceeded 50%'] });
    expect(state().sessions).toMatchObject([
      {
        id: 'session-001',
        agent: 'worker-abc',
        status: 'context-exhausted',
        context_usage: '62%',
        completed: ['Phase 1, Plan 1: Database setup'],
        working_on: 'Phase 2, Plan 3: Rotate',
        notes: ['Used jose instead', expect.stringMatching(/^Verified Phase 2, Plan 3: Rotate: Pass/)],
        issues: ['Context exceeded 50%', 'Tokens are logged'],
        handoff_reason: 'Context limit reached',
      },
    ]);
    expect(state().resume_context.key_implementations).toEqual(['HS256 in sign.ts']);
    expect(state().progress).toMatchObject({ phases_completed: 1, current_phase_tasks: 2, current_phase_completed: 0 });
    const { text } = (await call('resume')) as { text: string };
    expect(text).toContain('HS256 in sign.ts');
  });

  it('blocks what a blocker names, from a command or from the file, until it is resolved', async () => {
    const { dir, call, text, state } = await mirrored();
    await call('raise', { kind: 'blocker', text: 'No credentials', affects: ['Phase 3: OAuth'] });
    expect(state().blockers[0]).toMatchObject({ id: 'block-001', blocked_tasks: [{ '3-1': 'Get credentials' }] });
    await expect(call('start', { key: '3-1' })).rejects.toMatchObject({ code: 'blocked' });
    await call('start', { key: '2-3.1' });
    writeFileSync(
      join(dir, 'STATE.md'),
      text().replace(
        '  - id: block-001',
        '  - id: block-009\n    description: No keys\n    affects: ["2-3"]\n  - id: block-001',
      ),
    );
    await call('mirror.sync');
    expect(state().position.status).toBe('blocked');
    expect(state().blockers[0].blocked_tasks).toEqual([{ '2-3.1': 'Rotate' }, { '2-3.2': 'Configure production' }]);
    await call('settle', { id: 'block-009', as: 'resolved', note: 'They came' });
    expect(state().blockers.map(({ id }: { id: string }) => id)).toEqual(['block-001']);
    expect(state().position.status).toBe('in_progress');
    // Someone takes the other one off the page.
    writeFileSync(join(dir, 'STATE.md'), text().replace(/blockers:\n(?: .*\n)+/, 'blockers: []\n'));
    await call('mirror.sync');
    await call('complete');
    await call('start', { key: '3-1' });
    expect(state().blockers).toEqual([]);
  });

  it('tells of a crash, of its open task, and of the session that resumes', async () => {
    const { as, call, state, pass } = await mirrored();
    await call('start', { key: '2-3.1' });
    pass(45);
    await as('supervisor')('supervise');
    expect(state().sessions[0]).toMatchObject({ status: 'crashed', notes: 'Agent unresponsive, task reset' });
    expect(state().position).toMatchObject({ plan: 3, task: 'Rotate', status: 'open' });
    await as('worker-def')('start', { key: '2-3.1' });
    expect(state().sessions.at(-1)).toMatchObject({
      agent: 'worker-def',
      status: 'active',
      notes: 'Resuming from session-001 crash',
    });
    expect(state().position.status).toBe('in_progress');
  });

  it('has a file for each entry in the folder form, where a resolved blocker stays', async () => {
    const { dir, call, text } = await mirrored({ folders: true });
    await call('decide', { decision: 'jose', context: 'JWT library', reason: 'Types' });
    await call('raise', { kind: 'blocker', text: 'OAuth creds', affects: ['3'] });
    await call('settle', { id: 'B-1', as: 'resolved', note: 'They came' });
    const files = readdirSync(join(dir, '.planning'), { recursive: true })
      .map(String)
      .filter((path) => path.endsWith('.md'))
      .sort();
    expect(files).toEqual(['STATE.md', 'blockers/block-001-oauth-creds.md', 'decisions/2026-01-01-jwt-library.md']);
    expect(text('.planning/blockers/block-001-oauth-creds.md')).toContain('status: resolved\n');
    expect(text('.planning/blockers/block-001-oauth-creds.md')).toContain('resolution: "They came"\n');
    const { mirrors } = (await call('mirror.sync')) as { mirrors: { written: string[] }[] };
    expect(mirrors[0]?.written).toEqual([]);
    await expect(call('mirror.add', { format: 'gsd', folders: true })).rejects.toMatchObject({ code: 'usage' });
  });

  it('is adopted without a change, and counts on from where it was', async () => {
    const { dir, call, as } = await mirrored();
    writeFileSync(join(dir, 'STATE.md'), short);
    await call('mirror.remove', { path: 'STATE.md' });
    const { found } = (await call('adopt', { mirror: true })) as { found: { run: string }[] };
    expect(readFileSync(join(dir, 'STATE.md'), 'utf8')).toBe(short);
    const run = found[0]?.run;
    const worker = as('worker-def');
    const { position, text } = (await worker('resume', { run })) as { position: object; text: string };
    expect(position).toMatchObject({ phase: '2: Tide tables', plan: '3: Parse the PDF' });
    for (const words of ['Tables are cut by ruling lines', 'Waiting for the harbour office', 'Rows, not text'])
      expect(text).toContain(words);
  });
});
