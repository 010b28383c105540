import {
  emptyRunModel,
  type ModelDecision,
  type ModelItem,
  type ModelStep,
  type ModelUsage,
  type RunModel,
} from '../../core/model/run-model.ts';
import { isObject } from '../is-object.ts';
import { type JsonText, parseJson } from '../text/json.ts';
import { at, itemsOf, type MapNode, type Node, pairsOf, plain, stringAt } from '../text/node.ts';
import { define, readRows, unknownFields } from '../text/rows.ts';
import { asCount, asLabel, asText, asWho, asWords, defined } from '../text/values.ts';
import { gateBefore, readGates } from './gates.ts';
import { type StepOrigin, stepEntries } from './step-entries.ts';
import { contextOf, derivePosition, STATE_FILE, WORKFLOW, workflowStep } from './steps.ts';
import {
  createdRow,
  DEFAULT_REGION,
  derivedStatus,
  findingRows,
  findingStatus,
  KEPT_KEYS,
  type LogShape,
  logRows,
  ORDER_OVERRIDES,
  overrideRows,
  runRows,
  stampRow,
  stepRows,
  titleFor,
} from './table.ts';
import { isDefaultReview } from './template.ts';
import { needsMigration, type Version, versionOf } from './version.ts';

/** What a state file says, and where in the file each part is. */
export interface Reading {
  path: string;
  file: JsonText;
  root: MapNode;
  version: Version;
  model: RunModel;
  steps: readonly StepOrigin[];
  /** The entries of the log, by their decision. */
  log: ReadonlyMap<ModelDecision, Node>;
  findings: ReadonlyMap<ModelItem, Node>;
}

/** Returns null unless the file has this format. */
export function readState(path: string, text: string, file: JsonText = parseJson(text)): Reading | null {
  const { root } = file;
  if (!root || (!at(root, 'steps') && !at(root, 'project') && !at(root, 'decisions'))) return null;
  if (at(root, 'lanes') && !at(root, 'steps')) return null;
  const steps = stepEntries(root);
  const folder = folderOf(path);
  const model = emptyRunModel(titleOf(root, folder.name));
  model.steps = steps.map(readStep);
  completeSteps(model.steps, steps, root, folder.path);
  const keys = new Set(model.steps.map((step) => step.key));
  const log = readLog(root, keys);
  const findings = readFindings(root, keys);
  model.run = {
    status: derivedStatus(model.steps),
    ...readRows([...runRows, stampRow, createdRow], root),
    title: model.run.title,
  };
  model.decisions = [...log.keys(), ...readValues(root, [...log.keys()])];
  model.items = [...findings.keys()];
  model.usage = readUsage(steps);
  model.position = { step: derivePosition(model.steps) };
  const version = versionOf({
    schema_version: plain(at(root, 'schema_version')) ?? undefined,
    $schema: plain(at(root, '$schema')),
    gates: plain(at(root, 'gates')),
  });
  const kept = keptOf(root, steps, needsMigration(version));
  if (kept) model.kept = { apex: kept };
  return { path, file, root, version, model, steps, log, findings };
}

export function folderOf(path: string): { path: string; name: string; prefix: string } {
  const slash = path.lastIndexOf('/');
  const folder = slash < 0 ? '' : path.slice(0, slash);
  const base = path.slice(slash + 1);
  const start = base.indexOf(STATE_FILE);
  return {
    path: folder,
    name: folder.slice(folder.lastIndexOf('/') + 1),
    prefix: start < 0 ? '' : base.slice(0, start),
  };
}

const titleOf = (root: Node, folder: string): string =>
  ['title', 'project', 'lz_name', 'landing_zone']
    .map((key) => asLabel(stringAt(root, key)))
    .find((name) => name !== undefined) ??
  (folder || 'apex');

function readStep({ key, written, fields }: StepOrigin): ModelStep {
  const said = readRows(stepRows, fields);
  const retries = asCount((isObject(fields['claim']) ? fields['claim'] : {})['retry_count']) ?? 0;
  const isNamed = written === key || written.toLowerCase() === asLabel(fields['name'])?.toLowerCase();
  const status = said.status ?? (said.endedAt ? 'completed' : said.startedAt ? 'in_progress' : 'pending');
  return defined({
    kind: 'step' as const,
    ...said,
    key,
    alias: isNamed ? undefined : asLabel(written),
    title: said.title ?? workflowStep(key)?.name ?? key,
    status: fields['outcome'] === 'failed' && said.status === 'in_progress' ? ('failed' as const) : status,
    retries: retries > 0 ? retries : undefined,
  }) as ModelStep;
}

/** Adds what the workflow defines for its steps and the file leaves out: order, checkpoints, files to load, gates. */
function completeSteps(all: ModelStep[], origins: readonly StepOrigin[], root: Node, folder: string): void {
  const steps = all.filter((_, index) => origins[index]?.isOwn !== true);
  const keys = new Set(steps.map((step) => step.key));
  const gates = readGates(root, steps);
  for (const step of steps) {
    const known = workflowStep(step.key);
    const gate = gates.get(gateBefore(step.key));
    if (gate) step.gate = { ...gate, ...(known?.gate === undefined ? {} : { name: `Gate ${known.gate}` }) };
    if (!known) continue;
    const after = known.after.flatMap((key) => nearest(key, keys));
    if (after.length > 0) step.after = after;
    step.checkpoints = [...known.checkpoints];
    step.context = contextOf(known, folder);
  }
}

/** Files from before governance have no 3_5: its successors then follow its predecessors. */
function nearest(key: string, keys: ReadonlySet<string>): string[] {
  if (keys.has(key)) return [key];
  return (WORKFLOW.find((step) => step.key === key)?.after ?? []).flatMap((before) => nearest(before, keys));
}

export function shapeOf(node: Node): LogShape {
  if (at(node, 'choice') || at(node, 'title') || at(node, 'id')) return 'A';
  return at(node, 'value') || (at(node, 'key') && !at(node, 'decision')) ? 'C' : 'B';
}

/** Of two entries with one key the newer counts. */
function readLog(root: Node, steps: ReadonlySet<string>): Map<ModelDecision, Node> {
  const log = new Map<ModelDecision, Node>();
  const newest = new Map<string, ModelDecision>();
  for (const node of itemsOf(at(root, 'decision_log'))) {
    const decision = readDecision(node, steps);
    const older = decision.key === undefined ? undefined : newest.get(decision.key);
    if (older?.status === 'active') older.status = 'superseded';
    if (decision.key !== undefined) newest.set(decision.key, decision);
    log.set(decision, node);
  }
  // The file names the newer decision on the older one; a run model does it the other way round.
  const byAlias = new Map([...log.keys()].map((decision) => [decision.alias, decision]));
  for (const [older, node] of log) {
    const newer = byAlias.get(asLabel(plain(at(node, 'superseded_by'))));
    if (newer?.alias !== undefined && older.alias !== undefined && newer !== older) newer.supersedes ??= older.alias;
  }
  return log;
}

function readDecision(node: Node, steps: ReadonlySet<string>): ModelDecision {
  if (node.type !== 'map') return { decision: asText(plain(node)), status: 'active' };
  const { step, context, decision = context ?? asText(plain(node)), ...said } = readRows(logRows, node);
  const isTitle = context === decision || context === titleFor(decision);
  return defined({
    ...said,
    decision,
    context: isTitle ? undefined : context,
    step: step !== undefined && steps.has(step) ? step : undefined,
    status: at(node, 'superseded_by') ? 'superseded' : (said.status ?? 'active'),
  }) as ModelDecision;
}

/** The values of `decisions` that the log does not have too. */
function readValues(root: Node, log: readonly ModelDecision[]): ModelDecision[] {
  const newest = new Map(log.flatMap((decision) => (decision.key === undefined ? [] : [[decision.key, decision]])));
  return pairsOf(at(root, 'decisions')).flatMap(({ key: written, value }): ModelDecision[] => {
    if (written === ORDER_OVERRIDES && value.type === 'list') return value.items.map(readOverride);
    const [words, key] = [asWords(plain(value)), asLabel(written)];
    if (words === undefined || key === undefined) return [];
    const logged = newest.get(key);
    if (logged?.decision === words) return [];
    if (logged?.status === 'active') logged.status = 'superseded';
    return [{ key, decision: words, status: 'active' }];
  });
}

export function readOverride(node: Node): ModelDecision {
  const said = readRows(overrideRows, node);
  const decision = `Start ${said.step ?? 'a step'} out of order`;
  return { status: 'active', ...said, key: ORDER_OVERRIDES, decision };
}

function readFindings(root: Node, steps: ReadonlySet<string>): Map<ModelItem, Node> {
  const findings = new Map<ModelItem, Node>();
  for (const node of itemsOf(at(root, 'open_findings'))) {
    const value = plain(node);
    if (value === '' || value === null) continue;
    findings.set(node.type === 'map' ? readFinding(node, steps) : readTitle(asText(value)), node);
  }
  return findings;
}

/** One project writes `severity|action|id|title|note`; otherwise the whole text is the finding. */
function readTitle(words: string): ModelItem {
  const parts = words.split('|').map((part) => part.trim());
  const [grade, action = '', id, title = '', ...note] = parts;
  const { severity } = parts.length >= 4 ? readRows(findingRows, { severity: grade }) : {};
  if (severity === undefined) return { kind: 'finding', text: words, severity: 'must_fix', status: 'open' };
  return defined({
    ...{ alias: asLabel(id), kind: 'finding' as const, text: title || words, severity },
    ...{ status: findingStatus(action), resolution: asWords(note.join(' | ')) },
  }) as ModelItem;
}

function readFinding(node: Node, steps: ReadonlySet<string>): ModelItem {
  const { step, status, resolution, ...said } = readRows(
    findingRows.filter(({ at: path }) => path !== ''),
    node,
  );
  const settled = status ?? (plain(at(node, 'resolved')) === true || said.settledAt ? 'resolved' : 'open');
  return defined({
    severity: 'must_fix' as const,
    ...said,
    kind: 'finding' as const,
    text: said.text ?? asText(plain(node)),
    status: settled,
    step: step !== undefined && steps.has(step) ? step : undefined,
    resolution: resolution ?? (settled === 'open' ? undefined : asWords(plain(at(node, 'resolved_by')))),
  }) as ModelItem;
}

function readUsage(origins: readonly StepOrigin[]): ModelUsage[] {
  const byAgent = new Map<string, ModelUsage>();
  for (const { key, node } of origins) {
    const telemetry = at(node, 'telemetry');
    const [input, output] = ['input_tokens', 'output_tokens'].map((name) => {
      const value = plain(at(telemetry, name));
      return typeof value === 'number' ? asCount(value) : undefined;
    });
    if (input === undefined && output === undefined) continue;
    const agent = asWho(stringAt(node, 'agent')) ?? `step ${key}`;
    const before = byAgent.get(agent);
    const sums = { input: sum(before?.input, input), output: sum(before?.output, output) };
    byAgent.set(agent, defined({ agent, ...sums }) as ModelUsage);
  }
  return [...byAgent.values()];
}

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);

/** What the run model cannot express, kept to recreate the file, without what the template has anyway. */
export interface Kept {
  top?: Record<string, unknown>;
  steps?: Record<string, Record<string, unknown>>;
  /** What the migration removed, as far as it had a value. */
  removed?: Record<string, unknown>;
}

/** Values that follow from decisions are kept where they do not. */
const topRows = [...runRows, stampRow, ...KEPT_KEYS.map((key) => ({ at: key }))].filter(
  (row) => row.at !== 'iac_tool' && row.at !== 'region',
);

function keptOf(root: Node, origins: readonly StepOrigin[], migrates: boolean): Kept | undefined {
  const top: Record<string, unknown> = {};
  const removed: Record<string, unknown> = {};
  const steps: Record<string, Record<string, unknown>> = {};
  for (const [key, value] of Object.entries(unknownFields(topRows, root))) {
    if (value === '' || (key === 'region' && value === DEFAULT_REGION)) continue;
    if (key === 'review_audit' && isDefaultReview(value)) continue;
    if (migrates && (key === 'lock' || key === 'stale_threshold_ms')) {
      if (saysSomething(value)) define(removed, key, value);
    } else define(top, key, value);
  }
  for (const { key, node } of origins) {
    const { claim, ...rest } = unknownFields(stepRows, node);
    if (migrates && saysSomething(claim)) define(removed, `steps.${key}.claim`, claim);
    const left = migrates || claim === undefined ? rest : { ...rest, claim };
    if (Object.keys(left).length > 0) define(steps, key, left);
  }
  const some = (value: Record<string, unknown>) => (Object.keys(value).length > 0 ? value : undefined);
  const kept = defined({ top: some(top), steps: some(steps) as Kept['steps'], removed: some(removed) });
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** In the template every field of the lock is null, and no file filled it in. */
const saysSomething = (value: unknown): boolean =>
  isObject(value)
    ? Object.values(value).some((field) => field !== null && field !== 0 && asText(field) !== '[]')
    : value !== null && value !== undefined && value !== 300000;
