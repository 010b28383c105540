import { posix, win32 } from 'node:path';
import { platform } from './system.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The user's home folder, as `os.homedir` gives it; '' if none is known. Loading `node:os` takes longer than most commands read. */
export function homeFolder(given?: Environment, on: string = platform): string {
  const { env } = process;
  return (given ?? env)[on === 'win32' ? 'USERPROFILE' : 'HOME'] || process.getBuiltinModule('node:os').homedir();
}

/** The state folder: the one that is named, else the platform's custom; null where nothing says where. */
export function stateFolderFor(env: Environment, home: string | null, on: string = platform): string | null {
  if (env['HOLDFAST_STATE_HOME']) return env['HOLDFAST_STATE_HOME'];
  const { join } = on === 'win32' ? win32 : posix;
  const below = (above: string | null | undefined, ...parts: string[]): string | null =>
    above ? join(above, ...parts, 'holdfast') : null;
  if (on === 'win32') return below(env['LOCALAPPDATA']);
  if (on === 'darwin') return below(home, 'Library', 'Application Support');
  return env['XDG_STATE_HOME'] ? below(env['XDG_STATE_HOME']) : below(home, '.local', 'state');
}
