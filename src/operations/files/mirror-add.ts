import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { formatNames } from '../../formats/index.ts';
import { lossWords } from '../../formats/losses.ts';
import { recordedPath } from '../../workspace/files.ts';
import { act, currentState } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { knownRun } from './adopt.ts';
import { MirrorShape } from './mirror-sync.ts';
import { readBase, saveBase } from './parts/mirror-base.ts';
import { formatNamed, mirrorOwner, readPlace, syncMirrors } from './parts/mirrors.ts';
import { readWholeRun } from './parts/run-model.ts';

export const mirrorAdd = defineOperation({
  name: 'mirror.add',
  summary: "Keep another tool's file in step with this run.",
  scope: 'write',
  local: true,
  words: ['format', 'path'],
  examples: ['holdfast mirror add gsd', 'holdfast mirror add codewalk STATE.md'],
  input: v.object({
    format: described(v.picklist(formatNames), 'Whose file it is.'),
    path: v.optional(described(v.string(), "The file that holds the state; by the format's own convention otherwise.")),
  }),
  output: v.object({ run: v.string(), mirror: MirrorShape, loses: v.array(v.string()) }),
  async run(context, input) {
    const format = await formatNamed(input.format);
    const workspace = context.workspace() ?? context.createWorkspace();
    if (!workspace) throw new Fault('usage', 'A mirror needs a workspace: there is only a store here.');
    const state = await currentState(context);
    const engine = await context.engine();
    const path = input.path ?? format.home(await readWholeRun(engine, state)).main;
    const mirror = { format: format.name, path: recordedPath(workspace.tree, workspace.tree, path) };
    const { found, files } = readPlace(workspace.tree, format, mirror.path);
    const self = state.run?.id;
    const other = await mirrorOwner(context, mirror);
    if (other !== null && other !== self) throw inTheWay(mirror.path, other);
    if (files.has(mirror.path) && other === null) {
      const owner = await knownRun(context, format.name, found.main);
      const isOurs = owner === self || (owner === null && readBase(workspace, mirror, files) !== null);
      if (!isOurs) throw inTheWay(mirror.path, owner);
      if (readBase(workspace, mirror, files) === null) saveBase(workspace, mirror, files);
    }
    const done = await act(context, { type: 'mirror.add', ...mirror });
    const [synced] = (await syncMirrors(context, done.state)).filter((one) => one.path === mirror.path);
    if (!synced)
      throw new Fault('unavailable', 'The mirror was not written.', { hints: ['Try `holdfast mirror sync`.'] });
    return { data: { run: done.run, mirror: synced, loses: [...format.loses] }, changed: done.changed };
  },
  say: ({ mirror, loses }, pen) =>
    [
      `${pen.bold(mirror.path)} is kept in step with this run.`,
      ...(loses.length > 0 ? [pen.dim(`It cannot say: ${loses.map(lossWords).join(', ')}.`)] : []),
    ].join('\n'),
});

/** A second run on the same file would overwrite the first. */
function inTheWay(path: string, owner: string | null): Fault {
  return new Fault('illegal', `There is a file ${quoted(path)} already${owner ? `, of run ${quoted(owner)}` : ''}.`, {
    hints: owner
      ? [
          `Go on with it: \`holdfast resume --run ${owner}\`; or put it away first: \`holdfast archive --run ${owner}\`.`,
        ]
      : [`Take it over as a run of its own: \`holdfast adopt ${path} --mirror\`; or choose another path.`],
    data: { path, run: owner },
  });
}
