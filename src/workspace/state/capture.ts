import { pathsOverlap } from '../../core/path-pattern.ts';
import type { CaptureConfig } from './workspace-settings.ts';

/** Whether a path may be recorded. Files of Holdfast and git are not part of the work. */
export function capturesPath(config: CaptureConfig | undefined, path: string): boolean {
  if (/^\.(?:holdfast|git)\//.test(path)) return false;
  return !list(config?.ignorePaths).some((pattern) => pathsOverlap(pattern, path));
}

export function capturesCommand(config: CaptureConfig | undefined, command: string): boolean {
  const words = command.trim();
  return !list(config?.ignoreCommands).some((pattern) => startsWithPattern(words, pattern.trim()));
}

/** People edit the settings by hand, so the value may be anything. */
const list = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one.trim() !== '') : [];

/** `npm run` matches `npm run build` and not `npm runner`; a star matches anything. */
function startsWithPattern(command: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...rest] = parts;
  if (!command.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = command.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return rest.length > 0 || at === command.length || /\s/.test(command[at] ?? '');
}
