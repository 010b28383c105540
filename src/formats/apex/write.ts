import { pairEntries } from '../../core/model/pair.ts';
import type { ModelDecision, ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { isObject } from '../is-object.ts';
import { type Editor, openEditor } from '../text/editor.ts';
import { emitJson } from '../text/emit.ts';
import { jsonManner } from '../text/json.ts';
import { at, itemsOf, type Node, pairsOf, plain, stringAt } from '../text/node.ts';
import { editRows, isSame, newEntry } from '../text/rows.ts';
import { asLabel, stamp } from '../text/values.ts';
import { impliedGates, wantedGates, writtenGates } from './gates.ts';
import { type Kept, type Reading, shapeOf } from './read.ts';
import { hasNumbers, indexOfCurrent, type StepOrigin } from './step-entries.ts';
import { listWriter } from './step-list.ts';
import { currentStep, derivePosition, stepKey, stepNumber } from './steps.ts';
import {
  type About,
  activeValues,
  createdRow,
  findingRows,
  gateRows,
  LOG_SHAPES,
  type LogShape,
  logRows,
  ORDER_OVERRIDES,
  overrideRows,
  runRows,
  stampRow,
  stepRows,
} from './table.ts';
import { DECISION_KEYS, defaultReview } from './template.ts';
import { CURRENT_VERSION, migrate, needsMigration } from './version.ts';

/**
 * Writes what changed since the file was read. Each row of the table is compared with the file and only a difference is
 * written: the rest keeps its bytes, in its own variant. What the run model does not mention is left alone.
 */
export function rewriteState(reading: Reading, model: RunModel, now: string): { text: string; progressed: boolean } {
  const { root, file, model: before } = reading;
  const editor = openEditor(file.text, /\r\n|\n|\r/.exec(file.text)?.[0] ?? '\n', jsonManner(file));
  const keys = new Set(model.steps.map((step) => step.key));
  const known = new Map(before.steps.map((step) => [step.key, step.status]));
  const about: About = {
    ...{ model, before, now },
    tool: stringAt(root, 'iac_tool') || activeValues(model.decisions).get('iac_tool') || '',
    project: stringAt(root, 'project') ?? '',
    current: currentNumber(reading, model),
    moved:
      model.steps.some(({ key, status }) => known.get(key) !== status) ||
      before.steps.some(({ key }) => !keys.has(key)),
  };
  editRows(editor, [...runRows, createdRow], root, before.run, model.run, about);
  writeSteps(editor, reading, model, about);
  writeGates(editor, reading, model, about);
  writeLog(editor, reading, model, about);
  writeValues(editor, reading, model, about);
  writeFindings(editor, reading, model, about);
  const progressed = editor.changed;
  if (progressed) editRows(editor, [stampRow], root, before.run, model.run, about);
  // The migration alone is not progress: it keeps the time of the last change.
  if (needsMigration(reading.version)) migrate(editor, root);
  return { text: editor.changed ? editor.apply() : file.text, progressed };
}

/** A new file in the newest form, with keys in the template's order. */
export function newState(model: RunModel, project: string, now: string): string {
  const kept = (model.kept?.['apex'] ?? {}) as Kept;
  const { iac_tool, region, review_audit, ...others } = kept.top ?? {};
  const values = activeValues(model.decisions);
  const tool = values.get('iac_tool') ?? (typeof iac_tool === 'string' ? iac_tool : '');
  const about = { model, before: null, tool, now, project, current: currentStep(model.steps), moved: true };
  const idFor = decisionIds(model.decisions.map(({ alias }) => alias));
  const overrides = newOverrides(null, model, about);
  const implied = impliedGates(model.steps);
  const gates = [...wantedGates(model.steps)].filter(([name, gate]) => !isSame(implied.get(name), gate));
  const state = {
    schema_version: CURRENT_VERSION,
    project,
    ...newEntry([...runRows.slice(0, -1), stampRow, ...runRows.slice(-1)], model.run, about, {
      kept: { ...(iac_tool === undefined ? {} : { iac_tool }), ...(region === undefined ? {} : { region }) },
    }),
    // A region that was not chosen is not written as a decision, unlike in the template.
    decisions: {
      ...Object.fromEntries(DECISION_KEYS.map((key) => [key, ''])),
      ...Object.fromEntries(values),
      ...(overrides.length > 0 ? { [ORDER_OVERRIDES]: overrides } : {}),
    },
    open_findings: model.items.filter(isOpenMustFix).map(({ text }) => text),
    decision_log: model.decisions
      .filter(belongsInLog)
      .map((decision) => newDecision({ ...decision, alias: idFor(decision.alias) }, 'A', about, {})),
    review_audit: review_audit ?? defaultReview(),
    steps: new Map(model.steps.map((step) => [step.key, newStep(step, about)])),
    ...(gates.length > 0
      ? { gates: Object.fromEntries(gates.map(([name, gate]) => [name, newEntry(gateRows, gate, about)])) }
      : {}),
    ...others,
  };
  return `${emitJson(state, '', { style: 'json', overEscaped: false })}\n`;
}

/** In a list without numeric keys `current_step` is a position. */
function currentNumber({ root, steps }: Reading, model: RunModel): number | null {
  if (at(root, 'steps')?.type !== 'list' || hasNumbers(steps)) return currentStep(model.steps);
  const position = derivePosition(model.steps);
  const index = model.steps.findIndex(({ key }) => key === position);
  return index < 0 ? model.steps.length + 1 : index + 1;
}

function newStep(step: ModelStep, about: About): Record<string, unknown> {
  const kept = (about.model.kept?.['apex'] as Kept | undefined)?.steps?.[step.key];
  return newEntry(stepRows, step, about, { kept: kept ?? {} });
}

function writeSteps(editor: Editor, reading: Reading, model: RunModel, about: About): void {
  const { root, model: before } = reading;
  const known = new Map(
    before.steps.map((step, index) => [step.key, { step, origin: reading.steps[index] as StepOrigin }]),
  );
  const steps = at(root, 'steps');
  const fieldsOf = (step: ModelStep) => newStep(step, about);
  const list = steps?.type === 'list' ? listWriter(editor, steps, pointedAt(reading, model, about), fieldsOf) : null;
  const added: [string, Record<string, unknown>][] = [];
  for (const [index, step] of model.steps.entries()) {
    const there = known.get(step.key);
    if (there?.origin.node.type === 'map') {
      if (step.title !== there.step.title) list?.rename(there.origin);
      editRows(editor, stepRows, there.origin.node, there.step, step, about);
    } else if (there) list?.rewrite(there.origin, there.step, step, index);
    else if (list) list.append(step);
    else added.push([step.alias ?? step.key, fieldsOf(step)]);
  }
  const keys = new Set(model.steps.map((step) => step.key));
  for (const { key, node } of reading.steps) {
    if (keys.has(key)) continue;
    if (steps?.type === 'list') editor.remove(steps, node);
    const pair = pairsOf(steps).find(({ value }) => value === node);
    if (pair && steps?.type === 'map') editor.removeKey(steps, pair.key);
  }
  if (steps?.type === 'map')
    for (const [key, value] of added)
      editor.set(
        steps,
        key,
        value,
        placeOf(
          key,
          pairsOf(steps).map((pair) => pair.key),
        ),
      );
  else if (added.length > 0) editor.set(root, 'steps', new Map(added));
}

/** A step goes after the last one before it in the workflow; one that is none of the workflow's to the end. */
function placeOf(key: string, keys: readonly string[]): readonly string[] | 'first' {
  const number = stepNumber(stepKey(key));
  if (!Number.isFinite(number)) return [];
  const before = keys.filter((one) => stepNumber(stepKey(one)) < number).reverse();
  return before.length === 0 && keys.length > 0 ? 'first' : before;
}

/** The index in a list that `current_step` will mean. */
function pointedAt(reading: Reading, model: RunModel, { moved, current }: About): number {
  const there = plain(at(reading.root, 'current_step'));
  return indexOfCurrent(moved ? (current ?? there) : there, model.steps);
}

function writeGates(editor: Editor, { root, model: before }: Reading, model: RunModel, about: About): void {
  const implied = impliedGates(model.steps);
  const written = writtenGates(root);
  const was = wantedGates(before.steps);
  const added: Record<string, unknown> = {};
  for (const [name, gate] of wantedGates(model.steps)) {
    const [entry, old] = [written.get(name), was.get(name)];
    if (entry?.type === 'map') editRows(editor, gateRows, entry, old ?? { state: 'closed' }, gate, about);
    else if (entry && old?.state !== gate.state) editor.put(entry, newEntry(gateRows, gate, about));
    else if (!entry && !isSame(old, gate) && !isSame(implied.get(name), gate))
      added[name] = newEntry(gateRows, gate, about);
  }
  const gates = at(root, 'gates');
  if (gates?.type === 'map') for (const [name, entry] of Object.entries(added)) editor.set(gates, name, entry);
  else if (Object.keys(added).length > 0) editor.set(root, 'gates', added);
}

function writeLog(editor: Editor, reading: Reading, model: RunModel, about: About): void {
  const log = at(reading.root, 'decision_log');
  const last = itemsOf(log).findLast((node) => node.type === 'map');
  const like = last ? (plain(last) as Record<string, unknown>) : {};
  const idFor = decisionIds(itemsOf(log).map((node) => stringAt(node, 'id')));
  const pairs = pairEntries('decisions', reading.model.decisions, model.decisions, false);
  const added: Record<string, unknown>[] = [];
  for (const decision of model.decisions) {
    const was = pairs.get(decision);
    const node = was ? reading.log.get(was) : undefined;
    if (was && node?.type === 'map') editRows(editor, logRows, node, was, decision, about);
    // One that someone took out of the file is retracted, and does not come back.
    if (was || decision.status === 'retracted' || !belongsInLog(decision)) continue;
    const named = { ...decision, alias: idFor(decision.alias) };
    added.push(newDecision(named, last ? shapeOf(last) : 'A', about, like));
  }
  if (log?.type === 'list') editor.append(log, added);
  else if (added.length > 0) editor.set(reading.root, 'decision_log', added);
}

/** Only the log can hold decisions without a key, the reason for a value, and earlier values. */
const belongsInLog = ({ key, reason, context, alternatives, status }: ModelDecision): boolean =>
  key !== ORDER_OVERRIDES &&
  (key === undefined ||
    reason !== undefined ||
    context !== undefined ||
    alternatives !== undefined ||
    (status ?? 'active') !== 'active');

function newDecision(
  decision: ModelDecision,
  shape: LogShape,
  about: About,
  like: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // The manual's shape is for keys; a decision without one is written in the command line's shape.
  const fitting = shape === 'C' && decision.key === undefined ? 'B' : shape;
  const rows = fitting === 'A' ? logRows : logRows.map(({ fresh: _, ...row }) => row);
  return newEntry(rows, decision, about, {
    keys: LOG_SHAPES[fitting],
    like: fitting === 'B' ? { ...like, step: '' } : like,
  });
}

/** `D001`, `D002` …, continuing from the highest. */
function decisionIds(taken: readonly (string | undefined)[]): (alias: string | undefined) => string {
  const numberOf = (id: string | undefined): number => Number(/^D-?(\d{1,9})$/.exec(id ?? '')?.[1] ?? 0);
  let highest = taken.reduce((number, id) => Math.max(number, numberOf(id)), 0);
  return (alias) => {
    highest = alias === undefined ? highest + 1 : Math.max(highest, numberOf(alias));
    return alias ?? `D${String(highest).padStart(3, '0')}`;
  };
}

/** `decisions`, the values in force by key. */
function writeValues(editor: Editor, { root, model: before }: Reading, model: RunModel, about: About): void {
  const values = at(root, 'decisions');
  const nodes = new Map(pairsOf(values).map(({ key, value }) => [key, value]));
  const was = activeValues(before.decisions);
  const now = activeValues(model.decisions);
  const added: Record<string, unknown> = {};
  const overrides = newOverrides(before, model, about);
  const listed = nodes.get(ORDER_OVERRIDES);
  if (listed?.type === 'list') editor.append(listed, overrides);
  else if (overrides.length > 0 && values?.type === 'map') editor.set(values, ORDER_OVERRIDES, overrides);
  else if (overrides.length > 0) added[ORDER_OVERRIDES] = overrides;
  for (const key of new Set(model.decisions.flatMap((decision) => decision.key ?? []))) {
    if (key === ORDER_OVERRIDES) continue;
    const decision = now.get(key);
    const node = nodes.get(key);
    if (decision === was.get(key)) continue;
    if (decision === undefined) {
      // Retracted: keys of the template stay, with an empty value.
      if (node && isTemplateKey(key)) editor.put(node, '');
      else if (values?.type === 'map') editor.removeKey(values, key);
    } else if (node) editor.put(node, valueLike(node, decision));
    else if (values?.type === 'map') editor.set(values, key, decision);
    else added[key] = decision;
  }
  if (Object.keys(added).length > 0) editor.set(root, 'decisions', added);
}

/** Those that the file does not list yet. */
function newOverrides(before: RunModel | null, model: RunModel, about: About): Record<string, unknown>[] {
  const known = new Set(
    before?.decisions.filter(isOverride).map(({ step, at: when = '' }) => `${step} ${stamp(when)}`),
  );
  return model.decisions
    .filter((one) => isOverride(one) && !known.has(`${one.step} ${stamp(one.at ?? '')}`))
    .map((one) => newEntry(overrideRows, one, about));
}

const isOverride = ({ key }: ModelDecision): boolean => key === ORDER_OVERRIDES;

const isTemplateKey = (key: string): boolean => (DECISION_KEYS as readonly string[]).includes(key);

const valueLike = (node: Node, words: string): unknown =>
  logRows.find(({ is }) => is === 'decision')?.as.write(words as never, plain(node));

function writeFindings(
  editor: Editor,
  { root, model: before, findings }: Reading,
  model: RunModel,
  about: About,
): void {
  const list = at(root, 'open_findings');
  const items = model.items.filter(({ kind }) => kind === 'finding');
  const pairs = pairEntries('items', before.items, items, false);
  const added: unknown[] = [];
  for (const item of items) {
    const was = pairs.get(item);
    const node = was ? findings.get(was) : undefined;
    if (!was || !node) {
      if (isOpenMustFix(item))
        added.push(newFinding(item, [...findings.values()].at(-1), findings.size + added.length + 1, about));
    } else if (was.status === 'open' && item.status !== 'open') {
      if (list?.type === 'list') editor.remove(list, node);
    } else if (node.type === 'map') editRows(editor, findingRows, node, was, item, about);
    else if (item.text !== was.text) editor.put(node, item.text);
  }
  const left = new Set(pairs.values());
  for (const [item, node] of findings)
    if (!left.has(item) && item.status === 'open' && list?.type === 'list') editor.remove(list, node);
  if (list?.type === 'list') editor.append(list, added);
  else if (added.length > 0) editor.set(root, 'open_findings', added);
}

/** A finding in the form of its neighbours: a title, or an object with their fields. */
function newFinding(item: ModelItem, sample: Node | undefined, number: number, about: About): unknown {
  const like = sample ? plain(sample) : undefined;
  if (!isObject(like)) return item.text;
  const [, lead = '', digits = ''] = /^(\D*)(\d*)$/.exec(asLabel(like['id']) ?? '') ?? [];
  const alias =
    item.alias ?? (like['id'] === undefined ? undefined : lead + String(number).padStart(digits.length, '0'));
  const keys = Object.keys(like).filter((key) => key !== 'resolution' && key !== 'resolved_at');
  const entry = newEntry(findingRows, alias === undefined ? item : { ...item, alias }, about, { keys, like });
  return Object.values(entry).includes(item.text) ? entry : { ...entry, description: item.text };
}

export const isOpenMustFix = (item: ModelItem): boolean =>
  item.kind === 'finding' && item.severity === 'must_fix' && item.status === 'open';
