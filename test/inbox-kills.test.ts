import { expect, it } from 'vitest';
import { program } from './command-line.ts';
import { killHooks } from './inbox-kills.ts';
import { newInstalled } from './installed-hooks.ts';

it('what a hook acknowledged is recorded once and in order, however often agents and drains are killed', async () => {
  const folder = newInstalled();
  const ground = {
    ...{ path: folder.path, env: folder.env, program, launcher: folder.state('holdfast-hook.sh') },
    dataFolder: folder.own(),
  };
  const killed = await killHooks(ground, { agents: 20, drains: 5 }, Math.random);
  expect(killed).toMatchObject({ agents: 20, missing: [], double: [], outOfOrder: [] });
  expect(killed.drains).toBeGreaterThanOrEqual(5);
  expect(killed.begins).toBeGreaterThan(20);
  expect(folder.reports()).toEqual([]);
  expect(folder.data('doctor')['findings']).toEqual([]);
}, 120_000);
