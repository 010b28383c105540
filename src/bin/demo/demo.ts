import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { defineOperation, described } from '../../operations/operation.ts';
import { openStage } from './stage.ts';
import { playStory } from './story.ts';

interface DemoOptions {
  program: string;
  isJson: boolean;
  isPainted: boolean;
}

/** It shows its story line by line; with `--json` only what came out of it. */
export function demoWith({ program, isJson, isPainted }: DemoOptions) {
  return defineOperation({
    name: 'demo',
    summary: 'Watch an agent being killed and another one continue; two scripted agents in a temporary folder.',
    scope: 'write',
    local: true,
    ...(isJson ? {} : { speaks: true as const }),
    examples: ['holdfast demo', 'holdfast demo --fast --keep'],
    input: v.object({
      fast: v.optional(described(v.boolean(), 'Without time to read.')),
      keep: v.optional(described(v.boolean(), 'Keep the folder, to look around in it.')),
      record: v.optional(described(v.string(), 'Write the lines and their times to this file, as JSON.')),
    }),
    output: v.object({
      verdicts: v.array(v.object({ what: v.string(), holds: v.boolean() })),
      folder: v.nullable(v.string()),
    }),
    async run(context, { fast = isJson, keep = false, record }) {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-demo-')));
      const clean = (): void => {
        if (!keep) rmSync(root, { recursive: true, force: true });
      };
      process.once('exit', clean);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
        process.once(signal, () => process.exit(128 + constants.signals[signal]));
      const print = (line: string): void => void (isJson || process.stdout.write(`${line}\n`));
      const stage = openStage({ program, print, isPainted, isFast: fast });
      const verdicts = await playStory(stage, root);
      await stage.say('caption', 'What the second agent got from the first');
      for (const { holds, what } of verdicts)
        await stage.say(holds ? 'good' : 'bad', `${holds ? '✓' : '✗ missing:'} ${what}`);
      if (record !== undefined)
        writeFileSync(resolve(context.dir, record), `${JSON.stringify(stage.frames, null, 1)}\n`);
      const folder = keep ? join(root, 'shop') : null;
      if (folder !== null)
        print(
          `\nThe folder: ${folder}\n  cd ${folder} && HOLDFAST_STATE_HOME=${join(root, 'home/state')} holdfast status`,
        );
      else print('\nWith your own agent: holdfast install claude');
      return { data: { verdicts, folder }, changed: [] };
    },
    say: ({ verdicts }) => verdicts.map(({ holds, what }) => `${holds ? '✓' : '✗'} ${what}`).join('\n'),
    verdict: ({ verdicts }) => (verdicts.every(({ holds }) => holds) ? 0 : 1),
  });
}
