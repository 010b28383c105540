import { emptyRunModel, type ModelStep, type RunModel } from '../../core/model/run-model.ts';
import type { Found, Repaired, Tree } from '../format.ts';
import { parseJson } from '../text/json.ts';
import { stringAt } from '../text/node.ts';
import { type Handoff, isAboutAnother, parseHandoff } from './handoff.ts';
import { folderOf, readState } from './read.ts';
import { derivePosition, HANDOFF_FILE, WORKFLOW, workflowStep } from './steps.ts';

type Confidence = Repaired['confidence'][number];
type Source = { path: string; model: RunModel; confidence: Confidence[] };

/**
 * Rebuilds the run model when the state file is missing or damaged, from a whole copy beside it (same project only),
 * the part that can still be read, the check-list of the handoff and the numbered files. Each step comes from the best
 * source that has it; a weaker source advances a step only past `pending`.
 */
export function repairRun(found: Found, tree: Tree): Repaired | null {
  const folder = folderOf(found.main);
  const sibling = (name: string): string => `${folder.path === '' ? '' : `${folder.path}/`}${folder.prefix}${name}`;
  const main = tree.read(found.main);
  const file = main === null ? null : parseJson(main);
  const project = (file?.root ? stringAt(file.root, 'project') : undefined) || folder.name;
  const copies = [`${found.main}.tmp`, `${found.main}.bak`].flatMap((path) => wholeCopy(path, tree, project));
  const part = file?.root && file.damaged ? readablePart(found.main, file) : null;
  const page = tree.read(sibling(HANDOFF_FILE));
  const handoff = page === null ? null : fromHandoff(sibling(HANDOFF_FILE), parseHandoff(page), project);
  const products = fromProducts(found, tree, folder, project);
  const sources = [...copies, part, handoff, products].filter((source) => source !== null);
  return combine(sources, folder.name || project) ?? freshRun(folder.name || project);
}

function wholeCopy(path: string, tree: Tree, project: string): Source[] {
  const text = tree.read(path);
  if (text === null) return [];
  const file = parseJson(text);
  const reading = file.damaged ? null : readState(path, text, file);
  // A copy that names another project is not a copy of this one.
  if (!reading || (project !== '' && stringAt(reading.root, 'project') !== project)) return [];
  return [{ path, model: reading.model, confidence: sure(reading.model.steps, 'high', path) }];
}

/** Steps that are whole before the damage are as reliable as the file was; the cut one is not used. */
function readablePart(path: string, file: ReturnType<typeof parseJson>): Source | null {
  const reading = readState(path, file.text, file);
  if (!reading) return null;
  const whole = new Set(reading.steps.filter(({ node }) => node.end <= file.soundUntil).map(({ key }) => key));
  const steps = reading.model.steps.filter(({ key }) => whole.has(key));
  if (steps.length === 0 && reading.model.decisions.length === 0) return null;
  return { path, model: { ...reading.model, steps }, confidence: sure(steps, 'medium', path) };
}

const sure = (steps: readonly ModelStep[], confidence: Confidence['confidence'], from: string): Confidence[] =>
  steps.map(({ key }) => ({ step: key, confidence, from }));

function fromHandoff(path: string, handoff: Handoff, project: string): Source | null {
  const done = new Map(handoff.steps.map((step) => [step.key, step]));
  if (done.size === 0 && handoff.decisions.length === 0) return null;
  if (isAboutAnother(handoff, project)) return null;
  const model = emptyRunModel(project || handoff.title || 'apex');
  model.steps = WORKFLOW.filter(({ key }) => done.has(key)).map(({ key }) => {
    const { done: ticked, skipped, artifact } = done.get(key) ?? { done: false, skipped: false };
    return {
      ...plainStep(key, skipped ? 'skipped' : ticked ? 'completed' : 'pending'),
      ...(artifact === undefined ? {} : { artifacts: ticked ? [{ path: artifact }] : [] }),
    };
  });
  model.decisions = handoff.decisions
    .filter(({ value }) => !/^(undecided|tbd|pending\b|none$)/i.test(value))
    .map(({ name, value }) => ({ key: decisionKey(name), decision: value, status: 'active' as const }));
  model.items = handoff.findings.map((text) => ({
    kind: 'finding' as const,
    text,
    severity: 'must_fix' as const,
    status: 'open' as const,
  }));
  if (handoff.branch !== undefined) model.run.branch = handoff.branch;
  if (handoff.updated !== undefined) model.run.updatedAt = handoff.updated;
  if (handoff.next !== undefined) model.next = handoff.next;
  // Nine of eleven real pages were behind their state file: a ticked step is likely done, an unticked one may be done
  // since.
  const confidence = model.steps.map(({ key, status }) => ({
    step: key,
    confidence: status === 'pending' ? ('low' as const) : ('medium' as const),
    from: path,
  }));
  return { path, model, confidence };
}

const decisionKey = (name: string): string => {
  const key =
    name
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 100) || 'decision';
  return { iac: 'iac_tool', pattern: 'architecture_pattern', default_region: 'region' }[key] ?? key;
};

/**
 * A numbered file shows that its step was started. It was likely finished once files of a later step exist. The last
 * one counts as in progress, because a file's number proves neither completion nor approval.
 */
function fromProducts(found: Found, tree: Tree, folder: ReturnType<typeof folderOf>, project: string): Source | null {
  const base = folder.path === '' ? '' : `${folder.path}/`;
  const root = base.replace(/(?:^|\/)agent-output\/[^/]+\/$/, '');
  const code = ['bicep', 'terraform'].map((tool) => `${root === '' ? '' : `${root}/`}infra/${tool}/${project}/`);
  const names = tree.paths
    .filter((path) => path.startsWith(base + folder.prefix) && !path.slice(base.length).includes('/'))
    .map((path) => ({ path, name: path.slice(base.length + folder.prefix.length) }));
  const files = new Map<string, string[]>();
  for (const { key, products } of WORKFLOW) {
    const own = names
      .filter(({ name }) => /^0[1-7]-/.test(name) && products.some((product) => product.test(name)))
      .map(({ path }) => path);
    const sources =
      key === '5' && project !== '' ? tree.paths.filter((path) => code.some((start) => path.startsWith(start))) : [];
    if (own.length + sources.length > 0) files.set(key, [...own, ...sources.slice(0, 200)]);
  }
  const last = [...files.keys()].at(-1);
  if (last === undefined) return null;
  const model = emptyRunModel(project || folder.name || 'apex');
  model.steps = [...files].map(([key, paths]) => ({
    ...plainStep(key, key === last ? 'in_progress' : 'completed'),
    artifacts: paths.map((path) => ({ path })),
  }));
  const confidence = [...files].map(([key, paths]) => ({
    step: key,
    confidence:
      key !== last &&
      paths.some((path) => workflowStep(key)?.products[0]?.test(path.slice(base.length + folder.prefix.length)))
        ? ('medium' as const)
        : ('low' as const),
    from: paths[0] ?? found.main,
  }));
  return { path: files.get(last)?.[0] ?? found.main, model, confidence };
}

/** Nothing is left: all steps are pending, as the document asks for. */
function freshRun(title: string): Repaired {
  const model = {
    ...emptyRunModel(title || 'apex'),
    steps: WORKFLOW.map(({ key }) => withGate(plainStep(key, 'pending'))),
  };
  model.position = { step: derivePosition(model.steps) };
  return { model, sources: [], confidence: [] };
}

const plainStep = (key: string, status: ModelStep['status']): ModelStep => {
  const known = workflowStep(key);
  return {
    key,
    title: known?.name ?? key,
    kind: 'step',
    status,
    ...(known ? { agents: [...known.agents], after: [...known.after], checkpoints: [...known.checkpoints] } : {}),
  };
};

/** A step that was started has passed its gate; nothing shows that a later one was opened. */
function withGate(step: ModelStep): ModelStep {
  const gate = workflowStep(step.key)?.gate;
  if (gate === undefined || step.gate) return step;
  const isBegun = step.status !== 'pending' && step.status !== 'skipped';
  return { ...step, gate: { state: isBegun ? 'open' : 'closed', name: `Gate ${gate}` } };
}

function combine(sources: readonly Source[], title: string): Repaired | null {
  const [best] = sources;
  if (!best) return null;
  const model: RunModel = { ...best.model, run: { ...best.model.run, title: best.model.run.title || title } };
  const steps = new Map<string, { step: ModelStep; sure: Confidence }>();
  for (const source of sources) {
    for (const [index, step] of source.model.steps.entries()) {
      const sure = source.confidence[index] as Confidence;
      const known = steps.get(step.key);
      if (!known) steps.set(step.key, { step, sure });
      else if (known.step.status === 'pending' && step.status !== 'pending' && known.sure.confidence !== 'high')
        steps.set(step.key, { step: { ...known.step, status: step.status, artifacts: step.artifacts ?? [] }, sure });
      else if (known.step.status === 'in_progress' && step.status === 'completed' && known.sure.confidence === 'low')
        steps.set(step.key, { step: { ...known.step, status: 'completed' }, sure });
    }
  }
  // The workflow always has its eight steps; those without a source are pending.
  if (best.model.steps.length === 0 || best.confidence.every(({ confidence }) => confidence !== 'high')) {
    for (const { key } of WORKFLOW)
      if (!steps.has(key))
        steps.set(key, { step: plainStep(key, 'pending'), sure: { step: key, confidence: 'low', from: best.path } });
  }
  const order = [
    ...WORKFLOW.map(({ key }) => key).filter((key) => steps.has(key)),
    ...[...steps.keys()].filter((key) => !workflowStep(key)),
  ];
  model.steps = order.map((key) => withGate((steps.get(key) as { step: ModelStep }).step));
  const other = sources.slice(1);
  if (model.decisions.length === 0)
    model.decisions = other.find((source) => source.model.decisions.length > 0)?.model.decisions ?? [];
  if (model.items.length === 0) model.items = other.find((source) => source.model.items.length > 0)?.model.items ?? [];
  model.position = { step: derivePosition(model.steps) };
  const done = model.steps.every(({ status }) => status === 'completed' || status === 'skipped');
  model.run = { ...model.run, status: done ? 'completed' : 'active' };
  return {
    model,
    sources: sources.map(({ path }) => path),
    confidence: order.map((key) => (steps.get(key) as { sure: Confidence }).sure),
  };
}
