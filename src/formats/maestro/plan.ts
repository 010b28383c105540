import type { ModelStep } from '../../core/model/run-model.ts';
import { scanMarkdown } from '../markdown.ts';
import { isStepKey } from './field-values.ts';

/** The phases in the headings of an implementation plan: `## Phase 2: Middleware`. They have only names. */
export function readPlan(text: string): { title: string | null; steps: ModelStep[] } {
  const { headings } = scanMarkdown(text);
  const steps = new Map<string, ModelStep>();
  for (const { title } of headings) {
    const found = /^(?:Phase|Stage)\s+([^\s:]{1,64}?)\s*(?:[:.–—-]\s*(.*))?$/iu.exec(title);
    const key = found?.[1] ?? '';
    if (!found || !isStepKey(key) || steps.has(key)) continue;
    steps.set(key, { key, title: found[2]?.trim() || `Phase ${key}`, kind: 'phase', status: 'pending' });
  }
  const title = headings.find((heading) => heading.level === 1)?.title ?? null;
  return { title, steps: [...steps.values()] };
}
