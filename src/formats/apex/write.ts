import type { Node } from 'jsonc-parser';
import type { ModelDecision, ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { agentKey, agentText } from './agents.ts';
import { type DecisionOrigin, type LogShape, shapeOf } from './decisions.ts';
import { type Editor, editorOf } from './edit.ts';
import { momentOf, sameTime, stamp } from './field-values.ts';
import { gateBefore, impliedGates, writtenGates } from './gates.ts';
import { matcher } from './match.ts';
import { migrate, needsMigration } from './migrate.ts';
import { decisionIds, namesStepsAsStrings, newDecision, newFinding, newStep, statusWords } from './new-entries.ts';
import { derivedStatus, type Kept, type Reading } from './read.ts';
import { elements, member, members, stringAt } from './state-file.ts';
import { hasNumbers, indexOfCurrent, type StepOrigin } from './step-entries.ts';
import { listWriter } from './step-list.ts';
import { derivePosition, stepNumber, stepStatus, workflowStep } from './steps.ts';
import { DECISION_KEYS } from './template.ts';

/**
 * Writes what changed since the file was read. Each part of the run model is compared with the file and only a
 * difference is written: the rest keeps its bytes, in its own variant. What the run model does not mention is left
 * alone.
 */
export function rewriteState(reading: Reading, model: RunModel, now: string): { text: string; progressed: boolean } {
  const editor = editorOf(reading.file);
  const { root } = reading;
  writeRun(editor, reading, model);
  const moved = writeSteps(editor, reading, model, now);
  writeGates(editor, reading, model);
  writeDecisions(editor, reading, model);
  writeFindings(editor, reading, model);
  const numbered = currentNumber(reading, model);
  if (moved && numbered !== null && member(root, 'current_step')?.value !== numbered)
    editor.set(root, 'current_step', numbered);
  const progressed = editor.touched();
  if (progressed) editor.set(root, 'updated', updatedAt(model, now));
  // The migration alone is not progress: it keeps the time of the last change.
  if (needsMigration(reading.version)) migrate(editor, root);
  return { text: editor.touched() ? editor.text() : reading.file.text, progressed };
}

/** In a list without numeric keys `current_step` is a position. */
function currentNumber({ root, steps }: Reading, model: RunModel): number | null {
  if (member(root, 'steps')?.type !== 'array' || hasNumbers(steps)) return currentStep(model.steps);
  const position = derivePosition(model.steps);
  const at = model.steps.findIndex(({ key }) => key === position);
  return at < 0 ? model.steps.length + 1 : at + 1;
}

/** The number of the current step: 3_5 is written as 3, and 0 is before the first. */
export function currentStep(steps: readonly ModelStep[]): number | null {
  const position = derivePosition(steps);
  if (steps.every((step) => step.status === 'pending'))
    return steps.length === 0 || steps.some((step) => workflowStep(step.key)) ? 0 : null;
  const key = position ?? steps.at(-1)?.key;
  const number = key === undefined ? Number.POSITIVE_INFINITY : stepNumber(key);
  return Number.isFinite(number) ? Math.floor(number) : null;
}

/**
 * Every write stamps the file. A newer run model alone is not a reason to write: it may have nothing new for this file.
 */
function updatedAt(model: RunModel, now: string): string {
  const said = model.run.updatedAt;
  return stamp(said !== undefined && (momentOf(said) ?? 0) > Date.parse(now) ? said : now);
}

function writeRun(editor: Editor, { root, model: before }: Reading, { run, steps }: RunModel): void {
  if (run.branch !== undefined && run.branch !== before.run.branch) editor.set(root, 'branch', run.branch);
  const status = before.run.status === run.status || run.status === derivedStatus(steps);
  if (!status || (before.run.status !== run.status && member(root, 'workflow_status')))
    editor.set(root, 'workflow_status', run.status);
  // The project has its folder's name; a different title gets its own key.
  if (run.title !== before.run.title) editor.set(root, 'title', run.title);
  if (run.openedAt !== undefined && member(root, 'created') && !sameTime(run.openedAt, before.run.openedAt))
    editor.set(root, 'created', stamp(run.openedAt));
}

function writeSteps(editor: Editor, reading: Reading, model: RunModel, now: string): boolean {
  const { root, model: before } = reading;
  const known = new Map(
    before.steps.map((step, index) => [step.key, { step, origin: reading.steps[index] as StepOrigin }]),
  );
  const steps = member(root, 'steps');
  const tool = iacTool(reading, model);
  const fieldsOf = (step: ModelStep) => newStep(step, tool, model.kept?.['apex'] as Kept | undefined);
  const keys = new Set(model.steps.map((step) => step.key));
  const moved =
    model.steps.some((step) => known.get(step.key)?.step.status !== step.status) ||
    reading.steps.some(({ key }) => !keys.has(key));
  const list = steps?.type === 'array' ? listWriter(editor, steps, pointedAt(reading, model, moved), fieldsOf) : null;
  const added: [string, Record<string, unknown>][] = [];
  for (const [index, step] of model.steps.entries()) {
    const there = known.get(step.key);
    if (there?.origin.node.type === 'string') list?.rewrite(there.origin, there.step, step, index);
    else if (there) {
      if (step.title !== there.step.title) list?.rename(there.origin);
      writeStep(editor, there.step, there.origin, step, now);
      writeAgents(editor, there.origin.node, step, tool);
    } else if (list) list.append(step);
    else added.push([step.alias ?? step.key, fieldsOf(step)]);
  }
  for (const { key, node } of reading.steps) if (!keys.has(key) && steps) editor.remove(steps, node);
  if (steps?.type === 'object') for (const [key, value] of added) editor.set(steps, key, value);
  else if (added.length > 0) editor.set(root, 'steps', new Map(added));
  return moved;
}

/** The index in a list that `current_step` will mean. */
function pointedAt(reading: Reading, model: RunModel, moved: boolean): number {
  const there = member(reading.root, 'current_step')?.value as unknown;
  return indexOfCurrent(moved ? (currentNumber(reading, model) ?? there) : there, model.steps);
}

/** A step that starts gets a time; one that ends gets a time and loses its checkpoint. */
function writeStep(editor: Editor, before: ModelStep, { node }: StepOrigin, step: ModelStep, now: string): void {
  const moved = step.status !== before.status;
  if (moved) {
    editor.set(node, 'status', statusWord(step.status, stringAt(node, 'status')));
    if (step.status === 'failed') editor.set(node, 'outcome', 'failed');
    else if (member(node, 'outcome') && before.status === 'failed') editor.set(node, 'outcome', null);
  }
  const time = (
    field: 'started' | 'completed',
    was: string | undefined,
    is: string | undefined,
    needed: boolean,
  ): void => {
    if (is !== undefined) {
      if (!sameTime(was, is)) editor.set(node, field, stamp(is));
    } else if (moved && needed && was === undefined) editor.set(node, field, stamp(now));
    else if (moved && !needed && was !== undefined) editor.set(node, field, null);
  };
  time(
    'started',
    before.startedAt,
    step.startedAt,
    step.status === 'in_progress' ||
      step.status === 'failed' ||
      (step.status !== 'pending' && before.startedAt !== undefined),
  );
  time('completed', before.endedAt, step.endedAt, step.status === 'completed');
  const cleared = moved || step.status === 'in_progress';
  if (
    step.checkpoint !== undefined ? step.checkpoint !== before.checkpoint : cleared && before.checkpoint !== undefined
  )
    editor.set(node, 'sub_step', step.checkpoint ?? null);
  if (step.title !== before.title)
    editor.set(node, member(node, 'title') && !member(node, 'name') ? 'title' : 'name', step.title);
  if (step.artifacts !== undefined)
    writeArtifacts(
      editor,
      node,
      step.artifacts.map(({ path }) => path),
    );
}

/** A variant that writes `not_started` for pending keeps doing so. */
function statusWord(status: ModelStep['status'], there: string | undefined): string {
  const word = statusWords[status];
  return there !== undefined && stepStatus(there) === stepStatus(word) ? there : word;
}

function writeArtifacts(editor: Editor, node: Node, paths: readonly string[]): void {
  const list = member(node, 'artifacts');
  if (list?.type !== 'array') {
    const single = stringAt(node, 'artifact');
    if (paths.length === 0 || (paths.length === 1 && paths[0] === single)) return;
    if (member(node, 'artifact') && paths.length === 1) editor.set(node, 'artifact', paths[0]);
    else editor.set(node, 'artifacts', paths);
    return;
  }
  const left = new Set(paths);
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const alike = byName.get(nameOf(path));
    if (alike) alike.push(path);
    else byName.set(nameOf(path), [path]);
  }
  for (const element of elements(list)) {
    const path = (member(element, 'path') ?? member(element, 'file') ?? member(element, 'name') ?? element)
      .value as unknown;
    if (typeof path !== 'string' || path.trim() === '') continue;
    // The same file may be given relative to the project folder here and to the workspace there.
    const same = left.has(path) ? path : byName.get(nameOf(path))?.find((other) => other.endsWith(`/${path}`));
    if (same === undefined) editor.remove(list, element);
    else left.delete(same);
  }
  for (const path of left) editor.append(list, path);
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function writeAgents(editor: Editor, node: Node, step: ModelStep, tool: string): void {
  if (step.agents === undefined) return;
  const there = stringAt(node, 'agent') ?? '';
  const named = agentText(step, tool, there);
  if (named !== null && agentKey(named) !== agentKey(there)) editor.set(node, 'agent', named);
}

const iacTool = ({ root }: Reading, model: RunModel): string =>
  stringAt(root, 'iac_tool') || activeValues(model.decisions).get('iac_tool') || '';

function writeGates(editor: Editor, { root, model: before }: Reading, model: RunModel): void {
  const implied = impliedGates(model.steps);
  const written = writtenGates(root);
  const was = new Map(before.steps.map((step) => [gateBefore(step.key), step.gate]));
  const wanted = new Map<string, NonNullable<ModelStep['gate']>>();
  for (const step of model.steps) {
    if (!step.gate) continue;
    const name = gateBefore(step.key);
    // Of two steps behind one gate the one with more detail counts.
    const other = wanted.get(name);
    if (
      !other ||
      (other.state === 'closed' && step.gate.state === 'open') ||
      (other.by === undefined && step.gate.by !== undefined)
    )
      wanted.set(name, step.gate);
  }
  const added: Record<string, unknown> = {};
  for (const [name, gate] of wanted) {
    const entry = written.get(name);
    const before = was.get(name);
    if (
      before &&
      before.state === gate.state &&
      (gate.by === undefined || gate.by === before.by) &&
      (gate.at === undefined || sameTime(gate.at, before.at))
    )
      continue;
    const isImplied = implied.get(name)?.state === gate.state && gate.by === undefined && gate.at === undefined;
    if (entry?.type === 'object') {
      editor.set(entry, 'status', gate.state === 'open' ? 'approved' : 'pending');
      if (gate.by !== undefined) editor.set(entry, 'approved_by', gate.by);
      if (gate.at !== undefined) editor.set(entry, 'approved_at', stamp(gate.at));
    } else if (!isImplied) added[name] = gateEntry(gate);
  }
  if (Object.keys(added).length === 0) return;
  const gates = member(root, 'gates');
  if (gates?.type === 'object') for (const [name, entry] of Object.entries(added)) editor.set(gates, name, entry);
  else editor.set(root, 'gates', added);
}

export const gateEntry = (gate: NonNullable<ModelStep['gate']>): Record<string, unknown> => ({
  status: gate.state === 'open' ? 'approved' : 'pending',
  approved_by: gate.by ?? null,
  ...(gate.at === undefined ? {} : { approved_at: stamp(gate.at) }),
});

function writeDecisions(editor: Editor, reading: Reading, model: RunModel): void {
  const { root, model: before } = reading;
  const log = member(root, 'decision_log');
  const shape = usualShape(log);
  const asString = namesStepsAsStrings(log);
  const find = matcher(before.decisions, ({ key, decision }) => JSON.stringify([key ?? null, decision]));
  const additions: Record<string, unknown>[] = [];
  const idFor = decisionIds(elements(log).map((node) => stringAt(node, 'id')));
  for (const decision of model.decisions) {
    const index = find(decision);
    const origin = index === undefined ? undefined : reading.decisions[index];
    if (origin?.in === 'log') updateEntry(editor, origin, before.decisions[index as number] as ModelDecision, decision);
    if (origin !== undefined || !belongsInLog(decision)) continue;
    additions.push(newDecision(decision, shape, idFor(decision.alias), asString));
  }
  if (log?.type === 'array') for (const entry of additions) editor.append(log, entry);
  else if (additions.length > 0) editor.set(root, 'decision_log', additions);
  writeKeyed(editor, reading, model);
}

/** Only the log can hold decisions without a key, the reason for a value, and earlier values. */
export const belongsInLog = ({ key, reason, context, alternatives, status }: ModelDecision): boolean =>
  key === undefined ||
  reason !== undefined ||
  context !== undefined ||
  alternatives !== undefined ||
  (status ?? 'active') !== 'active';

function updateEntry(
  editor: Editor,
  { node, shape }: Extract<DecisionOrigin, { in: 'log' }>,
  before: ModelDecision,
  decision: ModelDecision,
): void {
  if (node.type !== 'object') return;
  if (decision.decision !== before.decision)
    editor.set(
      node,
      shape === 'C' ? 'value' : member(node, 'choice') ? 'choice' : member(node, 'decision') ? 'decision' : 'title',
      decision.decision,
    );
  if (before.reason !== undefined && decision.reason !== undefined && decision.reason !== before.reason)
    editor.set(node, member(node, 'reason') ? 'reason' : 'rationale', decision.reason);
  const status = decision.status ?? 'active';
  if (status !== (before.status ?? 'active')) editor.set(node, 'status', status === 'active' ? 'confirmed' : status);
}

function writeKeyed(editor: Editor, { root, model: before }: Reading, model: RunModel): void {
  const values = member(root, 'decisions');
  const nodes = new Map(members(values).map(([key, node]) => [key, node]));
  const was = activeValues(before.decisions);
  const now = activeValues(model.decisions);
  const added: Record<string, unknown> = {};
  for (const key of new Set(model.decisions.flatMap((decision) => decision.key ?? []))) {
    const decision = now.get(key);
    const node = nodes.get(key);
    if (decision === undefined) {
      // Retracted: keys of the template stay, with an empty value.
      if (node && values && was.has(key)) isTemplateKey(key) ? editor.replace(node, '') : editor.remove(values, node);
    } else if (decision !== was.get(key)) {
      if (node) editor.replace(node, valueLike(node, decision));
      else if (values?.type === 'object') editor.set(values, key, decision);
      else added[key] = decision;
      // Step 1 chooses the language, which decides the agents of later steps.
      if (key === 'iac_tool' && (stringAt(root, 'iac_tool') ?? '') === '') editor.set(root, 'iac_tool', decision);
    }
  }
  if (Object.keys(added).length > 0) editor.set(root, 'decisions', added);
}

const isTemplateKey = (key: string): boolean => (DECISION_KEYS as readonly string[]).includes(key);

/** The newest active decision for each key. */
export function activeValues(decisions: readonly ModelDecision[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, status, decision } of decisions)
    if (key !== undefined && (status ?? 'active') === 'active') values.set(key, decision);
  return values;
}

/** A value that was not a string stays one of its kind if the new text parses as JSON. */
function valueLike(node: Node | undefined, words: string): unknown {
  if (!node || node.type === 'string') return words;
  try {
    return JSON.parse(words);
  } catch {
    return words;
  }
}

function usualShape(log: Node | undefined): LogShape {
  const last = elements(log).findLast((node) => node.type === 'object');
  return last ? shapeOf(last) : 'A';
}

function writeFindings(editor: Editor, { root, model: before, findings }: Reading, model: RunModel): void {
  const list = member(root, 'open_findings');
  const find = matcher(before.items, ({ text }) => text);
  const seen = new Set<number>();
  const additions: unknown[] = [];
  for (const item of model.items) {
    const index = item.kind === 'finding' ? find(item) : undefined;
    if (index !== undefined) {
      seen.add(index);
      const was = before.items[index] as ModelItem;
      const node = findings[index];
      if (list && node && was.status === 'open' && item.status !== 'open') editor.remove(list, node);
      else if (list && node && item.text !== was.text && node.type === 'string') editor.replace(node, item.text);
      else if (list && node && was.status !== 'open' && item.status === 'open' && node.type === 'object')
        editor.set(node, 'status', 'open');
    } else if (isOpenMustFix(item))
      additions.push(newFinding(item, findings.at(-1), findings.length + additions.length + 1));
  }
  for (const [index, node] of findings.entries())
    if (list && !seen.has(index) && before.items[index]?.status === 'open') editor.remove(list, node);
  if (list?.type === 'array') for (const entry of additions) editor.append(list, entry);
  else if (additions.length > 0) editor.set(root, 'open_findings', additions);
}

export const isOpenMustFix = (item: ModelItem): boolean =>
  item.kind === 'finding' && item.severity === 'must_fix' && item.status === 'open';
