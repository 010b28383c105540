import type { ModelStep } from '../../core/model/run-model.ts';
import { workflowStep } from './steps.ts';

/** Names of agents that differ only in what our names cannot hold (`05-IaC Planner`, `05-IaC-Planner`) are the same. */
export const agentKey = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');

/** One agent per language until a language is chosen, then that agent. Returns null to leave the field as it is. */
export function agentText(step: Pick<ModelStep, 'key' | 'agents'>, tool: string, there = ''): string | null {
  const known = workflowStep(step.key)?.agents ?? [];
  const spelled = (step.agents ?? []).map((name) => known.find((agent) => agentKey(agent) === agentKey(name)) ?? name);
  const isChoice = known.length > 1 && spelled.length === known.length && spelled.every((name) => known.includes(name));
  if (!isChoice) return spelled.join(' | ');
  const chosen = known.find((agent) => tool !== '' && agent.toLowerCase().includes(tool.toLowerCase()));
  return chosen ?? (there === '' ? '' : null);
}
