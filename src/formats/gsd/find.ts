import { isCodewalkState } from '../codewalk/sniff.ts';
import type { Found, Tree } from '../format.ts';
import { sectionKind } from './words/headings.ts';

/** Finds runs: each `.planning/` and `.gsd/`, also nested ones, and pages named STATE.md with the same content. */
export function findRuns(tree: Tree): Found[] {
  const folders = new Map<string, string[]>();
  const loose: string[] = [];
  for (const path of tree.paths) {
    const folder = planningFolder(path);
    if (folder === null) {
      if (/(?:^|\/)STATE\.md$/i.test(path)) loose.push(path);
      continue;
    }
    const files = folders.get(folder);
    if (files) files.push(path);
    else folders.set(folder, [path]);
  }
  const found: Found[] = [];
  for (const [folder, paths] of folders) {
    const main = paths.find((path) => path.toLowerCase() === `${folder}state.md`.toLowerCase()) ?? null;
    const text = main === null ? null : tree.read(main);
    if (text !== null && isCodewalkState(text)) continue;
    const files = paths.filter((path) => path === main || isRead(path.slice(folder.length)));
    // A folder without a state file is a run only if it has a handoff or a roadmap.
    if (main === null && !files.some((path) => /(?:HANDOFF\.json|continue-here\.md|ROADMAP\.md)$/i.test(path)))
      continue;
    found.push({ format: 'gsd', main: main ?? `${folder}STATE.md`, files });
  }
  for (const path of loose) {
    const text = tree.read(path);
    if (text !== null && !isCodewalkState(text) && readsAlike(text))
      found.push({ format: 'gsd', main: path, files: [path] });
  }
  return found.sort((one, other) => (one.main < other.main ? -1 : 1));
}

/** `app/.planning/`, `.planning/workstreams/api/`, `.gsd/`; null for a path in none of them. */
function planningFolder(path: string): string | null {
  const planning = /^(?:.*\/)?\.planning\/(?:workstreams\/[^/]+\/)?/.exec(path)?.[0];
  // The folder of workstreams itself is not a run.
  if (planning !== undefined) return planning;
  return /^(?:.*\/)?\.gsd\/(?=STATE\.md$)/i.exec(path)?.[0] ?? null;
}

function isRead(rest: string): boolean {
  if (/^(?:milestones|archive|quick)\//i.test(rest)) return false;
  return (
    /^(?:HANDOFF\.json|ROADMAP\.md|STATE\.md\.bak)$/i.test(rest) ||
    /(?:^|\/)\.continue-here[^/]*\.md$/i.test(rest) ||
    /^phases\/[^/]+\/[^/]+-(?:PLAN|SUMMARY)\.md$/i.test(rest)
  );
}

/** Two headings of this format, or its front matter. */
function readsAlike(text: string): boolean {
  const head = text.slice(0, 200_000);
  if (/^\ufeff?---\r?\n(?:.*\r?\n){0,20}?gsd_state_version:/.test(head)) return true;
  const kinds = new Set([...head.matchAll(/^#{2,3} +(.+?)\s*$/gm)].map((match) => sectionKind(match[1] as string)));
  kinds.delete(null);
  return kinds.size >= 2 && (kinds.has('position') || kinds.has('decisions') || kinds.has('session'));
}
