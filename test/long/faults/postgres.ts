import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../postgres-server.ts';
import { isWrite, survive } from './crash.ts';
import { type CrashDeed, crashDeeds } from './crash-deeds.ts';
import { type Ground, openServerGround } from './ground.ts';
import type { Part, Trial } from './part.ts';

export const postgres: Part = {
  name: 'postgres',
  title: 'Crashes (PostgreSQL)',
  about:
    'Each command is killed with SIGKILL before everything it sends to the server or writes to a file, in the middle of ' +
    'it, and right after it, before the answer comes.',
  async run(trial) {
    const server = await startPostgres(mkdtempSync(join(tmpdir(), 'holdfast-faults-server-')), trial.long);
    try {
      const ground = openServerGround(server.url);
      for (const deed of crashDeeds) {
        if (!deed.server || (!trial.long && !deed.short) || !trial.wants(deed.name)) continue;
        await killEverywhere(trial, deed, ground);
      }
      await ground.close();
    } finally {
      await server.stop();
    }
  },
};

async function killEverywhere(trial: Trial, deed: CrashDeed, ground: Ground): Promise<void> {
  await survive(trial, deed, {
    ground,
    points(calls) {
      trial.count(deed.name, 'sent or written', calls.length);
      return calls.flatMap((call, index) => [
        { at: index + 1, deed: 'kill' as const },
        ...(isWrite(call) ? (['torn', 'sent'] as const).map((how) => ({ at: index + 1, deed: how })) : []),
      ]);
    },
    short: 3,
    judge(answer) {
      trial.count(deed.name, answer.code === null ? 'killed' : 'ended before that');
      return [];
    },
  });
}
