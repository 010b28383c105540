import type { ModelStep } from '../../core/model/run-model.ts';

/** What the workflow defines for a step; the state file has only name and agent. */
export interface WorkflowStep {
  key: string;
  name: string;
  /** One agent, or one per infrastructure language, which is chosen in step 1. */
  agents: readonly string[];
  after: readonly string[];
  /** The gate that a person opens before the step starts: the gate after the previous step. */
  gate?: string;
  /** An optional step never blocks what follows. */
  optional?: boolean;
  checkpoints: readonly string[];
  /** What may be loaded at the start in addition to the state file. */
  context: readonly string[];
  /** The names of its files in the project folder, the main product first. */
  products: readonly RegExp[];
}

export const STATE_FILE = '00-session-state.json';
export const HANDOFF_FILE = '00-handoff.md';

/**
 * Gate 2 is before both steps that follow Architecture: Design may be skipped, and Governance must not be reached
 * without the gate. The checkpoint names are those used in practice (`phase_3.5_strategy`) where the definition has two
 * spellings.
 */
export const WORKFLOW: readonly WorkflowStep[] = [
  {
    key: '1',
    name: 'Requirements',
    agents: ['02-Requirements'],
    after: [],
    checkpoints: ['phase_1_discovery', 'phase_2_workload', 'phase_3_nfr', 'phase_4_technical', 'phase_5_artifact'],
    context: [],
    products: [/^01-requirements\.md$/, /^01-/],
  },
  {
    key: '2',
    name: 'Architecture',
    agents: ['03-Architect'],
    after: ['1'],
    gate: '1',
    checkpoints: ['phase_1_prereqs', 'phase_2_waf', 'phase_3_cost', 'phase_4_challenger', 'phase_5_artifact'],
    context: ['01-requirements.md'],
    products: [/^02-architecture-assessment\.md$/, /^02-|^03-des-cost/],
  },
  {
    key: '3',
    name: 'Design',
    agents: ['04-Design'],
    after: ['2'],
    gate: '2',
    optional: true,
    checkpoints: ['phase_1_prereqs', 'phase_2_diagram', 'phase_3_adr', 'phase_4_artifact'],
    context: ['02-architecture-assessment.md'],
    products: [/^03-des-(diagram|adr)/, /^03-des-(?!cost)/],
  },
  {
    key: '3_5',
    name: 'Governance',
    agents: ['04g-Governance'],
    after: ['2'],
    gate: '2',
    checkpoints: ['phase_1_discovery', 'phase_2_artifacts', 'phase_2_5_challenger', 'phase_3_gate'],
    context: ['02-architecture-assessment.md'],
    products: [/^04-governance-constraints\.(md|json)$/, /^04-governance/],
  },
  {
    key: '4',
    name: 'IaC Plan',
    agents: ['05-IaC Planner'],
    after: ['3_5'],
    gate: '2.5',
    checkpoints: [
      'phase_1_governance',
      'phase_2_avm',
      'phase_3_plan',
      'phase_3.5_strategy',
      'phase_4_diagrams',
      'phase_5_challenger',
      'phase_6_artifact',
    ],
    context: ['02-architecture-assessment.md'],
    products: [/^04-implementation-plan\.md$/, /^04-(?!governance)/],
  },
  {
    key: '5',
    name: 'IaC Code',
    agents: ['06b-Bicep CodeGen', '06t-Terraform CodeGen'],
    after: ['4'],
    gate: '3',
    checkpoints: [
      'phase_1_preflight',
      'phase_1.5_governance',
      'phase_2_scaffold',
      'phase_3_modules',
      'phase_4_lint',
      'phase_5_challenger',
      'phase_6_artifact',
    ],
    context: ['04-implementation-plan.md', '04-governance-constraints.json'],
    products: [/^05-implementation-reference\.md$/, /^05-/],
  },
  {
    key: '6',
    name: 'Deploy',
    agents: ['07b-Bicep Deploy', '07t-Terraform Deploy'],
    after: ['5'],
    gate: '4',
    checkpoints: ['phase_1_auth', 'phase_2_preview', 'phase_3_deploy', 'phase_4_verify', 'phase_5_artifact'],
    context: ['05-implementation-reference.md'],
    products: [/^06-deployment-summary\.md$/, /^06-/],
  },
  {
    key: '7',
    name: 'As-Built',
    agents: ['08-As-Built'],
    after: ['6'],
    gate: '5',
    checkpoints: [
      'phase_1_prereqs',
      'phase_2_inventory',
      'phase_3_docs',
      'phase_4_cost',
      'phase_5_diagram',
      'phase_6_index',
    ],
    context: ['06-deployment-summary.md', '02-architecture-assessment.md'],
    products: [/^07-documentation-index\.md$/, /^07-/],
  },
];

/** The files a step may load at its start: the state file, and one or two more. */
export const contextOf = (step: WorkflowStep, folder: string): string[] =>
  [STATE_FILE, ...step.context].map((name) => (folder === '' ? name : `${folder}/${name}`));

export const workflowStep = (key: string): WorkflowStep | undefined => WORKFLOW.find((step) => step.key === key);

/** `3.5` was renamed to `3_5` without a new version, so both occur; other keys are unchanged. */
export const stepKey = (written: string): string =>
  written
    .trim()
    .replace(/^(?:step[-_ ]?)?(\d+)(?:[._](\d+))?$/i, (_, whole, half) => (half ? `${whole}_${half}` : whole));

/** The order of a key among the steps: 3_5 is between 3 and 4. Keys that are not numbers come last, in file order. */
export function stepNumber(key: string): number {
  const parts = /^(\d+)(?:_(\d+))?$/.exec(key);
  return parts ? Number(`${parts[1]}.${parts[2] ?? 0}`) : Number.POSITIVE_INFINITY;
}

const statusWords: Readonly<Record<string, ModelStep['status']>> = {
  pending: 'pending',
  not_started: 'pending',
  todo: 'pending',
  open: 'pending',
  in_progress: 'in_progress',
  started: 'in_progress',
  active: 'in_progress',
  running: 'in_progress',
  blocked: 'in_progress',
  complete: 'completed',
  completed: 'completed',
  done: 'completed',
  closed: 'completed',
  approved: 'completed',
  failed: 'failed',
  error: 'failed',
  skipped: 'skipped',
  skip: 'skipped',
  not_applicable: 'skipped',
};

/** Returns null for an unknown word. */
export function stepStatus(written: string): ModelStep['status'] | null {
  const word = written
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  return Object.hasOwn(statusWords, word) ? (statusWords[word] ?? null) : null;
}

/**
 * The current position. It never comes from `current_step`, which is 0, stale or ambiguous in half of the real files.
 * An optional step left open while later ones continued is not the position.
 */
export function derivePosition(steps: readonly Pick<ModelStep, 'key' | 'status'>[]): string | null {
  const lastBegun = steps.findLastIndex((step) => step.status !== 'pending' && step.status !== 'skipped');
  const left = (step: Pick<ModelStep, 'status'>) => step.status !== 'completed' && step.status !== 'skipped';
  const inTheWay = steps.filter(
    (step, index) => left(step) && !(lastBegun > index && workflowStep(step.key)?.optional === true),
  );
  return (inTheWay.find((step) => step.status !== 'pending') ?? inTheWay[0] ?? steps.find(left))?.key ?? null;
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
