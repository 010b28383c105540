import { emptyRunModel, type ModelDecision, type ModelItem, type ModelNote } from '../../core/model/run-model.ts';
import type { Files, Found, Problem } from '../format.ts';
import { readContinueHere } from './continue-here.ts';
import { findContradictions } from './contradictions.ts';
import { findDamage } from './damage.ts';
import { fillModel } from './fill-model.ts';
import { leadingNote } from './freshness.ts';
import { type HandoffNote, readHandoffJson } from './handoff-json.ts';
import { readDecision, readItem } from './read-entry.ts';
import type { Reading } from './reading.ts';
import { type Roadmap, readRoadmap } from './roadmap.ts';
import { type ListKind, readStatePage, type StatePage } from './state-markdown.ts';
import { gatherSteps, type Steps } from './steps.ts';
import { clip, plain } from './words/clip.ts';
import { isNone } from './words/none.ts';
import { isStepKey, phaseOfPlan, planKey, readCount, readPhase, readPlanId } from './words/numbers.ts';

export function assemble(found: Found, files: Files): Reading {
  const folder = found.main.includes('/') ? found.main.slice(0, found.main.lastIndexOf('/') + 1) : '';
  const main = files.get(found.main);
  const role = roleOf(found.main, main ?? '');
  const problems: Problem[] = [];
  let writable = true;
  if (main === undefined)
    problems.push({
      code: 'missing',
      level: 'error',
      path: found.main,
      line: null,
      message: 'There is no STATE.md here; the run is repaired from the files around it.',
    });
  const state = main !== undefined && role === 'state' ? readStatePage(main) : null;
  if (main !== undefined && role === 'state') {
    const damage = findDamage(found.main, main, state as StatePage);
    problems.push(...damage.problems);
    writable = damage.writable;
  }
  const roadmapPath = role === 'roadmap' ? found.main : `${folder}ROADMAP.md`;
  const roadmapText = files.get(roadmapPath);
  const roadmap = roadmapText === undefined ? null : readRoadmap(roadmapText);
  const handoffs: HandoffNote[] = [];
  for (const [path, text] of files) {
    const kind = path === found.main ? role : roleOf(path, '');
    const read =
      kind === 'handoff' ? readHandoffJson(path, text) : kind === 'continue' ? readContinueHere(path, text) : null;
    if (!read) continue;
    problems.push(...read.problems);
    if (read.note) handoffs.push(read.note);
  }
  handoffs.sort((one, other) => (one.timestamp ?? '').localeCompare(other.timestamp ?? ''));
  const steps = gatherSteps(state, roadmap, files);
  const lead = leadingNote(state, handoffs, (note) => {
    const phase = readPhase(note.phase ?? '')?.key;
    return phase !== undefined && (steps.position === phase || phaseOfPlan(steps.position ?? '') === phase);
  });
  // Without STATE.md every note adds to the plan, and the newest has the position.
  for (const note of handoffs) if (state === null && note !== lead) addTasks(steps, note);
  if (lead) addTasks(steps, lead);
  const reading: Reading = {
    model: emptyRunModel(titleOf(found, state, roadmap)),
    state,
    roadmap,
    roadmapPath,
    steps,
    decisions: [],
    items: [],
    notes: [],
    handoffs,
    lead,
    problems,
    writable: writable && (role === 'state' || main === undefined),
  };
  addEntries(reading);
  addHandoffs(reading);
  fillModel(reading, found);
  problems.push(...findContradictions(reading, found));
  return reading;
}

export type FileRole = 'state' | 'handoff' | 'continue' | 'roadmap' | 'plan' | 'other';

export function roleOf(path: string, text: string): FileRole {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/handoff\.json$/i.test(name)) return 'handoff';
  if (/continue-here.*\.md$/i.test(name)) return 'continue';
  if (/roadmap\.md$/i.test(name)) return 'roadmap';
  if (/-(?:PLAN|SUMMARY)\.md$/i.test(name)) return 'plan';
  if (/state.*\.md$/i.test(name) || text !== '')
    return /^\s*<(?:current_state|completed_work)>\s*$/m.test(text) ? 'continue' : 'state';
  return 'other';
}

/** The kind of item that each list of the page holds. */
const itemKinds: Partial<Record<ListKind, ModelItem['kind']>> = {
  blockers: 'blocker',
  todos: 'commitment',
  human: 'commitment',
  deferred: 'commitment',
  questions: 'question',
  issues: 'finding',
  errors: 'error',
};

export const noteKinds: Partial<Record<ListKind, ModelNote['kind']>> = {
  constraints: 'constraint',
  'dead-ends': 'dead-end',
};

/**
 * A concern that is noted with the phase in hand does not keep anyone from it, unless it says so: the page continues with
 * that phase.
 */
function unblocked(item: ModelItem, { steps, position }: Steps, text: string): ModelItem {
  const here = [position, phaseOfPlan(position ?? '')];
  const isHeld = item.kind === 'blocker' && item.status === 'active' && item.step !== undefined;
  if (!isHeld || !here.includes(item.step ?? '') || /\bblock/i.test(text)) return item;
  if (!steps.some(({ key, status }) => here.includes(key) && status !== 'failed')) return item;
  const { step: _, ...rest } = item;
  return { ...rest, text };
}

function addEntries(reading: Reading): void {
  const keys = new Set(reading.steps.steps.map(({ key }) => key));
  const known = (key: string) => keys.has(key);
  for (const list of reading.state?.lists ?? []) {
    const kind = itemKinds[list.kind];
    const noteKind = noteKinds[list.kind];
    const onlyProse = list.listing.entries.every(({ form }) => form === 'paragraph');
    for (const entry of list.listing.entries) {
      // A paragraph above a list introduces it; alone, or in bold, it is an entry itself.
      if (entry.form === 'paragraph' && (isPointer(entry.text) || !(onlyProse || /^(?:\*\*|~~)/.test(entry.text))))
        continue;
      if (list.kind === 'decisions') {
        const value = readDecision(entry, known);
        if (value) reading.decisions.push({ value: clipDecision(value), list, entry });
      } else if (kind) {
        const value = readItem(
          entry,
          kind,
          list.kind === 'deferred' ? 'deferred' : list.settled ? 'resolved' : null,
          known,
        );
        if (value)
          reading.items.push({
            value: {
              ...unblocked({ ...value, text: clip(value.text) }, reading.steps, clip(entry.text)),
              ...(list.kind === 'human' ? { to: 'human' } : {}),
            },
            list,
            entry,
          });
      } else if (noteKind) reading.notes.push({ value: { kind: noteKind, text: clip(entry.text) }, list, entry });
    }
  }
}

/** `See PROJECT.md Key Decisions table.`, `Decisions are logged in …`: a pointer, not a decision. */
function isPointer(text: string): boolean {
  const words = text.replace(/[*_`]/g, '').trim();
  return (
    /^(?:see|refer to|full log|ver|veja|详见|참조)\b.*(?:\.md|section|table|above|below)/iu.test(words) ||
    /^(?:decisions|key decisions|all decisions|full decision|historical|earlier|older|prior)\b.{0,80}\b(?:logged|recorded|archived|in|see|are)\b.*(?:\.md|PROJECT|table|archive)/i.test(
      words,
    ) ||
    /^from (?:STATE|PROJECT|\.planning)\b/.test(words) ||
    /^\[(?:from|updated|decisions?|issues?)\b[^\]]*\]$/i.test(words)
  );
}

function addHandoffs(reading: Reading): void {
  if (reading.handoffs.length === 0) return;
  const decided = new Set(reading.decisions.map(({ value }) => plain(value.decision)));
  const raised = new Set(reading.items.map(({ value }) => plain(value.text)));
  const keys = new Set(reading.steps.steps.map(({ key }) => key));
  const isOld = (note: HandoffNote): boolean =>
    reading.state !== null && note.timestamp !== reading.lead?.timestamp && note !== reading.lead;
  for (const note of reading.handoffs) {
    for (const decision of note.decisions) {
      const words = plain(decision.decision);
      if (decided.has(words)) continue;
      decided.add(words);
      const phase = readPhase(decision.context ?? '');
      const step = phase && keys.has(phase.key) ? { step: phase.key } : {};
      reading.decisions.push({ value: clipDecision({ ...decision, ...step }), list: null, entry: null });
    }
    for (const item of note.items) {
      const words = plain(item.text);
      if (raised.has(words)) continue;
      raised.add(words);
      reading.items.push({
        value: {
          ...item,
          text: clip(item.text),
          // What an older note was blocked by, STATE.md would say if it still were so.
          ...(isOld(note) && item.kind === 'blocker' ? { status: 'deferred' as const } : {}),
          ...(note.timestamp ? { raisedAt: note.timestamp.slice(0, 200) } : {}),
        },
        list: null,
        entry: null,
      });
    }
    for (const text of note.constraints)
      reading.notes.push({ value: { kind: 'constraint', text: clip(text) }, list: null, entry: null });
    for (const text of note.deadEnds)
      reading.notes.push({ value: { kind: 'dead-end', text: clip(text) }, list: null, entry: null });
  }
}

function addTasks(steps: Steps, note: HandoffNote): void {
  const phase = readPhase(note.phase ?? '');
  const plan =
    note.plan === null || /^0+$/.test(note.plan) || !phase
      ? null
      : (readPlanId(note.plan)?.key ?? planOf(phase.key, note.plan));
  const byKey = new Map(steps.steps.map((step) => [step.key, step]));
  const ensure = (key: string, title: string, kind: 'phase' | 'plan', parent?: string) => {
    const there = byKey.get(key);
    if (there) return there;
    const step = { key, title, kind, ...(parent ? { parent } : {}), status: 'in_progress' as const };
    byKey.set(key, step);
    steps.steps.push(step);
    return step;
  };
  let above = phase ? byKey.get(phase.key) : undefined;
  if (phase && !above) above = ensure(phase.key, note.phaseName ?? phase.name ?? `Phase ${phase.key}`, 'phase');
  if (phase && above && plan) above = byKey.get(plan) ?? ensure(plan, `Plan ${plan}`, 'plan', phase.key);
  if (above) steps.position = above.key;
  const over = above !== undefined && (above.status === 'completed' || above.status === 'skipped');
  for (const [index, task] of note.tasks.entries()) {
    const id = (task.id || String(index + 1)).replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 24);
    const key = above ? `${above.key}.${id}` : `task-${id}`;
    if (byKey.has(key) || !isStepKey(key)) continue;
    const status = task.done
      ? ('completed' as const)
      : task.inProgress
        ? ('in_progress' as const)
        : ('pending' as const);
    const step = {
      key,
      title: clip(task.name),
      kind: 'task' as const,
      ...(above ? { parent: above.key } : {}),
      status: over && !task.done ? ('skipped' as const) : status,
      ...(over && !task.done ? { reason: 'Its plan or phase was completed since.' } : {}),
      ...(task.summary ? { summary: task.summary } : {}),
    };
    byKey.set(key, step);
    steps.steps.push(step);
  }
}

function planOf(phase: string, plan: string): string | null {
  const count = readCount(plan);
  return count ? planKey(phase, String(count.at)) : null;
}

function titleOf(found: Found, state: StatePage | null, roadmap: Roadmap | null): string {
  const project = state?.anywhere.get('project')?.value;
  const name = state?.front?.fields.get('milestone_name')?.value;
  const milestone = state?.front?.fields.get('milestone')?.value;
  const folder = found.main
    .split('/')
    .filter((part) => !part.startsWith('.'))
    .at(-2);
  const title =
    state?.title?.text ??
    (project && !isNone(project) ? project : null) ??
    roadmap?.title ??
    (name && name !== 'milestone' ? [milestone, name].filter(Boolean).join(' ') : null) ??
    folder;
  return clip(title ?? 'Project').slice(0, 500);
}

function clipDecision(decision: ModelDecision): ModelDecision {
  const { context, reason } = decision;
  return {
    ...decision,
    decision: clip(decision.decision),
    ...(context === undefined ? {} : { context: clip(context) }),
    ...(reason === undefined ? {} : { reason: clip(reason) }),
  };
}
