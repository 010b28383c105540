import { openPair } from '../failover.ts';

const SYNCHRONOUS = 20;
const ASYNCHRONOUS = 5;
/** Together more than 3,000 events before and after each failure. */
const LOAD = { writers: 8, before: 250, after: 150 };

/** `npm run test:long failover`: the primary is killed under load, and its standby takes over. */
export async function main(): Promise<number> {
  const pair = await openPair();
  let failures = 0;
  try {
    for (let round = 0; round < SYNCHRONOUS + ASYNCHRONOUS; round++) {
      const isSynchronous = round < SYNCHRONOUS;
      const { acknowledged, failed, lost, named, isChainValid } = await pair.failOver({ ...LOAD, isSynchronous });
      const isNamed = [...lost].sort().join() === [...named].sort().join();
      const isGood = failed.length === 0 && isChainValid && isNamed && (!isSynchronous || lost.length === 0);
      if (!isGood) failures += 1;
      console.log(
        `${isGood ? 'pass' : 'FAIL'}  ${isSynchronous ? 'synchronous' : 'asynchronous'} ${round + 1}: ${acknowledged} acknowledged, ${lost.length} lost, ${named.length} named, ${failed.length} failed, chain ${isChainValid ? 'valid' : 'broken'}`,
      );
      for (const words of failed.slice(0, 3)) console.log(`      ${words}`);
    }
  } finally {
    await pair.close();
  }
  console.log(`${failures} of ${SYNCHRONOUS + ASYNCHRONOUS} failed.`);
  return failures === 0 ? 0 : 1;
}
