import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { frontLine } from '../text/front-matter.ts';
import { flat } from '../text/lines.ts';
import { listTitle } from './edit-entries.ts';
import { sessionLines } from './edit-state.ts';
import { countSteps, percentOf, progressBar } from './progress.ts';
import { decisionWords, itemWords } from './read-entry.ts';
import { numberSteps } from './roadmap.ts';
import type { ListKind } from './state-markdown.ts';

/** A new STATE.md in the newest form. */
export function renderState(model: RunModel, now: string): string {
  const { run, steps } = model;
  const kept = keptOf(model);
  const counts = countSteps(steps);
  const percent = percentOf(counts);
  const numbers = numberSteps(steps);
  const place = placeOf(model, numbers);
  const front = [
    '---',
    'gsd_state_version: 1.0',
    ...(run.alias ? [frontLine('milestone', run.alias)] : []),
    ...(kept.milestone_name ? [frontLine('milestone_name', kept.milestone_name)] : []),
    ...(place.phase
      ? [frontLine('current_phase', place.phaseNumber), frontLine('current_phase_name', flat(place.phase.title))]
      : []),
    `status: ${run.status === 'completed' ? 'completed' : place.step?.status === 'in_progress' ? 'executing' : 'planning'}`,
    `last_updated: ${JSON.stringify(now)}`,
    ...Object.entries(kept.front ?? {}).map(([key, value]) => frontLine(key, String(value))),
    'progress:',
    ...Object.entries({ ...counts, percent }).map(([key, value]) => `  ${key}: ${value}`),
    '---',
  ];
  const last = model.sessions.findLast(
    ({ endedAt, workingOn, status }) => endedAt !== undefined || (workingOn !== undefined && status !== 'active'),
  );
  const parts = [
    front.join('\n'),
    `# Project State: ${flat(run.title)}`,
    ...(run.goal ? [`## Project Reference\n\n**Core value:** ${flat(run.goal)}`] : []),
    `## Current Position\n\n${[...place.lines, '', `Progress: ${progressBar(percent)}`].join('\n')}`,
    '## Accumulated Context',
    ...lists(model),
    ...(model.next ? [`## Next Action\n\n${model.next}`] : []),
    ...(last ? [`## Session Continuity\n\n${sessionLines(last, model.steps).join('\n')}`] : []),
    ...(kept.sections ?? []).map(({ heading, text }) => `${heading}\n\n${text}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

interface Kept {
  milestone_name?: string;
  front?: Record<string, unknown>;
  sections?: { heading: string; text: string }[];
}

function keptOf(model: RunModel): Kept {
  const kept = model.kept?.['gsd'];
  return typeof kept === 'object' && kept !== null ? (kept as Kept) : {};
}

interface Place {
  step: ModelStep | null;
  phase: ModelStep | null;
  phaseNumber: string;
  lines: string[];
}

function placeOf(model: RunModel, numbers: ReadonlyMap<string, string>): Place {
  const { steps } = model;
  const parents = new Set(steps.map(({ parent }) => parent));
  const leaves = steps.filter(({ key }) => !parents.has(key));
  const said = steps.find(({ key }) => key === model.position?.step);
  const step =
    said ??
    leaves.find(({ status }) => status === 'in_progress') ??
    leaves.find(({ status }) => status === 'pending') ??
    null;
  if (!step) return { step: null, phase: null, phaseNumber: '', lines: ['Phase: None'] };
  const byKey = new Map(steps.map((one) => [one.key, one]));
  const path = [step];
  for (
    let above = step.parent && byKey.get(step.parent);
    above && path.length < 50 && !path.includes(above);
    above = above.parent ? byKey.get(above.parent) : undefined
  )
    path.unshift(above);
  const phase = path[0] as ModelStep;
  const plan = path[1];
  const roots = steps.filter(({ parent }) => parent === undefined || !byKey.has(parent));
  const siblings = steps.filter(({ parent }) => parent === phase.key);
  const phaseNumber = numbers.get(phase.key) ?? phase.key;
  return {
    step,
    phase,
    phaseNumber,
    lines: [
      `Phase: ${phaseNumber} of ${roots.length} (${flat(phase.title)})`,
      `Plan: ${plan ? `${numbers.get(plan.key) ?? siblings.indexOf(plan) + 1}` : 'Not started'}`,
      ...(path.length > 2 ? [`Task: ${flat(step.title)}`] : []),
      `Status: ${statusWords[step.status]}`,
    ],
  };
}

const statusWords: Record<ModelStep['status'], string> = {
  pending: 'Ready to execute',
  in_progress: 'In progress',
  completed: 'Complete',
  failed: 'Failed',
  skipped: 'Skipped',
};

function lists(model: RunModel): string[] {
  const items = (kind: ModelItem['kind'], boxed = false) =>
    model.items.filter((item) => item.kind === kind).map((item) => itemWords(item, boxed));
  const notes = (kind: 'constraint' | 'dead-end') =>
    model.notes.filter((note) => note.kind === kind).map(({ text }) => text);
  const all: [ListKind, string[], string | null][] = [
    ['decisions', model.decisions.map(decisionWords), 'None yet.'],
    ['todos', items('commitment'), 'None yet.'],
    ['blockers', items('blocker'), 'None yet.'],
    ['questions', items('question'), null],
    ['issues', items('finding'), null],
    ['errors', items('error'), null],
    ['constraints', notes('constraint'), null],
    ['dead-ends', notes('dead-end'), null],
  ];
  return all.flatMap(([kind, entries, none]) => {
    if (entries.length === 0 && none === null) return [];
    const body =
      entries.length === 0 ? none : entries.map((words) => `- ${words.replace(/\n(?=.)/g, '\n  ')}`).join('\n');
    return [`### ${listTitle(kind)}\n\n${body}`];
  });
}
