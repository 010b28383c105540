import type { ModelStep } from '../../core/model/run-model.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from '../text/lines.ts';
import { cellsIn, isRow } from '../text/list.ts';
import { type Page, scanPage } from '../text/page.ts';
import { newEntry, readRows } from '../text/rows.ts';
import { defined } from '../text/values.ts';
import { childrenOf } from './progress.ts';
import { stepRows } from './table.ts';
import { isStepKey, phaseKey, phaseOfPlan, planKey, readPlanId } from './words/numbers.ts';

/**
 * ROADMAP.md: phases as a check-list, each with a section that lists its plans, and a progress table. A step whose key
 * is not a number is written with a number and its key in a comment.
 */
export interface Roadmap {
  page: Page;
  steps: RoadmapStep[];
  title: string | null;
}

export interface RoadmapStep extends Pick<ModelStep, 'key' | 'title' | 'kind' | 'parent' | 'after' | 'wave'> {
  /** The number as written: `07`, `2.1`, `06-01`. */
  number: string;
  status: ModelStep['status'] | null;
  /** The line with its box, its row in a progress table, the heading of its section; -1 where there is none. */
  box: number;
  row: number;
  heading: number;
  /** In a collapsed part: a completed milestone. */
  archived: boolean;
}

export function readRoadmap(text: string): Roadmap {
  const page = scanPage(text);
  const found = new Map<string, RoadmapStep>();
  const title = page.headings[0]?.level === 1 ? page.headings[0].title.replace(/^roadmap\s*[:：—–-]*\s*/iu, '') : '';
  const headings = new Map(page.headings.map((heading) => [heading.line, heading]));
  const walk: Walk = { found, folded: 0, phase: null, phaseLevel: 0, plan: null };
  for (let line = 0; line < page.lines.length; line++) {
    if (page.isQuiet(line)) continue;
    const words = page.line(line);
    if (/^\s*<details/i.test(words)) walk.folded += 1;
    if (/^\s*<\/details/i.test(words)) walk.folded = Math.max(0, walk.folded - 1);
    const heading = headings.get(line);
    if (heading) readHeadingLine(walk, heading, line);
    else if (isRow(words)) readProgressRow(walk, words, line);
    else if (/^\s*[-*+]\s/.test(words)) readBoxLine(walk, words, line);
    else readDependsLine(walk, words);
  }
  return { page, steps: [...found.values()], title: title === '' ? null : title };
}

interface Walk {
  found: Map<string, RoadmapStep>;
  folded: number;
  phase: RoadmapStep | null;
  phaseLevel: number;
  plan: RoadmapStep | null;
}

function readHeadingLine(walk: Walk, { level, title }: { level: number; title: string }, line: number): void {
  walk.plan = null;
  const [, number = '', rest = ''] = phaseLine.exec(title) ?? [];
  if (number === '') {
    if (level <= walk.phaseLevel) walk.phase = null;
    return;
  }
  const { words, said, status } = unmarked(rest);
  const name = words.replace(/\s*[(（].*$/u, '') || words;
  const done = /✅/u.test(title) ? 'completed' : null;
  const step = addStep(walk, 'heading', line, { ...phaseOf(number, name), ...said, status: status ?? done });
  if (!step) return;
  walk.phase = step;
  walk.phaseLevel = level;
}

function readBoxLine(walk: Walk, text: string, line: number): void {
  const [, box, rest = ''] = /^\s*[-*+]\s+(?:\[([ xX~-])\]\s+)?(.*)$/.exec(text) ?? [];
  const { words, said, status: marked, struck } = unmarked(rest);
  const ticked = box === undefined ? null : box.toLowerCase() === 'x' ? 'completed' : 'pending';
  const status = struck ? 'skipped' : (marked ?? ticked);
  const [, number = '', title = ''] = phaseLine.exec(words.replace(/^[^\p{L}\p{N}*]+/u, '')) ?? [];
  if (number !== '' && (box !== undefined || /\*\*/.test(words))) {
    const name = titleIn(title, /^\W*\*\*/u.test(words));
    const icon = box === undefined ? stepStatus(words.slice(0, 2)) : null;
    addStep(walk, 'box', line, { ...phaseOf(number, name), ...said, status: status ?? icon });
    return;
  }
  if (box === undefined) return;
  const plan = readPlanId(words);
  if (plan) {
    const name = words.replace(/^[^\s:：]*?(?:-PLAN)?(?:\.md)?(?=[\s:：])\s*[:：—–-]*\s*/iu, '').trim();
    walk.plan = addStep(walk, 'box', line, {
      ...{ key: plan.key, number: plan.key, title: name === '' || name === words ? plan.key : name, kind: 'plan' },
      parent: walk.phase && walk.phase.heading >= 0 ? walk.phase.key : plan.phase,
      ...said,
      status,
    });
  } else if (said.key !== undefined) {
    const parent = walk.plan?.key ?? walk.phase?.key;
    addStep(
      walk,
      'box',
      line,
      defined({ number: '', title: words, kind: 'task', parent, ...said, key: said.key, status }),
    );
  }
}

function readProgressRow(walk: Walk, text: string, line: number): void {
  const cells = cellsIn(text);
  const parts = /^\**(\d+[A-Za-z]?(?:\.\d+)*)\**(?:[.:)]\s*|\s+[-—–]?\s*|$)(.*)$/u.exec(cells[0] ?? '');
  const status = cells
    .slice(1)
    .map(stepStatus)
    .find((found) => found !== null);
  if (!parts || !status) return;
  const title = (parts[2] as string).replaceAll('*', '').trim();
  addStep(walk, 'row', line, { ...phaseOf(parts[1] as string, title), status });
}

function readDependsLine({ phase }: Walk, text: string): void {
  if (!phase || phase.after !== undefined) return;
  const parts = /^\s*\*\*Depends on:?\*\*:?\s*(.*)$/i.exec(text);
  if (!parts) return;
  const named = (parts[1] as string).match(
    /Phases?\s+\d+[A-Za-z]?(?:\.\d+)*(?:\s*(?:,|and|&|\+)\s*\d+[A-Za-z]?(?:\.\d+)*)*/gi,
  );
  const keys = (named?.join(' ').match(/\d+[A-Za-z]?(?:\.\d+)*/g) ?? []).map(phaseKey);
  phase.after = [...new Set(keys)].filter((key) => key !== phase.key);
}

type Said = Omit<RoadmapStep, 'box' | 'row' | 'heading' | 'archived'>;

const phaseOf = (number: string, title: string): Omit<Said, 'status'> => ({
  ...{ key: phaseKey(number), number, title, kind: 'phase' },
});

/** The first mention of a step counts, but one in the open goes before one in a collapsed part. */
function addStep(walk: Walk, at: 'box' | 'row' | 'heading', line: number, said: Said): RoadmapStep | null {
  if (!isStepKey(said.key)) return null;
  const archived = walk.folded > 0;
  let step = walk.found.get(said.key);
  if (step && archived && !step.archived) return null;
  if (step && step.archived === archived) {
    if (step.title === '' || step.title === `Phase ${step.number}`) step.title = said.title;
    // A status text counts more than a box: `[ ]` with `In Progress` is in progress.
    if (step.status === null || step.status === 'pending') step.status = said.status ?? step.status;
  } else {
    const title = said.title || (said.kind === 'phase' ? `Phase ${said.number}` : said.key);
    step = { ...said, title, box: -1, row: -1, heading: -1, archived };
    walk.found.set(said.key, step);
  }
  if (step[at] < 0) step[at] = line;
  return step;
}

const phaseLine = /^\W*(?:phase|fase|阶段|단계)\s+(\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)\s*[:：.—–-]+\s*(.*)$/iu;

/** The text without its comment and trailing status. */
function unmarked(text: string) {
  const comment = /\s*<!--\s*((?:key|kind|parent|after|wave):(?:(?!-->).)*?)\s*-->\s*$/.exec(text);
  const attributes = (comment?.[1]?.split(/;\s*/) ?? []).flatMap((part) => {
    const [name = '', value = ''] = part.split(/:\s*(.*)/s, 2);
    return value === '' ? [] : [[name.trim(), value.trim()]];
  });
  const open = comment ? text.slice(0, comment.index) : text;
  const mark = /\s*\*\((in progress|failed|skipped)\)\*\s*$/i.exec(open);
  const words = (mark ? open.slice(0, mark.index) : open).trim();
  return {
    words,
    said: readRows(stepRows, Object.fromEntries(attributes)) as Partial<Omit<Said, 'status'>>,
    status: mark ? ((mark[1] as string).toLowerCase().replace(' ', '_') as ModelStep['status']) : null,
    struck: /^~~.*~~/.test(words),
  };
}

function titleIn(text: string, bold: boolean): string {
  const end = bold ? text.lastIndexOf('**') : -1;
  const words = end >= 0 ? text.slice(0, end) : (text.split(/\s+(?:[—–-]\s|\()/u)[0] as string);
  return words.replace(/~~|\*\*/g, '').trim();
}

export function renderRoadmap(title: string, steps: readonly ModelStep[]): string {
  const numbers = numberSteps(steps);
  const below = levelsOf(steps);
  const roots = below.get(null) ?? [];
  const lines = [`# Roadmap: ${flat(title)}`, '', '## Phases', ''];
  for (const step of roots) lines.push(phaseBox(step, numbers));
  if (roots.some((root) => below.has(root.key))) lines.push('', '## Phase Details');
  for (const root of roots) {
    const plans = childLines(root.key, below, numbers, 0);
    if (plans.length === 0) continue;
    lines.push('', `### Phase ${numbers.get(root.key)}: ${flat(root.title)}${comment(root, numbers, 'phase', null)}`);
    lines.push('', 'Plans:', '', ...plans);
  }
  return `${lines.join('\n')}\n`;
}

export function phaseBox(step: ModelStep, numbers: ReadonlyMap<string, string>): string {
  const title = flat(step.title).replaceAll('**', '__');
  return `- ${box(step)} **Phase ${numbers.get(step.key)}: ${title}**${suffix(step)}${comment(step, numbers, 'phase', null)}`;
}

export function planBox(step: ModelStep, numbers: ReadonlyMap<string, string>): string {
  return `- ${box(step)} ${numbers.get(step.key)}: ${flat(step.title)}${suffix(step)}${comment(step, numbers, 'plan', null)}`;
}

/** The written numbers of steps, by key; those already in a file stay. */
export function numberSteps(
  steps: readonly ModelStep[],
  given: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const numbers = new Map<string, string>();
  const below = levelsOf(steps);
  const roots = below.get(null) ?? [];
  const taken = new Set([...given.values()].map(phaseKey));
  for (const { key } of roots) if (isPhaseNumber(key)) taken.add(key);
  let next = 1;
  for (const { key } of roots) {
    let number = given.get(key) ?? (isPhaseNumber(key) ? key : null);
    while (number === null) {
      if (!taken.has(String(next))) number = String(next);
      next += 1;
    }
    numbers.set(key, number);
  }
  for (const root of [...numbers.keys()]) {
    const phase = numbers.get(root) as string;
    const children = below.get(root) ?? [];
    const used = new Set(
      children.map(({ key }) => given.get(key) ?? key).filter((key) => phaseOfPlan(key) === phaseKey(phase)),
    );
    let count = 1;
    for (const { key } of children) {
      let id = given.get(key) ?? (used.has(key) ? key : null);
      while (id === null) {
        const free = planKey(phase, String(count++));
        if (!used.has(free)) id = free;
      }
      numbers.set(key, id);
    }
  }
  return numbers;
}

/** The steps below each step; those that are below none, under null. */
function levelsOf(steps: readonly ModelStep[]): Map<string | null, ModelStep[]> {
  const keys = new Set(steps.map(({ key }) => key));
  const isBelow = ({ key, parent }: ModelStep): boolean => parent !== undefined && parent !== key && keys.has(parent);
  return new Map<string | null, ModelStep[]>(childrenOf(steps.filter(isBelow))).set(
    null,
    steps.filter((step) => !isBelow(step)),
  );
}

/** A step below a plan has no number of its own. */
export const taskBox = (step: ModelStep, numbers: ReadonlyMap<string, string>, depth: number): string =>
  `${'  '.repeat(depth)}- ${box(step)} ${flat(step.title)}${suffix(step)}${comment(step, numbers, 'task', step.key)}`;

function childLines(
  parent: string,
  below: ReadonlyMap<string | null, readonly ModelStep[]>,
  numbers: ReadonlyMap<string, string>,
  depth: number,
): string[] {
  if (depth > 20) return [];
  return (below.get(parent) ?? []).flatMap((step) => [
    depth === 0 ? planBox(step, numbers) : taskBox(step, numbers, depth),
    ...childLines(step.key, below, numbers, depth + 1),
  ]);
}

function isPhaseNumber(key: string): boolean {
  return /^(?:\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)$/.test(key) && phaseKey(key) === key;
}

const box = ({ status }: ModelStep): string => (status === 'completed' ? '[x]' : '[ ]');

/** What a box cannot show. */
export const suffix = ({ status }: Pick<ModelStep, 'status'>): string =>
  status === 'pending' || status === 'completed' ? '' : ` *(${status.replace('_', ' ')})*`;

/** What the number and the place of a step do not say; with `always`, its key and parent too. */
function comment(
  step: ModelStep,
  numbers: ReadonlyMap<string, string>,
  usual: ModelStep['kind'],
  always: string | null,
): string {
  const number = numbers.get(step.key) ?? step.key;
  // A title may end like such a comment; the last one on the line counts.
  const isTaken = /-->\s*$/.test(step.title);
  const isOther = always !== null || isTaken || (phaseKey(number) !== step.key && number !== step.key);
  const said = newEntry(
    stepRows,
    {
      ...(isOther ? { key: step.key } : {}),
      ...(step.kind === usual ? {} : { kind: step.kind }),
      ...(always !== null && step.parent ? { parent: step.parent } : {}),
      ...(step.after && step.after.length > 0 ? { after: step.after } : {}),
      ...(step.wave === undefined ? {} : { wave: step.wave }),
    } as ModelStep,
    undefined,
  );
  const parts = Object.entries(said).map(([name, value]) => `${name}: ${value}`);
  return parts.length === 0 ? '' : ` <!-- ${parts.join('; ')} -->`;
}
