import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** State files of other tools by path; a star matches one folder. */
const paths: readonly [format: string, path: string][] = [
  ['apex', 'agent-output/*/00-session-state.json'],
  ['apex', 'agent-output/*/00-handoff.md'],
  ['snap', 'working-session/TURNFILE.yaml'],
  ['snap', 'TURNFILE.yaml'],
  ['codewalk', 'STATE.md'],
  ['gsd', '.planning/STATE.md'],
  ['gsd', '.planning/HANDOFF.json'],
  ['gsd', '.gsd/STATE.md'],
  ['maestro', '.gemini/state/active-session.md'],
  ['maestro', 'docs/maestro/state/active-session.md'],
];

export interface ForeignState {
  format: string;
  path: string;
}

/** State files of other tools in a folder, found by name only. */
export function findForeignState(folder: string): ForeignState[] {
  return paths.flatMap(([format, pattern]) => expand(folder, pattern).map((path) => ({ format, path })));
}

function expand(folder: string, pattern: string): string[] {
  const [before, after] = pattern.split('*') as [string, string | undefined];
  if (after === undefined) return existsSync(join(folder, pattern)) ? [pattern] : [];
  try {
    const names = readdirSync(join(folder, before)).slice(0, 1000);
    return names.map((name) => `${before}${name}${after}`).filter((path) => existsSync(join(folder, path)));
  } catch {
    return [];
  }
}
