import { getNodeValue, type Node } from 'jsonc-parser';
import { emptyRunModel, type ModelStep, type ModelUsage, type RunModel } from '../../core/model/run-model.ts';
import { isObject } from '../is-object.ts';
import { type DecisionOrigin, readDecisions } from './decisions.ts';
import { asLabel, asPath, asText, asTime, asWho, asWords, defined } from './field-values.ts';
import { readFindings } from './findings.ts';
import { gateBefore, readGates } from './gates.ts';
import { needsMigration, type Version, versionOf } from './migrate.ts';
import { member, members, type StateFile, stringAt } from './state-file.ts';
import { type StepOrigin, stepEntries } from './step-entries.ts';
import { contextOf, derivePosition, STATE_FILE, stepStatus, WORKFLOW, workflowStep } from './steps.ts';
import { isDefaultReview } from './template.ts';

/** What a state file says, and where in the file each part is. */
export interface Reading {
  file: StateFile;
  root: Node;
  version: Version;
  model: RunModel;
  steps: readonly StepOrigin[];
  /** In the order of the run model's decisions. */
  decisions: readonly DecisionOrigin[];
  /** In the order of the run model's items. */
  findings: readonly Node[];
}

/** A run is completed when its steps are. Only an extra key, which some files have, can say that it was abandoned. */
export function derivedStatus(steps: readonly ModelStep[]): RunModel['run']['status'] {
  const done = steps.length > 0 && steps.every(({ status }) => status === 'completed' || status === 'skipped');
  return done ? 'completed' : 'active';
}

const runStatus = (word: string | undefined): RunModel['run']['status'] | undefined =>
  (['active', 'completed', 'abandoned', 'archived'] as const).find((status) => status === word?.toLowerCase());

/** Returns null unless the file has this format. */
export function readState(file: StateFile): Reading | null {
  const { root } = file;
  if (!root || (!member(root, 'steps') && !member(root, 'project') && !member(root, 'decisions'))) return null;
  if (member(root, 'lanes') && !member(root, 'steps')) return null;
  const top = Object.fromEntries(
    members(root).map(([key, node]) => [
      key,
      key === 'schema_version' || key === '$schema' || key === 'gates' ? getNodeValue(node) : null,
    ]),
  );
  const origins = stepEntries(root);
  const folder = folderOf(file.path);
  const model = emptyRunModel(titleOf(root, folder.name));
  model.steps = origins.map((origin) => readStep(origin));
  completeSteps(model.steps, origins, root, folder.path);
  const keys = new Set(model.steps.map((step) => step.key));
  const { decisions, origins: decisionOrigins } = readDecisions(root, keys);
  const { items, origins: findings } = readFindings(root, keys);
  model.run = defined({
    title: model.run.title,
    status: runStatus(stringAt(root, 'workflow_status')) ?? derivedStatus(model.steps),
    openedAt: asTime(stringAt(root, 'created')),
    updatedAt: asTime(stringAt(root, 'updated')),
    branch: asWords(stringAt(root, 'branch')),
  });
  model.decisions = decisions;
  model.items = items;
  model.usage = readUsage(origins);
  model.position = { step: derivePosition(model.steps) };
  const version = versionOf(top);
  const kept = keptOf(root, origins, needsMigration(version));
  if (kept) model.kept = { apex: kept };
  return { file, root, version, model, steps: origins, decisions: decisionOrigins, findings };
}

export function folderOf(path: string): { path: string; name: string; prefix: string } {
  const slash = path.lastIndexOf('/');
  const folder = slash < 0 ? '' : path.slice(0, slash);
  const base = path.slice(slash + 1);
  const at = base.indexOf(STATE_FILE);
  return { path: folder, name: folder.slice(folder.lastIndexOf('/') + 1), prefix: at < 0 ? '' : base.slice(0, at) };
}

const titleOf = (root: Node, folder: string): string =>
  ['title', 'project', 'lz_name', 'landing_zone']
    .map((key) => asLabel(stringAt(root, key)))
    .find((name) => name !== undefined) ??
  (folder || 'apex');

function readStep({ key, written, fields: step }: StepOrigin): ModelStep {
  const status = typeof step['status'] === 'string' ? stepStatus(step['status']) : null;
  const artifacts = readArtifacts(step);
  const agents =
    typeof step['agent'] === 'string'
      ? step['agent']
          .split(/\s+\|\s+/)
          .map(asWho)
          .filter((name) => name !== undefined)
      : [];
  const claim = step['claim'];
  const retries = isObject(claim) && Number.isSafeInteger(claim['retry_count']) ? Number(claim['retry_count']) : 0;
  return defined({
    key,
    alias:
      written === key || written.toLowerCase() === String(step['name']).toLowerCase() ? undefined : asLabel(written),
    title: asWords(step['name']) ?? asWords(step['title']) ?? workflowStep(key)?.name ?? key,
    kind: STEP_KINDS.find((kind) => kind === step['kind']) ?? 'step',
    agents: agents.length > 0 ? agents : undefined,
    status:
      step['outcome'] === 'failed' && status === 'in_progress' ? ('failed' as const) : (status ?? guessStatus(step)),
    checkpoint: asWords(step['sub_step']),
    startedAt: asTime(step['started']),
    endedAt: asTime(step['completed']),
    retries: retries > 0 ? retries : undefined,
    artifacts,
  }) as ModelStep;
}

const STEP_KINDS = ['phase', 'plan', 'task', 'step'] as const;

/** Without a status the times of a step decide. */
const guessStatus = (step: Record<string, unknown>): ModelStep['status'] =>
  asTime(step['completed']) ? 'completed' : asTime(step['started']) ? 'in_progress' : 'pending';

/** Null differs from an empty array: a step with an empty array states that there are none. */
function readArtifacts(step: Record<string, unknown>): ModelStep['artifacts'] {
  const listed = step['artifacts'] ?? (step['artifact'] ? [step['artifact']] : undefined);
  if (listed === undefined) return undefined;
  const entries: unknown[] = Array.isArray(listed) ? listed : [listed];
  const paths = entries.map((entry) =>
    asPath(isObject(entry) ? (entry['path'] ?? entry['file'] ?? entry['name']) : entry),
  );
  return paths.filter((path) => path !== undefined).map((path) => ({ path }));
}

/** Adds what the workflow defines for its steps and the file leaves out: order, checkpoints, files to load, gates. */
function completeSteps(all: ModelStep[], origins: readonly StepOrigin[], root: Node, folder: string): void {
  const steps = all.filter((_, index) => origins[index]?.isOwn !== true);
  const keys = new Set(steps.map((step) => step.key));
  const gates = readGates(root, steps);
  for (const step of steps) {
    const known = workflowStep(step.key);
    const gate = gates.get(gateBefore(step.key));
    if (gate) step.gate = gate;
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

function readUsage(origins: readonly StepOrigin[]): ModelUsage[] {
  const byAgent = new Map<string, ModelUsage>();
  for (const { key, node } of origins) {
    const telemetry = member(node, 'telemetry');
    const count = (name: string): number | undefined => {
      const value = member(telemetry, name)?.value as unknown;
      return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
    };
    const [input, output] = [count('input_tokens'), count('output_tokens')];
    if (input === undefined && output === undefined) continue;
    const agent = asWho(stringAt(node, 'agent')) ?? `step ${key}`;
    const before = byAgent.get(agent);
    byAgent.set(
      agent,
      defined({ agent, input: sum(before?.input, input), output: sum(before?.output, output) }) as ModelUsage,
    );
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

const topFields = new Set([
  'schema_version',
  'project',
  'title',
  'workflow_status',
  'branch',
  'updated',
  'current_step',
  'decisions',
  'open_findings',
  'decision_log',
  'steps',
  'gates',
]);
const stepFields = new Set([
  'name',
  'kind',
  'agent',
  'status',
  'outcome',
  'sub_step',
  'started',
  'completed',
  'artifacts',
]);

function keptOf(root: Node, origins: readonly StepOrigin[], migrates: boolean): Kept | undefined {
  const top: Record<string, unknown> = {};
  const removed: Record<string, unknown> = {};
  const steps: Record<string, Record<string, unknown>> = {};
  const put = (target: Record<string, unknown>, key: string, value: unknown): void => {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  };
  for (const [key, node] of members(root)) {
    const value: unknown = topFields.has(key) ? undefined : getNodeValue(node);
    if (value === undefined || value === '' || (key === 'region' && value === 'swedencentral')) continue;
    if (key === 'review_audit' && isDefaultReview(value)) continue;
    if (migrates && (key === 'lock' || key === 'stale_threshold_ms')) {
      if (saysSomething(value)) put(removed, key, value);
    } else put(top, key, value);
  }
  for (const { key, node } of origins) {
    const rest: Record<string, unknown> = {};
    for (const [name, field] of members(node)) {
      const value: unknown = stepFields.has(name) ? undefined : getNodeValue(field);
      if (value === undefined || (name === 'context_files_used' && JSON.stringify(value) === '[]')) continue;
      if (migrates && name === 'claim') {
        if (saysSomething(value)) put(removed, `steps.${key}.claim`, value);
      } else put(rest, name, value);
    }
    if (Object.keys(rest).length > 0) put(steps, key, rest);
  }
  const some = (value: Record<string, unknown>) => (Object.keys(value).length > 0 ? value : undefined);
  const kept = defined({ top: some(top), steps: some(steps) as Kept['steps'], removed: some(removed) });
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** In the template every field of the lock is null, and no file filled it in. */
const saysSomething = (value: unknown): boolean =>
  isObject(value)
    ? Object.values(value).some((field) => field !== null && field !== 0 && asText(field) !== '[]')
    : value !== null && value !== 300000;
