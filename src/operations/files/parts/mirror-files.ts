import { isAbsolute } from 'node:path';
import { Fault } from '../../../core/fault.ts';
import type { Mirror, State } from '../../../core/fold/state.ts';
import type { FormatName } from '../../../formats/format.ts';
import { formatNames } from '../../../formats/index.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { isOwnMirror, readBase } from './mirror-base.ts';
import { formatNamed, readMirror } from './mirrors.ts';

/** The files that a run was adopted from, are not mirrored, and were edited since. */
export async function editedSince(context: Context, state: State): Promise<{ path: string; found: string }[]> {
  const workspace = context.workspace();
  const run = state.run?.id;
  if (!workspace || run === undefined) return [];
  const engine = await context.engine();
  const edited: { path: string; found: string }[] = [];
  for (const { doc } of await engine.rows(run, { kind: 'foreign', limit: 20 })) {
    const { format, path } = doc as unknown as Mirror;
    const isMirrored = [...state.mirrors.values()].some((mirror) => mirror.path === path);
    if (isMirrored || isAbsolute(path) || !formatNames.includes(format as FormatName)) continue;
    const { files } = readMirror(workspace.tree, await formatNamed(format), path);
    const base = readBase(workspace, { format, path }, files);
    if (base === null || !files.has(path) || base.get(path) === files.get(path)) continue;
    const found = `changed since it was adopted: \`holdfast adopt\` reads it again, \`holdfast mirror add ${format}\` keeps it in sync`;
    edited.push({ path, found });
  }
  return edited;
}

/** Refuses work on a step beside a mirror whose format forbids it. */
export async function mustAllowWorkBeside(workspace: Workspace, mirrors: Iterable<Mirror>): Promise<void> {
  for (const mirror of mirrors) {
    if (!formatNames.includes(mirror.format as FormatName) || !isOwnMirror(workspace, mirror)) continue;
    const { noWork } = await formatNamed(mirror.format);
    const text = noWork ? openGuarded(workspace.tree).read(mirror.path) : null;
    const why = text === null ? null : noWork?.(text);
    if (why)
      throw new Fault('illegal', `${mirror.path}: ${why}.`, {
        hints: [
          'Go back to a version that is known, or let its own tool do the work.',
          `Or work without the file: \`holdfast mirror remove ${mirror.path}\``,
        ],
        data: { path: mirror.path },
      });
  }
}
