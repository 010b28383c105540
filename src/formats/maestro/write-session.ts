import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { emitPair, type Manner } from './emit.ts';
import { same } from './field-values.ts';
import { readSession, type Session } from './session-file.ts';
import { openSplicer, type Splicer } from './splice.ts';
import { sessionWord } from './transitions.ts';
import { at } from './tree.ts';
import { measures, sumOf, UNATTRIBUTED } from './usage.ts';
import { editLog, match } from './write-log.ts';
import { editError, editPhase, newError, newPhase, phaseId } from './write-phase.ts';

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
  const splicer = openSplicer(text, session.parts.eol, session.manner);
  const ids = idsOf(model, session);
  editRun(splicer, session, before, model);
  editPhases(splicer, session, before, model, ids);
  editErrors(splicer, session, before, model);
  editUsage(splicer, session, before, model);
  editLog(splicer, session, before, model);
  if (!splicer.changed) return null;
  splicer.set(root, 'updated', now, ['created', 'task', 'session_id']);
  return splicer.apply();
}

/** A new file: the template's front matter, with `current_phase` and `status` at line starts, and the log. */
export function newSession(path: string, archived: boolean, model: RunModel, id: string, now: string): string {
  const manner: Manner = { style: 'quoted', overEscaped: false };
  const { run, steps } = model;
  const ids = idsOf(model, null);
  const kept = (model.kept?.['maestro'] as { session?: Record<string, unknown> } | undefined)?.session ?? {};
  const current = model.position?.step ?? currentOf(model);
  const agents = model.usage.filter((entry) => entry.agent !== UNATTRIBUTED);
  const front: Record<string, unknown> = {
    session_id: id,
    ...(run.goal === undefined ? {} : { task: run.goal }),
    created: run.openedAt ?? now,
    updated: run.updatedAt ?? now,
    status: sessionWord(model),
    ...(run.reason === undefined ? {} : { status_reason: run.reason }),
    design_document: run.design?.path ?? null,
    implementation_plan: run.plan ?? null,
    current_phase: current === null || current === undefined ? null : ids(current),
    total_phases: steps.length,
    ...kept,
    token_usage: {
      // Null, not zero, for what was not counted.
      ...Object.fromEntries(measures.map((measure) => [`total_${measure}`, sumOf(model.usage, measure)])),
      by_agent: Object.fromEntries(agents.map(({ agent, ...figures }) => [agent, figures])),
    },
    phases: steps.map((step) => newPhase(model, step, ids)),
  };
  const lines = Object.entries(front).map(([key, value]) => emitPair(key, value, 0, manner));
  const title = model.run.title.replace(/\s+/g, ' ').trim() || id;
  const skeleton = `---\n${lines.join('\n')}\n---\n\n# ${title} Orchestration Log\n`;
  const session = readSession(path, skeleton, archived);
  const splicer = openSplicer(skeleton, '\n', manner);
  // The whole log is new, whatever the front matter already has.
  const silent = { ...(session.model ?? model), steps: [], notes: [], decisions: [], items: [] };
  editLog(splicer, session, silent, model);
  return splicer.apply();
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
  const step =
    steps.find((one) => one.status === 'in_progress') ?? steps.find((one) => one.status === 'pending') ?? steps.at(-1);
  return step?.key ?? null;
}

function editRun(splicer: Splicer, session: Session, before: RunModel, model: RunModel): void {
  const { root, body } = session;
  if (root === null) return;
  const { run } = model;
  if (body.title && !same(run.title, body.title.words))
    splicer.replace(body.title.start, body.title.end, run.title.replace(/\s+/g, ' ').trim());
  if (run.goal !== undefined && !same(run.goal, before.run.goal)) splicer.set(root, 'task', run.goal, ['session_id']);
  if (run.openedAt !== undefined && before.run.openedAt === undefined)
    splicer.set(root, 'created', run.openedAt, ['task', 'session_id']);
  // A session of the smallest tier is its own phase and has one status for both.
  const isPhase = [...session.phases.values()].some(({ phase }) => phase.node === root);
  if (!isPhase && run.status !== before.run.status)
    splicer.set(root, 'status', sessionWord(model), ['updated', 'created', 'session_id']);
  if (run.reason !== undefined && !same(run.reason, before.run.reason))
    splicer.set(root, 'status_reason', run.reason, ['status']);
  if (run.design && run.design.path !== before.run.design?.path)
    splicer.set(root, 'design_document', run.design.path, ['status']);
  if (run.plan && run.plan !== before.run.plan)
    splicer.set(root, 'implementation_plan', run.plan, ['design_document', 'status']);
}

function editPhases(
  splicer: Splicer,
  session: Session,
  before: RunModel,
  model: RunModel,
  ids: (key: string) => string | number,
): void {
  const { root } = session;
  if (root === null) return;
  const old = new Map(before.steps.map((step) => [step.key, step]));
  const added = model.steps.filter((step) => !old.has(step.key));
  for (const step of model.steps) {
    const was = old.get(step.key);
    if (was) editPhase(splicer, session, was, step, ids);
  }
  const keys = new Set(model.steps.map((step) => step.key));
  const gone = keys.size === 0 ? [] : before.steps.filter((step) => !keys.has(step.key));
  for (const step of gone) {
    const placed = session.phases.get(step.key);
    if (placed?.list) splicer.remove(placed.list, placed.phase.node);
  }
  const phases = at(root, 'phases');
  const entries = added.map((step) => newPhase(model, step, ids));
  if (phases?.type === 'list') splicer.append(phases, entries);
  else if (entries.length > 0 && phases?.type !== 'map') splicer.set(root, 'phases', entries);
  const total = at(root, 'total_phases');
  if ((added.length > 0 || gone.length > 0) && total) splicer.set(root, 'total_phases', model.steps.length);
  const moved = model.steps.some((step) => old.get(step.key)?.status !== step.status);
  const asked = moved || (model.position?.step ?? null) !== (before.position?.step ?? null);
  const current = asked ? placeOf(model) : null;
  const isTier = [...session.phases.values()].some(({ phase }) => phase.node === root);
  if (!isTier && current && current !== before.position?.step && keys.has(current))
    splicer.set(root, 'current_phase', ids(current), ['implementation_plan', 'status']);
}

/** The run model's position, which may be outdated: a finished phase does not count. */
function placeOf(model: RunModel): string | null {
  const said = model.steps.find(({ key }) => key === model.position?.step);
  const isAt = (step: ModelStep): boolean => step.status === 'in_progress' || step.status === 'failed';
  if (said && (isAt(said) || (said.status === 'pending' && !model.steps.some(isAt)))) return said.key;
  return currentOf(model) ?? said?.key ?? null;
}

function editErrors(splicer: Splicer, session: Session, before: RunModel, model: RunModel): void {
  const { changed, added } = match(before.items, model.items, (item) => item.text);
  for (const [old, item] of changed) {
    const node = session.errors.get(old);
    if (node) editError(splicer, node, old, item);
    const finding = session.findings.get(old);
    if (finding?.type === 'map' && item.status !== old.status) splicer.set(finding, 'status', item.status);
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
    if (list?.type === 'list') splicer.append(list, items.map(newError));
    else splicer.set(node, 'errors', items.map(newError), ['downstream_context', 'files_deleted']);
  }
}

function editUsage(splicer: Splicer, session: Session, before: RunModel, model: RunModel): void {
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
    splicer.set(root, 'token_usage', {
      ...totals,
      by_agent: Object.fromEntries(named.map((entry) => [entry.agent, figures(entry)])),
    });
    return;
  }
  for (const [key, total] of Object.entries(totals))
    if (total !== null) splicer.set(node, key, total, ['total_output', 'total_input']);
  const byAgent = at(node, 'by_agent');
  if (byAgent?.type !== 'map' || byAgent.pairs.length === 0) {
    if (named.length > 0)
      splicer.set(node, 'by_agent', Object.fromEntries(named.map((entry) => [entry.agent, figures(entry)])));
    return;
  }
  for (const entry of named) {
    const there = at(byAgent, entry.agent);
    if (there?.type !== 'map') splicer.set(byAgent, entry.agent, figures(entry));
    else
      for (const measure of measures)
        if (entry[measure] !== undefined) splicer.set(there, measure, entry[measure], ['output', 'input']);
  }
}
