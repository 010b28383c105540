/** Other programs, except git. Their output goes to standard error: the command's own answer is on standard output. */
const OUTPUT_TO_STDERR = ['ignore', 2, 2] as const;

/** Runs a program to its end and returns its exit code. Throws if it cannot be started. */
export async function runProgram([program = '', ...words]: readonly string[], cwd: string): Promise<number | null> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, stdio: [...OUTPUT_TO_STDERR], windowsHide: true });
    child.on('error', reject);
    child.on('close', (code) => resolve(code));
  });
}

/** Runs a line of shell to its end and returns its exit code. */
export async function runShell(command: string, cwd: string): Promise<number | null> {
  const { spawnSync } = await import('node:child_process');
  return spawnSync(command, { shell: true, cwd, stdio: [...OUTPUT_TO_STDERR] }).status;
}
