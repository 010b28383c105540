import { join } from 'node:path';
import { Fault } from '../../../core/fault.ts';
import { oneLine } from '../../../core/text.ts';
import { findForeignState } from '../../../workspace/foreign.ts';
import { changedAt } from '../../../workspace/read.ts';
import type { Context } from '../../context.ts';
import { takenOver } from './adopted-words.ts';
import { findForeign } from './find-foreign.ts';
import { type ForeignFile, knownFiles } from './foreign-file.ts';

/** State files of other tools in a folder that has no run yet, one line each. */
export async function foreignHere(context: Context): Promise<string[]> {
  const found = await findForeign(context.workspace()?.tree ?? context.dir);
  return found
    .filter(({ parsed }) => parsed.model !== null)
    .slice(0, MOST_SHOWN)
    .map((file) => foreignLine(file, context.now()));
}

/** State files that cannot be read. */
export async function damagedHere(context: Context): Promise<string[]> {
  const found = await findForeign(context.workspace()?.tree ?? context.dir);
  return found
    .filter(({ parsed }) => parsed.model === null)
    .slice(0, MOST_SHOWN)
    .map(({ name }) => oneLine(name, 120));
}

const MOST_SHOWN = 5;

function foreignLine({ name, base, format, found, files, parsed }: ForeignFile, now: string): string {
  const main = { path: found.main, text: files.get(found.main) ?? '' };
  const { position } = parsed.model ? takenOver(parsed.model, parsed.unknown, main) : { position: null };
  const version = parsed.version ? ` ${parsed.version}` : '';
  const at = changedAt(join(base, found.main));
  const changed = at === null ? '' : `, changed ${agoWords(Date.parse(now) - at)}`;
  return `${oneLine(name, 120)}: ${format.name}${version}${position ? `, ${position}` : ''}${changed}`;
}

function agoWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  const [count, noun] =
    minutes < 60
      ? [minutes, 'minute']
      : minutes < 1440
        ? [Math.floor(minutes / 60), 'hour']
        : [Math.floor(minutes / 1440), 'day'];
  return `${count} ${noun}${count === 1 ? '' : 's'} ago`;
}

/** The runs whose mirrors lie here. */
export async function mirroringHere(context: Context): Promise<string[]> {
  const tree = context.workspace()?.tree;
  const owners = new Set<string>();
  const found = tree === undefined ? [] : findForeignState(tree);
  const known = found.length > 0 ? await knownFiles(context) : null;
  for (const { format, path } of found) {
    const owner = known?.mirrorOf({ format, path }) ?? null;
    if (owner !== null) owners.add(owner);
  }
  return [...owners];
}

/** Where there is no run, but state of another tool, the way to continue is to adopt it. */
export async function namingForeign(context: Context, fault: unknown): Promise<unknown> {
  if (!(fault instanceof Fault) || fault.code !== 'not_found' || context.run !== undefined) return fault;
  const lines = await foreignHere(context).catch(() => []);
  if (lines.length === 0) return fault;
  return new Fault('not_found', `There is no Holdfast run here yet. State of another tool:\n  ${lines.join('\n  ')}`, {
    hints: ['Continue it and keep the file in sync: `holdfast adopt --mirror`'],
    data: { ...(fault.data as object), found: lines },
  });
}
