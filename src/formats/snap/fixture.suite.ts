import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Found } from '../format.ts';
import { snap } from './format.ts';

export const now = '2026-03-04T05:06:07.000Z';
export const home = 'working-session/';

export function fixture(name: string): { found: Found; files: Files; model: RunModel } {
  const folder = new URL(`../../../test/fixtures/snap/${name}/`, import.meta.url);
  const files = new Map(
    readdirSync(folder)
      .sort()
      .map((file) => [home + file, readFileSync(new URL(file, folder), 'utf8')]),
  );
  const [found] = snap.detect({ paths: [...files.keys()], read: (path) => files.get(path) ?? null });
  const { model } = snap.parse(found as Found, files);
  return { found: found as Found, files, model: model as RunModel };
}

/** Renders a changed run model over its files and reads them back. */
export function write(name: string, change: (model: RunModel) => RunModel) {
  const { found, files, model } = fixture(name);
  const wanted = change(model);
  const written = snap.render(wanted, found, files, now);
  const all = new Map([...files, ...written]);
  const place = { ...found, files: [...all.keys()] };
  const back = snap.parse(place, all);
  expect([...snap.render(wanted, place, all, now).values()]).toEqual([]);
  const known = new Set(snap.parse(found, files).problems.map((problem) => problem.code));
  expect(back.problems.filter((problem) => problem.level === 'error' && !known.has(problem.code))).toEqual([]);
  const text = (file: string): string => all.get(home + file) ?? '';
  const lost = (file: string): string[] => {
    const after = new Set(text(file).split('\n'));
    return (files.get(home + file) ?? '').split('\n').filter((line) => !after.has(line));
  };
  return { model: back.model as RunModel, problems: back.problems, written, text, lost, wanted, all, place };
}

export const step = (model: RunModel, key: string) => model.steps.find((one) => one.key === key);
