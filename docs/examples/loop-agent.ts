// A loop agent: the model chooses a tool, the tool acts, and a kill at any moment neither loses a turn nor repeats an act.
//
//   node loop-agent.js FOLDER
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openHoldfast } from 'holdfast';

interface Turn {
  role: 'user' | 'model' | 'tool';
  text: string;
}

/** Your model. This one orders what it was asked for, item by item. */
function think(turns: readonly Turn[]): { tool: string; about: string } | { answer: string } {
  const wanted = turns[0]?.text.split(', ') ?? [];
  const ordered = turns.filter(({ role }) => role === 'tool').length;
  const about = wanted[ordered];
  return about === undefined ? { answer: `Ordered ${wanted.length} things.` } : { tool: 'order', about };
}

/** Your tool: a shop that cannot take an order back. It takes a moment, and it can be asked what was ordered. */
const shop = (ledger: string) => ({
  async order(key: string, about: string): Promise<string> {
    await appendFile(ledger, `${key} ${about}\n`);
    console.log(`ordering ${about}`);
    await pause(40);
    return `receipt for ${about}`;
  },
  async find(key: string): Promise<string | null> {
    const lines = (await readFile(ledger, 'utf8').catch(() => '')).split('\n');
    const found = lines.find((line) => line.startsWith(`${key} `));
    return found === undefined ? null : `receipt for ${found.slice(key.length + 1)}`;
  },
});

const folder = process.argv[2] ?? '.';
const { order, find } = shop(join(folder, 'ledger.txt'));
const hf = await openHoldfast({ store: join(folder, 'journal.db'), agent: 'buyer', run: 'shopping' });
// With a key the run is opened once, however often the program starts.
await hf.as({ agent: 'buyer' }).init({ title: 'Shopping', id: 'shopping' }, { key: 'open' });

let turns = (await hf.state.get<Turn[]>('turns'))?.value ?? [{ role: 'user', text: 'bread, milk, tea, salt' }];
for (;;) {
  const next = think(turns);
  if ('answer' in next) {
    console.log(next.answer);
    break;
  }
  const key = `turn-${turns.length}`;
  const receipt = await hf.effect.run(key, () => order(key, next.about), {
    class: 'irreversible',
    input: next.about,
    // The program was killed inside `order`: ask the shop, and order again only if it knows nothing.
    onUncertain: async () => {
      const result = await find(key);
      return result === null ? 'again' : { result };
    },
  });
  turns = [...turns, { role: 'model', text: next.about }, { role: 'tool', text: receipt }];
  await hf.state.put('turns', turns);
}
await hf.close();
