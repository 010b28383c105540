import type { Workspace } from '../workspace.ts';

/** The files that `install` wrote in a workspace, from its manifest. They hold no work. */
export function installedPaths({ state, clone }: Workspace): ReadonlySet<string> {
  try {
    const { files } = JSON.parse(state?.read(`installed/${clone.clone}/installed.json`) ?? '{}') as { files?: object };
    return new Set(Object.keys(files ?? {}));
  } catch {
    return new Set();
  }
}

/** Git names a folder instead of its files if none of them is tracked. */
export function isInstalled(installed: ReadonlySet<string>, path: string): boolean {
  if (!path.endsWith('/')) return installed.has(path);
  for (const file of installed) if (file.startsWith(path)) return true;
  return false;
}
