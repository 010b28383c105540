import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { type Result, renderRecovery } from './report.ts';
import type { Suite } from './scenario.ts';

/** Everything that is needed to compute the table again, and to judge it. */
interface ResultFile {
  suite: Pick<Suite, 'version' | 'sha256'>;
  at: string;
  machine: { platform: string; cpu: string; cores: number; memoryMiB: number; node: string };
  /** Before and after, over one minute: times mean little on a busy machine. */
  load: { before: number; after: number };
  results: Result[];
  table: string;
}

export function writeResultFile(file: string, suite: Suite, results: readonly Result[], loadBefore: number): void {
  const [first] = cpus();
  const plain = results.map(({ tool: { name, durability, packages }, ...rest }) => ({
    tool: { name, durability, packages },
    ...rest,
  }));
  const result: ResultFile = {
    suite: { version: suite.version, sha256: suite.sha256 },
    at: new Date().toISOString(),
    machine: {
      ...{ platform: `${platform()} ${arch()}`, cpu: first?.model ?? 'unknown', cores: cpus().length },
      ...{ memoryMiB: Math.round(totalmem() / 2 ** 20), node: process.version },
    },
    load: { before: loadBefore, after: loadavg()[0] ?? 0 },
    results: plain,
    table: renderRecovery(plain),
  };
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
}

/** What is not as the file says; nothing if all of it is. */
export function verifyResultFile(file: string, suite: Suite): { table: string; problems: string[] } {
  const { suite: measured, results, table: stated } = JSON.parse(readFileSync(file, 'utf8')) as ResultFile;
  const table = renderRecovery(results);
  const known = new Set(suite.scenarios.flatMap(({ name, moves }) => moves.map((_, index) => `${name} ${index}`)));
  const strange = results
    .flatMap(({ kills }) => kills)
    .filter(({ moment }) => !known.has(`${moment.scenario} ${moment.move}`));
  return {
    table,
    problems: [
      ...(table === stated ? [] : ['The table does not follow from the kills in the file.']),
      ...(measured.sha256 === suite.sha256
        ? []
        : [`It was measured with another suite (version ${measured.version}, ${measured.sha256.slice(0, 12)}).`]),
      ...(strange.length > 0 ? [`${strange.length} kills are at moments that the suite does not have.`] : []),
    ],
  };
}
