import { redactRecord } from '../../../core/redact/redact.ts';
import { recordedPath } from '../../../workspace/files.ts';
import { capturesPath } from '../../../workspace/state/capture.ts';
import type { CaptureConfig } from '../../../workspace/state/workspace-settings.ts';

/**
 * A path as it is recorded; null for one outside the workspace, excluded by its settings, or with a secret in it: without
 * the secret it would name a file that does not exist.
 */
export function capturedPath(
  config: CaptureConfig | undefined,
  tree: string,
  from: string,
  path: string,
): string | null {
  try {
    const inside = recordedPath(tree, from, path);
    return capturesPath(config, inside) && redactRecord(inside).kinds.length === 0 ? inside : null;
  } catch {
    return null;
  }
}
