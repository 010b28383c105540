/** The system of this process. Only this folder asks which it is; other code asks here or gets it as an argument. */
export const platform: string = process.platform;

export const isWindows = platform === 'win32';

/** `/proc` shows processes, and reaches a file through the handle of its folder. */
export const hasProc = platform === 'linux';

/** The path of a folder that is held open, where the system has one: whatever becomes of its name, it stays this folder. */
export const handlePath = (handle: number): string => `/proc/self/fd/${handle}`;

/** How files of programs end: a name without an ending is not started on Windows. */
export const programEndings = (on: string = platform): readonly string[] =>
  on === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];

/** The command that opens a file in the user's browser. */
export function openCommand(file: string, on: string = platform): [string, ...string[]] {
  if (on === 'darwin') return ['open', file];
  // `start` takes its first quoted word for a title.
  if (on === 'win32') return ['cmd', '/c', 'start', '', file];
  return ['xdg-open', file];
}
