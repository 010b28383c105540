import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';

/**
 * Starts the program from compiled code that an earlier start saved next to it: compiling again would take a third of the
 * time of a whole command. Each command has its own file with only the functions it used, named by the version of V8 that
 * wrote it, because V8 rejects code of any other. If it cannot be read or written, the program starts without it.
 */
function start(): void {
  const [, , word = '', , event = ''] = process.argv;
  const isHook = word === 'hook' && !process.argv.includes('--help') && !process.argv.includes('-h');
  const file = join(__dirname, isHook ? 'hook.cjs' : 'program.cjs');
  const source = readFileSync(file, 'utf8');
  // Tool hooks run far more often than any other, and need far less code.
  const command = isHook
    ? /tool|shell|file/i.exec(event)
      ? 'tool'
      : 'moment'
    : (/^[a-z]{2,16}$/.exec(word)?.[0] ?? 'other');
  const cacheFile = `${file}.${command}.${process.versions.v8}-${process.arch}.cache`;
  const cachedData = readCache(cacheFile);
  if (!cachedData) {
    keepCode(true);
    // A process that runs for days gets V8's optimizations back.
    setTimeout(() => keepCode(false), 5000).unref();
  }
  const script = new Script(source, {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
  });
  // Registered with `require`: the program's other files ask for it and must get this instance.
  const program = new (module.constructor as new (id: string) => NodeJS.Module)(file);
  program.filename = file;
  // V8 treats an object without a prototype as a dictionary: adding hundreds of names is many times faster.
  program.exports = Object.create(null);
  program.loaded = true;
  require.cache[file] = program;
  script.runInThisContext()(program.exports, program.require.bind(program), program, file, __dirname);
  if (cachedData && !script.cachedDataRejected) return;
  process.once('exit', (code) => {
    // A refused command has not used its usual functions, or may not exist.
    if (code === 0) saveCache(cacheFile, script);
  });
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
function saveCache(file: string, script: Script): void {
  try {
    const beside = `${file}.${process.pid}.tmp`;
    keepCode(false);
    writeFileSync(beside, script.createCachedData());
    renameSync(beside, file);
  } catch {
    // The user may not write here: the next start is as slow as this one.
  }
}

start();
