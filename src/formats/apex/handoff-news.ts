import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { activeValues } from './table.ts';
import { isOpenMustFix } from './write.ts';

/** What the run model says that the page does not say yet. For a new page that is everything. */
export interface News {
  /** Every section is written, also the empty ones. */
  whole: boolean;
  steps: readonly ModelStep[];
  decisions: ReadonlyMap<string, string>;
  findings: readonly ModelItem[];
  artifacts: readonly string[];
  /** The position or the next action changed. */
  moved: boolean;
}

/**
 * On an existing page only differences from what the state file said before are written. What was already out of date
 * stays so and is reported, because nothing asked for it to be rewritten.
 */
export function newsOf(model: RunModel, before: RunModel | null): News {
  const findings = model.items.filter(({ kind }) => kind === 'finding');
  const values = activeValues(model.decisions);
  if (!before) {
    const artifacts = artifactsOf(model);
    return { whole: true, steps: model.steps, decisions: values, findings, artifacts, moved: true };
  }
  const said = new Map(before.steps.map((step) => [step.key, step]));
  const steps = model.steps.filter((step) => stateOf(step) !== stateOf(said.get(step.key)));
  const was = activeValues(before.decisions);
  const open = new Set(before.items.filter(isOpenMustFix).map(({ text }) => text));
  const listed = new Set(artifactsOf(before));
  return {
    whole: false,
    steps,
    decisions: new Map([...values].filter(([key, value]) => was.get(key) !== value)),
    findings: findings.filter((item) => isOpenMustFix(item) !== open.has(item.text)),
    artifacts: artifactsOf(model).filter((path) => !listed.has(path)),
    moved: steps.length > 0 || model.next !== before.next,
  };
}

/** What the page says about a step. A checkpoint left on a finished step means nothing. */
function stateOf(step: ModelStep | undefined): string {
  if (step === undefined || step.status === 'pending') return '';
  return step.status === 'in_progress' ? `${step.status} ${step.checkpoint ?? ''}` : step.status;
}

function artifactsOf({ steps }: RunModel): string[] {
  return [...new Set(steps.flatMap((step) => step.artifacts ?? []).map(({ path }) => path))];
}
