import { capturesPath } from '../../../workspace/capture.ts';
import { recordedPath } from '../../../workspace/files.ts';
import type { CaptureConfig } from '../../../workspace/workspace.ts';

/** A path as it is recorded; null for one outside the workspace or excluded by its settings. */
export function capturedPath(
  config: CaptureConfig | undefined,
  tree: string,
  from: string,
  path: string,
): string | null {
  try {
    const inside = recordedPath(tree, from, path);
    return capturesPath(config, inside) ? inside : null;
  } catch {
    return null;
  }
}
