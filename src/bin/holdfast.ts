import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';

/**
 * Starts the program from compiled code that an earlier start saved next to it: compiling again would take a third of the
 * time of a whole command. Each command has its own files with only the functions it used, named by the version of V8 that
 * wrote them, because V8 rejects code of any other. If they cannot be read or written, the program starts without them.
 */
function start(): void {
  const [, , word = ''] = process.argv;
  openPart(/^[a-z]{2,16}$/.exec(word)?.[0] ?? 'other')('./program.cjs');
}

type Part = (exports: object, require: (id: string) => unknown, module: object, file: string, folder: string) => void;

/** A `require` whose own files start from saved code. */
function openPart(command: string): (id: string) => unknown {
  const loaded = new Map<string, { exports: object }>();
  const unsaved: { file: string; script: Script }[] = [];
  const others = module.require.bind(module);
  return function requirePart(id) {
    if (!id.startsWith('./')) return others(id);
    const known = loaded.get(id);
    if (known) return known.exports;
    // V8 treats an object without a prototype as a dictionary: adding hundreds of names is many times faster.
    const part = { exports: Object.create(null) as object };
    loaded.set(id, part);
    const file = join(__dirname, id);
    const cacheFile = `${file}.${command}.${process.versions.v8}-${process.arch}.cache`;
    const cachedData = readCache(cacheFile);
    if (!cachedData) {
      keepCode(true);
      // A process that runs for days gets V8's optimizations back.
      setTimeout(() => keepCode(false), 5000).unref();
    }
    const script = new Script(readFileSync(file, 'utf8'), { filename: file, ...(cachedData ? { cachedData } : {}) });
    if (!cachedData || script.cachedDataRejected) {
      if (unsaved.length === 0) process.once('exit', (code) => saveAll(unsaved, code));
      unsaved.push({ file: cacheFile, script });
    }
    (script.runInThisContext() as Part)(part.exports, requirePart, part, file, __dirname);
    return part.exports;
  };
}

function readCache(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/**
 * While a process collects code to save, V8 must not drop functions that have not run for a while, which would be missing,
 * nor optimize any, which every later start would repeat. V8 accepts only code saved with the same flags, so they are reset
 * before saving.
 */
function keepCode(isKept: boolean): void {
  const { setFlagsFromString } = require('node:v8') as typeof import('node:v8');
  setFlagsFromString(isKept ? '--no-flush-bytecode' : '--flush-bytecode');
  setFlagsFromString(isKept ? '--no-sparkplug' : '--sparkplug');
}

/** Called at the end of a command, when the functions it used are compiled. */
function saveAll(unsaved: readonly { file: string; script: Script }[], code: number): void {
  // A refused command has not used its usual functions, or may not exist.
  if (code !== 0) return;
  try {
    keepCode(false);
    for (const { file, script } of unsaved) {
      const beside = `${file}.${process.pid}.tmp`;
      writeFileSync(beside, script.createCachedData());
      renameSync(beside, file);
    }
  } catch {
    // The user may not write here: the next start is as slow as this one.
  }
}

start();
