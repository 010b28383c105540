import type { Found, Repaired, Tree } from '../format.ts';
import { assemble } from './assemble.ts';
import { readPlanId } from './words/numbers.ts';

/** Repairs a run from the files around an unreadable STATE.md: summaries, the roadmap, handoffs. */
export function repairRun(found: Found, tree: Tree): Repaired | null {
  const folder = found.main.slice(0, found.main.lastIndexOf('/') + 1);
  const files = new Map<string, string>();
  for (const path of tree.paths) {
    if (!path.startsWith(folder) || path === found.main || !isSource(path.slice(folder.length))) continue;
    const text = tree.read(path);
    if (text !== null) files.set(path, text);
  }
  const backup = tree.read(`${found.main}.bak`);
  if (backup !== null && backup.trim() !== '' && !backup.includes('\0')) files.set(found.main, backup);
  if (files.size === 0) return null;
  const { model, roadmap } = assemble(found, files);
  const { steps, decisions, items, sessions } = model;
  if (steps.length + decisions.length + items.length + sessions.length === 0) return null;
  const paths = [...files.keys()];
  const summaryOf = (key: string): string | undefined =>
    paths.find((path) => readPlanId(/([^/]+)-SUMMARY\.md$/i.exec(path)?.[1] ?? '')?.key === key);
  const ticked = new Map(roadmap?.steps.map((step) => [step.key, step.status]) ?? []);
  const from = paths.find((path) => /ROADMAP\.md$/i.test(path)) ?? found.main;
  return {
    model,
    sources: paths.sort((one, other) => rank(one, found) - rank(other, found)),
    confidence: steps.map(({ key, status }) => {
      const summary = summaryOf(key);
      if (summary) return { step: key, confidence: 'high' as const, from: summary };
      return { step: key, confidence: ticked.get(key) === status ? ('medium' as const) : ('low' as const), from };
    }),
  };
}

function isSource(rest: string): boolean {
  return /^(?:ROADMAP\.md|HANDOFF\.json)$|\.continue-here[^/]*\.md$|^phases\/[^/]+\/[^/]+-(?:PLAN|SUMMARY)\.md$/i.test(
    rest,
  );
}

function rank(path: string, found: Found): number {
  if (path === found.main) return 0;
  if (/SUMMARY\.md$/i.test(path)) return 1;
  if (/ROADMAP\.md$/i.test(path)) return 2;
  return /HANDOFF\.json$/i.test(path) ? 3 : 4;
}
