import { spawn } from 'node:child_process';

/**
 * Runs a program in a folder with nothing in its environment but the search path, and gives what it printed. It stays in
 * the process group of whoever runs it, so that both are killed at once.
 */
export function runProgram(
  folder: string,
  program: string,
  words: readonly string[],
  more: Record<string, string> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, CI: '1', NO_COLOR: '1', ...more };
    const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 || out.startsWith('{')) resolve(out);
      else reject(new Error(`${program} ${words.join(' ')} ended with ${code}: ${err}${out}`));
    });
  });
}
