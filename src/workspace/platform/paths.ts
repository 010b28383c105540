import { posix, win32 } from 'node:path';
import { platform } from './system.ts';

/**
 * A path below a folder, with forward slashes: '' for the folder itself, null for what is not in it. Windows and macOS
 * find a file whatever the case of its name; the name is given as it is written.
 */
export function pathBelow(folder: string, path: string, on: string = platform): string | null {
  const { sep, relative, isAbsolute } = on === 'win32' ? win32 : posix;
  // The usual case, without the slower `relative`.
  if (path.startsWith(`${folder}${sep}`) && on !== 'win32') return path.slice(folder.length + 1);
  const ignoresCase = on === 'darwin';
  const start = ignoresCase && path.slice(0, folder.length).toLowerCase() === folder.toLowerCase() ? folder : '';
  const inside = relative(plain(folder, on), plain(start === '' ? path : `${start}${path.slice(folder.length)}`, on));
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return null;
  return sep === '/' ? inside : inside.replaceAll(sep, '/');
}

/** Without the prefix that only lengthens a path: `\\?\C:\a`, `\\?\UNC\server\share`. */
const plain = (path: string, on: string): string =>
  on === 'win32' ? path.replace(/^\\\\\?\\(?:(UNC)\\)?/i, (_, unc) => (unc ? '\\\\' : '')) : path;
