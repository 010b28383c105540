import { getNodeValue, type Node } from 'jsonc-parser';
import type { ModelDecision, ModelItem, ModelStep } from '../../core/model/run-model.ts';
import { isObject } from '../is-object.ts';
import { agentText } from './agents.ts';
import type { LogShape } from './decisions.ts';
import { defined, stamp } from './field-values.ts';
import type { Kept } from './read.ts';
import { elements, member } from './state-file.ts';
import { stepNumber } from './steps.ts';
import { titleFor } from './title.ts';

/** A step with the eight fields that every step has. */
export function newStep(step: ModelStep, tool: string, kept: Kept | undefined): Record<string, unknown> {
  const own = kept?.steps?.[step.key] ?? {};
  const { context_files_used: used, ...rest } = own;
  return {
    name: step.title,
    ...(step.kind === 'step' ? {} : { kind: step.kind }),
    agent: agentText(step, tool) ?? '',
    status: statusWords[step.status],
    ...(step.status === 'failed' ? { outcome: 'failed' } : {}),
    sub_step: step.checkpoint ?? null,
    started: step.startedAt === undefined ? null : stamp(step.startedAt),
    completed: step.endedAt === undefined ? null : stamp(step.endedAt),
    artifacts: (step.artifacts ?? []).map(({ path }) => path),
    context_files_used: used ?? [],
    ...rest,
  };
}

/** The format has no status for a failed step; it is written as not done. */
export const statusWords = {
  pending: 'pending',
  in_progress: 'in_progress',
  completed: 'complete',
  failed: 'in_progress',
  skipped: 'skipped',
} as const;

/** A log entry in the shape the file uses: `A` agents, `B` command line, `C` manual. */
export function newDecision(
  decision: ModelDecision,
  shape: LogShape,
  id: string,
  asString: boolean,
): Record<string, unknown> {
  const number = decision.step === undefined ? Number.NaN : stepNumber(decision.step);
  const step = asString || shape === 'B' || !Number.isFinite(number) ? decision.step : number;
  const status = decision.status === undefined || decision.status === 'active' ? undefined : decision.status;
  const impact = decision.affects && decision.affects.length === 1 ? decision.affects[0] : decision.affects;
  const shared = {
    key: decision.key,
    alternatives: decision.alternatives,
    impact,
    supersedes: decision.supersedes,
    status,
  };
  const timestamp = decision.at === undefined ? undefined : stamp(decision.at);
  switch (shape) {
    case 'A':
      return defined({
        id,
        step,
        agent: decision.by ?? '',
        title: decision.context ?? titleFor(decision.decision),
        choice: decision.decision,
        rationale: decision.reason ?? '',
        ...shared,
        timestamp,
      });
    case 'B':
      return defined({
        decision: decision.decision,
        timestamp,
        rationale: decision.reason,
        step,
        context: decision.context,
        agent: decision.by,
        ...shared,
      });
    case 'C':
      // This shape is for keys; a decision without one is written in the command line's shape.
      if (decision.key === undefined) return newDecision(decision, 'B', id, asString);
      return defined({
        step,
        ...shared,
        value: decision.decision,
        reason: decision.reason,
        title: decision.context,
        agent: decision.by,
        timestamp,
      });
    default:
      return shape satisfies never;
  }
}

/** `D001`, `D002` …, continuing from the highest. */
export function decisionIds(taken: readonly (string | undefined)[]): (alias: string | undefined) => string {
  const numberOf = (id: string | undefined): number => Number(/^D-?(\d{1,9})$/.exec(id ?? '')?.[1] ?? 0);
  let highest = taken.reduce((number, id) => Math.max(number, numberOf(id)), 0);
  return (alias) => {
    highest = alias === undefined ? highest + 1 : Math.max(highest, numberOf(alias));
    return alias ?? `D${String(highest).padStart(3, '0')}`;
  };
}

/** Whether the log writes steps as strings (`"3_5"`) or as numbers. */
export const namesStepsAsStrings = (log: Node | undefined): boolean =>
  typeof (member(elements(log).at(-1), 'step')?.value as unknown) === 'string';

/** A finding in the form of its neighbours: a title, or an object with their fields. */
export function newFinding(item: ModelItem, sample: Node | undefined, number: number): unknown {
  const like: unknown = sample?.type === 'object' ? getNodeValue(sample) : undefined;
  if (!isObject(like)) return item.text;
  const words =
    ['description', 'message', 'title', 'finding', 'text', 'summary'].find((key) => key in like) ?? 'description';
  const level = /^(high|medium|low|critical)$/i.test(String(like['severity'])) ? 'high' : 'must_fix';
  const id =
    typeof like['id'] === 'string'
      ? `${/^\D*/.exec(like['id'])?.[0] ?? ''}${String(number).padStart(/\d+$/.exec(like['id'])?.[0].length ?? 1, '0')}`
      : undefined;
  const fields: Record<string, unknown> = {
    id: item.alias ?? id,
    type: 'finding',
    step:
      item.step === undefined ? undefined : Number.isFinite(stepNumber(item.step)) ? stepNumber(item.step) : item.step,
    resource: item.affects?.[0],
    [words]: item.text,
    severity: level,
    impact: 'high',
    status: 'open',
    recommended_actions: item.workaround === undefined ? undefined : [item.workaround],
    timestamp: item.raisedAt === undefined ? undefined : stamp(item.raisedAt),
  };
  const usual = Object.keys(like).filter((key) => fields[key] !== undefined);
  return Object.fromEntries([...new Set([...usual, words])].map((key) => [key, fields[key]]));
}
