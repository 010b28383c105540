import type { RunModel } from '../../core/model/run-model.ts';
import { currentStepOf } from '../current-step.ts';
import { isObject } from '../is-object.ts';
import { frontLine } from '../text/front-matter.ts';
import { newEntry } from '../text/rows.ts';
import { decisionWords, itemWords } from './entries.ts';
import { countSteps } from './progress.ts';
import { numberSteps } from './roadmap.ts';
import { placeOf, saidOf } from './said.ts';
import { type ListKind, lists, pageRows } from './table.ts';

/** A new STATE.md in the newest form. */
export function renderState(model: RunModel, now: string): string {
  const { steps, sessions } = model;
  const kept = isObject(model.kept?.['gsd']) ? (model.kept['gsd'] as Kept) : {};
  const numbers = numberSteps(steps);
  const numberOf = (key: string): string => numbers.get(key) ?? key;
  const step =
    steps.find(({ key }) => key === model.position?.step) ?? steps.find(({ key }) => key === currentStepOf(model));
  const there = step && placeOf(steps, step, numberOf);
  const place = there && { ...there, planNumber: there.plan && numberOf(there.plan.key) };
  const session = sessions.findLast(
    ({ endedAt, workingOn, status }) => endedAt !== undefined || (workingOn !== undefined && status !== 'active'),
  );
  const counts = countSteps(steps);
  const said = { ...saidOf(model, session, place), name: kept.milestone_name, counts, bar: counts.percent };
  const ended = session?.endedAt ?? session?.startedAt;
  const fields = newEntry(pageRows, { ...said, endedAt: ended, updatedAt: now }, { moved: true });
  const linesOf = (...names: string[]): string => names.flatMap((name) => labelLine(name, fields[name])).join('\n');
  const front = Object.entries(fields).filter(([at]) => at.startsWith('---.') && !at.includes('progress'));
  const more = Object.entries(kept.front ?? {}).map(([key, value]) => frontLine(key, String(value)));
  const parts = [
    [
      ...['---', ...front.map(([at, value]) => frontLine(at.slice(4), String(value))), ...more, 'progress:'],
      ...[...Object.entries(counts).map(([key, value]) => `  ${key}: ${value}`), '---'],
    ].join('\n'),
    `# Project State: ${said.title}`,
    ...(said.goal ? [`## Project Reference\n\n${linesOf('core value')}`] : []),
    `## Current Position\n\n${linesOf('phase', 'plan', 'task', 'status') || 'Phase: None'}\n\n${linesOf('progress')}`,
    '## Accumulated Context',
    ...listsOf(model),
    ...(model.next ? [`## Next Action\n\n${model.next}`] : []),
    ...(session ? [`## Session Continuity\n\n${linesOf('last session', 'stopped at', 'resume file')}`] : []),
    ...(kept.sections ?? []).map(({ heading, text }) => `${heading}\n\n${text}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

interface Kept {
  milestone_name?: string;
  front?: Record<string, unknown>;
  sections?: { heading: string; text: string }[];
}

/** A key line; the goal is in bold, as in the template. */
export function labelLine(name: string, value: unknown): string[] {
  const label = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}:`;
  return value === undefined ? [] : [`${name === 'core value' ? `**${label}**` : label} ${value}`];
}

function listsOf({ decisions, items, notes }: RunModel): string[] {
  return (Object.entries(lists) as [ListKind, (typeof lists)[ListKind]][]).flatMap(
    ([kind, { title, item, note, none }]) => {
      // To-dos are one list in a new file.
      if (kind === 'human' || kind === 'deferred') return [];
      const words = [
        ...(kind === 'decisions' ? decisions.map(decisionWords) : []),
        ...items.filter((one) => one.kind === item).map((one) => itemWords(one, false)),
        ...notes.filter((one) => one.kind === note).map(({ text }) => text),
      ];
      const body = words.map((one) => `- ${one.replace(/\n(?=.)/g, '\n  ')}`).join('\n') || none;
      return body ? [`### ${title}\n\n${body}`] : [];
    },
  );
}
