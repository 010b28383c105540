import type { Found, Tree } from '../format.ts';
import { HANDOFF_FILE, STATE_FILE } from './steps.ts';

/**
 * Finds runs by folder: any state file that looks like one and, below `agent-output/`, also a folder that has only the
 * files around a state file. A copy renamed with a prefix and two underscores counts, and so do its neighbours with the
 * same prefix.
 */
export function detectRuns(tree: Tree): Found[] {
  const groups = new Map<string, { folder: string; prefix: string; paths: string[] }>();
  for (const path of tree.paths) {
    const slash = path.lastIndexOf('/') + 1;
    const [, prefix = '', rest] = /^((?:.*__)?)(0[0-7]-.*)$/.exec(path.slice(slash)) ?? [];
    if (rest === undefined) continue;
    const key = path.slice(0, slash) + prefix;
    const group = groups.get(key) ?? { folder: path.slice(0, slash), prefix, paths: [] };
    groups.set(key, group);
    group.paths.push(path);
  }
  return [...groups].flatMap(([start, { folder, prefix, paths }]) => {
    const main = start + STATE_FILE;
    const around = new Set([main, `${main}.bak`, `${main}.tmp`, start + HANDOFF_FILE]);
    const files = paths.filter((path) => around.has(path) || /^0[1-7]-/.test(path.slice(start.length)));
    const inPlace = /(^|\/)agent-output\/[^/]+\/$/.test(folder);
    const found: Found = { format: 'apex', main, files: files.includes(main) ? files : [main, ...files] };
    if (files.includes(main)) return inPlace || isState(tree.read(main)) ? [found] : [];
    if (files.includes(`${main}.bak`) || files.includes(`${main}.tmp`)) return [found];
    // Numbered files are common; they mean this format only in its own folder.
    return inPlace && prefix === '' && files.length > 0 ? [found] : [];
  });
}

/** Other tools use the same file name for other things. A damaged file is still detected. */
function isState(text: string | null): boolean {
  if (text === null) return false;
  const head = text.slice(0, 20_000);
  return (
    /"(schema_version|\$schema)"/.test(head) ||
    (/"steps"/.test(head) && /"(current_step|project|decisions)"/.test(head))
  );
}
