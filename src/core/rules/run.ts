import { defined } from '../defined.ts';
import { Fault, quoted } from '../fault.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draftSteps } from './plan.ts';
import { draft, mustAllow, mustBeActive, mustBePerson, type RuleContext } from './rule-context.ts';
import { draftRunModel } from './run-model.ts';

/** Opens a run with its first plan in one decision. */
export function openRun(
  context: RuleContext,
  { type: _, steps = [], account: model, ...body }: CommandOf<'run.open'>,
): Draft[] {
  if (context.state.run) {
    throw new Fault('illegal', `Run ${quoted(context.state.run.id)} exists already.`, {
      hints: ['Continue with `holdfast resume`, or choose another `--id`.'],
      data: { run: context.state.run.id },
    });
  }
  const { drafts, open } = draftSteps(context.state, steps);
  const finished = drafts.length > 0 && !open && body.kind !== 'ad-hoc' ? [draft('run.completed', {})] : [];
  const opened = draft('run.opened', { kind: 'planned', ...defined(body) } as typeof body);
  return [opened, ...drafts, ...finished, ...(model ? draftRunModel(context, model) : [])];
}

export function amendRun(context: RuleContext, { type: _, ...patch }: CommandOf<'run.amend'>): Draft[] {
  mustBeActive(context);
  const { run } = context.state;
  if (!run) return [];
  const changed = Object.entries(patch).filter(
    ([name, value]) => value !== undefined && JSON.stringify(run[name as keyof typeof run]) !== JSON.stringify(value),
  );
  return changed.length === 0 ? [] : [draft('run.amended', Object.fromEntries(changed))];
}

export function abortRun(context: RuleContext, { reason }: CommandOf<'run.abort'>): Draft[] {
  const { run, items } = context.state;
  if (!run) return [];
  mustAllow('run', `Run ${quoted(run.id)}`, run.status, 'abandon');
  mustBePerson(context, 'abort a run', 'holdfast abort "why"');
  const errors = [...items.values()].filter((item) => item.kind === 'error');
  return [
    ...errors.map((item) =>
      draft('item.settled', { id: item.id, as: 'withdrawn', note: `The run was aborted: ${reason}` }),
    ),
    draft('run.abandoned', { reason }),
  ];
}

/** A person can archive an unfinished run with a reason. */
export function archiveRun(context: RuleContext, { reason }: CommandOf<'run.archive'>): Draft[] {
  const { run } = context.state;
  if (!run || run.status === 'archived') return [];
  if (run.status !== 'active') return [draft('run.archived', { reason })];
  const { done, total } = context.plan.progress;
  if (total > 0 && done === total) return [draft('run.completed', {}), draft('run.archived', { reason })];
  if (reason === undefined) {
    throw new Fault('illegal', `Run ${quoted(run.id)} is not finished: ${done} of ${total} steps are done.`, {
      hints: ['Finish it, or a person archives it with `--reason`; it can be brought back with `holdfast unarchive`.'],
    });
  }
  mustBePerson(context, 'archive an unfinished run', 'holdfast archive --reason …');
  return [draft('run.abandoned', { reason }), draft('run.archived', { reason })];
}

export function unarchiveRun(context: RuleContext, { reason }: CommandOf<'run.unarchive'>): Draft[] {
  const { run } = context.state;
  if (!run) return [];
  mustAllow('run', `Run ${quoted(run.id)}`, run.status, 'unarchive');
  return [draft('run.reopened', { reason })];
}
