import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { broken, elided, overEscaped } from './damaged.suite.ts';
import { maestro } from './format.ts';
import { ACTIVE, json, next, place, seed, served } from './samples.suite.ts';

const read = (text: string) => maestro.parse(place(), new Map([[ACTIVE, text]]));
const codes = (text: string) => read(text).problems.map(({ code, line }) => `${code}:${line}`);

function edit(text: string, change: (model: RunModel) => void): string {
  const model = structuredClone(read(text).model) as RunModel;
  change(model);
  return maestro.render(model, place(), new Map([[ACTIVE, text]]), '2026-06-01T00:00:00Z').get(ACTIVE) ?? '';
}

const added = (before: string, after: string) => after.split('\n').filter((line) => !before.split('\n').includes(line));

describe('reading a session', () => {
  it('reads errors, manifests, tokens and the log of the first template', () => {
    const { model, version } = read(seed);
    expect(version).toBe('1.0');
    expect(model?.items).toMatchObject([
      { kind: 'error', step: '2', type: 'validation', status: 'open', by: 'coder' },
      { kind: 'error', step: '2', type: 'timeout', status: 'resolved', resolution: 'Raised the limit' },
    ]);
    expect(model?.steps[0]?.artifacts).toContainEqual({ path: 'src/clock.ts', change: 'created', note: 'monotonic' });
    expect(model?.steps[0]?.summary).toBe('A bucket with a monotonic clock.');
    expect(model?.notes.map((note) => note.text)).toContain('Validation: Pass: 12 tests');
    expect(model?.usage).toContainEqual({ agent: 'coder', input: 8000, output: 4000, cached: 2000 });
    expect(model?.position).toEqual({ step: '2' });
  });

  it('distinguishes uncounted tokens from zero, and reads context of any shape', () => {
    const { model, version } = read(served);
    expect(version).toBe('1.4');
    expect(model?.usage).toEqual([]);
    expect(model?.steps[0]?.built).toEqual([
      'enqueue(job): Promise<Id>',
      'Pattern: One queue for all retries',
      'Warning: The clock is not monotonic',
      'posture: Careful with money',
    ]);
    expect(model?.kept?.['maestro']).toMatchObject({ session: { current_batch: 'batch-2' } });
  });

  it('reads JSON and the findings of the branch', () => {
    expect(read(json).version).toBe('1.6');
    expect(read(next).model?.items).toMatchObject([
      { alias: 'F1', kind: 'finding', severity: 'must_fix', status: 'resolved', step: '2' },
      { alias: 'F2', kind: 'finding', severity: 'suggestion', status: 'open' },
    ]);
  });

  it('repairs common damage and reports its lines', () => {
    expect(codes(elided)).toEqual(expect.arrayContaining(['elided:11', 'elided:18', 'no_status:19']));
    expect(read(elided).model?.steps.map((step) => step.status)).toEqual(['completed', 'completed', 'completed']);
    expect(codes(overEscaped)).toContain('over_escaped:2');
    expect(read(overEscaped).model?.run.design?.path).toBe('f:\\core\\plans\\design.md');
    expect(codes(broken)).toEqual(expect.arrayContaining(['nan_id:9', 'unquoted:17', 'spilled_phases:28']));
    expect(read(broken).model?.steps.map((step) => step.key)).toEqual(['1', '2', '3']);
  });
});

describe('editing a session', () => {
  it.each([
    ['the first template', seed, ['updated: "2026-06-01T00:00:00Z"', '    status: "in_progress"']],
    ['js-yaml', served, ["updated: '2026-06-01T00:00:00Z'", '    status: in_progress']],
    ['JSON', json, ['  "updated": "2026-06-01T00:00:00Z",', '      "status": "in_progress",']],
  ])('changes only the intended values: %s', (_name, text, lines) => {
    const after = edit(text, (model) => {
      const step = model.steps.at(-1);
      if (step) step.status = 'in_progress';
    });
    expect(
      added(text, after).filter((line) => !line.includes('current_phase') && !line.startsWith('## Phase')),
    ).toEqual(expect.arrayContaining(lines.filter((line) => !text.includes(line))));
    expect(added(text, after).length).toBeLessThanOrEqual(4);
    expect(read(after).model?.steps.at(-1)?.status).toBe('in_progress');
  });

  it('appends to manifests and removes nothing', () => {
    const after = edit(seed, (model) => {
      const step = model.steps[0];
      if (step) step.artifacts = [{ path: 'src/more.ts', change: 'created' }];
    });
    expect(after).toContain('files_created: ["src/bucket.ts", "src/clock.ts (monotonic)", "src/more.ts"]');
    expect(after).toContain('files_deleted: ["src/old-limiter.ts"]');
  });

  it('writes quotes like the file', () => {
    expect(
      edit(overEscaped, (model) => {
        const step = model.steps[0];
        if (step) step.status = 'completed';
      }),
    ).toContain('    status: \\"completed\\"\n');
  });
});

describe('repairing a session', () => {
  it('takes names from the plan and marks from the log, each with its confidence', () => {
    const files = new Map([
      [ACTIVE, '# Search Orchestration Log\n\n## Phase 1: Index ✓\n'],
      ['docs/maestro/plans/search-impl-plan.md', '# Plan\n\n## Phase 1: Index\n\n## Phase 2: Query\n'],
    ]);
    const tree = { paths: [...files.keys()].sort(), read: (path: string) => files.get(path) ?? null };
    const repaired = maestro.repair(place(), tree);
    expect(repaired?.model.steps.map((step) => `${step.key} ${step.status}`)).toEqual(['1 completed', '2 pending']);
    expect(repaired?.confidence.map((one) => one.confidence)).toEqual(['medium', 'low']);
  });
});
