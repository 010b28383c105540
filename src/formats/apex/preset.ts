import type { PlannedStep } from '../../core/journal/command.ts';
import { contextOf, WORKFLOW } from './steps.ts';

/** The eight workflow steps as a plan, for a project in `agent-output/PROJECT`. */
export function apexPlan(project: string): PlannedStep[] {
  const folder = `agent-output/${project}`;
  return WORKFLOW.map((step) => ({
    key: step.key,
    title: step.name,
    kind: 'step',
    // Agent names in a plan cannot contain spaces.
    agents: step.agents.map((agent) => agent.replaceAll(' ', '-')),
    ...(step.after.length > 0 ? { after: [...step.after] } : {}),
    ...(step.gate === undefined ? {} : { gate: true, gateName: `Gate ${step.gate}` }),
    checkpoints: [...step.checkpoints],
    context: contextOf(step, folder),
  }));
}

/** A project has its folder's name: `^[a-z0-9][a-z0-9-]{0,29}$`. */
export function projectName(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  return words.slice(0, 30).replace(/-+$/, '') || 'project';
}
