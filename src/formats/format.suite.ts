import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { RunModel } from '../core/model/run-model.ts';
import type { Files, Format, Found, Parsed } from './format.ts';
import { dropLost } from './losses.ts';
import { wholeModels } from './models.suite.ts';

/** The cases a format provides to be tested against the laws of `format.ts`. */
export interface FormatCases {
  /** Run models that the format should be able to write, as rich as it allows; start from `richModel`. */
  models: readonly { name: string; model: RunModel }[];
  /** Real-world files, one of each variant. */
  samples: readonly Sample[];
  /** A well-formed set of files of about this many bytes. */
  long(bytes: number): { found: Found; files: Files };
}

export interface Sample {
  name: string;
  found: Found;
  files: Files;
  /** Writing migrates it to a newer version first, so its bytes change. */
  migrates?: boolean;
  /** It is damaged or too new, and must never be written. */
  readOnly?: boolean;
}

const now = '2026-03-04T05:06:07.000Z';
const later = '2026-03-04T06:07:08.000Z';
const none: Files = new Map();

export function formatSuite(format: Format, cases: FormatCases): void {
  describeModels(format, cases);
  describeSamples(format, cases);
  describe(`${format.name}: size`, () => {
    it('reads and edits ten megabytes', { timeout: 120_000 }, () => {
      const { found, files } = cases.long(10 * 1024 * 1024);
      const { model } = format.parse(found, files);
      expect(model).not.toBeNull();
      if (model) {
        const changed = { ...model, decisions: [...model.decisions, addedDecision] };
        expect(format.render(changed, found, files, later).size).toBeGreaterThan(0);
      }
    });
  });
}

function describeModels(format: Format, cases: FormatCases): void {
  describe(`${format.name}: run models`, () => {
    it.each(cases.models)('reads back what it wrote: $name', ({ model }) => {
      expect(v.safeParse(RunModel, model).issues).toBeUndefined();
      const place = format.home(model);
      const files = format.render(model, place, none, now);
      const back = format.parse({ ...place, files: [...files.keys()] }, files);
      expect(back.problems.filter((problem) => problem.level === 'error')).toEqual([]);
      expect(said(back.model, format.loses)).toEqual(said(model, format.loses));
    });

    it.each(cases.models)('finds what it wrote: $name', ({ model }) => {
      const files = format.render(model, format.home(model), none, now);
      const tree = { paths: [...files.keys()].sort(), read: (path: string) => files.get(path) ?? null };
      expect(format.detect(tree).map((found) => found.main)).toContain(format.home(model).main);
    });

    it.each(cases.models)('writes the same bytes twice: $name', ({ model }) => {
      const place = format.home(model);
      const files = format.render(model, place, none, now);
      expect(format.render(model, place, none, now)).toEqual(files);
      expect([...format.render(model, { ...place, files: [...files.keys()] }, files, later).keys()]).toEqual([]);
    });

    const plan = cases.models[0]?.model.steps ?? [];

    it('lists everything that it loses', () => {
      for (const model of wholeModels(plan)) {
        expect(v.safeParse(RunModel, model).issues).toBeUndefined();
        const [written, meant] = compared(writtenBack(format, model), model, format.loses);
        expect(written).toEqual(meant);
      }
    });

    it('lists only what it really loses', () => {
      const models = [...cases.models.map(({ model }) => model), ...wholeModels(plan)];
      const backs = models.map((model) => writtenBack(format, model));
      for (const lost of format.loses) {
        const others = format.loses.filter((path) => path !== lost && !lost.startsWith(`${path}.`));
        const kept = models.every((model, index) => {
          const [written, meant] = compared(backs[index] ?? null, model, others);
          return JSON.stringify(written) === JSON.stringify(meant);
        });
        expect(kept, `${lost} is listed as lost and is not`).toBe(false);
      }
    });
  });
}

function describeSamples(format: Format, cases: FormatCases): void {
  describe.each(cases.samples.map((sample) => ({ ...sample })))(`${format.name}: $name`, (sample) => {
    const parsed = format.parse(sample.found, sample.files);

    it('gives a run model that the journal can hold', () => {
      if (parsed.model) expect(v.safeParse(RunModel, parsed.model).issues).toBeUndefined();
      else expect(parsed.problems.length).toBeGreaterThan(0);
      expectLinesInFile(parsed, sample.files);
    });

    it('is unchanged by writing what it says', () => {
      if (!parsed.model || sample.readOnly || sample.migrates) {
        expect(sample.readOnly === true || sample.migrates === true).toBe(true);
        if (sample.readOnly) expect(parsed.writable).toBe(false);
        return;
      }
      expect([...format.render(parsed.model, sample.found, sample.files, later).entries()]).toEqual([]);
    });

    it('keeps its other lines when a decision is added', () => {
      if (!parsed.model || sample.readOnly || sample.migrates) return;
      const model = { ...parsed.model, decisions: [...parsed.model.decisions, addedDecision] };
      for (const [path, text] of format.render(model, sample.found, sample.files, later)) {
        const before = sample.files.get(path);
        if (before === undefined) continue;
        expect(lost(lines(before), lines(text)).length).toBeLessThanOrEqual(8);
      }
    });

    it('reads the same with other line ends and with a byte order mark', () => {
      if (!parsed.model) return;
      const windows = map(sample.files, (text) => text.replace(/\r?\n/g, '\r\n'));
      const marked = map(sample.files, (text) => (text.startsWith('\ufeff') ? text : `\ufeff${text}`));
      for (const files of [windows, marked]) {
        expect(said(format.parse(sample.found, files).model, [])).toEqual(said(parsed.model, []));
      }
    });

    it.each(damages)('survives damage: $name', ({ damage, code }) => {
      for (const target of sample.files.keys()) {
        const files = new Map(sample.files).set(target, damage(sample.files.get(target) ?? ''));
        const damaged = format.parse(sample.found, files);
        expectLinesInFile(damaged, files);
        if (damaged.model === null) expect(damaged.problems.length).toBeGreaterThan(0);
        else expect(v.safeParse(RunModel, damaged.model).issues).toBeUndefined();
        if (code && target === sample.found.main) {
          expect(damaged.problems.map((problem) => problem.code)).toContain(code);
        }
      }
    });

    it('survives any random edit', () => {
      const main = sample.files.get(sample.found.main) ?? '';
      fc.assert(
        fc.property(fc.nat(main.length), fc.nat(60), fc.string({ maxLength: 40 }), (at, length, put) => {
          const files = new Map(sample.files).set(sample.found.main, main.slice(0, at) + put + main.slice(at + length));
          const { model, problems } = format.parse(sample.found, files);
          return model === null ? problems.length > 0 : v.safeParse(RunModel, model).success;
        }),
        { numRuns: 150 },
      );
    });
  });
}

export function writtenBack(format: Format, model: RunModel): RunModel | null {
  const place = format.home(model);
  const files = format.render(model, place, none, now);
  return format.parse({ ...place, files: [...files.keys()] }, files).model;
}

/** The written and the intended run model, without what is lost. */
export function compared(written: RunModel | null, meant: RunModel, loses: readonly string[]): [unknown, unknown] {
  // The position follows from the steps; when all are done it is null or the last step.
  const paths = meant.run.status === 'completed' ? [...loses, 'position'] : loses;
  return [inAnyOrder(said(written, paths)), inAnyOrder(said(meant, paths))];
}

/** A format may group a list by kind; only the order of steps matters. */
function inAnyOrder(said: unknown): unknown {
  const lists = said as Record<string, unknown>;
  const sorted = Object.entries(lists ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) && name !== 'steps'
      ? [...value].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : value,
  ]);
  return Object.fromEntries(sorted);
}

const addedDecision: RunModel['decisions'][number] = {
  alias: 'D-999',
  decision: 'Keep the old key for an hour',
  reason: 'Clocks differ',
  context: 'Rotation under load',
  at: later,
  status: 'active',
};

const damages: readonly { name: string; damage: (text: string) => string; code?: string }[] = [
  { name: 'empty', damage: () => '' },
  { name: 'blank', damage: () => ' \n\n\t\n' },
  { name: 'cut at a third', damage: (text) => text.slice(0, Math.floor(text.length / 3)) },
  { name: 'cut near the end', damage: (text) => text.slice(0, -7) },
  { name: 'binary bytes', damage: (text) => `\u0000\u0001\ufffd\u0007${text.slice(0, 40)}\u0000\ufffd` },
  {
    name: 'conflict markers',
    code: 'conflict_markers',
    damage: (text) => {
      const all = text.split('\n');
      const half = Math.floor(all.length / 2);
      const ours = all.slice(half, half + 2);
      return [
        ...all.slice(0, half),
        '<<<<<<< HEAD',
        ...ours,
        '=======',
        ...ours,
        '>>>>>>> theirs',
        ...all.slice(half + 2),
      ].join('\n');
    },
  },
  {
    name: 'elided in the middle',
    damage: (text) => {
      const all = text.split('\n');
      return [...all.slice(0, Math.floor(all.length / 3)), '...', ...all.slice(Math.ceil(all.length / 1.5))].join('\n');
    },
  },
  { name: 'doubled', damage: (text) => text + text },
];

/** A run model without what the format loses, our ids and empty fields: what two files can agree on. */
function said(model: RunModel | null, loses: readonly string[]): unknown {
  if (!model) return null;
  const { kept: _kept, ...rest } = model;
  const { updatedAt: _updatedAt, ...run } = rest.run;
  const plain = compact({ ...rest, run }) as Record<string, unknown>;
  for (const path of loses) dropLost(plain, path);
  return compact(plain);
}

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact).filter((entry) => entry !== undefined);
  if (value === null || typeof value !== 'object') return value;
  const row = { ...(value as Record<string, unknown>) };
  if (row['alias'] === undefined && typeof row['id'] === 'string') row['alias'] = row['id'];
  delete row['id'];
  const entries = Object.entries(row)
    .map(([key, entry]) => [key, compact(entry)] as const)
    .filter(([, entry]) => entry !== undefined && entry !== false && !(Array.isArray(entry) && entry.length === 0))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function expectLinesInFile(parsed: Parsed, files: Files): void {
  for (const { line, path, message } of parsed.problems) {
    expect(message).not.toBe('');
    if (line === null) continue;
    expect(line).toBeGreaterThanOrEqual(1);
    expect(line).toBeLessThanOrEqual(lines(files.get(path) ?? '').length + 1);
  }
}

const lines = (text: string): string[] => text.split('\n');

/** Lines of one text that the other lacks, counted with repetition. */
function lost(before: readonly string[], after: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of after) left.set(line, (left.get(line) ?? 0) + 1);
  return before.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

export function map(files: Files, change: (text: string) => string): Files {
  return new Map([...files].map(([path, text]) => [path, change(text)]));
}
