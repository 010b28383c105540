import { Fault } from '../../../core/fault.ts';
import type { Mirror } from '../../../core/fold/state.ts';
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

/** The runs of this workspace that other tools' files belong to. */
export interface KnownFiles {
  /** The run that a file mirrors: two runs in one file would overwrite each other. */
  mirrorOf(mirror: Mirror): string | null;
  /** The run that a file was adopted as. */
  adoptedAs(format: FormatName, name: string): string | null;
}

/** Looks at each run once, however many files there are. */
export async function knownFiles(context: Context): Promise<KnownFiles> {
  const workspace = context.workspace();
  const engine = workspace ? await context.engine() : null;
  const mirrors = new Map<string, string>();
  const adopted = new Map<string, string>();
  for (const { run } of workspace && engine ? await engine.heads({ workspace: workspace.ids }) : []) {
    for (const name of (await engine?.load(run))?.mirrors.keys() ?? []) if (!mirrors.has(name)) mirrors.set(name, run);
    const rows = (await engine?.rows(run, { kind: 'foreign', limit: Number.MAX_SAFE_INTEGER })) ?? [];
    for (const { id } of rows) if (!adopted.has(id)) adopted.set(id, run);
  }
  return {
    mirrorOf: ({ format, path }) => mirrors.get(`${format}:${path}`) ?? null,
    adoptedAs: (format, name) => adopted.get(foreignId(format, name)) ?? null,
  };
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
