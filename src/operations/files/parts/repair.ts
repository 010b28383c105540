import { join } from 'node:path';
import type { Repaired } from '../../../formats/format.ts';
import { pathExists } from '../../../workspace/read.ts';
import { openTree } from '../../../workspace/tree.ts';
import { keepCopy, writeInside } from '../../../workspace/write.ts';
import { writeResumeFile } from '../../brief/parts/resume-file.ts';
import type { Context } from '../../context.ts';
import { type ForeignPlace, findForeign, freeRunId, knownRun } from '../adopt.ts';
import { saveBase } from './mirror-base.ts';
import { syncMirrors } from './mirrors.ts';
import { readWholeRun } from './run-model.ts';

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
    const rescued = place.parsed.model === null ? await rescue(context, place, repair) : [];
    // What was mended is told, and is no longer wrong.
    const isMended = rescued.some(({ code }) => code === 'repaired');
    const problems = place.parsed.problems.map(
      ({ code, level, path: file, line, message }): Examined => ({
        code,
        level: isMended ? 'warning' : level,
        at: line === null ? file : `${file}:${line}`,
        message,
      }),
    );
    examined.push(...problems, ...rescued);
  }
  return examined;
}

async function rescue(context: Context, place: ForeignPlace, repair: boolean): Promise<Examined[]> {
  const { format, base: root, found } = place;
  const repaired = format.repair(found, openTree(root));
  if (!repaired) {
    const message =
      'Nothing around it says where the work stood. `holdfast init` begins anew; the file stays as it is.';
    return [{ code: 'nothing_left', level: 'error', at: found.main, message }];
  }
  const findings = wordsOf(repaired);
  const shown = findings.map((message): Examined => ({ code: 'salvage', level: 'warning', at: found.main, message }));
  if (!repair) {
    const message = `It can be put together from ${repaired.sources.join(', ')}, as a run and as a file: \`holdfast doctor ${found.main} --repair\`. The damaged one is kept.`;
    return [...shown, { code: 'salvageable', level: 'error', at: found.main, message }];
  }
  const run = await takeOver(context, place, repaired, findings);
  const { now } = await context.engine();
  const kept = pathExists(join(root, found.main)) ? keepCopy(root, found.main, 'corrupt', now()) : null;
  await writeAnew(context, place, run);
  const state = await (await context.engine()).load(run);
  await syncMirrors(context, state);
  await writeResumeFile(context, state);
  const message = `Run ${run} was put together from ${repaired.sources.join(', ')}, and the file was written anew.${kept ? ` The damaged one is kept as ${kept}.` : ''} Look at each step before you trust it.`;
  return [...shown, { code: 'repaired', level: 'warning', at: found.main, message }];
}

/**
 * Puts a whole file in the place of the damaged one, whose bytes were kept before. What lies beside it stays as it is:
 * its backup may be the only good copy there is.
 */
async function writeAnew(context: Context, place: ForeignPlace, run: string): Promise<void> {
  const { format, base: root, name, found, files } = place;
  const engine = await context.engine();
  const beside = new Map([...files].filter(([path]) => path !== found.main));
  const model = await readWholeRun(engine, await engine.load(run), format.name);
  const text = format.render(model, found, beside, engine.now()).get(found.main);
  if (text === undefined) return;
  writeInside(root, found.main, text);
  const workspace = context.workspace();
  if (workspace) saveBase(workspace, { format: format.name, path: name }, new Map([...beside, [found.main, text]]));
}

async function takeOver(
  context: Context,
  { format, name, found }: ForeignPlace,
  repaired: Repaired,
  findings: string[],
): Promise<string> {
  const known = await knownRun(context, format.name, name);
  const workspace = context.workspace() ?? context.createWorkspace();
  const engine = await context.engine();
  const { model } = repaired;
  const source = { format: format.name, path: name };
  const run = known ?? (await freeRunId(engine, found, model));
  // What the journal has is better than anything that can be put together.
  if (known === null) {
    const title = model.run.title.trim() || run;
    const opening = { title, workspace: workspace?.id ?? 'none', account: { ...source, account: model } };
    await engine.execute(run, { type: 'run.open', ...opening }, context.identity);
  }
  const from = known === null ? repaired.sources.join(', ') : 'the journal';
  await engine.execute(run, { type: 'recovery.make', from, findings }, context.identity);
  return run;
}

function wordsOf({ confidence }: Repaired): string[] {
  return confidence.map(({ step, confidence: how, from }) => `Step ${step}: ${how} confidence, from ${from}.`);
}
