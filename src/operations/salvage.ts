import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Salvaged } from '../formats/format.ts';
import { openTree } from '../workspace/tree.ts';
import { type ForeignPlace, findForeign, freeRunId, knownRun } from './adopt.ts';
import type { Context } from './context.ts';
import { syncMirrors } from './mirrors.ts';
import { writeResumeFile } from './resume-file.ts';

/** What is wrong with other tools' files, and what was or could be done about it. */
export interface Examined {
  code: string;
  level: 'error' | 'warning';
  at: string;
  message: string;
}

/** Looks at every state file below a path, or at one. With `repair` it takes over what can be saved of damaged ones. */
export async function examineFiles(context: Context, path: string, repair: boolean): Promise<Examined[]> {
  const root = context.workspace()?.tree ?? context.dir;
  const places = await findForeign(root, path);
  const examined: Examined[] = [];
  for (const place of places) {
    examined.push(
      ...place.parsed.problems.map(({ code, level, path: file, line, message }) => ({
        code,
        level,
        at: line === null ? file : `${file}:${line}`,
        message,
      })),
    );
    if (place.parsed.account === null) examined.push(...(await rescue(context, root, place, repair)));
  }
  return examined;
}

async function rescue(context: Context, root: string, place: ForeignPlace, repair: boolean): Promise<Examined[]> {
  const { format, found } = place;
  const salvaged = format.salvage(found, openTree(root));
  if (!salvaged) {
    const message =
      'Nothing around it says where the work stood. `holdfast init` begins anew; the file stays as it is.';
    return [{ code: 'nothing_left', level: 'error', at: found.main, message }];
  }
  const findings = wordsOf(salvaged);
  const shown = findings.map((message): Examined => ({ code: 'salvage', level: 'warning', at: found.main, message }));
  if (!repair) {
    const message = `It can be put together from ${salvaged.sources.join(', ')}: \`holdfast doctor ${found.main} --repair\`.`;
    return [...shown, { code: 'salvageable', level: 'error', at: found.main, message }];
  }
  const run = await takeOver(context, place, salvaged, findings);
  const kept = keepDamaged(root, found.main, (await context.engine()).now());
  const state = await (await context.engine()).load(run);
  await syncMirrors(context, state);
  await writeResumeFile(context, state);
  const message = `Run ${run} was put together from ${salvaged.sources.join(', ')}.${kept ? ` The damaged file is kept as ${kept}.` : ''} Look at each step before you trust it.`;
  return [...shown, { code: 'repaired', level: 'warning', at: found.main, message }];
}

async function takeOver(
  context: Context,
  { format, found }: ForeignPlace,
  salvaged: Salvaged,
  findings: string[],
): Promise<string> {
  const known = await knownRun(context, found);
  const workspace = context.workspace() ?? context.createWorkspace();
  const engine = await context.engine();
  const { account } = salvaged;
  const source = { format: format.name, path: found.main };
  const run = known ?? (await freeRunId(engine, found, account));
  // What the journal has is better than anything that can be put together.
  if (known === null) {
    const title = account.run.title.trim() || run;
    const opening = { title, workspace: workspace?.id ?? 'none', account: { ...source, account } };
    await engine.execute(run, { type: 'run.open', ...opening }, context.caller);
  }
  const from = known === null ? salvaged.sources.join(', ') : 'the journal';
  await engine.execute(run, { type: 'recovery.make', from, findings }, context.caller);
  return run;
}

function wordsOf({ confidence }: Salvaged): string[] {
  return confidence.map(({ step, confidence: how, from }) => `Step ${step}: ${how} confidence, from ${from}.`);
}

function keepDamaged(root: string, path: string, now: string): string | null {
  if (!existsSync(join(root, path))) return null;
  const kept = `${path}.corrupt-${now.replace(/[-:]/g, '').slice(0, 15)}Z`;
  copyFileSync(join(root, path), join(root, kept));
  return kept;
}
