import { emptyRunModel, type ModelItem, type ModelStep } from '../../core/model/run-model.ts';
import type { Files, Found, Problem } from '../format.ts';
import { defined } from '../text/values.ts';
import { findContradictions } from './contradictions.ts';
import { findDamage } from './damage.ts';
import { readDecision, readItem } from './entries.ts';
import { fillModel } from './fill-model.ts';
import { leadingNote } from './freshness.ts';
import { type HandoffNote, readContinueHere, readHandoffJson } from './handoff.ts';
import { isOver } from './progress.ts';
import type { Reading } from './reading.ts';
import { type Roadmap, readRoadmap } from './roadmap.ts';
import { readStatePage, type StatePage } from './state-markdown.ts';
import { gatherSteps, type Steps } from './steps.ts';
import { lists } from './table.ts';
import { clip, plain } from './words/clip.ts';
import { isNone } from './words/none.ts';
import { isStepKey, phaseOfPlan, planKey, readCount, readPhase, readPlanId } from './words/numbers.ts';

export function assemble(found: Found, files: Files): Reading {
  const folder = found.main.slice(0, found.main.lastIndexOf('/') + 1);
  const main = files.get(found.main);
  const role = roleOf(found.main, main ?? '');
  const state = main !== undefined && role === 'state' ? readStatePage(main) : null;
  const damage = state
    ? findDamage(found.main, state)
    : { problems: [], writable: role === 'state' || main === undefined };
  const problems: Problem[] = [...damage.problems];
  const message = 'There is no STATE.md here; the run is repaired from the files around it.';
  if (main === undefined) problems.push({ code: 'missing', level: 'error', path: found.main, line: null, message });
  const roadmapPath = role === 'roadmap' ? found.main : `${folder}ROADMAP.md`;
  const roadmapText = files.get(roadmapPath);
  const roadmap = roadmapText === undefined ? null : readRoadmap(roadmapText);
  const handoffs: HandoffNote[] = [];
  for (const [path, text] of files) {
    const kind = path === found.main ? role : roleOf(path, '');
    if (kind !== 'handoff' && kind !== 'continue') continue;
    const read = kind === 'handoff' ? readHandoffJson(path, text) : readContinueHere(path, text);
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
    ...{ model: emptyRunModel(titleOf(found, state, roadmap)), state, roadmap, roadmapPath, steps },
    ...{ decisions: [], items: [], notes: [], handoffs, lead, problems, writable: damage.writable },
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
  const known = (key: string): boolean => keys.has(key);
  for (const { kind, listing, settled } of reading.state?.lists ?? []) {
    const { item: itemKind, note: noteKind } = lists[kind];
    const onlyProse = listing.entries.every(({ form }) => form === 'paragraph');
    for (const entry of listing.entries) {
      // A paragraph above a list introduces it; alone, or in bold, it is an entry itself.
      if (entry.form === 'paragraph' && (isPointer(entry.text) || !(onlyProse || /^(?:\*\*|~~)/.test(entry.text))))
        continue;
      if (noteKind) reading.notes.push({ value: { kind: noteKind, text: clip(entry.text) }, entry });
      const decision = kind === 'decisions' ? readDecision(entry, known) : null;
      if (decision) reading.decisions.push({ value: decision, entry });
      const is = kind === 'deferred' ? 'deferred' : settled ? 'resolved' : null;
      const item = itemKind ? readItem(entry, itemKind, is, known) : null;
      if (!item) continue;
      const value = unblocked(item, reading.steps, clip(entry.text));
      reading.items.push({ value: kind === 'human' ? { ...value, to: 'human' } : value, entry });
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
  const decided = new Set(reading.decisions.map(({ value }) => plain(value.decision)));
  const raised = new Set(reading.items.map(({ value }) => plain(value.text)));
  const isNew = (seen: Set<string>, text: string): boolean => seen.size < seen.add(plain(text)).size;
  const keys = new Set(reading.steps.steps.map(({ key }) => key));
  for (const note of reading.handoffs) {
    const isOld = reading.state !== null && note.timestamp !== reading.lead?.timestamp && note !== reading.lead;
    for (const decision of note.decisions) {
      if (!isNew(decided, decision.decision)) continue;
      const key = readPhase(decision.context ?? '')?.key;
      const step = key !== undefined && keys.has(key) ? key : decision.step;
      reading.decisions.push({ value: defined({ ...decision, decision: clip(decision.decision), step }), entry: null });
    }
    for (const item of note.items) {
      if (!isNew(raised, item.text)) continue;
      // What an older note was blocked by, STATE.md would say if it still were so.
      const status = isOld && item.kind === 'blocker' ? 'deferred' : item.status;
      const raisedAt = note.timestamp?.slice(0, 200) ?? item.raisedAt;
      reading.items.push({ value: defined({ ...item, text: clip(item.text), status, raisedAt }), entry: null });
    }
    for (const [kind, texts] of [
      ['constraint', note.constraints],
      ['dead-end', note.deadEnds],
    ] as const)
      for (const text of texts) reading.notes.push({ value: { kind, text: clip(text) }, entry: null });
  }
}

/** The phase, plan and tasks of a note, as far as the plan lacks them. */
function addTasks(steps: Steps, note: HandoffNote): void {
  const phase = readPhase(note.phase ?? '');
  const count = note.plan === undefined ? null : readCount(note.plan);
  const plan =
    note.plan === undefined || /^0+$/.test(note.plan) || !phase
      ? undefined
      : (readPlanId(note.plan)?.key ?? (count ? planKey(phase.key, String(count.at)) : undefined));
  const byKey = new Map(steps.steps.map((step) => [step.key, step]));
  const ensure = (step: ModelStep): ModelStep => {
    const there = byKey.get(step.key);
    if (!there) steps.steps.push(step);
    byKey.set(step.key, there ?? step);
    return there ?? step;
  };
  const status = 'in_progress' as const;
  let above: ModelStep | undefined;
  if (phase) {
    const { key, name } = phase;
    above = ensure({ key, title: note.phaseName ?? name ?? `Phase ${key}`, kind: 'phase', status });
    if (plan) above = ensure({ key: plan, title: `Plan ${plan}`, kind: 'plan', parent: key, status });
    steps.position = above.key;
  }
  const isPast = above !== undefined && isOver(above);
  for (const [index, { id, name, done, inProgress, summary }] of note.tasks.entries()) {
    const number = (id || String(index + 1)).replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 24);
    const key = above ? `${above.key}.${number}` : `task-${number}`;
    if (byKey.has(key) || !isStepKey(key)) continue;
    ensure(
      defined({
        ...{ key, title: clip(name), kind: 'task', parent: above?.key, summary },
        status: done ? 'completed' : isPast ? 'skipped' : inProgress ? 'in_progress' : 'pending',
        reason: isPast && !done ? 'Its plan or phase was completed since.' : undefined,
      }),
    );
  }
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
