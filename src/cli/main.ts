import { asFault, Fault, faultExits, quoted } from '../core/fault.ts';
import { withRecorded } from '../core/recorded.ts';
import { printable, safeToShow } from '../core/text.ts';
import type { Context } from '../operations/context.ts';
import { openContext } from '../operations/open.ts';
import { type Operation, type Outcome, parseInput } from '../operations/operation.ts';
import { isFolder } from '../workspace/read.ts';
import { withoutAliases } from './aliases.ts';
import { type Call, parseArguments } from './arguments.ts';
import { type Commands, loadAll } from './commands.ts';
import { identityFrom } from './environment.ts';
import type { ProgressBar } from './progress.ts';
import { penFor, print, safeJson, type TerminalPen } from './terminal.ts';

export interface Surroundings {
  argv: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Standard output is a terminal. */
  isTerminal: boolean;
  /** Standard input and error are a terminal: someone may sit there. */
  isAttended: boolean;
  /** The process that started this one. */
  parent: number;
  version: string;
  commands: Commands;
  /** Records what hooks left for the next command. */
  takeReports?: ((context: Context) => Promise<void>) | undefined;
}

/** Runs one command line and returns the exit code. */
export async function main(surroundings: Surroundings): Promise<number> {
  const { argv, environment, isTerminal } = surroundings;
  let json = argv.includes('--json');
  const columns = (): number => columnsFrom(surroundings);
  let pen = penFor(isPainted(environment, isTerminal), columns);
  if (argv[0] === '__complete') return printCompletions(surroundings);
  try {
    const call = await parseArguments(argv, surroundings.commands);
    json = call.common.json;
    if (call.common.color !== undefined) pen = penFor(call.common.color, columns);
    const { operation } = call;
    if (call.words.length === 0 && !call.help && !call.version) return await glance(call, surroundings, pen);
    if (!operation || call.help) return await ownCommand(call, surroundings, pen);
    return await runOperation(operation, call, surroundings, pen);
  } catch (thrown) {
    return fail(asFault(thrown), json, pen, environment);
  }
}

/** In a pipe lines are as long as they are. */
const columnsFrom = ({ environment, isTerminal }: Pick<Surroundings, 'environment' | 'isTerminal'>): number =>
  (isTerminal && process.stdout.columns) || Number(environment['COLUMNS']) || Number.POSITIVE_INFINITY;

/** Colours are for a terminal; a variable may forbid or force them, and a flag decides last. */
function isPainted(environment: Surroundings['environment'], isTerminal: boolean): boolean {
  if (environment['NO_COLOR']) return false;
  const forced = environment['FORCE_COLOR'];
  if (forced) return forced !== '0';
  return isTerminal && environment['TERM'] !== 'dumb';
}

/** Called by the completion scripts of shells: prints what could come next, or nothing. */
async function printCompletions({ argv, environment, cwd, commands }: Surroundings): Promise<number> {
  try {
    const { complete } = await import('./complete.ts');
    const store = environment['HOLDFAST_STORE'] || undefined;
    const found = await complete(argv.slice(1), { dir: cwd, store, commands });
    if (found.length > 0) print(1, printable(found.join('\n')));
  } catch {
    // A shell has no place for an error.
  }
  return 0;
}

/** `holdfast` alone: where things stand and what to do next, or what Holdfast is. */
async function glance(call: Call, surroundings: Surroundings, pen: TerminalPen): Promise<number> {
  try {
    return await runOperation(await surroundings.commands.load('next'), call, surroundings, pen);
  } catch (thrown) {
    if (asFault(thrown).code !== 'not_found') throw thrown;
    const { introduction } = await import('./intro.ts');
    const text = introduction(call.common.dir ?? surroundings.cwd, pen);
    print(1, call.common.json ? safeJson({ ok: true, data: { text }, changed: [] }) : text);
    return 0;
  }
}

async function runOperation(
  operation: Operation,
  call: Call,
  surroundings: Surroundings,
  pen: TerminalPen,
): Promise<number> {
  const { isTerminal } = surroundings;
  mustBeFolder(operation, call.common.dir);
  const input = await readInput(operation, call, surroundings);
  const warnings: string[] = [];
  const tally = { events: 0 };
  const bar = operation.counts && !call.common.json ? await progressBar() : null;
  const identity = identityFrom(call.common, surroundings);
  const context = openContext({
    ...identity,
    tally,
    onlyReads: operation.scope === 'read',
    warn: (message) => warnings.push(message),
    progress: bar?.update,
    takeReports: surroundings.takeReports,
    ...(surroundings.isAttended && !call.common.json ? { ask: askAtTerminal } : {}),
  });
  try {
    if (operation.watches?.(input)) return await watch(operation, context, input, { ...call.common, isTerminal, pen });
    // `doctor` changes nothing that it examines.
    if (operation.name !== 'doctor') await context.takeReports();
    const outcome = await operation.run(context, input).catch((thrown: unknown) => {
      throw operation.scope === 'read' ? thrown : withRecorded(asFault(thrown), tally, identity.key);
    });
    bar?.clear();
    if (outcome.until) {
      show(operation, outcome, warnings, call.common, pen);
      await outcome.until;
      return 0;
    }
    // Everything is recorded by now: a failure to close is reported and undoes nothing.
    await context.close().catch((thrown: unknown) => warnings.push(closeWarning(asFault(thrown))));
    if (!operation.speaks) show(operation, outcome, warnings, call.common, pen);
    return operation.verdict?.(outcome.data, input) ?? 0;
  } finally {
    bar?.clear();
    // A failure was reported above, or is less important than the one that led here.
    await context.close().catch(() => undefined);
  }
}

/** `init` makes the folder it is given. */
function mustBeFolder(operation: Operation, dir: string | undefined): void {
  if (dir === undefined || operation.name === 'init' || isFolder(dir)) return;
  throw new Fault('usage', `The folder ${quoted(dir)} does not exist.`, {
    hints: ['`--dir` names the folder to work in.'],
  });
}

/** Input as the operation needs it; what is wrong with it is said in the words that were typed. */
async function readInput(
  operation: Operation,
  call: Call,
  surroundings: Surroundings,
): Promise<ReturnType<typeof parseInput>> {
  try {
    return parseInput(operation, call.input);
  } catch (thrown) {
    const { refuseTyped } = await import('./refuse-input.ts');
    throw await refuseTyped(operation, call, asFault(thrown), identityFrom(call.common, surroundings));
  }
}

async function askAtTerminal(text: string, question: string): Promise<boolean> {
  const { ask } = await import('./ask.ts');
  return ask(text, question);
}

const closeWarning = ({ message }: Fault): string =>
  `The journal could not be closed properly; what was recorded stays recorded. ${message}`;

async function progressBar(): Promise<ProgressBar | null> {
  const { canShowProgress, openProgressBar } = await import('./progress.ts');
  return canShowProgress() ? openProgressBar() : null;
}

function show(
  operation: Operation,
  outcome: Outcome<unknown>,
  warnings: readonly string[],
  { json, quiet = false }: Pick<Call['common'], 'json' | 'quiet'>,
  pen: TerminalPen,
): void {
  const { data, changed = [] } = outcome;
  if (json) {
    print(1, safeJson({ ok: true, data, changed, ...(warnings.length > 0 ? { warnings } : {}) }));
    return;
  }
  if (!quiet) print(1, say(operation, data, pen));
  if (!quiet && outcome.changed?.length === 0 && operation.scope !== 'read') print(1, pen.dim('Nothing changed.'));
  for (const warning of warnings) print(2, pen.warn(`Warning: ${printable(warning)}`));
}

/**
 * Text that is harmless to a terminal. Colours are escapes themselves, so with colours every text of the data is cleaned
 * before it is formatted; without them only the result is, which is far less.
 */
function say(operation: Operation, data: unknown, pen: TerminalPen): string {
  return pen.paints ? operation.say(safeToShow(data), pen) : printable(operation.say(data, pen));
}

/** Also without events: leases run out. */
const WATCH_MS = 1000;

interface Showing {
  json: boolean;
  isTerminal: boolean;
  pen: TerminalPen;
}

/** Prints the output again whenever it has changed, until the process is stopped. */
async function watch(
  operation: Operation,
  context: Context,
  input: ReturnType<typeof parseInput>,
  { json, isTerminal, pen }: Showing,
): Promise<number> {
  let shown = '';
  for (let seen: number | undefined; ; ) {
    await context.takeReports();
    const outcome = await operation.run(context, input);
    const text = say(operation, outcome.data, pen);
    if (text !== shown) {
      if (!json && isTerminal) print(1, CLEAR_SCREEN);
      show(operation, outcome, [], { json }, pen);
      shown = text;
    }
    seen = await context.news(WATCH_MS, seen);
  }
}

/** Moves the cursor to the top left and clears the screen. */
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** Help, version and completions. */
async function ownCommand(
  call: Call,
  { version, commands, environment, isTerminal }: Surroundings,
  pen: TerminalPen,
): Promise<number> {
  if (call.version || (call.words[0] === 'version' && call.words.length === 1)) {
    print(1, call.common.json ? safeJson({ ok: true, data: { version }, changed: [] }) : version);
    return 0;
  }
  const columns = columnsFrom({ environment, isTerminal });
  const text = await ownText(call, commands, call.common.json ? penFor(false) : pen, columns);
  print(1, call.common.json ? safeJson({ ok: true, data: { text }, changed: [] }) : text);
  return 0;
}

async function ownText(call: Call, commands: Commands, pen: TerminalPen, columns: number): Promise<string> {
  const [first, ...rest] = call.words;
  if (first === 'completion' && !call.help) {
    const { completionScript } = await import('./completion.ts');
    return completionScript(rest[0]);
  }
  const { allCommands, explain, explainOwn, groupOf, shortHelp, unknownCommand } = await import('./help.ts');
  if (call.operation) return explain(call.operation, pen, columns);
  if (first === undefined || (first === 'help' && rest.length === 0))
    return call.isAll ? allCommands(await loadAll(commands), pen, columns) : shortHelp(pen, columns);
  const words = first === 'help' ? rest : call.words;
  if (first !== 'help' && !call.help) throw unknownCommand(words, commands.names);
  const { names, load } = commands;
  const named = names.find((name) => name === words.join('.')) ?? names.find((name) => name === words[0]);
  if (named) return explain(await load(named), pen, columns);
  const group = names.filter((name) => name.startsWith(`${words[0]}.`));
  if (group.length > 0 && words.length === 1) return groupOf(await Promise.all(group.map(load)), pen, columns);
  const meant = withoutAliases(words, []).words.join('.');
  if (names.includes(meant)) return explain(await load(meant), pen, columns);
  const own = explainOwn(words[0] ?? '');
  if (own === null) throw unknownCommand(words, commands.names);
  return own;
}

function fail(fault: Fault, json: boolean, pen: TerminalPen, environment: Surroundings['environment']): number {
  const { code, message, hints, data } = fault;
  if (!json || !couldPrint(safeJson({ ok: false, fault: { code, message, hints, data } }))) {
    print(2, `${pen.bad('Error:')} ${printable(message)} ${pen.dim(`(${code})`)}`);
    for (const hint of hints) print(2, `  ${printable(hint)}`);
  }
  if (code === 'internal' && environment['HOLDFAST_DEBUG'])
    print(2, (fault.cause instanceof Error ? fault.cause : fault).stack ?? '');
  return faultExits[code];
}

/** If standard output cannot be written, the fault goes to standard error. */
function couldPrint(text: string): boolean {
  try {
    print(1, text);
    return true;
  } catch {
    return false;
  }
}
