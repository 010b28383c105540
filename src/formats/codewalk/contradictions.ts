import { isMap, type YAMLMap } from 'yaml';
import type { Problem } from '../format.ts';
import { conflictMarkers, elidedLines, splitLines } from '../text/lines.ts';
import type { Reading } from './reading.ts';
import { nodeOf, pairOf, problem, wordsOf, type YamlPage } from './yaml-page.ts';

/** Reports damage to a file. */
export function findDamage(reading: Reading, path: string, text: string): void {
  const report = (code: string, level: Problem['level'], line: number, message: string, stops: boolean) => {
    reading.problems.push(problem(code, level, path, line, message));
    if (stops) reading.writable = false;
  };
  const lines = splitLines(text);
  const zero = lines.findIndex((line) => line.includes('\0'));
  if (zero >= 0) report('binary', 'error', zero + 1, 'The file contains zero bytes: it is not text.', true);
  for (const line of conflictMarkers(lines).slice(0, 20))
    report('conflict_markers', 'error', line + 1, 'Unresolved merge conflict.', true);
  for (const line of elidedLines(lines).slice(0, 20))
    report('elided', 'warning', line + 1, 'Part of the file was elided here.', false);
  for (const error of reading.page?.errors ?? [])
    report('not_yaml', 'error', Math.min(error.line, lines.length), error.message, true);
}

/** Reports where a document contradicts itself. */
export function findContradictions({ model, problems }: Reading, page: YamlPage, root: YAMLMap, path: string): void {
  const progress = nodeOf(root, 'progress');
  const warn = (code: string, node: unknown, message: string) =>
    problems.push(problem(code, 'warning', path, page.lineOf(node), message));
  const count = (key: string) =>
    isMap(progress)
      ? { node: nodeOf(progress, key), value: Number(wordsOf(nodeOf(progress, key)) ?? Number.NaN) }
      : { node: null, value: Number.NaN };
  for (const [done, all] of [
    ['phases_completed', 'phases_total'],
    ['current_phase_completed', 'current_phase_tasks'],
  ] as const) {
    if (count(done).value > count(all).value)
      warn(
        'completed_above_total',
        count(done).node,
        `${done} is ${count(done).value}, ${all} is ${count(all).value}.`,
      );
  }
  const bar = isMap(progress) ? nodeOf(progress, 'bar') : null;
  const percent = Number(/(\d+)\s*%/.exec(wordsOf(bar) ?? '')?.[1] ?? Number.NaN);
  if (percent > 100) warn('percent_above_100', bar, `${percent} % is more than 100 %.`);
  const phases = count('phases_total').value;
  const share =
    (count('phases_completed').value +
      (count('current_phase_completed').value / count('current_phase_tasks').value || 0)) /
    phases;
  if (Math.abs(percent - Math.round(100 * share)) > 1)
    warn('percent_disagrees', bar, `The bar says ${percent} %; the counters give ${Math.round(100 * share)} %.`);
  const active = model.sessions.filter(({ status }) => status === 'active');
  if (active.length > 1)
    warn('two_active_sessions', nodeOf(root, 'sessions'), `${active.length} sessions are active at once.`);
  for (const { alias, startedAt, endedAt } of model.sessions)
    if (startedAt && endedAt && endedAt < startedAt && startedAt.length === endedAt.length)
      warn('ended_before_started', nodeOf(root, 'sessions'), `${alias ?? 'A session'} ended before it started.`);
  const ids = new Set<string>();
  for (const { alias } of model.items) {
    if (alias && ids.has(alias)) warn('duplicate_id', nodeOf(root, 'blockers'), `Duplicate id ${alias}.`);
    if (alias) ids.add(alias);
  }
  if (!pairOf(root, 'position')) warn('no_position', null, 'The file does not say where the work is.');
}
