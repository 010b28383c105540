import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairEntries } from '../core/model/pair.ts';
import type { ModelStep, RunModel } from '../core/model/run-model.ts';
import { foreignEdits, lineDeletions } from './foreign-edits.suite.ts';
import type { Sample } from './format.suite.ts';
import type { Files, Format } from './format.ts';

const now = '2026-03-04T05:06:07.000Z';

export interface LawCases {
  /** How many cases of each law; 200 in the normal suite. */
  runs?: number;
  samples: readonly Sample[];
  /** A key or section that no field has, as people write it at the end of the file. */
  unknown(name: string, words: string): string;
  /** Whether counters find back when a step is reopened; those of a file that contradicts itself are cut at the total. */
  reopens: boolean;
  /** Lines that may change with any other: the time of the last write. */
  stamp: RegExp;
}

/** The laws of reading and writing that hold for a text alone; those of mirrors are in `operations/files/mirror-laws.test.ts`. */
export function editLaws(format: Format, { runs = 200, samples, unknown, reopens, stamp }: LawCases): void {
  const RUNS = { numRuns: runs, seed: 11 };
  const sample = fc.constantFrom(...samples.filter(({ readOnly, migrates }) => !readOnly && !migrates));
  const render = (model: RunModel, { found }: Sample, files: Files): Files =>
    new Map([...files, ...format.render(model, { ...found, files: [...files.keys()] }, files, now)]);
  const read = ({ found }: Sample, files: Files) => format.parse({ ...found, files: [...files.keys()] }, files);
  const edited = ({ found, files }: Sample, edit: (text: string) => string): Files =>
    new Map(files).set(found.main, edit(files.get(found.main) ?? ''));

  describe(`${format.name}: laws`, () => {
    it('W1: any spelling of a text is written back as it is', () => {
      const spellings: ((text: string) => string)[] = [
        (text) => text,
        (text) => text.replace(/\r?\n/g, '\r\n'),
        (text) => `\ufeff${text}`,
        (text) => text.replace(/\n+$/, ''),
        (text) => `${text}\n\n`,
      ];
      fc.assert(
        fc.property(sample, fc.constantFrom(...spellings), (one, spell) => {
          const files = new Map([...one.files].map(([path, text]) => [path, spell(text)]));
          const { model, writable } = read(one, files);
          if (model && writable) expect(render(model, one, files)).toEqual(files);
        }),
        RUNS,
      );
    });

    it('W4: after any foreign edit, what the file says is already written', () => {
      fc.assert(
        fc.property(sample, fc.array(foreignEdits, { minLength: 1, maxLength: 3 }), (one, edits) => {
          const files = edited(one, (text) => edits.reduce((whole, edit) => edit(whole), text));
          const { model, writable } = read(one, files);
          if (model && writable) expect(render(model, one, files)).toEqual(files);
        }),
        RUNS,
      );
    });

    it('W3: a field that changes leaves every line alone that does not say it', () => {
      const field = fc.constantFrom(
        ...(['decisions.reason', 'decisions.decision', 'items.text', 'items.workaround'] as const),
      );
      fc.assert(
        fc.property(sample, field, fc.nat(), (one, path, at) => {
          const { model } = read(one, one.files);
          const [list, name] = path.split('.') as ['decisions' | 'items', string];
          const page = plain(one.files.get(one.found.main) ?? '');
          const entries = (model?.[list] ?? []).filter((entry) => {
            const value = (entry as Record<string, unknown>)[name];
            return value !== undefined && page.includes(plain(String(value)));
          });
          const entry = entries[at % entries.length] as Record<string, unknown> | undefined;
          if (!model || !entry) return;
          const value = String(entry[name]);
          entry[name] = 'Said in other words now';
          const written = render(model, one, one.files);
          for (const [file, text] of one.files) {
            const left = new Set((written.get(file) ?? '').split(/\r?\n/));
            const gone = text.split(/\r?\n/).filter((line) => !left.has(line) && !stamp.test(line));
            const words = new Set(value.split(/\W+/));
            for (const line of gone)
              expect(
                line.split(/\W+/).some((word) => words.has(word)),
                line,
              ).toBe(true);
          }
        }),
        RUNS,
      );
    });

    it('W6: a new file of what was read says it again', () => {
      fc.assert(
        fc.property(sample, (one) => {
          const { model } = read(one, one.files);
          if (!model) return;
          const place = format.home(model);
          const files = format.render(model, place, new Map(), now);
          const back = format.parse({ ...place, files: [...files.keys()] }, files).model;
          const words = (run: RunModel | null): string[] => [
            ...(run?.decisions ?? []).map(({ decision }) => decision),
            ...(run?.items ?? []).filter(({ status }) => status === 'active').map(({ text }) => text),
          ];
          const all = plain(words(back).join(' '));
          for (const said of words(model)) expect(all).toContain(plain(said));
        }),
        { ...RUNS, numRuns: samples.length * 4 },
      );
    });

    it('M1: entries that are reordered, recased or reworded are the records they were', () => {
      fc.assert(
        fc.property(sample, fc.infiniteStream(fc.nat()), fc.constantFrom('decisions', 'items'), (one, order, list) => {
          const { model } = read(one, one.files);
          const ours = (model?.[list] ?? []) as RunModel['items'];
          const name = list === 'items' ? 'text' : 'decision';
          const texts = new Set(ours.map((entry) => (entry as unknown as Record<string, string>)[name]));
          if (texts.size < ours.length) return;
          const theirs = ours
            .map((entry) => ({ entry, place: order.next().value ?? 0 }))
            .sort((a, b) => a.place - b.place)
            .map(({ entry, place }) => {
              const words = (entry as unknown as Record<string, string>)[name] ?? '';
              return { from: entry, entry: { ...entry, [name]: place % 3 === 0 ? words.toUpperCase() : words } };
            });
          const pairs = pairEntries(
            list,
            ours as never[],
            theirs.map(({ entry }) => entry as never),
            true,
          );
          for (const { from, entry } of theirs) expect(pairs.get(entry as never)).toBe(from);
        }),
        RUNS,
      );
    });

    it('M2: counters depend on the plan, not on the way to it', () => {
      fc.assert(
        fc.property(
          sample,
          fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 1, maxLength: 6 }),
          (one, moves) => {
            const { model, writable } = read(one, one.files);
            const parents = new Set(model?.steps.map(({ parent }) => parent));
            const open = model?.steps.filter(({ key, status }) => !parents.has(key) && status !== 'completed') ?? [];
            if (!model || !writable || open.length === 0) return;
            let files: Files = one.files;
            const done = new Set<string>();
            const at = (keys: ReadonlySet<string>): RunModel => ({ ...model, steps: withDone(model.steps, keys) });
            for (const [place, forward] of moves) {
              const { key } = open[place % open.length] as ModelStep;
              if (forward || !reopens) done.add(key);
              else done.delete(key);
              files = render(at(done), one, files);
            }
            const direct = render(at(done), one, one.files);
            const countersIn = (text: string | undefined): string[] =>
              (text ?? '').split('\n').filter((line) => /phases_|_phase|_phases|_plans|percent|%/.test(line));
            for (const path of one.files.keys())
              expect(countersIn(files.get(path))).toEqual(countersIn(direct.get(path)));
          },
        ),
        RUNS,
      );
    });

    it('M5: a line that goes makes no step', () => {
      fc.assert(
        fc.property(sample, lineDeletions, (one, edit) => {
          const before = read(one, one.files).model;
          const after = read(one, edited(one, edit)).model;
          const known = new Set(before?.steps.flatMap(({ key, title }) => [key, title]));
          expect(after?.steps.filter(({ key, title }) => !known.has(key) && !known.has(title)) ?? []).toEqual([]);
        }),
        RUNS,
      );
    });

    it('M7: what no field has is kept, named, and left alone by other changes', () => {
      const name = fc.stringMatching(/^[a-z]{5,12}$/).map((word) => `zz_${word}`);
      fc.assert(
        fc.property(sample, name, fc.stringMatching(/^[A-Za-z ]{8,40}$/), (one, key, words) => {
          const more = unknown(key, words);
          const files = edited(one, (text) => `${text.replace(/\n*$/, '\n')}${more}`);
          const { model, writable } = read(one, files);
          if (!model || !writable || one.found.main.startsWith('docs/')) return;
          expect(JSON.stringify(model.kept)).toContain(key);
          model.decisions.push({ decision: 'Go on', reason: 'It works', status: 'active' });
          expect(render(model, one, files).get(one.found.main)).toContain(more.trimEnd());
        }),
        RUNS,
      );
    });
  });
}

function withDone(steps: readonly ModelStep[], done: ReadonlySet<string>): ModelStep[] {
  const moved = steps.map((step) => (done.has(step.key) ? { ...step, status: 'completed' as const } : step));
  const statusOf = (step: ModelStep): ModelStep['status'] => {
    const below = moved.filter(({ parent }) => parent === step.key);
    if (below.length === 0) return step.status;
    const all = below.map(statusOf);
    if (all.every((status) => status === 'completed' || status === 'skipped')) return 'completed';
    return all.every((status) => status === 'pending') ? 'pending' : 'in_progress';
  };
  return moved.map((step) => ({ ...step, status: statusOf(step) }));
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
