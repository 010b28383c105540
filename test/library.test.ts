import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { operationNames } from '../src/operations/index.ts';
import { newFolder, newWorkspace } from './command-line.ts';

// The library as it is published, not its source.
const { Fault, openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');
const { openMemoryStore } = (await import(
  '../dist/lib/store/index.js' as string
)) as typeof import('../src/store/index.ts');

describe('the library', () => {
  it('has every operation as a method, under every identity', async () => {
    const hf = await openHoldfast({ store: openMemoryStore() });
    for (const identity of [hf, hf.as({ agent: 'ada' })]) {
      for (const name of operationNames) {
        const method = name.split('.').reduce((at: unknown, part) => (at as Record<string, unknown>)[part], identity);
        expect([name, typeof method]).toEqual([name, 'function']);
      }
    }
  });

  it('has every note in the worklog as soon as it is acknowledged, also with many at once', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, agent: 'ada' });
    const worklog = folder.own('worklog', 'WORKLOG.md');
    const add = async (text: string): Promise<void> => {
      await hf.note({ text });
      expect(readFileSync(worklog, 'utf8')).toContain(text);
    };
    const addTwo = async (number: number): Promise<void> => {
      await add(`first of ${number}.`);
      await add(`second of ${number}.`);
    };
    await Promise.all(Array.from({ length: 20 }, (_, number) => addTwo(number)));
    await hf.close();
  });

  it('works on a store without a folder', async () => {
    const store = openMemoryStore();
    const hf = await openHoldfast({ store, person: 'grace', evidence: 'terminal' });
    expect(await hf.init({ title: 'In memory', id: 'm' })).toMatchObject({ run: { id: 'm' }, workspace: null });
    await hf.plan.add({ key: 't1', title: 'One' });
    const ada = hf.as({ agent: 'ada' });
    expect(await ada.session.start()).toMatchObject({ session: { agent: 'ada' } });
    await ada.start({ key: 't1' });
    await ada.checkpoint({ name: 'half', next: 'the rest' });
    expect(await hf.resume()).toMatchObject({ position: { step: 't1', checkpoint: 'half' } });
    await ada.complete({});
    expect(await hf.usage()).toMatchObject({ total: { input: 0 } });
    await hf.usage.add({ input: 1, output: 2 });
    await hf.note({ text: 'hunter2' });
    await hf.erase({ target: 'N-1', reason: 'r' });
    expect((await hf.search({ words: ['hunter2'] })).results).toEqual([]);
    expect(await hf.doctor({ rebuild: true })).toMatchObject({ findings: [], runs: [{ unchanged: true }] });
    await hf.close();
    // The caller that opened the store closes it.
    expect(await (await openHoldfast({ store })).runs()).toMatchObject({ runs: [{ id: 'm', status: 'completed' }] });
    expect(existsSync('.holdfast')).toBe(false);
  });

  it('throws faults, and keeps the identity', async () => {
    const folder = newWorkspace();
    const person = await openHoldfast({ dir: folder.path, person: 'grace', evidence: 'terminal' });
    const ada = person.as({ agent: 'ada' });
    const refused = await ada.skip({ key: 't3', reason: 'r' }).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({ code: 'not_allowed', hints: expect.any(Array), data: expect.any(Object) });
    await expect(ada.start({ key: 't9' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(ada.start({ key: 5 as never })).rejects.toMatchObject({ code: 'invalid' });
    await expect(ada.start(undefined as never)).rejects.toMatchObject({ code: 'usage' });
    // Naming another run or session does not turn an agent into a person.
    await expect(ada.as({ run: 'auth' }).skip({ key: 't3', reason: 'r' })).rejects.toMatchObject({
      code: 'not_allowed',
    });
    expect(() => person.as({ agent: '../x' })).toThrow(Fault);
    await expect(openHoldfast({ dir: folder.path, agent: 'a b' })).rejects.toMatchObject({ code: 'invalid' });
    expect(await person.skip({ key: 't3', reason: 'r' })).toMatchObject({ step: { status: 'skipped' } });
    await person.close();
    await expect((await openHoldfast({ dir: newFolder().path })).status()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('takes the calls of the Codewalk design with their own shapes', async () => {
    const folder = newFolder();
    writeFileSync(
      join(folder.path, 'plan.yaml'),
      `steps:
  - { key: a, title: Schema, steps: [{ key: a1, title: Tables, done: true }] }
  - key: b
    title: JWT Implementation
    steps:
      - { key: b0, title: Prepare }
      - { key: b1, kind: plan, title: Issue, steps: [{ key: b11, title: Issue }] }
      - { key: b2, kind: plan, title: Verify, steps: [{ key: b21, title: Verify }] }
      - { key: b3, kind: plan, title: Refresh Token Rotation, steps: [{ key: b31, title: Implement token rotation }] }
  - { key: c, title: OAuth, steps: [{ key: c1, title: Login }] }
`,
    );
    const hf = await openHoldfast({ dir: folder.path, agent: 'worker-abc' });
    await hf.init({ title: 'User Authentication', id: 'init-abc123', plan: 'plan.yaml' });
    const position = { phase: 2, plan: 3, task: 'Implement token rotation', wave: 1 };
    await hf.updateState({ position: { ...position, status: 'in_progress' }, nextAction: 'wire the router' });
    expect(await hf.resume()).toMatchObject({
      headline: expect.stringContaining('Resuming from Phase 2, Plan 3, Task: "Implement token rotation"'),
      nextAction: { text: 'wire the router' },
    });
    await hf.updateState({ nextAction: 'test it' });
    expect(await hf.resume()).toMatchObject({ nextAction: { text: 'test it' } });
    const decision = { context: 'Token storage', decision: 'httpOnly cookie', reason: 'XSS protection' };
    expect(await hf.addDecision(decision)).toEqual({ id: 'D-1' });
    await hf.addDecision({ ...decision, alternatives_considered: ['localStorage'], reversible: false });
    expect(await hf.decisions()).toMatchObject({
      decisions: [{ irreversible: true, alternatives: ['localStorage'] }, { decision: 'httpOnly cookie' }],
    });
    expect(
      await hf.addBlocker({ description: 'Waiting for OAuth creds', affects: ['Phase 3', 'the release'] }),
    ).toEqual({ id: 'B-1' });
    expect(await hf.items()).toMatchObject({ items: [{ kind: 'blocker', affects: ['Phase 3', 'the release'] }] });
    await expect(hf.updateState({ position: { phase: 3, task: 'Login' } })).rejects.toMatchObject({ code: 'blocked' });
    await expect(
      hf.updateState({ position: { ...position, status: 'completed' }, nextAction: 'x' }),
    ).rejects.toMatchObject({
      code: 'invalid',
    });
    await hf.updateState({ position: { ...position, status: 'completed' } });
    await expect(hf.updateState({ position: { phase: 9 } })).rejects.toMatchObject({ code: 'not_found' });
    expect(await hf.status()).toMatchObject({ progress: { done: 2 } });
    await hf.close();
    expect(readdirSync(folder.own())).toContain('RESUME.md');
  });

  it('takes all that the Codewalk design passes, and refuses the rest', async () => {
    const folder = newFolder();
    const hf = await openHoldfast({ dir: folder.path, agent: 'worker-abc' });
    await hf.init({ title: 'User Authentication', id: 'init-abc123' });
    await hf.mirror.add({ format: 'codewalk' });
    const state = () => readFileSync(join(folder.path, 'STATE.md'), 'utf8');
    const progress = { phases_total: 4, phases_completed: 1, current_phase_tasks: 8, current_phase_completed: 5 };
    await hf.updateState({ position: { phase: 2, plan: 3, task: 'Implement token rotation', wave: 1 }, progress });
    expect((await hf.status()).steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      '1 completed',
      '2 in_progress',
      '2-3 in_progress',
      '2-3.implement-token-rotation in_progress',
      '3 pending',
      '4 pending',
    ]);
    expect(state()).toContain(
      'phase: 2\n  phase_name: "Phase 2"\n  plan: 3\n  plan_name: "Plan 3"\n  task: "Implement token rotation"\n  wave: 1\n',
    );
    expect(state()).toContain('current_phase_tasks: 8\n  current_phase_completed: 5\n  bar: "███████░░░░░░░░░ 41%"');
    await expect(hf.updateState({ progress: { phases_total: 7 } })).rejects.toMatchObject({
      message: '`phases_total` is 7, but the plan gives 4.',
    });
    await hf.updateState({
      position: { phase: 2, plan: 3, wave: 1, task: 'Implement token rotation', status: 'blocked' },
    });
    expect(state()).toContain('status: blocked\n');
    const decision = { context: 'Token storage', decision: 'httpOnly cookie', reason: 'XSS protection' };
    expect(await hf.addDecision({ ...decision, date: '2024-01-14', type: 'trade-off', reversible: true })).toEqual({
      id: 'D-1',
    });
    expect(await hf.decisions()).toMatchObject({
      decisions: [{ type: 'trade-off', irreversible: false, by: 'worker-abc' }],
    });
    expect(state()).toContain('- date: 2024-01-14\n    context: "Token storage"');
    const unknown = { ...decision, why: 'it is known here as reason' };
    await expect(hf.addDecision(unknown)).rejects.toMatchObject({ code: 'invalid' });
    await expect(hf.addDecision({ ...decision, reason: ' ' })).rejects.toMatchObject({ code: 'invalid' });
    await hf.addBlocker({
      description: 'Design mockups not ready',
      status: 'bypassed',
      blocked_tasks: [{ 'task-xyz': 'Configure production environment' }],
      workaround: 'Using placeholder styles',
      workaround_tasks: [{ 'task-abc': 'Apply final styles' }],
    });
    expect(state()).toContain(
      'affects:\n      - task-xyz\n    blocked_tasks: []\n    workaround: "Using placeholder styles"',
    );
    expect(state()).toContain('workaround_tasks:\n      - task-abc: "Apply final styles"');
    await hf.close();
  });

  it.each(['sqlite', 'postgres'])('loses nothing of parallel calls on one run: %s', async (kind) => {
    const folder = newFolder();
    const store = kind === 'postgres' ? inject('postgresUrl') : join(folder.path, 'j.db');
    const id = `side-${process.pid}-${Date.now()}`;
    const hf = await openHoldfast({ store, run: id });
    const other = await openHoldfast({ store, run: id, agent: 'bob' });
    await hf.init({ title: 'Side by side', id });
    const callers = [hf, other, hf.as({ agent: 'ada' }), hf.as({ agent: 'eve' })];
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (callers[index % 4] ?? hf).note({ text: `note ${index}` })),
    );
    expect(new Set(made.map((note) => note.id)).size).toBe(40);
    expect((await hf.log({ limit: 100 })).events).toHaveLength(41);
    expect((await other.search({ words: ['note'], limit: 100 })).results).toHaveLength(40);
    const doctored = await hf.as({ run: id }).doctor();
    expect(doctored.findings).toEqual([]);
    await Promise.all([hf.close(), other.close()]);
  });
});
