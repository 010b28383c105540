import type { RunModel } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import { at, type MapNode, type Node, wordsOf } from '../text/node.ts';
import type { Document } from './document.ts';

/** Reports where a document contradicts itself. */
export function findContradictions(
  { model, problems }: { model: RunModel; problems: Problem[] },
  document: Document,
  root: MapNode,
): void {
  const progress = at(root, 'progress');
  const warn = (code: string, node: Node | null, message: string): void =>
    void problems.push({
      code,
      level: 'warning',
      path: document.path,
      line: document.lineOf((node ?? root).start),
      message,
    });
  const count = (key: string): number => Number(wordsOf(at(progress, key)) ?? Number.NaN);
  for (const [done, all] of [
    ['phases_completed', 'phases_total'],
    ['current_phase_completed', 'current_phase_tasks'],
  ] as const)
    if (count(done) > count(all))
      warn('completed_above_total', at(progress, done), `${done} is ${count(done)}, ${all} is ${count(all)}.`);
  const bar = at(progress, 'bar');
  const percent = Number(/(\d+)\s*%/.exec(wordsOf(bar) ?? '')?.[1] ?? Number.NaN);
  if (percent > 100) warn('percent_above_100', bar, `${percent} % is more than 100 %.`);
  const inPhase = count('current_phase_completed') / count('current_phase_tasks') || 0;
  const share = Math.round((100 * (count('phases_completed') + inPhase)) / count('phases_total'));
  if (Math.abs(percent - share) > 1)
    warn('percent_disagrees', bar, `The bar says ${percent} %; the counters give ${share} %.`);
  const sessions = at(root, 'sessions');
  const active = model.sessions.filter(({ status }) => status === 'active');
  if (active.length > 1) warn('two_active_sessions', sessions, `${active.length} sessions are active at once.`);
  for (const { alias, startedAt, endedAt } of model.sessions)
    if (startedAt && endedAt && endedAt < startedAt && startedAt.length === endedAt.length)
      warn('ended_before_started', sessions, `${alias ?? 'A session'} ended before it started.`);
  const ids = new Set<string>();
  for (const { alias } of model.items) {
    if (alias && ids.has(alias)) warn('duplicate_id', at(root, 'blockers'), `Duplicate id ${alias}.`);
    if (alias) ids.add(alias);
  }
  if (!at(root, 'position')) warn('no_position', null, 'The file does not say where the work is.');
}
