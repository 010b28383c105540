import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptanceStories, stageOn } from './acceptance.ts';
import { type ClientName, clients } from './clients.ts';
import { life } from './life.ts';
import { bringClients, openScene, type Ready } from './scene.ts';
import { playStory } from './story.ts';

/** One row of the report. */
export interface Finding {
  client: ClientName | 'all';
  step: string;
  result: 'pass' | 'FAIL' | 'not driven';
  /** What is missing, or how it was reached. */
  why?: string;
}

/**
 * Every client works, is killed in the middle of a command, and the next one continues. Their model is a script on this
 * machine; the home folder is new and the environment empty. With names, only those stories over several clients are played.
 */
export async function checkAgents(names: readonly string[] = []): Promise<boolean> {
  const only = (process.env['HOLDFAST_TEST_AGENTS'] ?? '').split(',').filter(Boolean);
  const findings: Finding[] = [];
  const note = (finding: Finding): void => {
    findings.push(finding);
    const { client, step, result, why } = finding;
    console.log(`${result.padEnd(10)}  ${client.padEnd(8)}  ${step}${why ? `: ${why}` : ''}`);
  };
  const ready = bringClients((client, why) => note({ client, step: 'install from npm', result: 'FAIL', why }));
  for (const [at, first] of ready.entries()) {
    if (names.length > 0) break;
    if (only.length > 0 && !only.includes(first.client.name)) continue;
    const next = ready[(at + 1) % ready.length] ?? first;
    const folder = mkdtempSync(join(tmpdir(), `holdfast-agents-${first.client.name}-`));
    const before = findings.length;
    try {
      const refused = await playStory({
        folder,
        first,
        next,
        note: (finding) => note({ client: first.client.name, ...finding }),
      });
      if (refused.size > 0) console.log(`            refused to ${first.client.name}: ${[...refused].join(', ')}`);
    } catch (thrown) {
      note({ client: first.client.name, step: 'the story', result: 'FAIL', why: (thrown as Error).message });
    }
    const failed = findings.slice(before).some(({ result }) => result === 'FAIL');
    if (failed) console.log(`            what ${first.client.name} left is in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
  if (only.length === 0) await checkStories(ready, names, note);
  console.log(`\n${tableOf(findings)}`);
  return findings.length > 0 && findings.every(({ result }) => result !== 'FAIL');
}

/** Stories over several clients; all start from the same scene. */
async function checkStories(
  ready: readonly Ready[],
  names: readonly string[],
  note: (finding: Finding) => void,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-agents-stories-')));
  const scene = await openScene(folder);
  let isWell = true;
  try {
    for (const one of ready) scene.install(one);
    scene.git('add', '-A');
    scene.git('commit', '-m', 'Install Holdfast');
    const begin = scene.keep();
    for (const story of [...acceptanceStories, life]) {
      if (names.length > 0 && !names.includes(story.name.split(':')[0] ?? '')) continue;
      begin();
      const misses: string[] = [];
      try {
        await story.play(stageOn(scene, ready, (what) => misses.push(what)));
      } catch (thrown) {
        misses.push((thrown as Error).message);
      }
      isWell &&= misses.length === 0;
      const failed = { result: 'FAIL', why: misses.join('\n') } as const;
      note({ client: 'all', step: `story ${story.name}`, ...(misses.length === 0 ? { result: 'pass' } : failed) });
    }
  } finally {
    scene.close();
    if (isWell) rmSync(folder, { recursive: true, force: true });
  }
}

function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map(({ client, step, result, why }) => {
    const version = clients.find(({ name }) => name === client)?.version ?? '';
    return [client, version, step, why ? `${result}: ${why}` : result];
  });
  const lines = [['client', 'version', 'step', 'result'], ...rows];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).join('\n');
}
