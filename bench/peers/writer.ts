import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Place } from './contender.ts';
import { findPeer } from './contenders.ts';

/** The argument that makes this program one of several writers. */
export const PEERS_WRITER = 'peers-writer';

export interface WriterOrder extends Pick<Place, 'folder' | 'database' | 'characters'> {
  peer: string;
  number: number;
}

/** Joins the others, waits for the signal, writes one entry and prints whether it was acknowledged. */
export async function runPeersWriter({ peer, number, ...place }: WriterOrder): Promise<void> {
  const opened = await findPeer(peer)?.open({ ...place, isJoining: true, say: () => undefined });
  console.log('ready');
  await once(createInterface({ input: process.stdin }), 'line');
  const isWritten = await opened?.write?.(number).then(
    () => true,
    () => false,
  );
  console.log(isWritten ? 'written' : 'refused');
  await opened?.close();
  process.exit(0);
}

/** Makes processes write at the same moment and returns the numbers of the acknowledged writes. */
export async function writeAtOnce(orders: readonly WriterOrder[]): Promise<number[]> {
  const writers = orders.map((order) => {
    const words = [process.argv[1] ?? '', PEERS_WRITER, JSON.stringify(order)];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    const said = new Set<string>();
    const lines = createInterface({ input: child.stdout });
    const ended = once(child, 'close');
    const isReady = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        said.add(line);
        if (line === 'ready') resolve();
      });
      void ended.then(() => resolve());
    });
    return { number: order.number, child, said, ended, isReady };
  });
  await Promise.all(writers.map(({ isReady }) => isReady));
  for (const { child } of writers) child.stdin.on('error', () => undefined).end('go\n');
  await Promise.all(writers.map(({ ended }) => ended));
  return writers.filter(({ said }) => said.has('written')).map(({ number }) => number);
}
