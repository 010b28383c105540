import { pairEntries } from '../../core/model/pair.ts';
import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { type Editor, openEditor } from '../text/editor.ts';
import { emitPair, type Manner } from '../text/emit.ts';
import { at } from '../text/node.ts';
import { editRows, newEntry } from '../text/rows.ts';
import { same } from './field-values.ts';
import { readSession, type Session } from './session-file.ts';
import { type About, errorRows, runRows } from './table.ts';
import { measures, sumOf, UNATTRIBUTED } from './usage.ts';
import { editLog } from './write-log.ts';
import { editPhase, newPhase, phaseId } from './write-phase.ts';

/** The file updated to the run model, in its own variant; null when nothing changes or it must not be written. */
export function editSession(
  path: string,
  text: string,
  archived: boolean,
  model: RunModel,
  now: string,
): string | null {
  const session = readSession(path, text, archived);
  const { root, model: before } = session;
  if (!session.writable || root === null || before === null) return null;
  const editor = openEditor(text, session.parts.eol, session.manner);
  const about: About = { model, ids: idsOf(model, session), session: '', now };
  editRun(editor, session, before, about);
  editPhases(editor, session, before, about);
  editErrors(editor, session, before, about);
  editUsage(editor, session, before, model);
  editLog(editor, session, before, model);
  if (!editor.changed) return null;
  editor.set(root, 'updated', now, ['created', 'task', 'session_id']);
  return editor.apply();
}

/** A new file: the template's front matter, with `current_phase` and `status` at line starts, and the log. */
export function newSession(path: string, archived: boolean, model: RunModel, id: string, now: string): string {
  const manner: Manner = { style: 'quoted', overEscaped: false };
  const { steps } = model;
  const about: About = { model, ids: idsOf(model, null), session: id, now };
  const kept = (model.kept?.['maestro'] as { session?: Record<string, unknown> } | undefined)?.session ?? {};
  const current = model.position?.step ?? currentOf(model);
  const agents = model.usage.filter((entry) => entry.agent !== UNATTRIBUTED);
  const front: Record<string, unknown> = {
    ...newEntry(runRows, model.run, about),
    current_phase: current === null || current === undefined ? null : about.ids(current),
    total_phases: steps.length,
    ...kept,
    token_usage: {
      // Zero in a new file, as its template says; reading takes zeros without agents as not counted.
      ...Object.fromEntries(measures.map((measure) => [`total_${measure}`, sumOf(model.usage, measure) ?? 0])),
      by_agent: Object.fromEntries(agents.map(({ agent, ...figures }) => [agent, figures])),
    },
    phases: steps.map((step) => newPhase(step, about)),
  };
  const lines = Object.entries(front).map(([key, value]) => emitPair(key, value, 0, manner));
  const title = model.run.title.replace(/\s+/g, ' ').trim() || id;
  const skeleton = `---\n${lines.join('\n')}\n---\n\n# ${title} Orchestration Log\n`;
  const session = readSession(path, skeleton, archived);
  const editor = openEditor(skeleton, '\n', manner);
  // The whole log is new, whatever the front matter already has.
  const silent = { ...(session.model ?? model), steps: [], notes: [], decisions: [], items: [] };
  editLog(editor, session, silent, model);
  return editor.apply();
}

function idsOf(model: RunModel, session: Session | null): (key: string) => string | number {
  const steps = new Map(model.steps.map((step) => [step.key, step]));
  return (key) => {
    const there = session?.phases.get(key)?.phase;
    const node = there ? at(there.node, 'id') : null;
    if (there?.id != null && node?.type === 'scalar') return typeof node.value === 'number' ? node.value : there.id;
    const step = steps.get(key);
    return step ? phaseId(step) : key;
  };
}

function currentOf(model: RunModel): string | null {
  const { steps } = model;
  const first = (status: ModelStep['status']): ModelStep | undefined => steps.find((one) => one.status === status);
  // A failed phase stays the current one until it is retried or skipped.
  return (first('in_progress') ?? first('failed') ?? first('pending') ?? steps.at(-1))?.key ?? null;
}

function editRun(editor: Editor, session: Session, before: RunModel, about: About): void {
  const { root, body } = session;
  if (root === null) return;
  const { run } = about.model;
  if (body.title && !same(run.title, body.title.words))
    editor.replace(body.title.start, body.title.end, run.title.replace(/\s+/g, ' ').trim());
  // A session of the smallest tier is its own phase and has one status for both.
  const isPhase = [...session.phases.values()].some(({ phase }) => phase.node === root);
  const rows = isPhase ? runRows.filter(({ at: key }) => key !== 'status') : runRows;
  editRows(editor, rows, root, before.run, run, about);
}

function editPhases(editor: Editor, session: Session, before: RunModel, about: About): void {
  const { root } = session;
  const { model, ids } = about;
  if (root === null) return;
  const old = new Map(before.steps.map((step) => [step.key, step]));
  const added = model.steps.filter((step) => !old.has(step.key));
  for (const step of model.steps) {
    const was = old.get(step.key);
    if (was) editPhase(editor, session, was, step, about);
  }
  const keys = new Set(model.steps.map((step) => step.key));
  const gone = keys.size === 0 ? [] : before.steps.filter((step) => !keys.has(step.key));
  for (const step of gone) {
    const placed = session.phases.get(step.key);
    if (placed?.list) editor.remove(placed.list, placed.phase.node);
  }
  const phases = at(root, 'phases');
  const entries = added.map((step) => newPhase(step, about));
  if (phases?.type === 'list') editor.append(phases, entries);
  else if (entries.length > 0 && phases?.type !== 'map') editor.set(root, 'phases', entries);
  const total = at(root, 'total_phases');
  if ((added.length > 0 || gone.length > 0) && total) editor.set(root, 'total_phases', model.steps.length);
  const moved = model.steps.some((step) => old.get(step.key)?.status !== step.status);
  const asked = moved || (model.position?.step ?? null) !== (before.position?.step ?? null);
  const current = asked ? placeOf(model) : null;
  const isTier = [...session.phases.values()].some(({ phase }) => phase.node === root);
  if (!isTier && current && current !== before.position?.step && keys.has(current))
    editor.set(root, 'current_phase', ids(current), ['implementation_plan', 'status']);
}

/** The run model's position, which may be outdated: a finished phase does not count. */
function placeOf(model: RunModel): string | null {
  const said = model.steps.find(({ key }) => key === model.position?.step);
  const isAt = (step: ModelStep): boolean => step.status === 'in_progress' || step.status === 'failed';
  if (said && (isAt(said) || (said.status === 'pending' && !model.steps.some(isAt)))) return said.key;
  return currentOf(model) ?? said?.key ?? null;
}

function editErrors(editor: Editor, session: Session, before: RunModel, about: About): void {
  const { model } = about;
  const newError = (item: ModelItem) => newEntry(errorRows, item, about);
  const pairs = pairEntries('items', before.items, model.items, false);
  const added = model.items.filter((item) => !pairs.has(item));
  for (const [item, old] of pairs) {
    const node = session.errors.get(old);
    if (node && node.pairs.length > 0) editRows(editor, errorRows, node, old, item, about);
    const finding = session.findings.get(old);
    if (finding?.type === 'map' && item.status !== old.status) editor.set(finding, 'status', item.status);
  }
  const known = new Set(before.steps.map((step) => step.key));
  const byStep = new Map<string, ModelItem[]>();
  for (const item of added) {
    if (item.kind !== 'error' || item.step === undefined) continue;
    const others = byStep.get(item.step);
    if (others) others.push(item);
    else byStep.set(item.step, [item]);
  }
  for (const [key, items] of byStep) {
    const node = session.phases.get(key)?.phase.node;
    // A new phase is written with its errors.
    if (!node || !known.has(key)) continue;
    const list = at(node, 'errors');
    if (list?.type === 'list') editor.append(list, items.map(newError));
    else editor.set(node, 'errors', items.map(newError), ['downstream_context', 'files_deleted']);
  }
}

function editUsage(editor: Editor, session: Session, before: RunModel, model: RunModel): void {
  const { root } = session;
  const old = new Map(before.usage.map((entry) => [entry.agent, entry]));
  const changed = model.usage.filter((entry) =>
    measures.some((measure) => entry[measure] !== undefined && entry[measure] !== old.get(entry.agent)?.[measure]),
  );
  if (root === null || changed.length === 0) return;
  const node = at(root, 'token_usage');
  const totals = Object.fromEntries(measures.map((measure) => [`total_${measure}`, sumOf(model.usage, measure)]));
  const figures = ({ agent: _agent, ...rest }: RunModel['usage'][number]) => rest;
  const named = changed.filter((entry) => entry.agent !== UNATTRIBUTED);
  if (node?.type !== 'map') {
    editor.set(root, 'token_usage', {
      ...totals,
      by_agent: Object.fromEntries(named.map((entry) => [entry.agent, figures(entry)])),
    });
    return;
  }
  for (const [key, total] of Object.entries(totals))
    if (total !== null) editor.set(node, key, total, ['total_output', 'total_input']);
  const byAgent = at(node, 'by_agent');
  if (byAgent?.type !== 'map' || byAgent.pairs.length === 0) {
    if (named.length > 0)
      editor.set(node, 'by_agent', Object.fromEntries(named.map((entry) => [entry.agent, figures(entry)])));
    return;
  }
  for (const entry of named) {
    const there = at(byAgent, entry.agent);
    if (there?.type !== 'map') editor.set(byAgent, entry.agent, figures(entry));
    else
      for (const measure of measures)
        if (entry[measure] !== undefined) editor.set(there, measure, entry[measure], ['output', 'input']);
  }
}
