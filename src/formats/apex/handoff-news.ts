import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { isOpenMustFix, standing } from './write.ts';

/** What an account says that the page has to learn. Of a page that is made anew that is everything. */
export interface News {
  /** Everything is told, also that there is nothing. */
  whole: boolean;
  steps: readonly ModelStep[];
  /** Values by their key. */
  decisions: ReadonlyMap<string, string>;
  findings: readonly ModelItem[];
  artifacts: readonly string[];
  /** The work stands elsewhere, or somebody gave another next action. */
  moved: boolean;
}

/**
 * A page that is there speaks for itself: only what is otherwise than the state file said before is written on it. What
 * was out of date already stays so, and is reported, for nobody asked to have it rewritten.
 */
export function newsOf(model: RunModel, before: RunModel | null): News {
  const findings = model.items.filter(({ kind }) => kind === 'finding');
  const values = standing(model.decisions);
  if (!before) {
    const artifacts = artifactsOf(model);
    return { whole: true, steps: model.steps, decisions: values, findings, artifacts, moved: true };
  }
  const said = new Map(before.steps.map((step) => [step.key, step]));
  const steps = model.steps.filter((step) => standingOf(step) !== standingOf(said.get(step.key)));
  const was = standing(before.decisions);
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

/** What the page says of a step. A checkpoint that was left on a step that is over means nothing. */
function standingOf(step: ModelStep | undefined): string {
  if (step === undefined || step.status === 'pending') return '';
  return step.status === 'in_progress' ? `${step.status} ${step.checkpoint ?? ''}` : step.status;
}

function artifactsOf({ steps }: RunModel): string[] {
  return [...new Set(steps.flatMap((step) => step.artifacts ?? []).map(({ path }) => path))];
}
