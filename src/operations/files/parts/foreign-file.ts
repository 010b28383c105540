import { Fault } from '../../../core/fault.ts';
import { foreignId } from '../../../core/journal/command.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { isName } from '../../../core/text.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Files, Format, FormatName, Found, Parsed } from '../../../formats/format.ts';
import type { Context } from '../../context.ts';

/** A state file of another tool, parsed. */
export interface ForeignFile {
  format: Format;
  /** The folder that its paths are relative to. */
  base: string;
  /** Its path in the tree, or its absolute path if it is outside. */
  name: string;
  found: Found;
  files: Files;
  parsed: Parsed;
}

/** The run that a file was adopted as. */
export async function knownRun(context: Context, format: FormatName, name: string): Promise<string | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const engine = await context.engine();
  const id = foreignId(format, name);
  for (const { run } of await engine.heads({ workspace: workspace.ids })) {
    const rows = await engine.recall(run, [id]);
    if (rows.some((row) => row.kind === 'foreign')) return run;
  }
  return null;
}

export async function freeRunId(engine: Engine, { format, main }: Found, { run }: RunModel): Promise<string> {
  // A version alone is not a name: every project has one.
  const named = run.alias !== undefined && /^v?[\d.]+$/i.test(run.alias) ? `${run.title} ${run.alias}` : run.alias;
  const words = named ?? (run.title || main);
  const slug = words
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[-._]+|[-._]+$/g, '')
    .slice(0, 60);
  const name = isName(slug, '._-', 96) ? slug : format;
  for (let number = 1; ; number++) {
    const id = number === 1 ? name : `${name}-${number}`;
    if ((await engine.heads({ run: id })).length === 0) return id;
    if (number > 10_000) throw new Fault('conflict', `There is no free run id for ${main}.`, { hints: ['Rename it.'] });
  }
}
