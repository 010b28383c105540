import { execFile } from 'node:child_process';

/**
 * Runs a program in a folder with only `PATH` from this environment and returns what it printed. It stays in the process
 * group of its parent, so that both are killed at once.
 */
export function runProgram(
  folder: string,
  program: string,
  words: readonly string[],
  more: Record<string, string> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...stateHome(), CI: '1', NO_COLOR: '1', ...more };
    const options = { cwd: folder, env, maxBuffer: Number.POSITIVE_INFINITY };
    const child = execFile(program, words, options, (error, out, err) => {
      if (error === null || out.startsWith('{')) resolve(out);
      else reject(new Error(`${program} ${words.join(' ')} ended with ${error.code}: ${err}${out}`));
    });
    child.stdin?.end();
  });
}

/** A folder without git has its data in the state folder. */
export const stateHome = (): Record<string, string> => {
  const folder = process.env['HOLDFAST_STATE_HOME'];
  return folder === undefined ? {} : { HOLDFAST_STATE_HOME: folder };
};
