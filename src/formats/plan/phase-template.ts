import { readPhases } from '../plan-phases.ts';
import { scanPage } from '../text/page.ts';
import { emptyPage, type PlanPage } from './plan-page.ts';

/**
 * A plan by maestro's template: `## Phase 2: Endpoints` with a line that names its agent. Its phases keep their numbers as
 * keys and are the only steps. Null for any other page.
 */
export function parsePhaseTemplate(text: string): PlanPage | null {
  const page = scanPage(text);
  const phases = readPhases(page);
  if (!phases.some(({ agents }) => agents.length > 0)) return null;
  const [title] = page.headings.filter(({ level }) => level === 1);
  return {
    ...emptyPage(),
    title: title?.title ?? null,
    steps: phases.map(({ key, title: name, heading, agents, parallel, after }) => ({
      key,
      title: name,
      kind: 'phase',
      ...(agents.length > 0 ? { agents } : {}),
      ...(parallel ? { parallel } : {}),
      ...(after.length > 0 ? { after } : {}),
      line: heading.line + 1,
      isKeyMade: false,
      detail: null,
    })),
  };
}
