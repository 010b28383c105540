import type { Account, AccountStep } from '../../core/account.ts';
import type { Reading } from './assemble.ts';

/** How the steps of an account differ from those the files give. */
export interface StepChanges {
  status: AccountStep[];
  renamed: { before: AccountStep; after: AccountStep }[];
  added: AccountStep[];
  removed: AccountStep[];
  /** Where the work stands now. */
  position: string | null;
}

export function stepChanges(reading: Reading, account: Account): StepChanges {
  const before = new Map(reading.account.steps.map((step) => [step.key, step]));
  const after = new Map(account.steps.map((step) => [step.key, step]));
  const derivedBefore = derivedStatuses(reading.account.steps);
  const changes: StepChanges = { status: [], renamed: [], added: [], removed: [], position: null };
  for (const step of account.steps) {
    const old = before.get(step.key);
    if (!old) changes.added.push(step);
    // A file may claim of a phase what its plans do not bear out; what follows from the plans is no change.
    else if (step.status !== old.status && step.status !== derivedBefore.get(step.key)) changes.status.push(step);
    if (old && old.title.replace(/\s+/g, ' ').trim() !== step.title.replace(/\s+/g, ' ').trim())
      changes.renamed.push({ before: old, after: step });
  }
  for (const step of reading.account.steps) if (!after.has(step.key)) changes.removed.push(step);
  changes.position = newPosition(reading, account, changes, after);
  return changes;
}

function derivedStatuses(steps: readonly AccountStep[]): Map<string, AccountStep['status']> {
  const below = new Map<string, AccountStep[]>();
  for (const step of steps) {
    if (step.parent === undefined) continue;
    const level = below.get(step.parent);
    if (level) level.push(step);
    else below.set(step.parent, [step]);
  }
  const derived = new Map<string, AccountStep['status']>();
  for (const [key, children] of below) {
    const done = children.every(({ status }) => status === 'completed' || status === 'skipped');
    const idle = children.every(({ status }) => status === 'pending');
    derived.set(key, done ? 'completed' : idle ? 'pending' : 'in_progress');
  }
  return derived;
}

/** Said outright, or where the steps that moved lead to: what is being worked on, else what comes next. */
function newPosition(
  reading: Reading,
  account: Account,
  changes: StepChanges,
  steps: ReadonlyMap<string, AccountStep>,
): string | null {
  const old = reading.steps.position;
  const said = account.position?.step ?? null;
  if (said !== null && said !== old && steps.has(said)) return said;
  if (changes.status.length === 0) return old;
  const parents = new Set(account.steps.map(({ parent }) => parent));
  const leaves = account.steps.filter(({ key }) => !parents.has(key));
  const begun = changes.status.findLast(({ key, status }) => status === 'in_progress' && !parents.has(key));
  if (begun) return begun.key;
  const there = old === null ? undefined : steps.get(old);
  if (there && there.status !== 'completed' && there.status !== 'skipped') return old;
  const at = old === null ? -1 : leaves.findIndex(({ key }) => key === old);
  const open = (step: AccountStep) => step.status !== 'completed' && step.status !== 'skipped';
  const next =
    leaves.find(({ status }) => status === 'in_progress') ?? leaves.slice(at + 1).find(open) ?? leaves.find(open);
  return next?.key ?? old;
}
