import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { oneLine } from '../../core/text.ts';
import type { Handoff } from './handoff.ts';
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
 * On an existing page the lines that are no longer true are written, and what the state file did not say before. So the
 * page also follows an edit of the state file that someone else made. A section that the page lacks is added with news
 * only.
 */
export function newsOf(model: RunModel, before: RunModel | null, page: Handoff): News {
  const findings = model.items.filter(({ kind }) => kind === 'finding');
  const values = activeValues(model.decisions);
  if (!before) {
    const artifacts = artifactsOf(model);
    return { whole: true, steps: model.steps, decisions: values, findings, artifacts, moved: true };
  }
  const said = new Map(before.steps.map((step) => [step.key, step]));
  const listedSteps = new Map(page.steps.map((step) => [step.key, step]));
  const isBehind = (step: ModelStep): boolean => {
    const there = listedSteps.get(step.key);
    return there !== undefined && there.done !== (step.status === 'completed' || step.status === 'skipped');
  };
  const steps = model.steps.filter((step) => isBehind(step) || stateOf(step) !== stateOf(said.get(step.key)));
  const was = activeValues(before.decisions);
  const open = new Set(before.items.filter(isOpenMustFix).map(({ text }) => text));
  const listed = new Set(artifactsOf(before));
  return {
    whole: false,
    steps,
    decisions: new Map([...values].filter(([key, value]) => was.get(key) !== value || isUndecided(key, page))),
    findings: findings.filter((item) => isOpenMustFix(item) !== open.has(item.text) || isWrong(item, page)),
    artifacts: artifactsOf(model).filter((path) => !listed.has(path)),
    moved: steps.length > 0 || model.next !== before.next,
  };
}

/** A finding that is settled and still on the page, or open and not on its list. */
function isWrong(item: ModelItem, { findings, missing }: Handoff): boolean {
  const isThere = findings.some((line) => line.includes(oneLine(item.text, 160)));
  if (!isOpenMustFix(item)) return isThere;
  return !isThere && !missing.some((heading) => heading.startsWith('Open Challenger'));
}

const isUndecided = (key: string, { decisions }: Handoff): boolean =>
  decisions.some(
    ({ name, value }) => /^(?:undecided|tbd)\b/i.test(value) && name.toLowerCase().replace(/ /g, '_') === key,
  );

/** What the page says about a step. A checkpoint left on a finished step means nothing. */
function stateOf(step: ModelStep | undefined): string {
  if (step === undefined || step.status === 'pending') return '';
  return step.status === 'in_progress' ? `${step.status} ${step.checkpoint ?? ''}` : step.status;
}

function artifactsOf({ steps }: RunModel): string[] {
  return [...new Set(steps.flatMap((step) => step.artifacts ?? []).map(({ path }) => path))];
}
