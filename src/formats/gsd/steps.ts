import type { ModelStep } from '../../core/model/run-model.ts';
import type { Files } from '../format.ts';
import { stepStatus } from '../step-status.ts';
import { readFrontMatter } from '../text/front-matter.ts';
import type { Entry } from '../text/list.ts';
import { scanPage } from '../text/page.ts';
import type { Roadmap } from './roadmap.ts';
import type { StatePage } from './state-markdown.ts';
import { phaseKey, planKey, readCount, readPhase, readPlanId } from './words/numbers.ts';

/** The steps of a run from all sources: the roadmap, tables of phases, plan and summary files, the position. */
export interface Steps {
  steps: ModelStep[];
  /** Where a table of STATE.md has the status of a phase. */
  rows: ReadonlyMap<string, Entry>;
  /** The current step according to STATE.md. */
  position: string | null;
  /** The milestone is over, and the page names no work after it. */
  isShipped: boolean;
  /** The number of plans on disk, and of those with a summary. */
  onDisk: { plans: number; summaries: number };
}

interface Draft {
  step: ModelStep;
  /** Whether its status is stated explicitly. */
  said: boolean;
}

export function gatherSteps(state: StatePage | null, roadmap: Roadmap | null, files: Files): Steps {
  const drafts = new Map<string, Draft>();
  for (const found of roadmap?.steps ?? []) {
    const { key, number, title, kind, parent, after, wave, status } = found;
    add(drafts, {
      key,
      ...(number !== '' && number !== key ? { alias: number } : {}),
      title,
      kind,
      ...(parent ? { parent } : {}),
      ...(after && after.length > 0 ? { after } : {}),
      ...(wave === null ? {} : { wave }),
      status,
    });
  }
  const rows = addRows(drafts, state);
  const onDisk = addFiles(drafts, files);
  const position = addPosition(drafts, state);
  const isShipped = state !== null && saysShipped(state);
  if (isShipped) for (const { step } of drafts.values()) if (step.status !== 'skipped') step.status = 'completed';
  settle(drafts);
  return { steps: ordered(drafts), rows, position: isShipped ? null : position, onDisk, isShipped };
}

/** `Milestone: v1.2 — SHIPPED`, `Phase: 15 of 15 (all phases complete)`. */
function saysShipped({ position }: StatePage): boolean {
  const milestone = position.get('milestone')?.value ?? '';
  const phase = position.get('phase')?.value ?? '';
  return (
    (/[—–-]\s*(?:shipped|complete[d]?|archived)\b/i.test(milestone) && !/in progress|next/i.test(milestone)) ||
    /\ball phases (?:are )?(?:complete[d]?|done|shipped)\b/i.test(phase)
  );
}

function add(
  drafts: Map<string, Draft>,
  said: Omit<ModelStep, 'status'> & { status: ModelStep['status'] | null },
): Draft {
  const there = drafts.get(said.key);
  if (there) {
    if (said.status !== null && (!there.said || there.step.status === 'pending')) {
      there.step.status = said.status;
      there.said = true;
    }
    if (there.step.title === said.key || there.step.title === `Phase ${said.key}`) there.step.title = said.title;
    if (said.wave !== undefined) there.step.wave ??= said.wave;
    return there;
  }
  if (said.parent !== undefined && said.kind === 'plan' && !drafts.has(said.parent))
    add(drafts, { key: said.parent, title: `Phase ${said.parent}`, kind: 'phase', status: null });
  const draft: Draft = { step: { ...said, status: said.status ?? 'pending' }, said: said.status !== null };
  drafts.set(said.key, draft);
  return draft;
}

/** `| 13 | Foundation | Not started |`, `| 1. Setup | Complete |`, `- ✅ **M001:** Title`. */
function addRows(drafts: Map<string, Draft>, state: StatePage | null): Map<string, Entry> {
  const rows = new Map<string, Entry>();
  for (const list of state?.lists ?? []) {
    if (list.kind !== 'phases') continue;
    for (const entry of list.listing.entries) {
      const read = entry.form === 'row' ? phaseRow(entry) : phaseBullet(entry);
      if (!read) continue;
      add(drafts, read);
      if (!rows.has(read.key)) rows.set(read.key, entry);
    }
  }
  return rows;
}

type Said = Parameters<typeof add>[1];

function phaseRow({ cells, columns }: Entry): Said | null {
  const first = cells[0] ?? '';
  const plan = readPlanId(first.replace(/[*`]/g, ''));
  const phase = readPhase(first);
  const key = plan?.key ?? phase?.key;
  if (!columns || key === undefined) return null;
  const at = columns.findIndex((words) => /^\W*(?:status|estado|状态|상태)/iu.test(words));
  const named = columns.findIndex((words) => /^\W*(?:name|title|nome|nombre|名称|이름|goal)/iu.test(words));
  const title = (named >= 0 ? cells[named] : phase?.name) || (plan ? key : `Phase ${key}`);
  const status = at < 0 ? null : stepStatus(cells[at] ?? '');
  return plan
    ? { key, title, kind: 'plan', parent: plan.phase, status }
    : { key, title, kind: 'phase', ...(phase && phase.spelled !== key ? { alias: phase.spelled } : {}), status };
}

function phaseBullet({ text, checked }: Entry): Said | null {
  const plain = text.replace(/\*\*/g, '');
  const icon = stepStatus(plain.slice(0, 3));
  const words = plain.replace(/^[^\p{L}\p{N}]+/u, '');
  const milestone = /^(M\d{2,}[\w-]*)[:：]\s*(.+)/u.exec(words);
  const status = checked === null ? icon : checked ? 'completed' : (icon ?? 'pending');
  if (milestone) {
    return { key: milestone[1] as string, title: firstLine(milestone[2] as string), kind: 'phase', status };
  }
  const phase = /^(?:phase|fase|阶段|단계)\s/iu.test(words) ? readPhase(words) : null;
  if (!phase) return null;
  return { key: phase.key, title: phase.name ?? `Phase ${phase.key}`, kind: 'phase', status };
}

/** Plans are in `phases/07-auth/07-02-PLAN.md`; a summary means that the plan is done. */
function addFiles(drafts: Map<string, Draft>, files: Files): Steps['onDisk'] {
  const plans = new Set<string>();
  const summaries = new Set<string>();
  for (const [path, text] of files) {
    const parts = /(?:^|\/)phases\/([^/]+)\/([^/]+)-(PLAN|SUMMARY)\.md$/i.exec(path);
    const id = parts && readPlanId(parts[2] as string);
    if (!parts || !id) continue;
    const isPlan = parts[3]?.toUpperCase() === 'PLAN';
    (isPlan ? plans : summaries).add(id.key);
    const folder = /^\d+[A-Za-z]?(?:\.\d+)*-(.+)$/.exec(parts[1] as string)?.[1]?.replaceAll('-', ' ');
    if (!drafts.has(id.phase))
      add(drafts, { key: id.phase, title: folder ?? `Phase ${id.phase}`, kind: 'phase', status: null });
    const about = isPlan ? planFile(text) : { title: null, wave: undefined };
    add(drafts, {
      key: id.key,
      title: about.title ?? id.key,
      kind: 'plan',
      parent: id.phase,
      ...(about.wave === undefined ? {} : { wave: about.wave }),
      status: isPlan ? null : 'completed',
    });
  }
  return { plans: new Set([...plans, ...summaries]).size, summaries: summaries.size };
}

function planFile(text: string): { title: string | null; wave: number | undefined } {
  const page = scanPage(text.slice(0, 20_000));
  const [block] = page.frontMatter;
  const wave = Number(block && readFrontMatter(page, block).fields.get('wave')?.value);
  const start = page.body;
  const objective = page.lines.findIndex((line, at) => at >= start && /^<objective>\s*$/.test(line));
  const title = objective < 0 ? '' : page.line(objective + 1).trim();
  return {
    title: title === '' ? null : title.slice(0, 200),
    wave: Number.isSafeInteger(wave) && wave > 0 ? wave : undefined,
  };
}

function addPosition(drafts: Map<string, Draft>, state: StatePage | null): string | null {
  if (!state) return null;
  if (state.variant === 'gsd-2') return addSlice(drafts, state);
  const value = (name: 'phase' | 'plan' | 'status' | 'phaseName') => state.position.get(name)?.value ?? '';
  const front = (key: string) => state.front?.fields.get(key)?.value ?? '';
  const phase =
    readPhase(value('phase')) ?? readPhase(front('current_phase')) ?? readPhase(front('active_phase')) ?? null;
  const planned = readPlanId(value('plan').replace(/[*`]/g, '')) ?? readPlanId(front('current_plan'));
  const named = phase?.key ?? planned?.phase;
  if (named === undefined) return null;
  const key = keyed(drafts, named);
  const status =
    stepStatus(value('status')) ??
    suffixStatus(value('phase')) ??
    ownStatus(value('status'), named) ??
    stepStatus(front('status')) ??
    ('pending' as const);
  const following = followingPhase(drafts, value('status'));
  const title = (phase?.name ?? value('phaseName')) || front('current_phase_name') || `Phase ${key}`;
  const hadPhases = [...drafts.values()].some(({ step }) => step.kind === 'phase');
  if (!hadPhases && phase?.total)
    addCounted(drafts, phase.key, phase.total, Number(front('progress.completed_phases') || Number.NaN));
  const draft = drafts.get(key) ?? add(drafts, { key, title, kind: 'phase', status: null });
  if (draft.step.title === `Phase ${key}`) draft.step.title = title;
  if (phase && phase.spelled !== key) draft.step.alias ??= phase.spelled;
  const count = planned ? null : readCount(value('plan') || front('current_plan'));
  const numbered = planned?.key ?? (count && count.at > 0 ? planKey(named, String(count.at)) : null);
  const plan = numbered === null ? null : keyed(drafts, numbered);
  if (plan === null) {
    if (!draft.said || draft.step.status === 'pending') draft.step.status = status;
    draft.said = true;
    return draft.step.status === 'completed' ? (following ?? key) : key;
  }
  const task = state.position.get('task')?.value.toLowerCase();
  const below = task
    ? [...drafts.values()].find(({ step }) => step.parent === plan && step.title.toLowerCase() === task)
    : undefined;
  if (below) return below.step.key;
  const planStatus = bracketStatus(value('plan')) ?? status;
  addPlans(drafts, key, plan, count, planStatus);
  if (ownStatus(value('status'), named) === 'completed') Object.assign(draft, { said: true }).step.status = 'completed';
  return planStatus === 'completed' && following !== null ? following : plan;
}

/** `1 of 1 (COMPLETE)`, `03 (complete)`. */
function bracketStatus(value: string): ModelStep['status'] | null {
  const words = /^\s*(?:plan\s+)?[\d.\s/of-]+\(([^)]{1,40})\)/iu.exec(value)?.[1];
  return words ? stepStatus(words) : null;
}

/** `Phase 26 complete; ready for Phase 27 (extractor)`, of phase 26. */
function ownStatus(value: string, phase: string): ModelStep['status'] | null {
  const parts = /^\W*phase\s+0*(\d+[A-Za-z]?(?:\.\d+)*)\s+(?:is\s+)?(\w.*)$/isu.exec(value);
  return parts && parts[1] === phase ? stepStatus(parts[2] as string) : null;
}

/** The phase that a status names as the one to come. */
function followingPhase(drafts: Map<string, Draft>, value: string): string | null {
  const words = /\b(?:ready (?:for|to (?:plan|execute|start|begin|discuss))|next(?: is|:)?)\s+(phase\s+\d.*)$/isu.exec(
    value,
  )?.[1];
  const phase = words ? readPhase(words) : null;
  if (!phase) return null;
  const key = keyed(drafts, phase.key);
  const draft =
    drafts.get(key) ?? add(drafts, { key, title: phase.name ?? `Phase ${key}`, kind: 'phase', status: null });
  return draft.step.status === 'completed' ? null : key;
}

/** The key for a number in a file. */
function keyed(drafts: Map<string, Draft>, number: string): string {
  if (drafts.has(number)) return number;
  for (const { step } of drafts.values())
    if (step.alias !== undefined && phaseKey(step.alias) === number) return step.key;
  return [...drafts.values()].find(({ step }) => step.alias === number)?.step.key ?? number;
}

/** `Plan: 2 of 3`: earlier plans are done unless another source says otherwise. */
function addPlans(
  drafts: Map<string, Draft>,
  phase: string,
  plan: string,
  count: { at: number; total: number | null } | null,
  status: ModelStep['status'],
): void {
  const known = [...drafts.values()].some(({ step }) => step.parent === phase);
  if (!known && count) {
    for (let number = 1; number <= Math.min(count.total ?? count.at, 200); number++) {
      const done = number < count.at || (status === 'completed' && number <= count.at);
      const key = planKey(phase, String(number));
      add(drafts, { key, title: `Plan ${key}`, kind: 'plan', parent: phase, status: done ? 'completed' : null });
    }
  }
  const draft =
    drafts.get(plan) ?? add(drafts, { key: plan, title: `Plan ${plan}`, kind: 'plan', parent: phase, status: null });
  if (!draft.said || draft.step.status === 'pending') draft.step.status = status;
  draft.said = true;
}

/** `Phase: 3 of 5`: five phases, the first ones done. */
function addCounted(drafts: Map<string, Draft>, key: string, total: number, completed: number): void {
  const at = Number(key);
  if (!Number.isSafeInteger(at) || total > 200 || at > total) return;
  const done = Number.isSafeInteger(completed) && completed < at ? completed : at - 1;
  for (let number = 1; number <= total; number++) {
    const status = number <= done ? ('completed' as const) : null;
    add(drafts, { key: String(number), title: `Phase ${number}`, kind: 'phase', status });
  }
}

/** The newer tool's file has milestone, slice and task instead. */
function addSlice(drafts: Map<string, Draft>, state: StatePage): string | null {
  let parent: string | null = null;
  const status = stepStatus(state.position.get('phase')?.value ?? '') ?? 'in_progress';
  for (const [name, kind] of [
    ['milestone', 'phase'],
    ['slice', 'plan'],
    ['task', 'task'],
  ] as const) {
    const value = state.anywhere.get(name)?.value ?? '';
    const parts = /^\**([MST]\d{2,}[\w-]*)\**\s*[:：—–-]\s*(.+)/u.exec(value);
    if (!parts) break;
    const id = parts[1] as string;
    const key: string = parent === null ? id : `${parent}.${id}`;
    const draft = add(drafts, { key, title: parts[2] as string, kind, ...(parent ? { parent } : {}), status: null });
    if (!draft.said) draft.step.status = status;
    parent = key;
  }
  return parent;
}

/** In a completed phase unticked plans count as done; a phase without a status follows from its plans. */
function settle(drafts: Map<string, Draft>): void {
  const children = new Map<string, Draft[]>();
  for (const draft of drafts.values()) {
    const { parent, key } = draft.step;
    if (parent === undefined) continue;
    if (!drafts.has(parent) || parent === key) delete draft.step.parent;
    else {
      const level = children.get(parent);
      if (level) level.push(draft);
      else children.set(parent, [draft]);
    }
  }
  for (const [key, below] of children) {
    const { step, said } = drafts.get(key) as Draft;
    if (said && step.status === 'completed')
      for (const { step: child } of below) if (child.status === 'pending') child.status = 'completed';
    const done = below.every(({ step: child }) => child.status === 'completed' || child.status === 'skipped');
    const begun = below.some(({ step: child }) => child.status !== 'pending');
    if (!said || step.status === 'pending') step.status = done ? 'completed' : begun ? 'in_progress' : step.status;
  }
  for (const { step } of drafts.values()) {
    if (!step.after) continue;
    step.after = step.after.filter((key) => drafts.has(key) && !leadsTo(drafts, key, step.key));
    if (step.after.length === 0) delete step.after;
  }
}

function leadsTo(drafts: Map<string, Draft>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (key === to) return true;
    if (seen.has(key)) continue;
    seen.add(key);
    open.push(...(drafts.get(key)?.step.after ?? []));
  }
  return false;
}

/** Phases in the order of their numbers, each followed by what is below it. */
function ordered(drafts: Map<string, Draft>): ModelStep[] {
  const below = new Map<string | undefined, ModelStep[]>();
  for (const { step } of drafts.values()) {
    const level = below.get(step.parent) ?? [];
    level.push(step);
    below.set(step.parent, level);
  }
  const order: ModelStep[] = [];
  const visit = (parent: string | undefined, depth: number): void => {
    const level = below.get(parent) ?? [];
    if (level.every(({ key }) => /^\d/.test(key))) level.sort((one, other) => byNumber(one.key, other.key));
    for (const step of level) {
      order.push(step);
      if (depth < 50) visit(step.key, depth + 1);
    }
  };
  visit(undefined, 0);
  return order;
}

function byNumber(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** `34 (release cleanup) - COMPLETED`. */
function suffixStatus(value: string): ModelStep['status'] | null {
  const words = /[)\d]\s*[—–-]+\s*(.+)$/su.exec(value)?.[1];
  return words ? stepStatus(words) : null;
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] as string).trim();
}
