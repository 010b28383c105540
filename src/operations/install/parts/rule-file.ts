import { join } from 'node:path';
import { briefInRule, RULE_FILE, ruleText } from '../../../clients/cursor/rule.ts';
import { isSamePage } from '../../../core/brief/resume-page.ts';
import { sha256 } from '../../../core/sha256.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';
import { withFileLock } from '../../../workspace/lock.ts';
import type { Context } from '../../context.ts';
import { hasManifest, isAsWritten, readManifest, writeManifest } from './manifest.ts';
import { manifestFolder } from './place.ts';

const LOCK_WAIT_MS = 1000;

/**
 * Brings the brief in Cursor's rule file up to date, if `install cursor` wrote that file in the main working tree and nobody
 * edited it since. `compose` returns null if nothing is unfinished. An error here is only a warning.
 */
export async function keepRule(context: Context, compose: () => Promise<string | null>): Promise<void> {
  const workspace = context.workspace();
  if (!workspace || workspace.tree !== workspace.root) return;
  const tree = openGuarded(workspace.root);
  try {
    const folder = manifestFolder(context, { scope: 'project' });
    if (!hasManifest(folder) || !(RULE_FILE in readManifest(folder).files)) return;
    const brief = await compose();
    await withFileLock(join(folder, 'installed.lock'), LOCK_WAIT_MS, async () => {
      const manifest = readManifest(folder);
      const entry = manifest.files[RULE_FILE];
      const before = tree.read(RULE_FILE);
      if (!entry || before === null || !isAsWritten(entry, before)) return;
      if (isSamePage(briefInRule(before) ?? '', brief ?? '')) return;
      const text = ruleText(brief);
      manifest.files[RULE_FILE] = { ...entry, after: sha256(text), was: sha256(before) };
      writeManifest(folder, manifest);
      tree.replace(RULE_FILE, before, text);
    });
  } catch (thrown) {
    context.warn(`${RULE_FILE} was not written: ${(thrown as Error).message}`);
  }
}
