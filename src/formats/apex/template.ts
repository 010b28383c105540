import { isObject } from '../is-object.ts';

const REVIEWED = ['1', '2', '3_5', '4', '5', '6'];
const emptyReview = () => ({
  complexity: '',
  passes_planned: 0,
  passes_executed: 0,
  skipped: [],
  skip_reasons: [],
  models_used: [],
});

export const defaultReview = (): Record<string, unknown> =>
  Object.fromEntries(REVIEWED.map((key) => [`step_${key}`, emptyReview()]));

export function isDefaultReview(value: unknown): boolean {
  return isObject(value) && JSON.stringify(value) === JSON.stringify(defaultReview());
}

/** A new file of the newest form, without steps. */
export const DECISION_KEYS = [
  'region',
  'compliance',
  'budget',
  'architecture_pattern',
  'deployment_strategy',
  'complexity',
] as const;
