import { describe, expect, it } from 'vitest';
import type { ModelDecision, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { apex } from './format.ts';
import { files, findings, gates, logs, MAIN, noVersion, place, v1, v2, v3 } from './samples.suite.ts';

const now = '2026-05-01T12:00:00.000Z';

function parsed(text: string): RunModel {
  const { model } = apex.parse(place(), files(text));
  if (!model) throw new Error('The sample cannot be read.');
  return model;
}

const written = (text: string, change: (model: RunModel) => RunModel): string =>
  apex.render(change(parsed(text)), place(), files(text), now).get(MAIN) ?? text;
const stepped =
  (key: string, change: Partial<ModelStep>) =>
  (model: RunModel): RunModel => ({
    ...model,
    steps: model.steps.map((step) => (step.key === key ? { ...step, ...change } : step)),
  });
const decided =
  (...added: ModelDecision[]) =>
  (model: RunModel): RunModel => ({ ...model, decisions: [...model.decisions, ...added] });

/** Removed and added lines. */
function diff(before: string, after: string): string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `-${line.trim()}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+${line.trim()}`),
  ];
}
const stamped = ['-"updated": "2026-04-02T10:00:00Z",', '+"updated": "2026-05-01T12:00:00Z",'];

describe('fields of a step', () => {
  it('writes a checkpoint and nothing else', () => {
    const after = written(v3, stepped('2', { checkpoint: 'phase_3_cost' }));
    expect(diff(v3, after).sort()).toEqual(
      [...stamped, '-"sub_step": "phase_2_waf",', '+"sub_step": "phase_3_cost",'].sort(),
    );
  });

  it('sets status and time of a step that starts, and moves current_step', () => {
    const text = v3.replace('"current_step": 2', '"current_step": 0');
    const state = JSON.parse(written(text, stepped('3_5', { status: 'in_progress' })));
    expect(state.steps['3_5']).toMatchObject({
      status: 'in_progress',
      started: '2026-05-01T12:00:00Z',
      completed: null,
    });
    expect(state.current_step).toBe(2);
  });

  it('sets time and artifacts of a step that ends, and clears its checkpoint', () => {
    const artifacts = [
      { path: 'agent-output/harbor/02-architecture-assessment.md' },
      { path: 'agent-output/harbor/03-des-cost-estimate.md' },
    ];
    const after = written(
      v3,
      stepped('2', {
        status: 'completed',
        checkpoint: undefined,
        endedAt: '2026-05-01T11:59:00.250Z',
        artifacts,
      } as Partial<ModelStep>),
    );
    const { steps, current_step } = JSON.parse(after);
    expect(steps['2']).toMatchObject({
      status: 'complete',
      sub_step: null,
      started: '2026-04-02T09:50:12Z',
      completed: '2026-05-01T11:59:00Z',
      artifacts: artifacts.map(({ path }) => path),
    });
    expect(current_step).toBe(3);
    expect(after.split('\n').length).toBe(v3.split('\n').length + 1);
  });

  it('clears times and checkpoint of a reopened step', () => {
    const { steps } = JSON.parse(
      written(v3, stepped('1', { status: 'pending', startedAt: undefined, endedAt: undefined } as Partial<ModelStep>)),
    );
    expect(steps['1']).toMatchObject({ status: 'pending', started: null, completed: null });
  });

  it('marks a failed step, for which the format has no status', () => {
    const after = written(v3, stepped('2', { status: 'failed' }));
    expect(JSON.parse(after).steps['2']).toMatchObject({ status: 'in_progress', outcome: 'failed' });
    expect(parsed(after).steps[1]?.status).toBe('failed');
    expect(parsed(written(after, stepped('2', { status: 'in_progress' }))).steps[1]?.status).toBe('in_progress');
  });

  it('matches an artifact by its file name', () => {
    const artifacts = [{ path: 'agent-output/harbor/01-requirements.md' }];
    expect(written(logs, stepped('1', { artifacts }))).toBe(logs);
  });

  it('leaves alone what the run model does not mention', () => {
    const bare = ({ key, title, kind, status }: ModelStep): ModelStep => ({ key, title, kind, status });
    expect(written(gates, (model) => ({ ...model, steps: model.steps.map(bare) }))).toBe(gates);
  });
});

describe('decisions', () => {
  const plain: ModelDecision = {
    decision: 'Use queues',
    reason: 'Spikes',
    context: 'Load',
    by: 'mara',
    step: '3_5',
    at: '2026-05-01T11:00:00.000Z',
    status: 'active',
  };

  it('sets the value of a decision with a key, replacing an older one', () => {
    const state = JSON.parse(
      written(
        v3,
        decided(
          { key: 'budget', decision: 'EUR 500', status: 'superseded' },
          { key: 'budget', decision: 'EUR 700', status: 'active' },
        ),
      ),
    );
    expect(state.decisions.budget).toBe('EUR 700');
  });

  it('logs a decision without a key in the file’s shape', () => {
    expect(JSON.parse(written(v3, decided(plain))).decision_log).toEqual([
      {
        id: 'D001',
        step: 3.5,
        agent: 'mara',
        title: 'Load',
        choice: 'Use queues',
        rationale: 'Spikes',
        timestamp: '2026-05-01T11:00:00Z',
      },
    ]);
    expect(JSON.parse(written(logs, decided(plain))).decision_log.at(-1)).toEqual({
      decision: 'Use queues',
      timestamp: '2026-05-01T11:00:00Z',
      rationale: 'Spikes',
      step: '3_5',
      context: 'Load',
      agent: 'mara',
    });
    expect(diff(logs, written(logs, decided(plain))).filter((line) => line.startsWith('-'))).toEqual([stamped[0]]);
  });

  it('keeps a value that is not text', () => {
    const scores =
      (words: string) =>
      (model: RunModel): RunModel => ({
        ...model,
        decisions: model.decisions.map((decision) =>
          decision.key === 'waf_scores' ? { ...decision, decision: words } : decision,
        ),
      });
    expect(JSON.parse(written(logs, scores('{"security":7}'))).decisions.waf_scores).toEqual({ security: 7 });
    expect(JSON.parse(written(logs, scores('seven'))).decisions.waf_scores).toBe('seven');
  });

  it('names the agents of the later steps when the language is chosen', () => {
    const text = v3.replace('"iac_tool": "Bicep"', '"iac_tool": ""');
    const choice = stepped('5', { agents: ['06b-Bicep-CodeGen', '06t-Terraform-CodeGen'] });
    expect(JSON.parse(written(text, choice)).steps['5'].agent).toBe('');
    const state = JSON.parse(
      written(text, (model) => decided({ key: 'iac_tool', decision: 'Terraform', status: 'active' })(choice(model))),
    );
    expect(state.iac_tool).toBe('Terraform');
    expect(state.steps['5'].agent).toBe('06t-Terraform CodeGen');
  });

  it('reads all three shapes', () => {
    const { decisions } = parsed(logs);
    expect(decisions.slice(0, 5)).toMatchObject([
      {
        alias: 'D001',
        decision: 'Enterprise',
        context: 'Redis size',
        status: 'superseded',
        alternatives: ['Premium P4'],
        step: '1',
      },
      { alias: 'D002', decision: 'Premium P4', supersedes: 'D001', affects: ['cost'], step: '3_5', by: '03-Architect' },
      { decision: 'Two regions', reason: 'Fail over', step: '3_5' },
      { key: 'redis_tier', decision: 'Premium P4', reason: 'Half the price', status: 'active' },
      { decision: 'Begin with one review' },
    ]);
    expect(decisions.filter(({ key }) => key === 'redis_tier')).toHaveLength(1);
    expect(decisions.find(({ key }) => key === 'waf_scores')?.decision).toBe('{"security":5}');
  });
});

describe('findings', () => {
  it('reads titles and objects of six shapes', () => {
    expect(parsed(findings).items).toMatchObject([
      { text: 'No backup for the table store', severity: 'must_fix', status: 'open' },
      { alias: 'REQ-7', text: 'No retention rule', severity: 'must_fix' },
      { alias: 'OF-001', status: 'resolved', resolution: 'D002', settledAt: '2026-04-02T09:00:00Z' },
      { alias: 'OQ1', severity: 'should_fix', status: 'open' },
      { alias: 'F3', text: 'Spend is unbounded', severity: 'suggestion' },
      {
        text: 'No capacity',
        step: '6',
        affects: ['cae-harbor'],
        workaround: 'Wait; Move',
        raisedAt: '2026-04-02T09:30:00Z',
      },
      { text: 'Answers 503', step: '7' },
      { alias: 'OF-006', text: 'Blocked' },
    ]);
  });

  it('adds only must-fix findings, in the form of their neighbours, and removes settled ones', () => {
    const raised = { kind: 'finding' as const, text: 'No lock', status: 'open' as const };
    const after = written(findings, (model) => ({
      ...model,
      items: [
        ...model.items.map((item) => (item.alias === 'OQ1' ? { ...item, status: 'resolved' as const } : item)),
        { ...raised, severity: 'must_fix' },
        { ...raised, text: 'Ugly', severity: 'suggestion' },
        { kind: 'blocker', text: 'No access', status: 'active' },
      ],
    }));
    const list = JSON.parse(after).open_findings as Record<string, unknown>[];
    expect(list).toHaveLength(8);
    expect(list.at(-1)).toEqual({ id: 'OF-009', description: 'No lock', impact: 'high', status: 'open' });
    expect(list.some((entry) => entry['id'] === 'OQ1')).toBe(false);
    const one = JSON.parse(written(v3, (model) => ({ ...model, items: [{ ...raised, severity: 'must_fix' }] })));
    expect(one.open_findings).toEqual(['No lock']);
  });
});

describe('gates', () => {
  it('reads who opened a gate, and counts a started step as approval', () => {
    const before = new Map(parsed(gates).steps.map((step) => [step.key, step.gate]));
    expect(before.get('2')).toMatchObject({ state: 'open', by: 'mara', at: '2026-04-02T09:00:00Z' });
    expect(before.get('3_5')).toMatchObject({ state: 'closed' });
    expect(new Map(parsed(v3).steps.map((step) => [step.key, step.gate?.state]))).toEqual(
      new Map([
        ['1', undefined],
        ['2', 'open'],
        ['3', 'closed'],
        ['3_5', 'closed'],
        ['4', 'closed'],
        ['5', 'closed'],
        ['6', 'closed'],
        ['7', 'closed'],
      ]),
    );
  });

  it('writes an approval into the gate after the previous step', () => {
    const approved = stepped('4', { gate: { state: 'open', by: 'mara', at: '2026-05-01T11:00:00.000Z' } });
    const entry = { status: 'approved', approved_by: 'mara', approved_at: '2026-05-01T11:00:00Z' };
    expect(JSON.parse(written(v3, approved)).gates).toEqual({ 'gate-2.5': entry });
    expect(JSON.parse(written(gates, approved)).gates['gate-3']).toEqual(entry);
    expect(parsed(written(v3, approved)).steps[4]?.gate).toMatchObject({
      state: 'open',
      by: 'mara',
      at: '2026-05-01T11:00:00Z',
    });
  });
});

describe('migration', () => {
  it.each([
    ['1.0', v1, ['-"schema_version": "1.0",', '+"schema_version": "3.0",']],
    ['none', noVersion, ['+"schema_version": "3.0",']],
  ])('sets the version and touches nothing else: %s', (_, text, expected) => {
    expect(
      diff(
        text,
        written(text, (model) => model),
      ),
    ).toEqual(expected);
  });

  it('removes lock, threshold and every claim', () => {
    const after = written(v2, (model) => model);
    const expected = JSON.parse(v2);
    delete expected.lock;
    delete expected.stale_threshold_ms;
    for (const step of Object.values(expected.steps) as Record<string, unknown>[]) delete step['claim'];
    expect(JSON.parse(after)).toEqual({ ...expected, schema_version: '3.0' });
    expect([...new Set(diff(v2, after).filter((line) => line.startsWith('+')))]).toEqual([
      '+"schema_version": "3.0",',
      '+"context_files_used": []',
    ]);
    expect(parsed(v2).steps[0]?.retries).toBe(2);
    expect(parsed(v2).kept).toMatchObject({ apex: { removed: { lock: { owner_id: 'agent-1' } } } });
  });

  it('happens once, and in the same write as a change', () => {
    const after = written(v1, stepped('3_5', { checkpoint: 'phase_2_artifacts' }));
    expect(JSON.parse(after)).toMatchObject({
      schema_version: '3.0',
      updated: '2026-05-01T12:00:00Z',
      steps: { '3.5': { sub_step: 'phase_2_artifacts' } },
    });
    expect(written(after, (model) => model)).toBe(after);
  });
});

describe('bytes', () => {
  it('keeps line ends, byte order mark, indentation and a missing last line end', () => {
    const text = `\ufeff${v3
      .replace(/^ +/gm, (blanks) => '\t'.repeat(blanks.length / 2))
      .trimEnd()
      .replaceAll('\n', '\r\n')}`;
    const after = written(text, decided({ decision: 'Use queues', status: 'active' }));
    expect(after.startsWith('\ufeff{\r\n\t"schema_version"')).toBe(true);
    expect(after.endsWith('}')).toBe(true);
    expect(/[^\r]\n/.test(after)).toBe(false);
    expect(after).toContain('\r\n\t\t{\r\n\t\t\t"id": "D001"');
    expect(JSON.parse(after.slice(1)).decision_log).toHaveLength(1);
  });

  it('keeps escaping all non-ASCII characters where the file does', () => {
    const text = v3.replace('GDPR', '\\u20ac');
    expect(written(text, decided({ key: 'budget', decision: '5 €', status: 'active' }))).toContain(
      '"budget": "5 \\u20ac"',
    );
  });

  it('stays on one line', () => {
    const text = JSON.stringify(JSON.parse(v3));
    const after = written(text, decided({ decision: 'Use queues', status: 'active' }));
    expect(after).not.toContain('\n');
    expect(JSON.parse(after).decision_log).toHaveLength(1);
  });
});
