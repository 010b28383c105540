import type { ModelStep } from '../../core/model/run-model.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from '../text/lines.ts';
import { cellsIn, isRow } from '../text/list.ts';
import { type Page, scanPage } from '../text/page.ts';
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

export interface RoadmapStep {
  key: string;
  /** The number as written: `07`, `2.1`, `06-01`. */
  number: string;
  title: string;
  kind: ModelStep['kind'];
  parent: string | null;
  after: string[] | null;
  wave: number | null;
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
  const parts = phaseLine.exec(title);
  if (!parts) {
    if (level <= walk.phaseLevel) walk.phase = null;
    return;
  }
  const { words, attributes, status } = unmarked(parts[2] as string);
  const step = addStep(walk, attributes['key'] ?? phaseKey(parts[1] as string), {
    number: parts[1] as string,
    title: words.replace(/\s*[(（].*$/u, '') || words,
    kind: kindOf(attributes, 'phase'),
    status: status ?? (/✅/u.test(title) ? 'completed' : null),
  });
  if (!step) return;
  if (step.heading < 0) step.heading = line;
  walk.phase = step;
  walk.phaseLevel = level;
}

function readBoxLine(walk: Walk, text: string, line: number): void {
  const parts = /^(\s*)[-*+]\s+(?:\[([ xX~-])\]\s+)?(.*)$/.exec(text);
  if (!parts) return;
  const box = parts[2];
  const { words, attributes, status, struck } = unmarked(parts[3] as string);
  const ticked = box === undefined ? null : box.toLowerCase() === 'x';
  const said = struck ? 'skipped' : (status ?? (ticked === null ? null : ticked ? 'completed' : 'pending'));
  const phase = phaseLine.exec(words.replace(/^[^\p{L}\p{N}*]+/u, ''));
  if (phase && (box !== undefined || /\*\*/.test(words))) {
    const name = titleIn(phase[2] as string, /^\W*\*\*/u.test(words));
    const spelled = phase[1] as string;
    const key = attributes['key'] ?? phaseKey(spelled);
    const icon = box === undefined ? stepStatus(words.slice(0, 2)) : null;
    const step = addStep(walk, key, {
      number: spelled,
      title: name,
      kind: kindOf(attributes, 'phase'),
      status: said ?? icon,
      attributes,
    });
    if (step && step.box < 0) step.box = line;
    return;
  }
  if (box === undefined) return;
  const plan = readPlanId(words);
  if (plan) {
    const title = words.replace(/^[^\s:：]*?(?:-PLAN)?(?:\.md)?(?=[\s:：])\s*[:：—–-]*\s*/iu, '').trim();
    const step = addStep(walk, attributes['key'] ?? plan.key, {
      number: plan.key,
      title: title === '' || title === words ? plan.key : title,
      kind: kindOf(attributes, 'plan'),
      parent: attributes['parent'] ?? (walk.phase?.heading === -1 ? plan.phase : (walk.phase?.key ?? plan.phase)),
      status: said,
      attributes,
    });
    if (step && step.box < 0) step.box = line;
    walk.plan = step;
    return;
  }
  const key = attributes['key'];
  if (key === undefined) return;
  const step = addStep(walk, key, {
    number: '',
    title: words,
    kind: kindOf(attributes, 'task'),
    parent: attributes['parent'] ?? walk.plan?.key ?? walk.phase?.key ?? null,
    status: said,
    attributes,
  });
  if (step && step.box < 0) step.box = line;
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
  const step = addStep(walk, phaseKey(parts[1] as string), {
    number: parts[1] as string,
    title,
    kind: 'phase',
    status,
  });
  if (step && step.row < 0) step.row = line;
}

function readDependsLine(walk: Walk, text: string): void {
  if (!walk.phase || walk.phase.after !== null) return;
  const parts = /^\s*\*\*Depends on:?\*\*:?\s*(.*)$/i.exec(text);
  if (!parts) return;
  const after = [
    ...(parts[1] as string).matchAll(
      /Phases?\s+(\d+[A-Za-z]?(?:\.\d+)*)((?:\s*(?:,|and|&|\+)\s*\d+[A-Za-z]?(?:\.\d+)*)*)/gi,
    ),
  ]
    .flatMap((match) => [match[1] as string, ...((match[2] ?? '').match(/\d+[A-Za-z]?(?:\.\d+)*/g) ?? [])])
    .map(phaseKey);
  walk.phase.after = [...new Set(after)].filter((key) => key !== walk.phase?.key);
}

type Said = Pick<RoadmapStep, 'number' | 'title' | 'kind'> & {
  parent?: string | null;
  status: RoadmapStep['status'];
  attributes?: Record<string, string>;
};

/** The first mention of a step counts, but one in the open goes before one in a collapsed part. */
function addStep(walk: Walk, key: string, said: Said): RoadmapStep | null {
  if (!isStepKey(key)) return null;
  const archived = walk.folded > 0;
  const there = walk.found.get(key);
  const attributes = said.attributes ?? {};
  if (there && !(there.archived && !archived)) {
    if (archived && !there.archived) return null;
    if (there.title === '' || there.title === `Phase ${there.number}`) there.title = said.title;
    there.status = sooner(there.status, said.status);
    return there;
  }
  const step: RoadmapStep = {
    key,
    number: said.number,
    title: said.title || (said.kind === 'phase' ? `Phase ${said.number}` : key),
    kind: said.kind,
    parent: said.parent ?? attributes['parent'] ?? null,
    after: attributes['after'] === undefined ? null : attributes['after'].split(/,\s*/).filter(isStepKey),
    wave: /^\d+$/.test(attributes['wave'] ?? '') ? Number(attributes['wave']) : null,
    status: said.status,
    box: -1,
    row: -1,
    heading: -1,
    archived,
  };
  walk.found.set(key, step);
  return step;
}

/** A status text counts more than a box: `[ ]` with `In Progress` is in progress. */
function sooner(there: RoadmapStep['status'], said: RoadmapStep['status']): RoadmapStep['status'] {
  if (there === null || (there === 'pending' && said !== null)) return said;
  return there;
}

const phaseLine = /^\W*(?:phase|fase|阶段|단계)\s+(\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)\s*[:：.—–-]+\s*(.*)$/iu;

/** The text without its comment and trailing status. */
function unmarked(text: string): {
  words: string;
  attributes: Record<string, string>;
  status: ModelStep['status'] | null;
  struck: boolean;
} {
  const comment = /\s*<!--\s*((?:key|kind|parent|after|wave):.*?)\s*-->\s*$/.exec(text);
  const attributes: Record<string, string> = {};
  for (const part of comment?.[1]?.split(/;\s*/) ?? []) {
    const [name, value] = part.split(/:\s*(.*)/s, 2);
    if (name && value) attributes[name.trim()] = value.trim();
  }
  let words = comment ? text.slice(0, comment.index) : text;
  const mark = /\s*\*\((in progress|failed|skipped)\)\*\s*$/i.exec(words);
  if (mark) words = words.slice(0, mark.index);
  const struck = /^~~.*~~/.test(words.trim());
  const status = mark ? ((mark[1] as string).toLowerCase().replace(' ', '_') as ModelStep['status']) : null;
  return { words: words.trim(), attributes, status, struck };
}

function titleIn(text: string, bold: boolean): string {
  const end = bold ? text.lastIndexOf('**') : -1;
  const words = end >= 0 ? text.slice(0, end) : (text.split(/\s+(?:[—–-]\s|\()/u)[0] as string);
  return words.replace(/~~|\*\*/g, '').trim();
}

function kindOf(attributes: Record<string, string>, otherwise: ModelStep['kind']): ModelStep['kind'] {
  const kind = attributes['kind'];
  return kind === 'phase' || kind === 'plan' || kind === 'task' || kind === 'step' ? kind : otherwise;
}

export function renderRoadmap(title: string, steps: readonly ModelStep[]): string {
  const numbers = numberSteps(steps);
  const below = childrenOf(steps);
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
  const below = childrenOf(steps);
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

function childrenOf(steps: readonly ModelStep[]): Map<string | null, ModelStep[]> {
  const keys = new Set(steps.map(({ key }) => key));
  const below = new Map<string | null, ModelStep[]>();
  for (const step of steps) {
    const parent = step.parent !== undefined && keys.has(step.parent) && step.parent !== step.key ? step.parent : null;
    const level = below.get(parent);
    if (level) level.push(step);
    else below.set(parent, [step]);
  }
  return below;
}

function childLines(
  parent: string,
  below: ReadonlyMap<string | null, readonly ModelStep[]>,
  numbers: ReadonlyMap<string, string>,
  depth: number,
): string[] {
  if (depth > 20) return [];
  return (below.get(parent) ?? []).flatMap((step) => {
    const line =
      depth === 0
        ? planBox(step, numbers)
        : `${'  '.repeat(depth)}- ${box(step)} ${flat(step.title)}${suffix(step)}${comment(step, numbers, 'task', step.key)}`;
    return [line, ...childLines(step.key, below, numbers, depth + 1)];
  });
}

function isPhaseNumber(key: string): boolean {
  return /^(?:\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)$/.test(key) && phaseKey(key) === key;
}

function box(step: ModelStep): string {
  return step.status === 'completed' ? '[x]' : '[ ]';
}

export function suffix(step: Pick<ModelStep, 'status'>): string {
  switch (step.status) {
    case 'in_progress':
      return ' *(in progress)*';
    case 'failed':
      return ' *(failed)*';
    case 'skipped':
      return ' *(skipped)*';
    case 'pending':
    case 'completed':
      return '';
    default:
      return step.status satisfies never;
  }
}

function comment(
  step: ModelStep,
  numbers: ReadonlyMap<string, string>,
  usual: ModelStep['kind'],
  always: string | null,
): string {
  const number = numbers.get(step.key);
  const parts = [
    always !== null || (number !== undefined && phaseKey(number) !== step.key && number !== step.key)
      ? `key: ${step.key}`
      : '',
    step.kind === usual ? '' : `kind: ${step.kind}`,
    always !== null && step.parent ? `parent: ${step.parent}` : '',
    step.after && step.after.length > 0 ? `after: ${step.after.join(', ')}` : '',
    step.wave === undefined ? '' : `wave: ${step.wave}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` <!-- ${parts.join('; ')} -->`;
}
