// The hook launcher where there is no POSIX shell (FILE CLIENT EVENT, with the hook input on standard input), and the part
// that plugins inside a client call. A report that needs no answer becomes a file in the inbox, in the form that hook.sh
// writes; wherever anything is unusual, the program runs. Nothing but `fs` is loaded before that.
'use strict';
const fs = require('node:fs');

/** `holdfast install` fills these in. */
const PROGRAM = '@PROGRAM@';
const MACHINE = '@MACHINE@';
const STATE = '@STATE@';

const MOST_REPORTS = 5000;
const MOST_BYTES = 16 * 1024 * 1024;
const DRAIN_EVERY = 64;

const begins = /^(?:[Pp]reToolUse|BeforeTool|beforeShellExecution|tool\.execute\.before)$/;
const drains =
  /^(?:Stop|StopFailure|stop|agentStop|errorOccurred|AfterAgent|[Pp]reCompact|[Ss]essionEnd|session\.(?:idle|error|deleted)|dispose)$/;
const reports =
  /^(?:[Pp]ostToolUse(?:Failure)?|AfterTool|afterShellExecution|afterFileEdit|beforeReadFile|Task\w*|[Ss]ubagent\w*|tool\.execute\.after|todo\.updated|message\.updated|session\.created)$/;

/**
 * Writes one report. `run`: the program must be called with the event; `drain`: the report is written, and the program is
 * to take the inbox in, now or, if `soon`, in the background; null: nothing is left to do.
 */
function writeReport({
  client,
  event,
  dir,
  input,
  agent,
  environment = process.env,
  machine = MACHINE,
  state = STATE,
}) {
  const kind = begins.test(event)
    ? 'begin'
    : drains.test(event)
      ? 'drain'
      : reports.test(event) || `${client}:${event}` === 'gemini:SessionStart'
        ? 'report'
        : `${client}:${event}` === 'qwen:UserPromptSubmit'
          ? 'turn'
          : null;
  const { HOLDFAST_STORE, HOLDFAST_RUN = '', HOLDFAST_AGENT = '', QWEN_CODE_SESSION_ID = '' } = environment;
  const cwd = realPath(dir);
  if (fs.existsSync(`${state}/off`)) return null;
  if (kind === null || HOLDFAST_STORE || !/^m-[0-9a-f]{12}$/.test(machine) || cwd === null) return { run: true };
  if (/\n/.test(cwd + HOLDFAST_RUN + HOLDFAST_AGENT) || Buffer.byteLength(input) > MOST_BYTES) return { run: true };
  // Folders whose data is kept elsewhere are left to the program.
  if (sizeOf(`${state}/places`) > 0) return { run: true };
  const git = findGit(cwd);
  if (git === undefined) return { run: true };
  if (git === null) return null;
  const inbox = `${git}/holdfast/inbox`;
  if (!isFolder(inbox)) return { run: true };
  const has = (name) => fs.existsSync(`${inbox}/${name}`);
  if (!isFolder(`${git}/holdfast`) || realPath(inbox) !== real(inbox) || has('off')) return null;
  if ((kind === 'begin' || kind === 'report') && has('ask')) return { run: true };
  const isRepeated = /^[\w-]+$/.test(QWEN_CODE_SESSION_ID) && has(`turn-${QWEN_CODE_SESSION_ID}`);
  if (kind === 'turn' && !isRepeated) return { run: true };
  const waiting = fs.readdirSync(inbox).filter((name) => name.endsWith('.in')).length;
  if (waiting >= MOST_REPORTS) {
    if (!has('full')) fs.writeFileSync(`${inbox}/full`, '', { flag: 'wx', mode: 0o600 });
    return null;
  }
  const { pid = 0, start = '', boot = '-' } = agent ?? {};
  const owner = pid > 0 && start !== '' ? `${pid}:${start}` : '-';
  const header = `holdfast-inbox 1 ${client} ${event} ${process.pid} ${process.ppid} ${owner} ${boot}`;
  const text = [header, cwd, HOLDFAST_RUN, HOLDFAST_AGENT, input].join('\n');
  const file = write(inbox, `${machine}-${process.pid}-${start}`, text, kind === 'begin');
  if (kind === 'drain') return { drain: true, soon: false };
  return (waiting > 0 && waiting % DRAIN_EVERY === 0) || isLate(inbox, file) ? { drain: true, soon: true } : null;
}

let count = 0;

/** One process may write many: a count keeps them apart and in order. */
function write(inbox, name, text, isSynced) {
  for (;;) {
    count += 1;
    const file = `${inbox}/${name}-${count}.in`;
    let handle;
    try {
      handle = fs.openSync(file, 'wx', 0o600);
    } catch (thrown) {
      if (thrown.code === 'EEXIST') continue;
      throw thrown;
    }
    try {
      fs.writeFileSync(handle, text);
      if (isSynced) fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
    return file;
  }
}

function isLate(inbox, file) {
  const drained = fs.statSync(`${inbox}/drained`, { throwIfNoEntry: false });
  return drained !== undefined && drained.mtimeMs < fs.statSync(file).mtimeMs;
}

/** The git folder that all working trees share; null without a repository, undefined where the program must look. */
function findGit(from) {
  const home = realPath(process.env.HOME || process.env.USERPROFILE || '');
  for (let folder = from; ; ) {
    if (folder === home && folder !== from) return null;
    const entry = fs.lstatSync(`${folder}/.git`, { throwIfNoEntry: false });
    if (entry?.isSymbolicLink()) return undefined;
    if (entry?.isFile()) return linkedGit(folder);
    if (entry?.isDirectory() && fs.existsSync(`${folder}/.git/HEAD`)) {
      if (fs.existsSync(`${folder}/.git/commondir`)) return undefined;
      return isOwn(folder) && isOwn(`${folder}/.git`) ? `${folder}/.git` : undefined;
    }
    if (['.hg', '.svn', '.jj'].some((name) => fs.existsSync(`${folder}/${name}`))) return null;
    const above = folder.replace(/[\\/][^\\/]*$/, '');
    if (above === folder || above === '') return null;
    folder = above;
  }
}

/** A linked worktree, confirmed from the other side; submodules are left to the program. */
function linkedGit(folder) {
  const line = (file) => fs.readFileSync(file, 'utf8').split(/\r?\n/, 1)[0];
  try {
    const pointer = /^gitdir: (.+)$/.exec(line(`${folder}/.git`))?.[1] ?? '';
    const own = realPath(/^(?:[\\/]|[A-Za-z]:)/.test(pointer) ? pointer : `${folder}/${pointer}`) ?? '';
    const git = /^(.+)[\\/]worktrees[\\/][^\\/]+$/.exec(own)?.[1];
    if (git === undefined || line(`${own}/commondir`) !== '../..') return undefined;
    if (realPath(line(`${own}/gitdir`)) !== real(`${folder}/.git`)) return undefined;
    if (![own, git].every((path) => fs.existsSync(`${path}/HEAD`)) || fs.existsSync(`${git}/commondir`))
      return undefined;
    return [folder, `${folder}/.git`, own, git].every(isOwn) ? git : undefined;
  } catch {
    return undefined;
  }
}

const isOwn = (path) => process.geteuid === undefined || fs.lstatSync(path).uid === process.geteuid();
const isFolder = (path) => fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const sizeOf = (path) => fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
/** On Windows a real path has other separators than we write. */
const real = (path) => (process.platform === 'win32' ? path.replaceAll('/', '\\') : path);

function realPath(path) {
  try {
    return path === '' ? null : fs.realpathSync(path);
  } catch {
    return null;
  }
}

/** Which client runs the hook: some run the files of others. */
function clientOf(named, { env }) {
  if (!['claude', 'copilot', 'vscode'].includes(named)) return named;
  if (env.QWEN_PROJECT_DIR || env.QWEN_CODE_SESSION_ID) return 'qwen';
  if (env.COPILOT_CLI || env.COPILOT_PROJECT_DIR) return 'copilot';
  if (env.CURSOR_VERSION) return 'cursor';
  return env.GEMINI_SESSION_ID ? 'gemini' : named;
}

function main() {
  const [, , named = '', event = ''] = process.argv;
  const client = clientOf(named, process);
  const dir = (client === 'cursor' && process.env.CURSOR_PROJECT_DIR) || process.cwd();
  // The program reads standard input itself, so it is read here only for what will be written.
  const isAnswered = !begins.test(event) && !drains.test(event) && !reports.test(event) && event !== 'SessionStart';
  let input = null;
  let left = { run: true };
  if (!isAnswered || client === 'qwen') {
    input = fs.readFileSync(0, 'utf8');
    try {
      left = writeReport({ client, event, dir, input });
    } catch {
      left = null;
    }
  }
  if (left === null || !fs.existsSync(PROGRAM)) return;
  const words = ['hook', client, event, ...(left.drain ? ['--inbox'] : [])];
  if (input === null || (left.drain && !left.soon)) {
    process.chdir(dir);
    process.argv.splice(1, process.argv.length, PROGRAM, ...words);
    require(PROGRAM);
    return;
  }
  const { spawn, spawnSync } = require('node:child_process');
  if (left.drain) {
    spawn(process.execPath, [PROGRAM, ...words], { cwd: dir, stdio: 'ignore', detached: true }).unref();
    return;
  }
  spawnSync(process.execPath, [PROGRAM, ...words], { cwd: dir, input, stdio: ['pipe', 'inherit', 'ignore'] });
}

module.exports = { writeReport };
if (require.main === module) {
  try {
    main();
  } catch {
    // A hook never fails.
  }
}
