import { describe, expect, it } from 'vitest';
import { apex } from './format.ts';
import { parseHandoff } from './handoff.ts';
import { renderHandoff } from './handoff-page.ts';
import { FOLDER, files, HANDOFF, handoff, MAIN, place, v3 } from './samples.suite.ts';

const repair = (all: Record<string, string>) =>
  apex.repair(place(), { paths: Object.keys(all).sort(), read: (path) => all[path] ?? null });
const statuses = (all: Record<string, string>) => {
  const found = repair(all);
  return Object.fromEntries(
    (found?.confidence ?? []).map(({ step, confidence }) => [
      step,
      `${found?.model.steps.find(({ key }) => key === step)?.status} ${confidence}`,
    ]),
  );
};
const cut = v3.slice(0, 96);

describe('repair', () => {
  it('uses the backup of the same project unchanged', () => {
    const found = repair({ [MAIN]: cut, [`${MAIN}.bak`]: v3, [HANDOFF]: handoff });
    expect(found?.sources[0]).toBe(`${MAIN}.bak`);
    expect(found?.model.steps.find(({ key }) => key === '2')).toMatchObject({
      status: 'in_progress',
      checkpoint: 'phase_2_waf',
    });
    expect(found?.confidence.every(({ confidence }) => confidence === 'high')).toBe(true);
  });

  it('does not use the backup of another project', () => {
    const found = repair({ [MAIN]: cut, [`${MAIN}.bak`]: v3.replace('"harbor"', '"quay"'), [HANDOFF]: handoff });
    expect(found?.sources).toEqual([HANDOFF]);
  });

  it('uses the check-list of the handoff, its decisions and its next step', () => {
    const found = repair({ [MAIN]: '', [HANDOFF]: handoff });
    expect(statuses({ [MAIN]: '', [HANDOFF]: handoff })).toMatchObject({
      '1': 'completed medium',
      '2': 'pending low',
      '7': 'pending low',
    });
    expect(found?.model.decisions).toContainEqual({ key: 'compliance', decision: 'GDPR', status: 'active' });
    expect(found?.model.next).toContain('table store');
    expect(found?.model.position).toEqual({ step: '2' });
  });

  it('reads numbered files as completed work, and the last as work in progress', () => {
    const names = [
      '01-requirements.md',
      '02-architecture-assessment.md',
      '04-governance-constraints.md',
      '04-implementation-plan.md',
    ];
    const all = {
      [MAIN]: cut,
      ...Object.fromEntries(names.map((name) => [`${FOLDER}/${name}`, 'text'])),
      'infra/bicep/harbor/main.bicep': 'code',
    };
    expect(statuses(all)).toEqual({
      '1': 'completed medium',
      '2': 'completed medium',
      '3': 'pending low',
      '3_5': 'completed medium',
      '4': 'completed medium',
      '5': 'in_progress low',
      '6': 'pending low',
      '7': 'pending low',
    });
  });

  it('uses what can still be read of the damaged file', () => {
    const damaged = v3.slice(0, v3.indexOf('"3": {'));
    expect(statuses({ [MAIN]: damaged })).toMatchObject({
      '1': 'completed medium',
      '2': 'in_progress medium',
      '3': 'pending low',
    });
  });

  it('is the fresh workflow where there is nothing, all pending and behind their gates', () => {
    const repaired = repair({});
    expect(repaired?.sources).toEqual([]);
    expect(repaired?.model.steps.map(({ status }) => status)).toEqual(Array(8).fill('pending'));
    expect(repaired?.model.steps[1]?.gate).toEqual({ state: 'closed', name: 'Gate 1' });
  });

  it('returns what the format can write', () => {
    const model = repair({ [MAIN]: '', [HANDOFF]: handoff })?.model;
    if (!model) throw new Error('Nothing was repaired.');
    const written = apex.render(model, place(), new Map([[HANDOFF, handoff]]), '2026-05-01T00:00:00.000Z');
    expect(apex.parse(place(), written).model?.steps.map(({ status }) => status)).toEqual(
      model.steps.map(({ status }) => status),
    );
  });
});

describe('the handoff', () => {
  const now = '2026-05-01T12:00:00.000Z';
  const model = apex.parse(place(HANDOFF), files(v3, { [HANDOFF]: handoff })).model;
  if (!model) throw new Error('The sample cannot be read.');
  const where = { folder: FOLDER, tool: 'Bicep', stateFile: '00-session-state.json' };

  it('always has its six headings in order and few lines', () => {
    const many = {
      ...model,
      steps: model.steps.map((step) => ({
        ...step,
        artifacts: Array.from({ length: 60 }, (_, index) => ({ path: `${step.key}-${index}.md` })),
      })),
      items: Array.from({ length: 90 }, (_, index) => ({
        kind: 'finding' as const,
        text: `Finding ${index}`,
        severity: 'must_fix' as const,
        status: 'open' as const,
      })),
    };
    for (const page of [
      renderHandoff(model, where, undefined, now),
      renderHandoff(many, where, undefined, now),
      renderHandoff(many, where, renderHandoff(many, where, undefined, now), now),
    ]) {
      expect(page.split('\n').filter((line) => line.startsWith('## '))).toEqual([
        '## Completed Steps',
        '## Key Decisions',
        '## Open Challenger Findings (must_fix only)',
        '## Context for Next Step',
        '## Skill Context',
        '## Artifacts',
      ]);
      expect(page.trimEnd().split('\n').length).toBeLessThan(60);
      expect(page.split('\n')[2]).toBe('Updated: 2026-05-01T12:00:00Z | IaC: Bicep | Branch: main');
      expect(parseHandoff(page).missing).toEqual([]);
    }
    expect(renderHandoff(many, where, undefined, now).match(/more in 00-session-state\.json/g)).toHaveLength(2);
  });

  it('keeps lines that are still true and sections added by others', () => {
    const page = renderHandoff(model, where, handoff, now);
    const gone = handoff.split('\n').filter((line) => !page.split('\n').includes(line));
    expect(gone).toEqual([
      '# Harbor Works — Handoff (Step 1 complete)',
      'Updated: 2026-04-02T10:00:00Z | IaC: Bicep | Branch: main',
      `- [ ] Step 2 -> ${FOLDER}/02-architecture-assessment.md`,
    ]);
    expect(page).toContain('# Harbor Works — Handoff (Step 2 in progress)');
    expect(page).toContain('(in progress, phase_2_waf)');
    expect(renderHandoff(model, where, page, now)).toBe(page);
  });

  it('drops a next step written for another position', () => {
    const { next: _, ...moved } = {
      ...model,
      steps: model.steps.map((step) => ({ ...step, status: 'completed' as const })),
    };
    const said = parseHandoff(handoff).next as string;
    const page = renderHandoff(moved, where, handoff, now, { ...model, next: said });
    expect(page).not.toContain('weigh the table store');
    expect(page).toContain('Next: nothing; all steps are done.');
    expect(page).toContain('Kept as it is.');
  });

  it('moves an unrecorded next step to its own section and keeps it there', () => {
    const said = parseHandoff(handoff).next as string;
    const { next: _, ...before } = model;
    const once = renderHandoff({ ...before, next: 'Ring the bell' }, where, handoff, now, before);
    expect(once).toContain('## Context for Next Step\n\nRing the bell\n');
    expect(once.endsWith(`## Earlier Context\n\n${said}\n`)).toBe(true);
    const known = { ...before, next: 'Ring the bell' };
    const twice = renderHandoff({ ...before, next: 'Go home' }, where, once, now, known);
    expect(twice).toBe(once.replace('Ring the bell', 'Go home'));
  });

  it('changes what a checkpoint changed, and nothing else', () => {
    const page = handoff
      .replace('## Completed Steps', '##  Completed Steps ')
      .replace('| IaC: Bicep', '| IaC: TBD | Owner: Kaj')
      .replace('- Compliance: GDPR', '* **Compliance**: HIPAA, which is out of date')
      .trimEnd();
    const before = apex.parse(place(HANDOFF), files(v3, { [HANDOFF]: page })).model;
    if (!before) throw new Error('The sample cannot be read.');
    const after = {
      ...before,
      steps: before.steps.map((one) => (one.key === '2' ? { ...one, checkpoint: 'phase_3_cost' } : one)),
    };
    const written = apex.render(after, place(HANDOFF), files(v3, { [HANDOFF]: page }), now).get(HANDOFF) ?? '';
    const lines = page.split('\n');
    expect(written.split('\n').filter((line) => !lines.includes(line))).toEqual([
      'Updated: 2026-05-01T12:00:00Z | IaC: TBD | Owner: Kaj | Branch: main',
      `- [ ] Step 2 -> ${FOLDER}/02-architecture-assessment.md (in progress, phase_3_cost)`,
    ]);
    expect(written.split('\n')).toHaveLength(lines.length);
  });

  it('adds a decision, a finding and an artifact in their sections', () => {
    const step = { ...model.steps[1], artifacts: [{ path: 'notes.md' }] };
    const after = {
      ...model,
      steps: model.steps.map((one, index) => (index === 1 ? { ...one, ...step } : one)),
      decisions: [...model.decisions, { key: 'region', decision: 'westeurope', status: 'active' as const }],
      items: [
        ...model.items,
        { kind: 'finding' as const, text: 'No lock', status: 'open' as const, severity: 'must_fix' as const },
      ],
    };
    const page = renderHandoff(after, where, handoff, now, model).split('\n');
    const lines = handoff.split('\n');
    expect(page.filter((line) => !lines.includes(line))).toEqual([
      'Updated: 2026-05-01T12:00:00Z | IaC: Bicep | Branch: main',
      '- Region: westeurope',
      '- No lock',
      `- ${FOLDER}/notes.md`,
    ]);
  });

  it('adds only headings with news to a free-form page, and cuts no hand-written line', () => {
    const free = `# Where we are\n\nWe wait for the vendor.\n\n## Open points\n${'\n- one more'.repeat(80)}\n`;
    const after = { ...model, steps: model.steps.map((one) => ({ ...one, status: 'completed' as const })) };
    const page = renderHandoff(after, where, free, now, model);
    expect(free.split('\n').filter((line) => !page.split('\n').includes(line))).toEqual(['# Where we are']);
    expect(page.match(/^- one more$/gm)).toHaveLength(80);
    expect(page.match(/^## .*/gm)).toEqual(['## Open points', '## Completed Steps', '## Context for Next Step']);
  });

  it('never overwrites the page of another project', () => {
    const page = handoff.replaceAll('harbor', 'quay');
    const after = { ...model, next: 'Go on', decisions: [{ decision: 'Use queues', status: 'active' as const }] };
    const written = apex.render(after, place(HANDOFF), files(v3, { [HANDOFF]: page }), now);
    expect([...written.keys()]).toEqual([MAIN]);
  });
});
