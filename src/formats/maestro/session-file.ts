import {
  emptyRunModel,
  type ModelDecision,
  type ModelItem,
  type ModelNote,
  type ModelStep,
  type RunModel,
} from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import type { Manner } from '../text/emit.ts';
import { lineFinder } from '../text/lines.ts';
import { at, type ListNode, type MapNode, type Node, plain, wordsOf } from '../text/node.ts';
import { readRows } from '../text/rows.ts';
import { type BodyEntry, readDecisions, readItems } from './body-entries.ts';
import { type BodyLog, type PhaseSection, readBody } from './body-log.ts';
import { flat, path, words } from './field-values.ts';
import { type SessionText, splitSession } from './front-matter.ts';
import { type Complain, type Phase, readErrors } from './phase.ts';
import { type Placed, placePhases } from './phases.ts';
import { runRows } from './table.ts';
import { runStatus, type StepStatus } from './transitions.ts';
import { growTree } from './tree.ts';
import { readUsage } from './usage.ts';
import { maskConflicts } from './yaml-repair.ts';

/** A session file as read: its content, and where each part of it is. */
export interface Session {
  parts: SessionText;
  manner: Manner;
  root: MapNode | null;
  body: BodyLog;
  model: RunModel | null;
  version: string | null;
  writable: boolean;
  problems: Problem[];
  phases: Map<string, { phase: Phase; list: ListNode | null }>;
  errors: Map<ModelItem, MapNode>;
  findings: Map<ModelItem, Node>;
  decisions: Map<ModelDecision, BodyEntry<ModelDecision>>;
  items: Map<ModelItem, BodyEntry<ModelItem>>;
  sections: Map<string, PhaseSection>;
}

export function readSession(name: string, text: string, isArchived: boolean): Session {
  const conflicts = maskConflicts(text);
  const parts = splitSession(conflicts.text);
  const lineOf = lineFinder(text);
  const problems: Problem[] = [];
  const complain: Complain = (code, level, offset, message) => {
    problems.push({ code, level, path: name, line: lineOf(Math.min(offset, Math.max(0, text.length - 1))), message });
  };
  for (const { code, level, offset, message } of conflicts.found) complain(code, level, offset, message);
  const isBinary = text.includes('\u0000');
  if (isBinary) complain('binary', 'error', text.indexOf('\u0000'), 'There are bytes here that are not text.');
  const grown = parts.front ? growTree(parts.text, parts.front.start, parts.front.end) : null;
  for (const { code, level, offset, message } of grown?.found ?? []) complain(code, level, offset, message);
  checkFrame(parts, text, complain);
  const root = grown?.root?.type === 'map' ? grown.root : null;
  const body = readBody(parts.text, parts.body);
  const isJson = parts.front !== null && /^\s*\{/.test(parts.text.slice(parts.front.start, parts.front.start + 200));
  const first = root?.pairs.find((pair) => pair.value.type === 'scalar' && typeof pair.value.value === 'string')?.value;
  const style = isJson ? 'json' : first?.type === 'scalar' && first.quote === 'double' ? 'quoted' : 'plain';
  const session: Session = {
    parts: { ...parts, text },
    manner: { style, overEscaped: grown?.overEscaped ?? false },
    root,
    body,
    model: null,
    version: null,
    writable:
      root !== null &&
      parts.front?.closed === true &&
      !parts.fenced &&
      conflicts.found.length === 0 &&
      !isBinary &&
      grown?.broken === false &&
      // A line that was ignored would be written a second time.
      !grown.found.some(({ code }) => code === 'unreadable_line'),
    problems,
    phases: new Map(),
    errors: new Map(),
    findings: new Map(),
    decisions: new Map(),
    items: new Map(),
    sections: new Map(),
  };
  const placed = placePhases(root, body, parts.text, complain);
  session.version = root ? variant(root, isJson, placed) : null;
  if (
    root === null ||
    (wordsOf(at(root, 'session_id')) === null && placed.length === 0 && at(root, 'phases') === null)
  ) {
    if (parts.front && text.trim() !== '' && root !== null)
      complain('not_a_session', 'error', 0, 'The front matter names no session and has no phases.');
    if (body.phases.length === 0 && placed.length === 0) return { ...session, writable: false };
  }
  session.model = fill(session, placed, isArchived, complain);
  return session;
}

function checkFrame(parts: SessionText, text: string, complain: Complain): void {
  if (text.replace('\ufeff', '').trim() === '') complain('empty', 'error', 0, 'The file is empty.');
  else if (parts.front === null)
    complain('no_front_matter', 'error', 0, 'The file does not begin with front matter; only its log can be read.');
  else if (parts.fenced)
    complain('fenced', 'error', 0, 'The session is inside a fence: it is an example and is not written.');
  else if (!parts.front.closed)
    complain(
      'unclosed_front_matter',
      'error',
      parts.front.end,
      'The front matter is not closed: the file was cut off, or is being written.',
    );
}

/** The version of Maestro that writes this variant; the file does not contain it. */
function variant(root: MapNode, isJson: boolean, placed: readonly Placed[]): string {
  const has = (...keys: string[]) => keys.some((key) => root.pairs.some((pair) => pair.key === key));
  const inPhases = (...keys: string[]) =>
    placed.some(({ phase }) => keys.some((key) => phase.node.pairs.some((pair) => pair.key === key)));
  if (has('tier')) return 'tier';
  if (inPhases('parent_phase_id', 'findings', 'addressed_finding_ids', 'final_artifacts')) return 'next';
  if (isJson) return '1.6';
  if (has('workflow_mode', 'task_complexity')) return '1.4';
  if (has('execution_backend', 'current_batch')) return '1.3';
  if (has('task')) return '1.2';
  return has('execution_mode') || inPhases('downstream_context') ? '1.1' : '1.0';
}

const known = new Set([
  ...['session_id', 'task', 'created', 'updated', 'status', 'status_reason', 'design_document', 'implementation_plan'],
  ...['current_phase', 'total_phases', 'token_usage', 'phases', 'errors'],
]);

function fill(session: Session, placed: readonly Placed[], isArchived: boolean, complain: Complain): RunModel {
  const { root, body } = session;
  const model = readRun(session, isArchived, complain);
  const findSection = sectionFinder(body);
  for (const { phase, list, step } of placed) {
    session.phases.set(step.key, { phase, list });
    const section = findSection(step);
    if (section) session.sections.set(step.key, section);
    model.steps.push(withLog(step, phase, section, complain));
    for (const { item, node } of phase.errors) {
      const placedItem = { ...item, step: step.key };
      session.errors.set(placedItem, node);
      model.items.push(placedItem);
    }
    for (const { item, node } of phase.findings) {
      const placedItem = { ...item, step: step.key };
      session.findings.set(placedItem, node);
      model.items.push(placedItem);
    }
  }
  const addressed = new Set(placed.flatMap(({ phase }) => phase.addressed));
  for (const item of session.findings.keys()) if (item.alias && addressed.has(item.alias)) item.status = 'resolved';
  for (const { item, node } of placed.some(({ phase }) => phase.node === root)
    ? []
    : readErrors(at(root, 'errors'), complain)) {
    session.errors.set(item, node);
    model.items.push(item);
  }
  readEntries(session, model);
  model.notes.push(...readNotes(session, model));
  model.usage = readUsage(at(root, 'token_usage'), complain);
  readPosition(session, model, complain);
  checkSense(session, model, isArchived, complain);
  const kept = keep(session, placed);
  return kept ? { ...model, kept: { maestro: kept } } : model;
}

function readRun({ root, body }: Session, isArchived: boolean, complain: Complain): RunModel {
  const id = wordsOf(at(root, 'session_id'));
  const goal = wordsOf(at(root, 'task'));
  const model = emptyRunModel(
    words(body.title?.words ?? (goal ? goal.split('\n', 1)[0]?.trim() : null) ?? id ?? 'Maestro session'),
  );
  const statusNode = at(root, 'status');
  const status = wordsOf(statusNode);
  const meant = status === null ? null : runStatus(status);
  if (status !== null && !['in_progress', 'completed', 'failed'].includes(status)) {
    complain('unknown_status', 'warning', statusNode?.start ?? 0, `"${status}" is not a session status.`);
  }
  model.run.status = isArchived ? 'archived' : (meant ?? 'active');
  const { plan: _, ...said } = readRows(runRows, root ?? {});
  const design = readPointer(root, 'design_document', complain);
  const plan = readPointer(root, 'implementation_plan', complain);
  Object.assign(model.run, {
    ...said,
    ...(design ? { design: { path: design } } : {}),
    ...(plan ? { plan } : {}),
  });
  return model;
}

function readPointer(root: MapNode | null, key: string, complain: Complain): string | undefined {
  const node = at(root, key);
  const said = wordsOf(node);
  if (said === null) return undefined;
  const found = said.length <= 1024 ? path(said) : undefined;
  if (found === undefined) {
    complain('document_inlined', 'warning', node?.start ?? 0, `"${key}" has the document itself, not its path.`);
  }
  return found;
}

/** A heading belongs to the phase with its number and, if several have it, with its name. */
function sectionFinder(body: BodyLog): (step: ModelStep) => PhaseSection | undefined {
  const sections = new Map<string, PhaseSection>();
  for (const section of body.phases) {
    for (const mark of [`${section.id}: ${flat(section.name)}`, section.id, `: ${flat(section.name)}`]) {
      // Of several attempts the last counts.
      if (mark !== ': ') sections.set(mark, section);
    }
  }
  return ({ alias, key, title }) => {
    const id = alias ?? key;
    const name = flat(title);
    return sections.get(`${id}: ${name}`) ?? sections.get(id) ?? sections.get(key) ?? sections.get(`: ${name}`);
  };
}

function withLog(step: ModelStep, phase: Phase, section: PhaseSection | undefined, complain: Complain): ModelStep {
  const merged: ModelStep = { ...step };
  if (phase.status === null) {
    const guess: StepStatus | null = step.endedAt
      ? 'completed'
      : (section?.status ?? (step.startedAt ? 'in_progress' : null));
    merged.status = guess ?? step.status;
    const from =
      guess === null
        ? 'it counts as pending'
        : `"${guess}" follows from ${step.endedAt || !section?.status ? 'its times' : 'the log'}`;
    complain('no_status', 'warning', phase.node.start, `This phase has no status; ${from}.`);
  } else if (section?.status && section.status !== phase.status) {
    complain(
      'log_disagrees',
      'warning',
      section.start,
      `The log says "${section.status}", the front matter "${phase.status}".`,
    );
  }
  const summary = section?.outputs[0]?.text;
  if (summary) merged.summary = words(summary);
  if (!merged.artifacts && section && section.files.length > 0)
    merged.artifacts = section.files.map((file) => ({ ...file }));
  return merged;
}

function readEntries(session: Session, model: RunModel): void {
  const { sections } = session.body;
  const keys = new Set(model.steps.map((step) => step.key));
  const settle = <T extends { step?: string | undefined }>(value: T): T => {
    const { step, ...rest } = value;
    return step === undefined || keys.has(step) ? value : (rest as T);
  };
  const decisions = sections.get('decisions');
  for (const entry of decisions ? readDecisions(decisions) : []) {
    const value = settle(entry.value);
    session.decisions.set(value, entry);
    model.decisions.push(value);
  }
  const items = sections.get('items');
  for (const entry of items ? readItems(items) : []) {
    const value = settle(entry.value);
    session.items.set(value, entry);
    model.items.push(value);
  }
}

const noteHead =
  /^\((worklog|deviation|constraint|dead-end)(?:, phase ([^,()\s]+))?(?:, by ([^,()\n]+))?(?:, at ([^,()\n]+))?\) /;

function readNotes(session: Session, model: RunModel): ModelNote[] {
  const notes: ModelNote[] = session.body.loose.map((piece) => ({ kind: 'worklog', text: words(piece.text) }));
  const current = new Set(session.sections.values());
  const stepOf = new Map([...session.sections].map(([step, { id }]) => [id, step]));
  for (const section of session.body.phases) {
    const step = stepOf.get(section.id);
    if (step === undefined) continue;
    // The first output of the current attempt is the summary of the step; everything else is history.
    for (const { text, agent } of section.outputs.slice(current.has(section) ? 1 : 0))
      notes.push({ kind: 'worklog', text: words(text), step, ...(agent ? { by: agent.slice(0, 200) } : {}) });
    if (section.validation)
      notes.push({ kind: 'worklog', text: words(`Validation: ${section.validation.text}`), step });
  }
  const keys = new Set(model.steps.map((step) => step.key));
  for (const { text } of session.body.sections.get('notes')?.pieces ?? []) {
    const head = noteHead.exec(text);
    const [, kind, step, by, when] = head ?? [];
    notes.push({
      kind: (kind as ModelNote['kind'] | undefined) ?? 'worklog',
      text: words(text.slice(head?.[0].length ?? 0)),
      ...(step && keys.has(step) ? { step } : {}),
      ...(by ? { by: by.slice(0, 200) } : {}),
      ...(when ? { at: when.slice(0, 200) } : {}),
    });
  }
  return notes;
}

function readPosition(session: Session, model: RunModel, complain: Complain): void {
  const node = at(session.root, 'current_phase');
  const said = wordsOf(node);
  const ids = new Map([...session.phases].map(([key, { phase }]) => [phase.id ?? key, key]));
  const named = said === null ? undefined : (ids.get(said) ?? (session.phases.has(said) ? said : undefined));
  if (said !== null && named === undefined && model.steps.length > 0) {
    complain('unknown_phase', 'warning', node?.start ?? 0, `"current_phase" is ${said}, which does not exist.`);
  }
  const running = model.steps.find((step) => step.status === 'in_progress');
  if (node !== null || model.steps.length > 0) model.position = { step: named ?? running?.key ?? null };
}

function checkSense(session: Session, model: RunModel, isArchived: boolean, complain: Complain): void {
  const { root } = session;
  const total = at(root, 'total_phases');
  if (total?.type === 'scalar' && typeof total.value === 'number' && total.value !== model.steps.length) {
    complain(
      'total_disagrees',
      'warning',
      total.start,
      `"total_phases" is ${total.words}; the file has ${model.steps.length}.`,
    );
  }
  const open = model.steps.filter((step) => step.status !== 'completed' && step.status !== 'skipped');
  const word = wordsOf(at(root, 'status'));
  if (open.length > 0 && (isArchived || model.run.status === 'completed')) {
    const where = at(root, 'status')?.start ?? 0;
    complain(
      'open_phases',
      'warning',
      where,
      `The session is ${isArchived ? 'archived' : 'completed'} but ${open.length} of its phases are open.`,
    );
  } else if (isArchived && word !== null && runStatus(word) === 'active') {
    complain(
      'archived_in_progress',
      'warning',
      at(root, 'status')?.start ?? 0,
      'The session is in the archive, but its status is in progress.',
    );
  }
  const running = model.steps.filter((step) => step.status === 'in_progress');
  if (running.length > 1 && !running.every((step) => step.parallel)) {
    complain(
      'several_in_progress',
      'warning',
      session.phases.get(running[1]?.key ?? '')?.phase.node.start ?? 0,
      `${running.length} phases are in progress, but not all of them may run in parallel.`,
    );
  }
  const statuses = new Map(model.steps.map((step) => [step.key, step.status]));
  for (const step of model.steps) {
    const early =
      step.status !== 'pending' &&
      step.after?.find((key) => !['completed', 'skipped'].includes(statuses.get(key) ?? ''));
    if (early && step.status !== 'skipped') {
      complain(
        'out_of_order',
        'warning',
        session.phases.get(step.key)?.phase.node.start ?? 0,
        `Phase ${step.key} is ${step.status} before phase ${early}, which it is blocked by.`,
      );
    }
    if (plain(at(session.phases.get(step.key)?.phase.node, 'requires_reconciliation')) === true) {
      complain(
        'requires_reconciliation',
        'warning',
        session.phases.get(step.key)?.phase.node.start ?? 0,
        `Phase ${step.key} was completed without files or context; check what it did.`,
      );
    }
  }
}

function keep(session: Session, placed: readonly Placed[]): Record<string, unknown> | null {
  const top = Object.fromEntries(
    (session.root?.pairs ?? []).filter((pair) => !known.has(pair.key)).map((pair) => [pair.key, plain(pair.value)]),
  );
  const phases = Object.fromEntries(
    placed
      .filter(({ phase }) => phase.node !== session.root && Object.keys(phase.kept).length > 0)
      .map(({ phase, step }) => [step.key, phase.kept]),
  );
  const kept = {
    ...(Object.keys(top).length > 0 ? { session: top } : {}),
    ...(Object.keys(phases).length > 0 ? { phases } : {}),
  };
  return Object.keys(kept).length > 0 ? kept : null;
}
