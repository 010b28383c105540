import type { ModelDecision, ModelItem, ModelSession, RunModel } from '../../core/model/run-model.ts';
import { type Entries, entries, type Value } from './write-yaml.ts';

export function decisionEntries(decision: ModelDecision): Entries {
  return entries(
    ['date', decision.at],
    ['context', decision.context],
    ['decision', decision.decision],
    ['reason', decision.reason],
    ['alternatives_considered', decision.alternatives?.length ? [...decision.alternatives] : undefined],
    ['reversible', decision.irreversible ? false : undefined],
    ['status', decision.status === undefined || decision.status === 'active' ? undefined : decision.status],
  );
}

export function blockerEntries(item: ModelItem, model: RunModel, id: string): Entries {
  const titles = new Map(model.steps.map(({ key, title }) => [key, title]));
  return entries(
    ['id', item.alias ?? id],
    ['status', item.status === 'bypassed' || item.status === 'resolved' ? item.status : 'active'],
    ['description', item.text],
    ['identified_at', item.raisedAt],
    ['affects', item.affects?.length ? [...item.affects] : undefined],
    ['workaround', item.workaround ?? null],
    ['resolution', item.resolution ?? null],
    ['resolved_at', item.settledAt],
    [
      'workaround_tasks',
      item.followUp?.length ? item.followUp.map((key) => entries([key, titles.get(key) ?? key]) as Value) : undefined,
    ],
  );
}

/** A session that continues after a crash says so in its notes, which is how the format records it. */
export function sessionEntries(session: ModelSession, all: readonly ModelSession[], id: string): Entries {
  const from =
    session.continues === undefined
      ? undefined
      : all.find(({ alias, id: own }) => alias === session.continues || own === session.continues);
  const resumed = session.continues
    ? `Resuming from ${from?.alias ?? session.continues}${from?.status === 'crashed' ? ' crash' : ''}`
    : undefined;
  const notes = session.notes ?? [];
  const written = notes.length === 0 ? resumed : notes.length === 1 ? (notes[0] as string) : [...notes];
  return entries(
    ['id', session.alias ?? id],
    ['agent', session.agent],
    ['started', session.startedAt],
    ['ended', session.endedAt],
    ['status', session.status === 'completed' && session.endedAt ? undefined : session.status],
    ['context_usage', session.contextUsage === undefined ? undefined : `${session.contextUsage}%`],
    ['completed', session.completed?.length ? [...session.completed] : undefined],
    ['working_on', session.workingOn],
    ['notes', written],
    ['issues', session.issues?.length ? [...session.issues] : undefined],
    ['handoff_reason', session.why],
  );
}
