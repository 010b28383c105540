import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../postgres-server.ts';
import { check, openRuns, work } from './concurrency.ts';
import { isWrite, survive } from './crash.ts';
import { type CrashAction, crashActions } from './crash-actions.ts';
import { type Ground, openServerGround } from './ground.ts';
import type { Part, Trial } from './part.ts';
import { newPlace, type Place } from './place.ts';

export const postgres: Part = {
  name: 'postgres',
  title: 'Crashes (PostgreSQL)',
  about:
    'Each command is killed with SIGKILL before everything it sends to the server or writes to a file, in the middle ' +
    'of it, and right after it, before the answer arrives; the same must hold then. Then the server itself, with all ' +
    'of its processes, is killed again and again while others write to it, and restarted on the same data, at once ' +
    'or only after the clients have given up. What was acknowledged is there once, at the reported version; clients ' +
    'continue by themselves, or are refused as `unavailable` with a hint.',
  async run(trial) {
    const server = await startPostgres(mkdtempSync(join(tmpdir(), 'holdfast-faults-server-')), trial.long);
    try {
      const ground = openServerGround(server.url);
      const actions = crashActions.filter((action) => action.server && trial.wants(action.name));
      for (const action of actions.slice(0, trial.size(actions.length, 1))) await killEverywhere(trial, action, ground);
      await ground.close();
      if (trial.wants('server')) await killServer(trial, server);
    } finally {
      await server.stop();
    }
  },
};

async function killEverywhere(trial: Trial, action: CrashAction, ground: Ground): Promise<void> {
  await survive(trial, action, {
    ground,
    points(calls) {
      trial.count(action.name, 'sent or written', calls.length);
      return calls.flatMap((call, index) => [
        { at: index + 1, action: 'kill' as const },
        ...(isWrite(call) ? (['torn', 'sent'] as const).map((how) => ({ at: index + 1, action: how })) : []),
      ]);
    },
    short: 3,
    judge(answer) {
      trial.count(action.name, answer.code === null ? 'killed' : 'ended before the fault');
      return [];
    },
  });
}

/** Longer than a store keeps trying. */
const AWAY_MS = 6500;

async function killServer(trial: Trial, server: PostgresServer): Promise<void> {
  const place = newPlace();
  await openRuns(place, server.url);
  const every = trial.size(90, 15);
  let answers = 0;
  let after = 0;
  let killed = 0;
  let killing: Promise<void> | undefined;
  let isAway = false;
  const kill = async (): Promise<void> => {
    await server.kill();
    isAway = true;
    killed += 1;
    trial.count('the server', 'killed');
    // Sometimes it is restarted only after the clients have given up.
    if (trial.long && killed % 4 === 0) await judgeAway(trial, place);
    await server.startAgain();
    isAway = false;
    killing = undefined;
  };
  const onAnswer = (): void => {
    answers += 1;
    if (!isAway && killed > 0) after += 1;
    if (answers % every === 0) killing ??= kill();
  };
  const processes = trial.size(12, 3);
  const all = await Promise.all(Array.from({ length: processes }, (_, index) => work(trial, place, index, onAnswer)));
  await killing;
  trial.count('the server', 'answers after it was killed', after);
  if (after === 0) trial.fail('no answer after the server was killed');
  await check(trial, place, all.flat());
  place.remove();
}

async function judgeAway(trial: Trial, place: Place): Promise<void> {
  const until = performance.now() + AWAY_MS;
  const { code, fault, out, err } = await place.start(['status', '--run', 'one']);
  const isPlain = code === 3 && fault?.code === 'unavailable' && fault.hints.length > 0;
  if (!isPlain) trial.fail(`without the server: exit ${code}, ${out}${err}`);
  trial.count('the server', 'commands refused while it was down');
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())));
}
