// Starts the Holdfast that is installed on this machine, in this process. Settings in git call this file, so that they hold
// no path of one machine. Where Holdfast is not installed, a hook does nothing and exits 0.
'use strict';
const { realpathSync, statSync } = require('node:fs');
const { delimiter, dirname, isAbsolute, join } = require('node:path');

const PROGRAM = join('dist', 'bin', 'holdfast.cjs');

start();

function start() {
  const isHook = process.argv[2] === 'hook';
  const program = find();
  if (program !== null) {
    process.argv[1] = program;
    try {
      require(program);
      return;
    } catch (thrown) {
      if (!isHook) throw thrown;
    }
  }
  if (isHook) return;
  process.stderr.write('Holdfast is not installed on this machine. `npm install -g holdfast` does that.\n');
  process.exitCode = 1;
}

/** Only from the search path: a file of the project must not choose the program. */
function find() {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    // A relative path would be inside the project.
    if (!isAbsolute(folder)) continue;
    try {
      const real = realpathSync(join(folder, 'holdfast'));
      if (real.endsWith(PROGRAM)) return real;
    } catch {
      // Not here.
    }
    // On Windows the packages are beside the command; elsewhere, if the command is a script, in the sibling folder.
    for (const packages of [join(folder, 'node_modules'), join(dirname(folder), 'lib', 'node_modules')]) {
      const found = file(join(packages, 'holdfast', PROGRAM));
      if (found !== null) return found;
    }
  }
  return null;
}

function file(path) {
  return isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() ? path : null;
}
