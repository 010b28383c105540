import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { editLaws } from '../edit-laws.suite.ts';
import { compared, type Sample, writtenBack } from '../format.suite.ts';
import { richModel } from '../models.suite.ts';
import { scanPage } from '../text/page.ts';
import { gsd } from './format.ts';
import { samples } from './samples.suite.ts';
import { pageRows, type Said } from './table.ts';
import { type FieldName, readFields } from './words/fields.ts';
import { sectionKind } from './words/headings.ts';

const now = '2026-09-04T05:06:07.000Z';
const RUNS = { numRuns: Number(process.env['LAW_CASES'] ?? 200) };
const writable = samples.filter(({ readOnly }) => !readOnly);
const hostile = fc.constantFrom(
  ...[
    'Use queues',
    '- dash',
    '# heading',
    '| a | b |',
    '~~struck~~ RESOLVED',
    'None',
    '[Phase 2]: tagged',
    'a — b — c',
  ],
  ...['../../etc/passwd', '<!-- key: x -->', '```', '---', '[link](file:///etc)', '$& $1', '<<<<<<< HEAD'],
);
const words = fc.tuple(fc.constantFrom('Keep', 'Ümläute', '保持', '`code`'), hostile).map((parts) => parts.join(' '));

editLaws(gsd, {
  samples,
  unknown: (name, words) => `\n## ${name}\n\n${words}\n`,
  reopens: false,
  stamp: /last_updated|last updated|updated/i,
});

it('M4: of three sources the newest says where the work is, on one day STATE.md first', () => {
  const time = fc.record({ day: fc.integer({ min: 1, max: 3 }), hour: fc.integer({ min: 0, max: 23 }) });
  const at = ({ day, hour }: { day: number; hour: number }): string =>
    `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`;
  fc.assert(
    fc.property(time, time, time, (state, handoff, here) => {
      const main = '.planning/STATE.md';
      const files = new Map([
        [
          main,
          `---\nstatus: executing\nlast_updated: "${at(state)}"\n---\n\n# Project State\n\n## Current Position\n\nPhase: 7 (relays)\n\n## Next Action\n\nSolder\n`,
        ],
        ['.planning/HANDOFF.json', JSON.stringify({ timestamp: at(handoff), phase: '08', next_action: 'Pull' })],
        [
          '.planning/phases/09-b/.continue-here.md',
          `---\nphase: 09-b\nlast_updated: ${at(here)}\n---\n\n<next_action>\nRing\n</next_action>\n`,
        ],
      ]);
      const { model } = gsd.parse({ format: 'gsd', main, files: [...files.keys()] }, files);
      const newest = [
        { when: at(state), next: 'Solder', phase: '7' },
        { when: at(handoff), next: 'Pull', phase: '8' },
        { when: at(here), next: 'Ring', phase: '9' },
      ].reduce((best, one) => (one.when > best.when ? one : best));
      expect([model?.next, model?.position?.step]).toEqual([newest.next, newest.phase]);
    }),
    { numRuns: 200 },
  );
});

const step = (key: string, kind: ModelStep['kind'], parent?: string) =>
  fc.record({ title: words, status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'skipped') }).map(
    ({ title, status }): ModelStep => ({
      ...{ key, title, kind, status: status as ModelStep['status'], ...(parent ? { parent } : {}) },
    }),
  );
const statusOf = (below: readonly ModelStep[]): ModelStep['status'] => {
  if (below.every(({ status }) => status === 'completed' || status === 'skipped')) return 'completed';
  return below.some(({ status }) => status !== 'pending') ? 'in_progress' : 'pending';
};
const models = fc
  .record({
    plans: fc.tuple(step('01-01', 'plan', '1'), step('01-02', 'plan', '1'), step('02-01', 'plan', '2')),
    decisions: fc.uniqueArray(fc.record({ decision: words, reason: fc.option(words, { nil: undefined }) }), {
      ...{ selector: ({ decision }) => decision, maxLength: 4 },
    }),
    items: fc.uniqueArray(fc.record({ text: words, workaround: fc.option(words, { nil: undefined }) }), {
      ...{ selector: ({ text }) => text, maxLength: 4 },
    }),
  })
  .map(({ plans, decisions, items }): RunModel => {
    const phases = ['1', '2'].map((key): ModelStep => {
      const below = plans.filter(({ parent }) => parent === key);
      return { key, title: `Phase of ${key}`, kind: 'phase', status: statusOf(below) };
    });
    const steps = phases.flatMap((phase) => [phase, ...plans.filter(({ parent }) => parent === phase.key)]);
    return {
      ...richModel(steps),
      decisions: decisions.map(({ decision, reason }) => ({
        ...{ decision: decision.replace(/ — .*/, ''), status: 'active', ...(reason ? { reason } : {}) },
      })),
      items: items.map(({ text, workaround }) => ({
        ...{ kind: 'blocker', text, status: 'active', ...(workaround ? { workaround } : {}) },
      })),
    };
  });

it('W2: what is written can be read, except for what the format loses', () => {
  fc.assert(
    fc.property(models, (model) => {
      const said = compared(writtenBack(gsd, model), model, [...gsd.loses, 'position']);
      expect(said[0]).toEqual(said[1]);
    }),
    RUNS,
  );
});

const render = (model: RunModel, { found, files }: Sample): ReadonlyMap<string, string> =>
  gsd.render(model, { ...found, files: [...files.keys()] }, files, now);

it('W3: a row that changes leaves every other row of the page alone', () => {
  const changes: { [K in keyof Said]?: (model: RunModel) => void } = {
    title: ({ run }) => Object.assign(run, { title: 'Other bells' }),
    goal: ({ run }) => Object.assign(run, { goal: 'Ring at noon' }),
    alias: ({ run }) => Object.assign(run, { alias: 'v9.9' }),
    next: (model) => Object.assign(model, { next: 'Oil the clapper' }),
    stoppedAt: ({ sessions }) => void sessions.push({ status: 'completed', endedAt: now, workingOn: 'The rope' }),
  };
  const also: Record<string, string[]> = { stoppedAt: ['endedAt'] };
  fc.assert(
    fc.property(fc.constantFrom(...writable), fc.constantFrom(...Object.keys(changes)), (sample, field) => {
      const model = gsd.parse(sample.found, sample.files).model as RunModel;
      changes[field as keyof Said]?.(model);
      const before = sample.files.get(sample.found.main) ?? '';
      const left = new Set((render(model, sample).get(sample.found.main) ?? before).split('\n'));
      const page = scanPage(before);
      const mine = [field, ...(also[field] ?? []), 'updatedAt'];
      const labels = readFields(page, 0, page.lines.length);
      const isMine = (line: string, at: number): boolean =>
        pageRows.some(({ at: name, is }) => {
          if (!mine.includes(is)) return false;
          if (name.startsWith('---.')) return line.startsWith(`${name.slice(4)}:`);
          return name === '# ' ? line.startsWith('# ') : labels.get(name as FieldName)?.line === at;
        });
      const isNext = (at: number): boolean =>
        field === 'next' && sectionKind(page.headings.findLast(({ line }) => line < at)?.title ?? '') === 'next';
      for (const [at, line] of before.split('\n').entries())
        if (!left.has(line) && !isNext(at))
          expect([field, line, isMine(line.replace('\r', ''), at)]).toEqual([field, line, true]);
    }),
    RUNS,
  );
});

it('W7: a text that is damaged or newer is never written over', () => {
  const damages: ((text: string, at: number) => string)[] = [
    (text, at) => `${text.slice(0, at)}\0${text.slice(at)}`,
    (text) => `<<<<<<< ours\n${text}=======\n>>>>>>> theirs\n`,
    (text) => text.replace(/^---\n([\s\S]*?)\n---\n/, '---\n$1\n'),
    (text) => text.replace(/gsd_state_version: .*/, 'gsd_state_version: 3.1'),
    (text, at) => text.slice(0, at),
  ];
  let refused = 0;
  fc.assert(
    fc.property(fc.constantFrom(...writable), fc.constantFrom(...damages), fc.nat(), (sample, damage, at) => {
      const text = sample.files.get(sample.found.main) ?? '';
      const damaged = {
        ...sample,
        files: new Map(sample.files).set(sample.found.main, damage(text, at % text.length)),
      };
      const read = gsd.parse(damaged.found, damaged.files);
      if (read.writable || !read.model) return;
      refused += 1;
      read.model.decisions.push({ decision: 'Write it anyway', status: 'active' });
      expect(render(read.model, damaged).size).toBe(0);
    }),
    RUNS,
  );
  expect(refused).toBeGreaterThan(RUNS.numRuns / 10);
});

it('W9: no content becomes a path, and none is written outside the folder of the page', () => {
  fc.assert(
    fc.property(fc.constantFrom(...writable), words, (sample, text) => {
      const model = gsd.parse(sample.found, sample.files).model as RunModel;
      Object.assign(model.run, { title: text, alias: text, goal: text, plan: text });
      model.decisions.push({ decision: text, context: text, reason: text, status: 'active' });
      model.items.push({ kind: 'blocker', text, status: 'active' });
      model.steps.push({ key: '98', title: text, kind: 'phase', status: 'pending' });
      const folder = sample.found.main.slice(0, sample.found.main.lastIndexOf('/') + 1);
      const ours = [sample.found.main, `${folder}ROADMAP.md`];
      expect([...render(model, sample).keys()].filter((path) => !ours.includes(path))).toEqual([]);
      expect(gsd.home(model).main).toBe('.planning/STATE.md');
    }),
    RUNS,
  );
});
