import type { PlannedStep } from '../../core/journal/command.ts';
import type { ModelStep } from '../../core/model/run-model.ts';
import { contextOf, derivePosition, WORKFLOW } from './steps.ts';

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

/**
 * The workflow for a run that has some of its steps. A missing step before the position is done if its product is there;
 * a step that was started has passed its gate.
 */
export function apexRest(
  project: string,
  known: readonly Pick<ModelStep, 'key' | 'status'>[],
  names: readonly string[],
): PlannedStep[] {
  const there = new Map(known.map((step) => [step.key, step.status]));
  const position = WORKFLOW.findIndex(({ key }) => key === derivePosition(known));
  return apexPlan(project).map((step, index) => {
    const status = there.get(step.key);
    const { gate: _, gateName: _name, ...ungated } = step;
    if (status !== undefined) return status === 'pending' ? step : ungated;
    const isMade = WORKFLOW[index]?.products.some((product) => names.some((name) => product.test(name)));
    return index < position && isMade ? { ...ungated, done: true } : step;
  });
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
