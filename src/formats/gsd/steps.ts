import type { ModelStep } from '../../core/model/run-model.ts';
import type { Files } from '../format.ts';
import { stepStatus } from '../step-status.ts';
import { readFrontMatter } from '../text/front-matter.ts';
import type { Entry } from '../text/list.ts';
import { scanPage } from '../text/page.ts';
import { defined } from '../text/values.ts';
import { childrenOf, isOver } from './progress.ts';
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

type Drafts = Map<string, Draft>;
type Status = ModelStep['status'];
type Said = Omit<ModelStep, 'status'> & { status: Status | null };

export function gatherSteps(state: StatePage | null, roadmap: Roadmap | null, files: Files): Steps {
  const drafts: Drafts = new Map();
  for (const found of roadmap?.steps ?? []) {
    const { key, number, title, kind, parent, after, wave, status } = found;
    const alias = number !== '' && number !== key ? number : undefined;
    add(drafts, defined({ key, alias, title, kind, parent, after: after?.length ? after : undefined, wave, status }));
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

function add(drafts: Drafts, said: Said): Draft {
  const there = drafts.get(said.key);
  if (there) {
    if (said.status !== null) setStatus(there, said.status);
    if (there.step.title === said.key || there.step.title === `Phase ${said.key}`) there.step.title = said.title;
    if (said.wave !== undefined) there.step.wave ??= said.wave;
    return there;
  }
  if (said.parent !== undefined && said.kind === 'plan' && !drafts.has(said.parent)) add(drafts, phaseOf(said.parent));
  const draft: Draft = { step: { ...said, status: said.status ?? 'pending' }, said: said.status !== null };
  drafts.set(said.key, draft);
  return draft;
}

/** A status that is stated counts, unless it says that nothing was done yet. */
function setStatus(draft: Draft, status: Status): void {
  if (!draft.said || draft.step.status === 'pending') draft.step.status = status;
  draft.said = true;
}

const phaseOf = (key: string, title = `Phase ${key}`, status: Status | null = null): Said => ({
  ...{ key, title, kind: 'phase', status },
});

/** `| 13 | Foundation | Not started |`, `| 1. Setup | Complete |`, `- ✅ **M001:** Title`. */
function addRows(drafts: Drafts, state: StatePage | null): Map<string, Entry> {
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

function phaseRow({ cells, columns }: Entry): Said | null {
  const first = cells[0] ?? '';
  const plan = readPlanId(first.replace(/[*`]/g, ''));
  const phase = readPhase(first);
  const key = plan?.key ?? phase?.key;
  if (!columns || key === undefined) return null;
  const at = columns.findIndex((words) => /^\W*(?:status|estado|状态|상태)/iu.test(words));
  const named = columns.findIndex((words) => /^\W*(?:name|title|nome|nombre|名称|이름|goal)/iu.test(words));
  const title = named >= 0 ? cells[named] : phase?.name;
  const status = at < 0 ? null : stepStatus(cells[at] ?? '');
  if (plan) return { key, title: title || key, kind: 'plan', parent: plan.phase, status };
  return {
    ...phaseOf(key, title || undefined, status),
    ...(phase && phase.spelled !== key ? { alias: phase.spelled } : {}),
  };
}

function phaseBullet({ text, checked }: Entry): Said | null {
  const plain = text.replace(/\*\*/g, '');
  const icon = stepStatus(plain.slice(0, 3));
  const words = plain.replace(/^[^\p{L}\p{N}]+/u, '');
  const status = checked === null ? icon : checked ? 'completed' : (icon ?? 'pending');
  const [, milestone, title] = /^(M\d{2,}[\w-]*)[:：]\s*(.+)/u.exec(words) ?? [];
  if (milestone && title) return phaseOf(milestone, title.trim(), status);
  const phase = /^(?:phase|fase|阶段|단계)\s/iu.test(words) ? readPhase(words) : null;
  return phase && phaseOf(phase.key, phase.name ?? undefined, status);
}

/** Plans are in `phases/07-auth/07-02-PLAN.md`; a summary means that the plan is done. */
function addFiles(drafts: Drafts, files: Files): Steps['onDisk'] {
  const plans = new Set<string>();
  const summaries = new Set<string>();
  for (const [path, text] of files) {
    const [, folder = '', name = '', kind = ''] =
      /(?:^|\/)phases\/([^/]+)\/([^/]+)-(PLAN|SUMMARY)\.md$/i.exec(path) ?? [];
    const id = readPlanId(name);
    if (!id) continue;
    const isPlan = kind.toUpperCase() === 'PLAN';
    plans.add(id.key);
    if (!isPlan) summaries.add(id.key);
    const title = /^\d+[A-Za-z]?(?:\.\d+)*-(.+)$/.exec(folder)?.[1]?.replaceAll('-', ' ');
    if (!drafts.has(id.phase)) add(drafts, phaseOf(id.phase, title));
    const about = isPlan ? planFile(text) : {};
    add(drafts, {
      ...{ key: id.key, title: id.key, kind: 'plan', parent: id.phase, ...about },
      status: isPlan ? null : 'completed',
    });
  }
  return { plans: plans.size, summaries: summaries.size };
}

function planFile(text: string): { title?: string; wave?: number } {
  const page = scanPage(text.slice(0, 20_000));
  const [block] = page.frontMatter;
  const wave = Number(block && readFrontMatter(page, block).fields.get('wave')?.value);
  const objective = page.lines.findIndex((line, at) => at >= page.body && /^<objective>\s*$/.test(line));
  const title = objective < 0 ? '' : page.line(objective + 1).trim();
  return defined({
    title: title === '' ? undefined : title.slice(0, 200),
    wave: Number.isSafeInteger(wave) && wave > 0 ? wave : undefined,
  });
}

function addPosition(drafts: Drafts, state: StatePage | null): string | null {
  if (!state) return null;
  if (state.variant === 'gsd-2') return addSlice(drafts, state);
  const value = (name: 'phase' | 'plan' | 'status' | 'phase name') => state.position.get(name)?.value ?? '';
  const front = (key: string) => state.front?.fields.get(key)?.value ?? '';
  const phase = readPhase(value('phase')) ?? readPhase(front('current_phase')) ?? readPhase(front('active_phase'));
  const planned = readPlanId(value('plan').replace(/[*`]/g, '')) ?? readPlanId(front('current_plan'));
  const named = phase?.key ?? planned?.phase;
  if (named === undefined) return null;
  const key = keyed(drafts, named);
  const own = ownStatus(value('status'), named);
  const status =
    stepStatus(value('status')) ?? suffixStatus(value('phase')) ?? own ?? stepStatus(front('status')) ?? 'pending';
  const following = followingPhase(drafts, value('status'));
  const title = (phase?.name ?? value('phase name')) || front('current_phase_name') || `Phase ${key}`;
  if (phase?.total && ![...drafts.values()].some(({ step }) => step.kind === 'phase'))
    addCounted(drafts, phase.key, phase.total, Number(front('progress.completed_phases') || Number.NaN));
  const draft = drafts.get(key) ?? add(drafts, phaseOf(key, title));
  if (draft.step.title === `Phase ${key}`) draft.step.title = title;
  if (phase && phase.spelled !== key) draft.step.alias ??= phase.spelled;
  const count = planned ? null : readCount(value('plan') || front('current_plan'));
  const number = planned?.key ?? (count && count.at > 0 ? planKey(named, String(count.at)) : null);
  if (number === null) {
    setStatus(draft, status);
    return draft.step.status === 'completed' ? (following ?? key) : key;
  }
  const plan = keyed(drafts, number);
  const task = state.position.get('task')?.value.toLowerCase();
  const isTask = ({ parent, title: words }: ModelStep): boolean => parent === plan && words.toLowerCase() === task;
  const below = task ? [...drafts.values()].find(({ step }) => isTask(step)) : undefined;
  if (below) return below.step.key;
  // `1 of 1 (COMPLETE)`, `03 (complete)`.
  const bracketed = /^\s*(?:plan\s+)?[\d.\s/of-]+\(([^)]{1,40})\)/iu.exec(value('plan'))?.[1];
  const planStatus = (bracketed && stepStatus(bracketed)) || status;
  addPlans(drafts, key, plan, count, planStatus);
  if (own === 'completed') Object.assign(draft, { said: true }).step.status = 'completed';
  return planStatus === 'completed' && following !== null ? following : plan;
}

/** `Phase 26 complete; ready for Phase 27 (extractor)`, of phase 26. */
function ownStatus(value: string, phase: string): Status | null {
  const [, number, words = ''] = /^\W*phase\s+0*(\d+[A-Za-z]?(?:\.\d+)*)\s+(?:is\s+)?(\w.*)$/isu.exec(value) ?? [];
  return number === phase ? stepStatus(words) : null;
}

/** The phase that a status names as the one to come. */
function followingPhase(drafts: Drafts, value: string): string | null {
  const words = /\b(?:ready (?:for|to (?:plan|execute|start|begin|discuss))|next(?: is|:)?)\s+(phase\s+\d.*)$/isu.exec(
    value,
  )?.[1];
  const phase = words ? readPhase(words) : null;
  if (!phase) return null;
  const key = keyed(drafts, phase.key);
  const draft = drafts.get(key) ?? add(drafts, phaseOf(key, phase.name ?? undefined));
  return draft.step.status === 'completed' ? null : key;
}

/** The key for a number in a file. */
function keyed(drafts: Drafts, number: string): string {
  if (drafts.has(number)) return number;
  const steps = [...drafts.values()].map(({ step }) => step);
  const spelled = steps.find(({ alias }) => alias !== undefined && phaseKey(alias) === number);
  return (spelled ?? steps.find(({ alias }) => alias === number))?.key ?? number;
}

/** `Plan: 2 of 3`: earlier plans are done unless another source says otherwise. */
function addPlans(
  drafts: Drafts,
  phase: string,
  plan: string,
  count: { at: number; total: number | null } | null,
  status: Status,
): void {
  const planOf = (key: string, said: Status | null): Draft =>
    add(drafts, { key, title: `Plan ${key}`, kind: 'plan', parent: phase, status: said });
  if (count && ![...drafts.values()].some(({ step }) => step.parent === phase)) {
    for (let number = 1; number <= Math.min(count.total ?? count.at, 200); number++) {
      const done = number < count.at || (status === 'completed' && number <= count.at);
      planOf(planKey(phase, String(number)), done ? 'completed' : null);
    }
  }
  setStatus(drafts.get(plan) ?? planOf(plan, null), status);
}

/** `Phase: 3 of 5`: five phases, the first ones done. */
function addCounted(drafts: Drafts, key: string, total: number, completed: number): void {
  const at = Number(key);
  if (!Number.isSafeInteger(at) || total > 200 || at > total) return;
  const done = Number.isSafeInteger(completed) && completed < at ? completed : at - 1;
  for (let number = 1; number <= total; number++)
    add(drafts, phaseOf(String(number), undefined, number <= done ? 'completed' : null));
}

/** The newer tool's file has milestone, slice and task instead. */
function addSlice(drafts: Drafts, state: StatePage): string | null {
  let parent: string | undefined;
  const status = stepStatus(state.position.get('phase')?.value ?? '') ?? 'in_progress';
  const kinds = { milestone: 'phase', slice: 'plan', task: 'task' } as const;
  for (const name of ['milestone', 'slice', 'task'] as const) {
    const value = state.anywhere.get(name)?.value ?? '';
    const [, id, title = ''] = /^\**([MST]\d{2,}[\w-]*)\**\s*[:：—–-]\s*(.+)/u.exec(value) ?? [];
    if (id === undefined) break;
    const key: string = parent === undefined ? id : `${parent}.${id}`;
    const draft = add(drafts, { key, title, kind: kinds[name], ...(parent ? { parent } : {}), status: null });
    if (!draft.said) draft.step.status = status;
    parent = key;
  }
  return parent ?? null;
}

/** In a completed phase unticked plans count as done; a phase without a status follows from its plans. */
function settle(drafts: Drafts): void {
  const steps = [...drafts.values()].map(({ step }) => step);
  for (const step of steps)
    if (step.parent !== undefined && (!drafts.has(step.parent) || step.parent === step.key)) delete step.parent;
  for (const [key, below] of childrenOf(steps)) {
    const { step, said } = drafts.get(key) as Draft;
    if (said && step.status === 'completed')
      for (const child of below) if (child.status === 'pending') child.status = 'completed';
    const begun = below.some(({ status }) => status !== 'pending');
    if (!said || step.status === 'pending')
      step.status = below.every(isOver) ? 'completed' : begun ? 'in_progress' : step.status;
  }
  for (const step of steps) {
    if (!step.after) continue;
    step.after = step.after.filter((key) => drafts.has(key) && !leadsTo(drafts, key, step.key));
    if (step.after.length === 0) delete step.after;
  }
}

function leadsTo(drafts: Drafts, from: string, to: string): boolean {
  const seen = new Set([from]);
  // What is added while the set is walked is walked too.
  for (const key of seen) for (const before of drafts.get(key)?.step.after ?? []) seen.add(before);
  return seen.has(to);
}

/** Phases in the order of their numbers, each followed by what is below it. */
function ordered(drafts: Drafts): ModelStep[] {
  const steps = [...drafts.values()].map(({ step }) => step);
  const below = childrenOf(steps);
  const inOrder = (level: ModelStep[], depth: number): ModelStep[] => {
    if (level.every(({ key }) => /^\d/.test(key))) level.sort((one, other) => byNumber(one.key, other.key));
    return level.flatMap((step) => [step, ...(depth < 50 ? inOrder(below.get(step.key) ?? [], depth + 1) : [])]);
  };
  return inOrder(
    steps.filter(({ parent }) => parent === undefined),
    0,
  );
}

const byNumber = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });

/** `34 (release cleanup) - COMPLETED`. */
function suffixStatus(value: string): Status | null {
  const words = /[)\d]\s*[—–-]+\s*(.+)$/su.exec(value)?.[1];
  return words ? stepStatus(words) : null;
}
