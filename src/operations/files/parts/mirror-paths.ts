import { Fault, quoted } from '../../../core/fault.ts';
import { whyNotDeclared } from '../../../formats/declared-paths.ts';
import type { Format } from '../../../formats/format.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';

/** Refuses a file that the format must not write, a link, and a file behind one. Asked before each use: files are swapped. */
export function mustBeMirrorable(tree: string, format: Pick<Format, 'writes'> & { name: string }, path: string): void {
  const why = whyNotDeclared(format.writes, path);
  if (why !== null) {
    throw new Fault('not_allowed', `${format.name} must not be mirrored in ${quoted(path)}: ${why}.`, {
      hints: [`\`holdfast mirror add ${format.name}\` chooses the path that the format prescribes.`],
      data: { path, format: format.name, writes: [...format.writes] },
    });
  }
  openGuarded(tree).mustBePlain(path);
}
