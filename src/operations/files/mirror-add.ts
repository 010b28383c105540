import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { formatNames } from '../../formats/index.ts';
import { lossWords } from '../../formats/losses.ts';
import { recordedPath } from '../../workspace/files.ts';
import { act, currentState } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { MirrorShape } from './mirror-sync.ts';
import { knownRun } from './parts/foreign-file.ts';
import { readBase, saveBase } from './parts/mirror-base.ts';
import { formatNamed, mirrorOwner, readMirror, syncMirrors } from './parts/mirrors.ts';
import { readWholeRun } from './parts/run-model.ts';

export const mirrorAdd = defineOperation({
  name: 'mirror.add',
  summary: "Mirror this run in another tool's file.",
  scope: 'write',
  local: true,
  words: ['format', 'path'],
  examples: ['holdfast mirror add gsd', 'holdfast mirror add codewalk STATE.md'],
  input: v.object({
    format: described(v.picklist(formatNames), 'The format of the file.'),
    path: v.optional(described(v.string(), 'The state file; by default the one the format prescribes.')),
  }),
  output: v.object({
    run: v.string(),
    mirror: MirrorShape,
    loses: v.array(v.string()),
    without: v.nullable(v.string()),
  }),
  async run(context, input) {
    const format = await formatNamed(input.format);
    const workspace = context.workspace() ?? context.createWorkspace();
    if (!workspace) throw new Fault('usage', 'A mirror needs a workspace; there is only a store here.');
    const state = await currentState(context);
    const engine = await context.engine();
    const path = input.path ?? format.home(await readWholeRun(engine, state)).main;
    const mirror = { format: format.name, path: recordedPath(workspace.tree, workspace.tree, path) };
    const { found, files } = readMirror(workspace.tree, format, mirror.path);
    const self = state.run?.id;
    const other = await mirrorOwner(context, mirror);
    if (other !== null && other !== self) throw alreadyThere(mirror.path, other);
    if (files.has(mirror.path) && other === null) {
      const owner = await knownRun(context, format.name, found.main);
      const isOurs = owner === self || (owner === null && readBase(workspace, mirror, files) !== null);
      if (!isOurs) throw alreadyThere(mirror.path, owner);
      if (readBase(workspace, mirror, files) === null) saveBase(workspace, mirror, files);
    }
    const done = await act(context, { type: 'mirror.add', ...mirror });
    const [synced] = (await syncMirrors(context, done.state)).filter((one) => one.path === mirror.path);
    if (!synced)
      throw new Fault('unavailable', 'The mirror was not written.', { hints: ['Try `holdfast mirror sync`.'] });
    const without = lossWords(await readWholeRun(engine, done.state, format.name), format.loses);
    return { data: { run: done.run, mirror: synced, loses: [...format.loses], without }, changed: done.changed };
  },
  say: ({ mirror, without }, pen) =>
    [
      `${pen.bold(mirror.path)} mirrors this run.`,
      ...(without ? [pen.dim(`There is no place for ${without} in it; they stay in the journal.`)] : []),
    ].join('\n'),
});

/** A second run on the same file would overwrite the first. */
function alreadyThere(path: string, owner: string | null): Fault {
  return new Fault(
    'illegal',
    `The file ${quoted(path)} already exists${owner ? ` and belongs to run ${quoted(owner)}` : ''}.`,
    {
      hints: owner
        ? [
            `Continue with \`holdfast resume --run ${owner}\`, or archive it first: \`holdfast archive --run ${owner}\`.`,
          ]
        : [`Adopt it as its own run: \`holdfast adopt ${path} --mirror\`; or choose another path.`],
      data: { path, run: owner },
    },
  );
}
