import { emptyRunModel, type ModelStep, type RunModel } from '../../core/model/run-model.ts';
import type { Found, Repaired, Tree } from '../format.ts';
import { readPhases } from '../plan-phases.ts';
import { scanPage } from '../text/page.ts';
import { flat } from './field-values.ts';
import { findDocument, isArchived, stateDir } from './paths.ts';
import { readSession, type Session } from './session-file.ts';

type Confidence = Repaired['confidence'][number];

/**
 * Repairs a damaged session from the readable part of the front matter, the log, a copy beside it and the
 * implementation plan. The file itself is the most reliable, a mark in the log less so, a plan has only names. A
 * finished phase is never reopened because a source does not mention it.
 */
export function repairSession(found: Found, tree: Tree): Repaired | null {
  const dir = stateDir(found.main) ?? '';
  const read = (path: string): Session | null => {
    const text = tree.read(path);
    return text === null ? null : readSession(path, text, isArchived(found.main));
  };
  const sources: string[] = [];
  const steps = new Map<string, { step: ModelStep; confidence: Confidence }>();
  let model: RunModel | null = null;
  const take = (path: string, session: Session | null, ceiling: Confidence['confidence']) => {
    const said = session?.model;
    if (!said || (said.steps.length === 0 && model !== null)) return;
    sources.push(path);
    model = model === null ? said : joined(model, said);
    for (const step of said.steps) {
      if (steps.has(step.key)) continue;
      const declared = session?.phases.get(step.key)?.phase.status != null && session.root !== null;
      const marked = session?.sections.get(step.key)?.status != null;
      const confidence = declared ? ceiling : marked ? lower(ceiling) : 'low';
      steps.set(step.key, { step, confidence: { step: step.key, confidence, from: path } });
    }
  };
  take(found.main, read(found.main), 'high');
  const copies = tree.paths.filter(
    (path) =>
      path !== found.main && (path.startsWith(`${found.main}.`) || path === found.main.replace(/\.md$/, '.bak.md')),
  );
  for (const copy of copies) take(copy, read(copy), 'medium');
  takeArchived(found, tree, dir, model, (path) => take(path, read(path), 'medium'));
  const plan = planOf(tree, dir, model, found);
  const titles = new Set([...steps.values()].map((one) => flat(one.step.title)));
  for (const step of plan?.steps ?? []) {
    const known = steps.has(step.key) || titles.has(flat(step.title));
    if (!known)
      steps.set(step.key, { step, confidence: { step: step.key, confidence: 'low', from: plan?.path ?? '' } });
  }
  if (plan && plan.steps.length > 0) sources.push(plan.path);
  if (steps.size === 0) return model === null ? null : { model, sources, confidence: [] };
  const whole: RunModel = model ?? emptyRunModel(plan?.title ?? 'Maestro session');
  const all = [...steps.values()];
  const keys = new Set(steps.keys());
  const linked = all.map(({ step }) =>
    step.after ? { ...step, after: step.after.filter((key) => keys.has(key)) } : step,
  );
  return { model: { ...whole, steps: linked }, sources, confidence: all.map(({ confidence }) => confidence) };
}

const lower = (confidence: Confidence['confidence']): Confidence['confidence'] =>
  confidence === 'high' ? 'medium' : 'low';

/** An earlier archive of the same session, left when a stale active file came back. */
function takeArchived(
  found: Found,
  tree: Tree,
  dir: string,
  model: RunModel | null,
  take: (path: string) => void,
): void {
  const id = model?.run.alias;
  const path = id ? `${dir}state/archive/${id}.md` : null;
  if (path && path !== found.main && tree.paths.includes(path)) take(path);
}

function joined(first: RunModel, second: RunModel): RunModel {
  return {
    ...first,
    run: { ...second.run, ...first.run },
    items: first.items.length > 0 ? first.items : second.items,
    decisions: first.decisions.length > 0 ? first.decisions : second.decisions,
    usage: first.usage.length > 0 ? first.usage : second.usage,
  };
}

function planOf(
  tree: Tree,
  dir: string,
  model: RunModel | null,
  found: Found,
): { path: string; title: string | null; steps: ModelStep[] } | null {
  const paths = new Set(tree.paths);
  const named = model?.run.plan ? findDocument(model.run.plan, dir, paths) : null;
  const plans = tree.paths.filter(
    (path) => path.startsWith(`${dir}plans/`) && /(?:impl|implementation)-plan[^/]*\.md$/.test(path),
  );
  // Without a pointer a plan is this session's only if it is the only one.
  const path = named ?? found.files.find((file) => plans.includes(file)) ?? (plans.length === 1 ? plans[0] : undefined);
  const text = path ? tree.read(path) : null;
  if (!path || text === null) return null;
  const page = scanPage(text);
  const title = page.headings.find((heading) => heading.level === 1)?.title ?? null;
  const steps = readPhases(page).map(
    ({ key, title: name, agents, parallel, after }): ModelStep => ({
      ...{ key, title: name, kind: 'phase', status: 'pending' },
      ...(agents.length > 0 ? { agents } : {}),
      ...(parallel ? { parallel } : {}),
      ...(after.length > 0 ? { after } : {}),
    }),
  );
  return { path, title, steps };
}
