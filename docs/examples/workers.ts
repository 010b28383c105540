// Parallel workers on one plan: each takes a step under a lease of a second. The step of a worker that is killed is taken by
// another one when its lease has ended, and the killed one can no longer write.
//
//   node workers.js FOLDER NAME      any number of times, at the same time
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault, openHoldfast } from 'holdfast';

const [folder = '.', name = 'worker'] = process.argv.slice(2);
const opened = await openHoldfast({ store: join(folder, 'journal.db'), agent: name });
// The first one makes the plan; the others get the same answer.
await opened.init({ title: 'Resize pictures', id: 'pictures' }, { key: 'open' });
const hf = opened.as({ run: 'pictures', agent: name });
for (const number of [1, 2, 3, 4]) {
  await hf.plan.add({ key: `picture-${number}`, title: `Picture ${number}` }, { key: `plan-${number}` });
}

/** Your work. It looks at the signal, which aborts when the lease was lost. */
async function resize(key: string, signal: AbortSignal): Promise<void> {
  console.log(`${name} has ${key}`);
  for (let part = 0; part < 3; part++) {
    await pause(30, undefined, { signal });
  }
}

for (;;) {
  const { done, total, ready } = await hf.next();
  if (done === total) break;
  let isTaken = false;
  for (const { key } of ready) {
    try {
      await hf.hold(key, ({ signal }) => resize(key, signal), { leaseMs: 1000 });
      console.log(`${name} finished ${key}`);
      isTaken = true;
      break;
    } catch (thrown) {
      // Another worker was faster, or has it.
      if (!(thrown instanceof Fault) || !['held', 'illegal', 'fenced', 'blocked'].includes(thrown.code)) throw thrown;
    }
  }
  // Nothing is free: a lease may end.
  if (!isTaken) await pause(100);
}
console.log(`${name} is done`);
await opened.close();
