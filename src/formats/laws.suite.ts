import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type ModelStep, RunModel } from '../core/model/run-model.ts';
import { compared, map, type Sample, writtenBack } from './format.suite.ts';
import type { Files, Format, Found } from './format.ts';

const later = '2027-03-04T06:07:08.000Z';

export interface LawCases {
  /** How many cases of each law; more at night: `LAW_CASES=10000 npx vitest run src/formats`. */
  runs: number;
  samples: readonly Sample[];
  /** The steps of generated run models, in the format's own order. */
  plan: readonly ModelStep[];
  /** The keys that the change of a field of a step may touch, without the stamp. */
  keys: { [K in keyof ModelStep]?: readonly string[] };
  /** The keys that follow from steps, and the stamp. */
  computed: readonly string[];
  /** The part of a text that has keys; by default all of it. */
  keyed?(text: string): string;
  /** Ways to write the same text that the format must keep. */
  spellings?: readonly ((text: string) => string)[];
}

/** The laws of reading and writing (W1, W2, W3, W7) on samples and generated run models. */
export function lawsSuite(format: Format, cases: LawCases): void {
  const writable = cases.samples.filter(({ readOnly, migrates }) => !readOnly && !migrates);

  describe(`${format.name}: laws`, () => {
    it('W1: writing what a file says changes no byte, however it is written', () => {
      const spellings: ((text: string) => string)[] = [
        (text) => text,
        (text) => text.replace(/\r?\n/g, '\r\n'),
        (text) => (text.startsWith('\ufeff') ? text : `\ufeff${text}`),
        (text) => text.replace(/\r?\n$/, ''),
        ...(cases.spellings ?? []),
      ];
      for (const { name, found, files } of writable) {
        for (const [index, spelling] of spellings.entries()) {
          const texts = map(files, spelling);
          const { model } = format.parse(found, texts);
          const written = model ? [...format.render(model, found, texts, later)] : [];
          expect({ name, index, written }).toEqual({ name, index, written: [] });
        }
      }
    });

    readsBack(format, cases.plan, cases.runs);

    it('W3: a change of one field touches its own lines, the stamp and what follows from it', () => {
      const fields = Object.keys(cases.keys) as (keyof ModelStep)[];
      fc.assert(
        fc.property(fc.constantFrom(...writable), fc.constantFrom(...fields), fc.nat(), (sample, field, at) => {
          const { found, files } = sample;
          const { model } = format.parse(found, files);
          if (!model || model.steps.length === 0) return;
          const index = at % model.steps.length;
          const step = model.steps[index] as ModelStep;
          const changed = { ...step, ...changes[field]?.(step) };
          const steps = model.steps.map((one) => (one === step ? changed : one));
          const text = format.render({ ...model, steps }, found, files, later).get(found.main);
          if (text === undefined) return;
          const keyed = cases.keyed ?? ((whole: string) => whole);
          const [before, after] = [keyed(files.get(found.main) ?? ''), keyed(text)];
          const touched = [...linesOnlyIn(before, after), ...linesOnlyIn(after, before)].map(keyOfLine);
          // A step on one line is one line.
          const allowed = new Set([...(cases.keys[field] ?? []), ...cases.computed, step.alias ?? step.key]);
          const others = touched.filter((key) => key !== null && !allowed.has(key));
          expect({ sample: sample.name, field, others }).toEqual({ sample: sample.name, field, others: [] });
          // The rest of the run is what it was.
          const back = format.parse(found, new Map(files).set(found.main, text)).model;
          const rest = (one: RunModel | null) => one?.steps.filter(({ key }) => key !== step.key).map(comparable);
          expect(rest(back)).toEqual(rest(model));
        }),
        { numRuns: cases.runs },
      );
    });

    it('W4: a text that others edited is at rest once it was read', () => {
      fc.assert(
        fc.property(fc.constantFrom(...writable), edits, ({ found, files }, edit) => {
          const edited = new Map(files).set(found.main, edit(files.get(found.main) ?? ''));
          const { model, writable: mayWrite } = format.parse(found, edited);
          if (!model || !mayWrite) return;
          const first = format.render(model, found, edited, later);
          const settled = new Map([...edited, ...first]);
          const again = format.parse(found, settled).model;
          // A file of an older version is migrated by the first write; then there is nothing left to write.
          expect([...(again ? format.render(again, found, settled, later).keys() : [])]).toEqual([]);
        }),
        { numRuns: cases.runs },
      );
    });

    sparesDamage(format, writable, cases.runs);
  });
}

/** The law on generated run models over a plan. */
export function readsBack(format: Format, plan: readonly ModelStep[], numRuns: number): void {
  it('W2: what is written can be read, except for what the format loses', () => {
    fc.assert(
      fc.property(modelOf(plan), (model) => {
        expect(v.safeParse(RunModel, model).issues).toBeUndefined();
        const [written, meant] = compared(writtenBack(format, model), model, [...format.loses, 'position']);
        // A new file also has what its template says.
        expect(written).toMatchObject(meant as object);
      }),
      { numRuns },
    );
  });
}

/** The law on samples that may be written, damaged anywhere. */
export function sparesDamage(format: Format, samples: readonly Sample[], numRuns: number): void {
  it('W7: a damaged text is never written over', () => {
    const model = modelIn(format, samples[0]);
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.nat(),
        fc.nat(40),
        fc.string({ maxLength: 20 }),
        (sample, at, cut, put) => {
          const main = sample.files.get(sample.found.main) ?? '';
          const start = at % (main.length + 1);
          const files = new Map(sample.files).set(
            sample.found.main,
            main.slice(0, start) + put + main.slice(start + cut),
          );
          const parsed = format.parse(sample.found, files);
          if (parsed.model !== null && parsed.writable) return;
          expect(format.render(model, sample.found, files, later).has(sample.found.main)).toBe(false);
        },
      ),
      { numRuns },
    );
  });
}

/** What another tool or a person does to a text: lines removed, doubled, swapped and moved, and other values. */
const edits: fc.Arbitrary<(text: string) => string> = fc
  .tuple(
    fc.constantFrom('remove', 'double', 'swap', 'move', 'set', 'respell'),
    fc.nat(),
    fc.nat(),
    fc.constantFrom('pending', 'complete', 'true', 'null', '3', '[]', 'Some other words', '"quoted"'),
  )
  .map(([how, at, to, word]) => (text: string) => {
    const lines = text.split('\n');
    const from = at % lines.length;
    const line = lines[from] ?? '';
    if (how === 'respell') return text.replace(/(\d\d:\d\d:\d\d)Z/g, '$1.000Z');
    if (how === 'remove' || how === 'move') lines.splice(from, 1);
    if (how === 'move') lines.splice(to % (lines.length + 1), 0, line);
    if (how === 'double') lines.splice(from, 0, line);
    if (how === 'swap') [lines[from], lines[to % lines.length]] = [lines[to % lines.length] ?? '', line];
    if (how === 'set') lines[from] = line.replace(/(:\s*)[^,]+?(,?\s*)$/, `$1${word}$2`);
    return lines.join('\n');
  });

function modelIn(format: Format, sample: { found: Found; files: Files } | undefined): RunModel {
  const model = sample ? format.parse(sample.found, sample.files).model : null;
  if (!model) throw new Error('The sample cannot be read.');
  return model;
}

/** What other steps must not lose; order, gates and checkpoints follow from the workflow that they are part of. */
const comparable = ({ gate: _, after: _a, context: _c, checkpoints: _p, ...step }: ModelStep): unknown => step;

const changes: { [K in keyof ModelStep]?: (step: ModelStep) => Partial<ModelStep> } = {
  title: ({ title }) => ({ title: `${title} again` }),
  status: ({ status }) =>
    status === 'in_progress'
      ? { status: 'completed', endedAt: '2027-03-04T05:00:00Z' }
      : { status: 'in_progress', startedAt: '2027-03-04T05:00:00Z' },
  checkpoint: () => ({ checkpoint: 'phase_9_new' }),
  artifacts: ({ artifacts = [] }) => ({ artifacts: [...artifacts, { path: 'src/new.ts', change: 'created' }] }),
  retries: ({ retries = 0 }) => ({ retries: retries + 1 }),
  startedAt: () => ({ startedAt: '2027-03-04T05:00:00Z' }),
  built: ({ built = [] }) => ({ built: [...built, 'A new thing'] }),
};

/** Lines of one text that the other lacks, counted with repetition; a comma at the end belongs to what follows. */
function linesOnlyIn(one: string, other: string): string[] {
  const lines = (text: string): string[] => text.split('\n').map((line) => line.replace(/,\s*$/, ''));
  const left = new Map<string, number>();
  for (const line of lines(other)) left.set(line, (left.get(line) ?? 0) + 1);
  return lines(one).filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

/** The key that a line sets; null for one that sets none, such as an entry of a list or a bracket. */
const keyOfLine = (line: string): string | null => /^\s*(?:- )?"?([\w.]+)"?\s*:/.exec(line)?.[1] ?? null;

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}Z`);
const words = fc.constantFrom(
  'Use queues',
  'Ümläute “quoted”',
  'a: b # c',
  "it's {odd}",
  'Two words',
  '- dash',
  '100 %',
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const run = {
  ...{ alias: '2026-02-03-generated', title: 'Generated', goal: 'Be generated' },
  openedAt: '2026-02-03T04:05:06Z',
};

/** Run models over a plan, with random statuses, times, decisions and findings. */
function modelOf(plan: readonly ModelStep[]): fc.Arbitrary<RunModel> {
  const steps = fc.tuple(
    ...plan.map((step) =>
      fc
        .record({ status: fc.constantFrom('pending', 'in_progress', 'completed'), title: words, at: time, name: words })
        .map(({ status, title, at, name }): ModelStep => {
          const { startedAt: _s, endedAt: _e, checkpoint: _c, ...plain } = step;
          return {
            ...plain,
            title: `${title} ${step.key}`,
            status: status as ModelStep['status'],
            ...(status === 'pending' ? {} : { startedAt: at }),
            ...(status === 'completed' ? { endedAt: at } : {}),
            ...(status === 'in_progress' ? { checkpoint: name } : {}),
          };
        }),
    ),
  );
  const decision = fc.record({
    decision: words,
    reason: maybe(words),
    context: maybe(fc.constant('What to do')),
    at: maybe(time),
    by: maybe(fc.constantFrom('ada', 'Bob B.')),
  });
  const finding = fc.record({ text: words, kind: fc.constant('finding'), severity: fc.constant('must_fix') });
  return fc
    .record({
      steps,
      decisions: fc.uniqueArray(decision, { selector: (one) => one.decision, maxLength: 4 }),
      items: fc.uniqueArray(finding, { selector: (one) => one.text, maxLength: 4 }),
      branch: fc.constantFrom('main', 'feature/x'),
    })
    .map(({ steps: all, decisions, items, branch }): RunModel => {
      const done = all.length > 0 && all.every(({ status }) => status === 'completed');
      const model = {
        run: { ...run, status: done ? 'completed' : 'active', branch },
        steps: all,
        decisions: decisions.map((one, index) => ({ alias: `D00${index + 1}`, status: 'active', ...one })),
        items: items.map((one) => ({ status: 'open', ...one })),
        ...{ notes: [], sessions: [], messages: [], claims: [], usage: [], files: [] },
      };
      return JSON.parse(JSON.stringify(model)) as RunModel;
    });
}
