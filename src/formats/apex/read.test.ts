import { describe, expect, it } from 'vitest';
import { apex } from './format.ts';
import { done, FOLDER, files, HANDOFF, handoff, MAIN, place, state, step, v1, v3 } from './samples.suite.ts';

const codes = (text: string, others: Record<string, string> = {}, names: string[] = []): string[] =>
  apex
    .parse(place(...Object.keys(others), ...names), files(text, others))
    .problems.map(({ code, line }) => `${code}:${line}`);
const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length;
const position = (...steps: [string, Record<string, unknown>][]) =>
  apex.parse(place(), files(state({}, steps))).model?.position?.step;

describe('position', () => {
  it('is derived from the steps, not from current_step', () => {
    expect(position(done('1'), step('2'), step('3_5'))).toBe('2');
    expect(position(done('1'), step('2', { status: 'in_progress' }), step('3'))).toBe('2');
    expect(position(done('1'), done('2'), step('3'), step('3.5'))).toBe('3');
    expect(position(done('1'), done('2'))).toBeNull();
  });

  it('is not a design step that was left open', () => {
    expect(position(done('1'), done('2'), step('3'), done('3_5'), step('4'))).toBe('4');
    expect(position(done('1'), done('2'), step('3', { status: 'in_progress' }), done('4'), step('5'))).toBe('5');
  });

  it('is a reopened step before later ones', () => {
    expect(position(done('1'), step('2', { status: 'in_progress' }), done('3_5'), step('4'))).toBe('2');
  });
});

describe('variants', () => {
  it('reads 3.5 and 3_5 as the same step and keeps the spelling', () => {
    const steps = apex.parse(place(), files(v1)).model?.steps ?? [];
    expect(steps.map(({ key, alias }) => [key, alias])).toContainEqual(['3_5', '3.5']);
    expect(steps.find(({ key }) => key === '4')?.after).toEqual(['3_5']);
    expect(steps.map(({ key }) => key)).toEqual(['1', '2', '3', '3_5', '4', '5', '6', '7']);
  });

  it('skips governance where a file has none', () => {
    const model = apex.parse(place(), files(state({}, [done('1'), done('2'), step('3'), step('4')]))).model;
    expect(model?.steps.at(-1)?.after).toEqual(['2']);
  });

  it('reads any version and does not write newer ones', () => {
    const version = (written: string) => {
      const { version, writable } = apex.parse(place(), files(v3.replace('"3.0"', written)));
      return [version, writable];
    };
    expect([version('"1.0"'), version('"session-state-v3"'), version('3'), version('"4.0"')]).toEqual([
      ['1.0', true],
      ['session-state-v3', true],
      ['3', true],
      ['4.0', false],
    ]);
  });

  it('takes a hand-written next step only from an up-to-date handoff', () => {
    const next = (page: string) => apex.parse(place(HANDOFF), files(v3, { [HANDOFF]: page })).model?.next;
    expect(next(handoff)).toBe(
      'The assessment must weigh the table store against a database.\nAsk about the budget first.',
    );
    expect(next(handoff.replace('2026-04-02T10', '2026-04-01T10'))).toBeUndefined();
  });
});

describe('problems', () => {
  it.each([
    [
      'checkpoint_on_complete',
      [
        step('1', {
          status: 'complete',
          sub_step: 'phase_5_artifact',
          started: '2026-01-01T00:00:01Z',
          completed: '2026-01-01T00:00:02Z',
        }),
      ],
      '"sub_step": "phase',
    ],
    ['checkpoint_on_pending', [step('1', { sub_step: 'phase_1_discovery' })], '"sub_step": "phase'],
    ['no_start_time', [step('1', { status: 'in_progress' })], '"started"'],
    ['no_end_time', [step('1', { status: 'complete', started: '2026-01-01T00:00:01Z' })], '"completed"'],
    [
      'ends_before_start',
      [step('1', { status: 'complete', started: '2026-01-01T00:00:01Z', completed: '2025-01-01T00:00:02Z' })],
      '"completed"',
    ],
    ['unknown_status', [step('1', { status: 'paused' })], '"status": "paused"'],
    ['step_name', [step('1', { name: 'Wishes' })], '"name"'],
    ['out_of_order', [step('1'), done('2', 'a.md')], '"2": {'],
    [
      'several_in_progress',
      [
        step('1', { status: 'in_progress', started: '2026-01-01T00:00:01Z' }),
        step('2', { status: 'in_progress', started: '2026-01-01T00:00:01Z' }),
      ],
      '"2": {',
    ],
    ['step_key_spelling', [step('3.5')], '"3.5": {'],
    ['no_artifacts', [done('1')], '"artifacts"'],
    ['mixed_paths', [done('1', 'a.md', `${FOLDER}/b.md`)], '"artifacts"'],
    ['temporary_artifact', [done('1', '02-waf.tmp.md')], '"artifacts"'],
    ['double_suffix', [done('1', 'a.md.md')], '"artifacts"'],
    ['over_budget', [step('1', { context_files_used: ['00-session-state.json', 'b.md'] })], '"context_files_used"'],
    ['outside_budget', [step('1', { context_files_used: ['b.md'] })], '"context_files_used"'],
    [
      'updated_is_old',
      [step('1', { status: 'complete', started: '2026-04-02T10:00:01Z', completed: '2026-04-02T11:00:01Z' })],
      '"updated"',
    ],
    ['not_a_time', [step('1', { started: 'yesterday' })], '"started"'],
    ['claim_left', [step('1', { claim: { owner_id: null } })], '"claim"'],
  ] as [string, [string, Record<string, unknown>][], string][])('has %s on its line', (code, steps, part) => {
    const text = state({}, steps);
    expect(codes(text)).toContain(`${code}:${lineOf(text, part)}`);
  });

  it.each([
    ['current_step_disagrees', { current_step: 7 }, '"current_step"'],
    ['other_project', { project: 'quay' }, '"project"'],
    ['iac_tool_disagrees', { decisions: { iac_tool: 'Bicep' } }, '"iac_tool": ""'],
    ['iac_tool_spelling', { iac_tool: 'bicep' }, '"iac_tool"'],
    ['unknown_complexity', { decisions: { complexity: 'high' } }, '"complexity"'],
    ['decision_value', { decisions: { scores: { security: 1 } } }, '"scores"'],
    ['json_in_text', { decisions: { subnets: '{"hub":1}' } }, '"subnets"'],
    ['decision_id', { decision_log: [{ id: 'DL-1', title: 't', choice: 'c', rationale: 'r' }] }, '"DL-1"'],
    ['settled_finding', { open_findings: [{ id: 'F', description: 'd', status: 'resolved' }] }, '    {'],
    ['lock_left', { lock: {} }, '"lock"'],
    ['review_key_spelling', { review_audit: { 'step_3.5': {} } }, '"step_3.5"'],
    ['elided', { branch: '...' }, '"branch"'],
  ] as [string, Record<string, unknown>, string][])('has %s at the top', (code, top, part) => {
    const text = state(top, [done('1', 'a.md'), step('2')]);
    expect(codes(text)).toContain(`${code}:${lineOf(text, part)}`);
  });

  it('compares the page, the backup and the folder with the file', () => {
    const stale = handoff.replace('- [ ] Step 2', '- [x] Step 2');
    expect(codes(v3, { [HANDOFF]: stale })).toContain('stale_handoff:9');
    expect(codes(v3, { [HANDOFF]: '# Free\n' })).toContain('handoff_heading:1');
    expect(codes(v3, { [`${MAIN}.bak`]: v3.replace('"harbor"', '"quay"') })).toContain('other_project:1');
    expect(codes(v3, { [`${MAIN}.tmp`]: '{' })).toContain('unfinished_write:1');
    expect(
      codes(v3, {}, [`${FOLDER}/01-requirements.md`, `${FOLDER}/02-extra.md`]).map((code) => code.split(':')[0]),
    ).toEqual(expect.arrayContaining(['unlisted_artifacts', 'artifact_missing']));
  });

  it.each([
    ['empty', ''],
    ['truncated', v3.slice(0, 96)],
    ['truncated', v3.slice(0, -4)],
    ['elided', v3.replace('"steps": {', '"steps": {\n    ...')],
    ['conflict_markers', `<<<<<<< HEAD\n${v3}=======\n${v1}>>>>>>> theirs\n`],
    ['binary', `\u0000\u0001${v3}`],
    ['too_deep', '['.repeat(100_000)],
    ['not_an_object', '[]'],
    ['not_json', `${v3}${v3}`],
  ])('reports %s for an unreadable file and does not write it', (code, text) => {
    const { model, writable, problems } = apex.parse(place(), files(text));
    expect([model, writable]).toEqual([null, false]);
    expect(problems.map((problem) => problem.code)).toContain(code);
    expect(problems.every(({ line }) => line !== null && line >= 1)).toBe(true);
  });
});

describe('finding', () => {
  const detect = (paths: string[], text = v3) =>
    apex.detect({ paths: paths.sort(), read: (path) => (paths.includes(path) ? text : null) });

  it('finds projects in nested folders with the files beside them', () => {
    const base = 'services/a/agent-output/harbor';
    const found = detect([
      `${base}/00-session-state.json`,
      `${base}/00-session-state.json.bak`,
      `${base}/00-handoff.md`,
      `${base}/01-requirements.md`,
      `${base}/notes.md`,
      'agent-output/quay/00-session-state.json',
      'README.md',
    ]);
    expect(found.map(({ main }) => main)).toEqual([
      'agent-output/quay/00-session-state.json',
      `${base}/00-session-state.json`,
    ]);
    expect(found[1]?.files).toHaveLength(4);
  });

  it('finds a folder that has lost its state file', () => {
    expect(detect([HANDOFF])).toEqual([{ format: 'apex', main: MAIN, files: [MAIN, HANDOFF] }]);
    expect(detect([`${FOLDER}/02-architecture-assessment.md`])[0]?.main).toBe(MAIN);
    expect(apex.parse(place(HANDOFF), new Map([[HANDOFF, handoff]])).model).toBeNull();
  });

  it('ignores files of other tools', () => {
    expect(detect(['docs/01-intro.md', 'docs/02-more.md'])).toEqual([]);
    expect(detect(['.clados/00-session-state.json'], '{ "session": 1 }')).toEqual([]);
  });
});
