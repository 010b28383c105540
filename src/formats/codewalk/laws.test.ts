import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { emptyRunModel } from '../../core/model/run-model.ts';
import { editLaws } from '../edit-laws.suite.ts';
import { readsBack, sparesDamage } from '../laws.suite.ts';
import { codewalk } from './format.ts';
import { folderSample, samples } from './samples.suite.ts';

const numRuns = Number(process.env['LAW_CASES'] ?? 200);

readsBack(codewalk, [{ key: '1', title: 'One', kind: 'phase', status: 'pending' }], numRuns);
sparesDamage(
  codewalk,
  samples.filter(({ readOnly, migrates }) => !readOnly && !migrates),
  numRuns,
);
editLaws(codewalk, {
  runs: numRuns,
  samples,
  unknown: (name, words) => `${name}: "${words}"\n`,
  reopens: true,
  stamp: /^$/,
});

const now = '2026-03-04T05:06:07.000Z';
const found = codewalk.home(emptyRunModel('x'));

it('M3: numbers are those of the keys, whatever phases are missing or inserted', () => {
  const keys = fc.uniqueArray(
    fc.integer({ min: 1, max: 60 }).map((n) => (n % 7 === 0 ? `${n}.${(n % 5) + 1}` : String(n))),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(keys, fc.nat(), fc.integer({ min: 1, max: 30 }), (phases, at, plan) => {
      const here = phases[at % phases.length] as string;
      const steps = phases.flatMap((key): ModelStep[] => [
        { key, title: `P${key}`, kind: 'phase', status: key === here ? 'in_progress' : 'pending' },
        ...(key === here
          ? [{ key: `${key}-${plan}`, title: 'Q', kind: 'plan' as const, parent: key, status: 'in_progress' as const }]
          : []),
      ]);
      const model: RunModel = { ...emptyRunModel('T'), steps };
      const text = codewalk.render(model, found, new Map(), now).get('STATE.md') ?? '';
      expect(text).toContain(`  phase: ${here}\n`);
      expect(text).toContain(`  plan: ${plan}\n`);
      expect(codewalk.parse(found, new Map([['STATE.md', text]])).model?.position?.step).toBe(`${here}-${plan}`);
    }),
    { numRuns },
  );
});

it('M8: absent, empty and null stay what they are, and clearing a value leaves null', () => {
  const value = fc.constantFrom('', ' ""', ' null', ' ~', ' "x"', null);
  fc.assert(
    fc.property(value, value, (workaround, resolution) => {
      const line = (key: string, said: string | null): string => (said === null ? '' : `\n    ${key}:${said}`);
      const text = `initiative: a\nblockers:\n  - id: b-1\n    status: active\n    description: D${line('workaround', workaround)}${line('resolution', resolution)}\n`;
      const files = new Map([['STATE.md', text]]);
      const model = codewalk.parse(found, files).model as RunModel;
      expect(codewalk.render(model, found, files, now).size).toBe(0);
      const [item] = model.items;
      expect(item?.workaround).toBe(workaround === ' "x"' ? 'x' : undefined);
      if (item?.workaround === undefined) return;
      const { workaround: _, ...rest } = item;
      const cleared = codewalk.render({ ...model, items: [rest] }, found, files, now).get('STATE.md') ?? '';
      expect(cleared).toBe(text.replace('workaround: "x"', 'workaround: null'));
    }),
    { numRuns },
  );
});

it('W9: what an entry says never leads out of its folder', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('../', '/etc/', 'a/b', '..\\', '\u0000', '%2e%2e'),
      fc.string({ maxLength: 60 }),
      (lead, rest) => {
        const model = codewalk.parse(folderSample.found, folderSample.files).model as RunModel;
        model.decisions.push({ decision: lead + rest, context: lead + rest, at: `${lead}2024`, status: 'active' });
        model.items.push({ alias: 'block-002', kind: 'blocker', text: lead + rest, status: 'active' });
        model.sessions.push({ alias: `${lead.replace('\u0000', '')}s`, agent: 'w', status: 'active' });
        for (const path of codewalk.render(model, folderSample.found, folderSample.files, now).keys())
          expect(path).toMatch(/^\.planning\/(?:STATE\.md|(?:decisions|blockers|sessions)\/[\w.-]+\.md)$/);
      },
    ),
    { numRuns },
  );
});
