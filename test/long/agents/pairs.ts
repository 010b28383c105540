import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unknownLines } from '../../../src/core/brief/grammar.suite.ts';
import type { Turn } from './model.ts';
import {
  briefsIn,
  bringClients,
  endedWell,
  killDuring,
  longCommand,
  openScene,
  type Ready,
  type Scene,
  turnsIn,
} from './scene.ts';

const REQUEST = 'Let there be a friendly greeting in greeting.txt. Leave the lighthouse alone.';
const DECISION = 'Greet the harbour, not the world';
const DOING = 'Write the greeting';
const AFTER = 'Ring the bell';
const NEXT = 'translate the greeting';

/** What the first client does before it is killed; only the decision and the checkpoint are told by it. */
const work: readonly Turn[] = [
  {
    want: {
      do: 'todo',
      entries: [
        { text: DOING, status: 'in_progress' },
        { text: AFTER, status: 'pending' },
      ],
    },
    otherwise: {
      do: 'command',
      command: `holdfast plan add greeting "${DOING}" && holdfast plan add bell "${AFTER}" && holdfast start greeting`,
    },
  },
  { want: { do: 'write', path: 'greeting.txt', text: 'hello\nworld\n' } },
  { want: { do: 'edit', path: 'greeting.txt', from: 'world', to: 'harbour' } },
  { want: { do: 'write', path: 'pier.txt', text: 'one\n' } },
  { want: { do: 'command', command: 'sh verify.sh' } },
  {
    want: {
      do: 'command',
      command: `holdfast decide --context Greeting --decision "${DECISION}" --reason "Ships read it"`,
    },
  },
  { want: { do: 'command', command: `holdfast checkpoint drafted --next "${NEXT}"` } },
  { say: 'The draft stands. Ringing the bell now.', want: { do: 'command', command: longCommand('bell') } },
  { say: 'It rang.' },
];

/** What the second client must read, in its brief. */
const facts: Readonly<Record<string, RegExp>> = {
  request: /^Asked \(.*\): "Let there be a friendly greeting in greeting\.txt\. Leave the lighthouse alone\."$/m,
  files: /^Changed, not committed:(?=.* "greeting\.txt" new, 2 lines)(?=.* "pier\.txt" new, 1 line)/m,
  failure: /^Failed: "sh verify\.sh" exit 3 at .*; not run again\.$/m,
  uncertain:
    /^Uncertain: X-\d+ "echo .*bell\.pid; .*" began .*, no end was recorded\. The client is gone; no process /m,
  decision: /^Decided D-1: "Greet the harbour, not the world", because "Ships read it"\.$/m,
  position: /^(?:To-do|Plan): 0 of 2 done; in progress: .*"Write the greeting"; left: .*"Ring the bell"/m,
  next: /^Next, as [a-z]+ wrote \(.*\): "translate the greeting"/m,
};

/** One kill and resume: what is missing or wrong; empty where all of it arrived. */
interface Pair {
  first: string;
  second: string;
  misses: string[];
}

/** Each client is killed in its work, and each client continues it: all ordered pairs. */
export async function checkPairs(): Promise<boolean> {
  const only = (process.env['HOLDFAST_TEST_AGENTS'] ?? '').split(',').filter(Boolean);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-pairs-')));
  const scene = await openScene(folder);
  const pairs: Pair[] = [];
  try {
    const ready = bringClients((client, why) => console.log(`${client} cannot be installed: ${why}`));
    writeFileSync(join(scene.project, 'verify.sh'), 'echo "the bell is missing"\nexit 3\n');
    for (const one of ready) {
      const why = scene.install(one);
      if (why !== null) throw new Error(`holdfast install ${one.client.name}: ${why}`);
    }
    scene.git('add', '-A');
    scene.git('commit', '-m', 'Install Holdfast');
    const begin = scene.keep();
    for (const first of ready) {
      if (only.length > 0 && !only.includes(first.client.name)) continue;
      begin();
      const why = await workUntilKilled(scene, first);
      const again = scene.keep();
      for (const second of ready) {
        again();
        const misses = why === null ? await resume(scene, first, second) : [why];
        const pair = { first: first.client.name, second: second.client.name, misses };
        pairs.push(pair);
        console.log(
          `${pair.first.padEnd(8)} -> ${pair.second.padEnd(8)}  ${misses.length === 0 ? 'pass' : misses.join('\n    ')}`,
        );
      }
    }
    console.log(`\n${tableOf(pairs, ready)}`);
  } finally {
    scene.close();
    const isWell = pairs.every(({ misses }) => misses.length === 0);
    if (isWell) rmSync(folder, { recursive: true, force: true });
    else console.log(`\nWhat was left is in ${folder}.`);
  }
  return pairs.length > 0 && pairs.every(({ misses }) => misses.length === 0);
}

/** Null, or why the work could not be done. */
async function workUntilKilled(scene: Scene, ready: Ready): Promise<string | null> {
  const talk = scene.talk(ready, REQUEST, work);
  const pid = await killDuring(talk, scene, 'bell');
  return pid ? null : `the work was not done: ${endedWell(await talk.ended) ?? 'it ended by itself'}`;
}

async function resume(scene: Scene, first: Ready, second: Ready): Promise<string[]> {
  const talk = scene.talk(second, 'Go on, please.', [{ say: 'I see where it stands.' }]);
  const failed = endedWell(await talk.ended);
  if (failed !== null) return [failed];
  const briefs = briefsIn(turnsIn(talk.requests()));
  const [brief] = briefs;
  if (brief === undefined) return ['no brief'];
  const misses = Object.keys(facts).filter((fact) => !facts[fact]?.test(brief));
  if (briefs.length > 1) misses.push(`${briefs.length} briefs`);
  const wrong = unknownLines(brief);
  const who = new RegExp(`^Run .*: ${first.client.name} \\(S-1\\) was cut off in the middle of a turn`, 'm');
  if (!who.test(brief)) misses.push('who was cut off');
  const runs = scene.holdfast('runs')['runs'] as unknown[];
  if (runs.length !== 1) misses.push(`${runs.length} runs`);
  if (wrong.length > 0) misses.push(`not a line of a brief: ${wrong.join(' | ')}`);
  return misses.length === 0 ? [] : [...misses, ...briefs];
}

function tableOf(pairs: readonly Pair[], ready: readonly Ready[]): string {
  const names = ready.map(({ client }) => client.name);
  const rows = names.map((first) => [
    first,
    ...names.map((second) => {
      const pair = pairs.find((one) => one.first === first && one.second === second);
      if (!pair) return '-';
      return pair.misses.length === 0 ? 'all' : 'MISS';
    }),
  ]);
  return [['killed', ...names], ...rows]
    .map((row) =>
      row
        .map((cell) => cell.padEnd(9))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
