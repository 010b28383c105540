import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bringClients, endedWell, openScene, type Ready, type Scene, turnsIn } from './scene.ts';

const MEASURED = ['claude', 'codex', 'gemini'];
const ROUNDS = 5;
const STEPS = 12;
/** The first steps of a conversation load what later ones have. */
const WARM_UP = 2;
const AT_MOST = 1.3;

/**
 * `npm run test:long step-cost`: a shell step of real clients with the hooks, compared with the same step without them. A
 * step is the time between two requests to the model, which answers each with the same command. Run it on a quiet machine.
 */
export async function measureStepCost(): Promise<number> {
  let isWhole = true;
  const ready = bringClients((client, why) => {
    console.log(`${client} cannot be installed: ${why}`);
    isWhole &&= !MEASURED.includes(client);
  });
  console.log('| client | without hooks | with hooks | ratio | target | met |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const one of ready.filter(({ client }) => MEASURED.includes(client.name))) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-step-cost-')));
    try {
      const { without, within } = await measure(one, folder);
      const ratio = median(within) / median(without);
      const cells = [`${median(without).toFixed(0)} ms`, `${median(within).toFixed(0)} ms`, `${ratio.toFixed(2)}×`];
      console.log(
        `| ${[one.client.name, ...cells, `at most ${AT_MOST}×`, ratio <= AT_MOST ? 'yes' : 'no'].join(' | ')} |`,
      );
    } catch (thrown) {
      console.log(`${one.client.name}: ${(thrown as Error).message}`);
      isWhole = false;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return isWhole ? 0 : 1;
}

/** Two places that differ in the hooks only, in turns, so that slow moments of the machine affect both. */
async function measure(ready: Ready, folder: string): Promise<Record<'without' | 'within', number[]>> {
  const plain = await openScene(mkdtempSync(join(folder, 'plain-')));
  const hooked = await openScene(mkdtempSync(join(folder, 'hooked-')));
  try {
    for (const scene of [plain, hooked]) {
      const failed = scene.install(ready);
      if (failed !== null) throw new Error(failed);
    }
    // The client keeps its own settings; only what Holdfast added goes.
    plain.holdfast('uninstall', ready.client.name, '--project');
    const times = { without: [] as number[], within: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      times.without.push(...(await steps(plain, ready)));
      times.within.push(...(await steps(hooked, ready)));
    }
    const [reported, without] = [commandsIn(hooked), commandsIn(plain)];
    if (reported < ROUNDS * STEPS) throw new Error(`the hooks reported ${reported} of ${ROUNDS * STEPS} commands`);
    if (without > 0) throw new Error(`without hooks ${without} commands were reported`);
    return times;
  } finally {
    plain.close();
    hooked.close();
  }
}

function commandsIn(scene: Scene): number {
  try {
    return scene.journal().filter(({ type }) => type === 'effect.began').length;
  } catch {
    // Nothing was ever recorded there.
    return 0;
  }
}

/** The milliseconds of each step of one conversation. */
async function steps(scene: Scene, ready: Ready): Promise<number[]> {
  const turns = Array.from({ length: STEPS }, (_, at) => ({
    want: { do: 'command' as const, command: `echo step ${at}` },
  }));
  const talk = scene.talk(ready, 'Run every step', [...turns, { say: 'All steps ran.' }]);
  const failed = endedWell(await talk.ended);
  if (failed !== null) throw new Error(failed);
  const at = turnsIn(talk.requests()).map((request) => Date.parse(request.at));
  return at
    .slice(1)
    .map((time, index) => time - (at[index] ?? time))
    .slice(WARM_UP);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
