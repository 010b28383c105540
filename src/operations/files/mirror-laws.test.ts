import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Fault } from '../../core/fault.ts';
import { MAIN as APEX, v3 } from '../../formats/apex/samples.suite.ts';
import { short } from '../../formats/codewalk/samples.suite.ts';
import { foreignEdits } from '../../formats/foreign-edits.suite.ts';
import { page } from '../../formats/gsd/pages.suite.ts';
import { ACTIVE, seed } from '../../formats/maestro/samples.suite.ts';
import { fixture } from '../../formats/snap/fixture.suite.ts';
import type { Context } from '../context.ts';
import { loadOperation, type OperationName } from '../index.ts';
import { openContext } from '../open.ts';
import { callOperation } from '../operation.ts';
import type { Synced } from './parts/mirror-words.ts';

/** More at night: `MIRROR_EDITS=10000 npx vitest run src/operations/files/mirror-laws.test.ts`. */
const EDITS = process.env['MIRROR_EDITS'] ? Number(process.env['MIRROR_EDITS']) : undefined;
const SEED = Number(process.env['MIRROR_SEED'] ?? 7);

const opened: { dir: string; context: Context & { close(): Promise<void> } }[] = [];
afterEach(async () => {
  for (const { dir, context } of opened.splice(0)) {
    await context.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

async function mirrored(main: string, files: ReadonlyMap<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-laws-'));
  const context = openContext({ dir, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
  opened.push({ dir, context });
  const call = async (name: OperationName, input: object = {}) =>
    (await callOperation(await loadOperation(name), context, input)).data as Record<string, unknown>;
  for (const [path, text] of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  await call('init', { title: 'Other work', id: 'other' });
  const { found } = (await call('adopt', { mirror: true })) as { found: { run: string; path: string }[] };
  const run = found.find(({ path }) => path === main)?.run ?? '';
  context.run = run;
  const sync = async (keep?: 'file' | 'journal'): Promise<Synced> => {
    const { mirrors } = (await call('mirror.sync', keep ? { keep } : {})) as { mirrors: Synced[] };
    return mirrors[0] as Synced;
  };
  const version = async () => (await (await context.engine()).load(run)).version;
  return {
    call,
    sync,
    version,
    read: (path = main) => (existsSync(join(dir, path)) ? readFileSync(join(dir, path), 'utf8') : ''),
    write: (text: string, path = main) => writeFileSync(join(dir, path), text),
    stamp: (path: string) => statSync(join(dir, path)).mtimeMs,
  };
}

const turnfile = fixture('pilot');

describe.each([
  ['apex', APEX, new Map([[APEX, v3]]), 60],
  ['codewalk', 'STATE.md', new Map([['STATE.md', short]]), 200],
  ['gsd', '.planning/STATE.md', new Map([['.planning/STATE.md', page('G3')]]), 200],
  ['maestro', ACTIVE, new Map([[ACTIVE, seed]]), 60],
  ['snap', turnfile.found.main, turnfile.files, 60],
])('%s', (_, main, files, many) => {
  const timeout = 600_000 + (EDITS ?? many) * 1000;
  it('W4: rests after any edit: the second sync reads and writes nothing', { timeout }, async () => {
    const { sync, version, read, write } = await mirrored(main, files as ReadonlyMap<string, string>);
    const paths = [...files.keys()].filter((path) => !path.endsWith('.json') || path === main);
    const all = (): string => paths.map((path) => read(path)).join('\u0000');
    const chosen = fc.sample(fc.tuple(foreignEdits, fc.nat(99)), { numRuns: EDITS ?? many, seed: SEED });
    for (const [index, [edit, at]] of chosen.entries()) {
      const path = paths[at % paths.length] ?? main;
      const before = read(path);
      const edited = edit(before);
      write(edited, path);
      const first = await sync().catch((thrown: unknown) => thrown as Fault);
      if (first instanceof Fault) {
        // A file that must not be written is left as it is.
        expect([first.code, read(path)]).toEqual(['conflict', edited]);
        write(before, path);
        continue;
      }
      const settled = { text: all(), version: await version() };
      const second = await sync();
      const again = { text: all(), version: await version() };
      expect({ index, ...again, written: second.written, absorbed: second.absorbed }).toEqual({
        index,
        ...settled,
        written: [],
        absorbed: 0,
      });
      // A pause ends with the file's side, so that the next edit is read.
      if (first.paused) await sync('file').catch(() => write(before, path));
    }
  });

  it('W5: looking changes no byte and no time of any file', { timeout }, async () => {
    const { call, read, stamp, write } = await mirrored(main, files as ReadonlyMap<string, string>);
    const edits = fc.sample(foreignEdits, { numRuns: Math.ceil((EDITS ?? 60) / 20), seed: SEED });
    const looks = ['resume', 'status', 'mirror.list', 'doctor', 'search'] as const;
    for (const edit of edits) {
      write(edit(read()));
      const before = [...files.keys()].map((path) => [path, read(path), stamp(path)]);
      for (const name of looks)
        await call(name, name === 'search' ? { words: ['words'] } : {}).catch((thrown: unknown) =>
          expect(thrown).toBeInstanceOf(Fault),
        );
      expect([...files.keys()].map((path) => [path, read(path), stamp(path)])).toEqual(before);
    }
  });
});
