import type { Account, AccountStep } from '../core/account.ts';

/**
 * Where an account stands: at what is being worked on, else at the place it names while that is open, else at what comes
 * behind it. What it names may be older than its steps, so the file moves only when this does.
 */
export function standing(account: Account): string | null {
  const said = account.position?.step ?? null;
  const parents = new Set(account.steps.map(({ parent }) => parent));
  const leaves = account.steps.filter(({ key }) => !parents.has(key));
  const there = account.steps.find(({ key }) => key === said);
  const running = leaves.filter(({ status }) => status === 'in_progress');
  if (running.length > 0) return (running.find(({ key }) => key === said) ?? running[0])?.key ?? null;
  if (there && isOpen(there)) return there.key;
  const at = leaves.findIndex(({ key }) => key === said);
  return (leaves.slice(at + 1).find(isOpen) ?? there)?.key ?? said;
}

function isOpen({ status }: AccountStep): boolean {
  return status !== 'completed' && status !== 'skipped';
}
