import type { Context } from '../../context.ts';

/** Refuses work on a step beside a mirror whose format forbids it. Most runs have no mirror, and nothing of mirrors is loaded. */
export async function mustAllowWork(context: Context): Promise<void> {
  const workspace = context.workspace();
  if (!workspace || context.run === undefined) return;
  const { mirrors } = await (await context.engine()).load(context.run);
  if (mirrors.size === 0) return;
  const { mustAllowWorkBeside } = await import('../../files/parts/mirror-files.ts');
  await mustAllowWorkBeside(workspace, mirrors.values());
}
