import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Server {
  /** Signs in with the secret of the token; it sets the cookie. */
  link: string;
  url: string;
  stop(): Promise<void>;
}

/** `holdfast serve` as a separate process, once it listens. It shares the state folder of this process, where the token is. */
export async function startServer(program: string, dir: string, secret: string, port = 0): Promise<Server> {
  const child: ChildProcess = spawn(process.execPath, [program, 'serve', '--port', String(port), '--json'], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: dir,
      HOLDFAST_STATE_HOME: process.env['HOLDFAST_STATE_HOME'] ?? '',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stopped = once(child, 'exit');
  const said = once(child.stdout ?? child, 'data') as Promise<[Buffer]>;
  const first = await Promise.race([said.then(([line]) => line.toString()), stopped.then(() => null)]);
  if (first === null) throw new Error('The server ended before it listened.');
  const { url } = (JSON.parse(first) as { data: { url: string } }).data;
  return {
    url,
    link: `${url}/login?token=${secret}`,
    async stop() {
      child.kill('SIGTERM');
      await stopped;
    },
  };
}
