// A graph with state: after each node its channels and the name of the next node are stored at once, so a killed graph
// continues after the last node that was finished, with every channel as that node left it.
//
//   node graph.js FOLDER
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault, openHoldfast } from 'holdfast';

interface Channels {
  /** Any JSON, or bytes. */
  pages: Uint8Array;
  words: number;
  report: { title: string; lines: string[] };
}
type Update = { next: Node | 'end' } & { [Name in keyof Channels]?: Channels[Name] };

const nodes = {
  async fetch(): Promise<Update> {
    // 200 KB that come back byte for byte.
    return { pages: Uint8Array.from({ length: 200_000 }, (_, index) => (index * 31) % 251), next: 'count' };
  },
  async count({ pages }: Partial<Channels>): Promise<Update> {
    return { words: pages?.filter((byte) => byte === 32).length ?? 0, next: 'write' };
  },
  async write({ words = 0 }: Partial<Channels>): Promise<Update> {
    return { report: { title: 'Count', lines: [`${words} words`] }, next: 'check' };
  },
  async check({ pages, report }: Partial<Channels>): Promise<Update> {
    const digest = createHash('sha256')
      .update(pages ?? '')
      .digest('hex');
    return { report: { title: 'Checked', lines: [...(report?.lines ?? []), digest] }, next: 'end' };
  },
};
type Node = keyof typeof nodes;

const folder = process.argv[2] ?? '.';
const opened = await openHoldfast({ store: join(folder, 'journal.db'), agent: 'graph' });
await opened.init({ title: 'Word count', id: 'graph' }, { key: 'open' });
const hf = opened.as({ run: 'graph' });

for (;;) {
  const at = await hf.state.get<Node | 'end'>('next');
  const node = at?.value ?? 'fetch';
  if (node === 'end') break;
  const channels: Partial<Channels> = {};
  for (const { key } of await hf.state.list({ prefix: 'channel/' })) {
    const found = await hf.state.get(key);
    Object.assign(channels, { [key.slice('channel/'.length)]: found?.value });
  }
  console.log(`node ${node}`);
  const { next, ...changed } = await nodes[node](channels);
  await pause(20);
  try {
    await hf.state.putAll([
      // Refused if another process ran this node meanwhile.
      { key: 'next', value: next, expect: at?.version ?? null },
      ...Object.entries(changed).map(([name, value]) => ({ key: `channel/${name}`, value })),
    ]);
    console.log(`stored ${node}`);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== 'conflict') throw thrown;
  }
}
const report = await hf.state.get<Channels['report']>('channel/report');
console.log(JSON.stringify(report?.value));
await opened.close();
