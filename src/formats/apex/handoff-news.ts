import type { Account, AccountItem, AccountStep } from '../../core/model/run-model.ts';
import { isOpenMustFix, standing } from './write.ts';

/** What an account says that the page has to learn. Of a page that is made anew that is everything. */
export interface News {
  /** Everything is told, also that there is nothing. */
  whole: boolean;
  steps: readonly AccountStep[];
  /** Values by their key. */
  decisions: ReadonlyMap<string, string>;
  findings: readonly AccountItem[];
  artifacts: readonly string[];
  /** The work stands elsewhere, or somebody gave another next action. */
  moved: boolean;
}

/**
 * A page that is there speaks for itself: only what is otherwise than the state file said before is written on it. What
 * was out of date already stays so, and is reported, for nobody asked to have it rewritten.
 */
export function newsOf(account: Account, before: Account | null): News {
  const findings = account.items.filter(({ kind }) => kind === 'finding');
  const values = standing(account.decisions);
  if (!before) {
    const artifacts = artifactsOf(account);
    return { whole: true, steps: account.steps, decisions: values, findings, artifacts, moved: true };
  }
  const said = new Map(before.steps.map((step) => [step.key, step]));
  const steps = account.steps.filter((step) => standingOf(step) !== standingOf(said.get(step.key)));
  const was = standing(before.decisions);
  const open = new Set(before.items.filter(isOpenMustFix).map(({ text }) => text));
  const listed = new Set(artifactsOf(before));
  return {
    whole: false,
    steps,
    decisions: new Map([...values].filter(([key, value]) => was.get(key) !== value)),
    findings: findings.filter((item) => isOpenMustFix(item) !== open.has(item.text)),
    artifacts: artifactsOf(account).filter((path) => !listed.has(path)),
    moved: steps.length > 0 || account.next !== before.next,
  };
}

/** What the page says of a step. A checkpoint that was left on a step that is over means nothing. */
function standingOf(step: AccountStep | undefined): string {
  if (step === undefined || step.status === 'pending') return '';
  return step.status === 'in_progress' ? `${step.status} ${step.checkpoint ?? ''}` : step.status;
}

function artifactsOf({ steps }: Account): string[] {
  return [...new Set(steps.flatMap((step) => step.artifacts ?? []).map(({ path }) => path))];
}
