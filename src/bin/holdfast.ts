import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';

/**
 * Starts the program from compiled code that an earlier start left beside it: compiling it anew would take a third of
 * the time of a whole command. Each command has a file of its own, with the functions it used and no others, named by the
 * version of the engine that wrote it, which refuses any other. Where it cannot be read or written, the program starts as
 * usual.
 */
function start(): void {
  const [, , word = '', , event = ''] = process.argv;
  const isHook = word === 'hook' && !process.argv.includes('--help') && !process.argv.includes('-h');
  const file = join(__dirname, isHook ? 'hook.cjs' : 'program.cjs');
  const source = readFileSync(file, 'utf8');
  // The use of a tool is told far more often than anything else, and needs far less.
  const command = isHook
    ? /tool|shell|file/i.exec(event)
      ? 'tool'
      : 'moment'
    : (/^[a-z]{2,16}$/.exec(word)?.[0] ?? 'other');
  const cacheFile = `${file}.${command}.${process.versions.v8}-${process.arch}.cache`;
  const cachedData = readCache(cacheFile);
  if (!cachedData) {
    keepCode(true);
    // One that serves for days has its engine back after a moment.
    setTimeout(() => keepCode(false), 5000).unref();
  }
  const script = new Script(source, {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
  });
  // Known to `require` under its own name: the program's other parts ask for it and must get this very one.
  const program = new (module.constructor as new (id: string) => NodeJS.Module)(file);
  program.filename = file;
  // An object without a prototype is a dictionary to the engine: hundreds of names are put into it many times as fast.
  program.exports = Object.create(null);
  program.loaded = true;
  require.cache[file] = program;
  script.runInThisContext()(program.exports, program.require.bind(program), program, file, __dirname);
  if (cachedData && !script.cachedDataRejected) return;
  process.once('exit', (code) => {
    // A command that was refused has not used what it would use, and may not exist.
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
 * In a process that saves its code the engine neither forgets functions that have not run for a while, which would then be
 * missing, nor compiles any of them further, which every later start would do again at once. Code is taken only by an
 * engine with the same settings, so they are set back before it is saved.
 */
function keepCode(isKept: boolean): void {
  const { setFlagsFromString } = require('node:v8') as typeof import('node:v8');
  setFlagsFromString(isKept ? '--no-flush-bytecode' : '--flush-bytecode');
  setFlagsFromString(isKept ? '--no-sparkplug' : '--sparkplug');
}

/** At the end of a command, when the functions it used are compiled too. */
function saveCache(file: string, script: Script): void {
  try {
    const beside = `${file}.${process.pid}.tmp`;
    keepCode(false);
    writeFileSync(beside, script.createCachedData());
    renameSync(beside, file);
  } catch {
    // Installed where this user may not write: the next start is as slow as this one.
  }
}

start();
