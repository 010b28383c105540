import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files } from '../../formats/format.ts';
import { formatNames } from '../../formats/index.ts';
import { countLost, lossWords } from '../../formats/losses.ts';
import { openGuarded } from '../../workspace/guarded/tree-files.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { makeRealFolder } from '../../workspace/write.ts';
import { currentState } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { formatNamed } from './parts/mirrors.ts';
import { readWholeRun } from './parts/run-model.ts';

export const exportRun = defineOperation({
  name: 'export',
  summary: "Write this run as another tool's files.",
  scope: 'read',
  local: true,
  examples: ['holdfast export --format codewalk --out /tmp/out', 'holdfast export --format codewalk --as sql'],
  input: v.object({
    format: described(v.picklist(formatNames), 'The format to write.'),
    as: v.optional(
      described(v.picklist(['files', 'sql']), 'The files of the format or, for codewalk, its four tables.'),
    ),
    out: v.optional(described(v.string(), 'The folder to write into; by default export/FORMAT in the data folder.')),
  }),
  output: v.object({
    format: v.string(),
    folder: v.string(),
    files: v.array(v.string()),
    /** What this run has and the format cannot hold. */
    loses: v.array(v.object({ what: v.string(), count: v.number() })),
    /** The same in words; null where every entry has a place. */
    without: v.nullable(v.string()),
  }),
  async run(context, input) {
    const format = await formatNamed(input.format);
    const engine = await context.engine();
    const model = await readWholeRun(engine, await currentState(context), format);
    const { files, cannot } =
      input.as === 'sql'
        ? await tablesOf(model, input.format)
        : { files: format.render(model, format.home(model), new Map(), engine.now()), cannot: format.loses };
    const folder =
      input.out === undefined
        ? writeOwn(context.workspace(), format.name, files)
        : writeNew(resolve(context.dir, input.out), files);
    return {
      data: {
        format: format.name,
        folder,
        files: [...files.keys()],
        loses: lossesOf(model, cannot),
        without: lossWords(model, cannot),
      },
    };
  },
  say: ({ folder, files, without }, pen) =>
    [
      ...files.map((path) => pen.bold(join(folder, path))),
      ...(without ? [pen.warn(`There is no place for ${without} in it; they stay in the journal.`)] : []),
    ].join('\n'),
});

/** A script that loads the tables into SQLite or PostgreSQL. */
async function tablesOf(model: RunModel, format: string): Promise<{ files: Files; cannot: readonly string[] }> {
  if (format !== 'codewalk')
    throw new Fault('usage', `Only codewalk has tables; ${format} is written as files.`, {
      hints: ['`holdfast export --format codewalk --as sql`, or leave `--as` out.'],
    });
  const { renderSql } = await import('../../formats/codewalk/sql.ts');
  const { tablesLose, toTables } = await import('../../formats/codewalk/tables.ts');
  return { files: new Map([['initiative.sql', renderSql(toTables(model))]]), cannot: tablesLose };
}

/** Our own export folder may be overwritten. */
function writeOwn(workspace: Workspace | null, format: string, files: Files): string {
  if (!workspace) throw new Fault('usage', 'There is no workspace here: choose a folder with `--out DIR`.');
  const folder = `export/${format}`;
  for (const [path, text] of files) workspace.files.replace(`${folder}/${path}`, text);
  return join(workspace.folder, folder);
}

/** Elsewhere only new files are made, and no link is followed, also not as the folder. All are looked at before the first is made. */
function writeNew(folder: string, files: Files): string {
  if (!makeRealFolder(folder)) throw notAFolder(folder);
  const tree = openGuarded(folder);
  for (const path of files.keys()) if (tree.exists(path)) throw alreadyThere(join(folder, path));
  for (const [path, text] of files) if (!tree.create(path, text)) throw alreadyThere(join(folder, path));
  return folder;
}

function notAFolder(path: string): Fault {
  return new Fault('illegal', `${quoted(path)} is a link or a file, and an export makes its files in a real folder.`, {
    hints: ['Give the path of the folder itself: `holdfast export --format FORMAT --out DIR`.'],
    data: { path },
  });
}

function alreadyThere(file: string): Fault {
  return new Fault('illegal', `${quoted(file)} already exists, and an export replaces nothing.`, {
    hints: ['Choose an empty folder with `--out`; to mirror that file, use `holdfast adopt --mirror`.'],
    data: { path: file },
  });
}

/** The losses that affect this run. */
function lossesOf(model: RunModel, loses: readonly string[]): { what: string; count: number }[] {
  return loses.map((what) => ({ what, count: countLost(model, what) })).filter(({ count }) => count > 0);
}
