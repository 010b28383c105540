import type { Fault } from '../core/fault.ts';
import { asFault, faultExits } from '../core/fault.ts';
import { withRecorded } from '../core/recorded.ts';
import { printable, safeToShow } from '../core/text.ts';
import type { Context } from '../operations/context.ts';
import { openContext } from '../operations/open.ts';
import { type Operation, type Outcome, parseInput } from '../operations/operation.ts';
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
  /** Takes in what hooks left for the next command. */
  takeReports?: ((context: Context) => Promise<void>) | undefined;
}

/** Runs one command line and returns the exit code. */
export async function main(surroundings: Surroundings): Promise<number> {
  const { argv, environment, isTerminal } = surroundings;
  let json = argv.includes('--json');
  const plain = !isTerminal || Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb';
  let pen = penFor(!plain);
  try {
    const call = await parseArguments(argv, surroundings.commands);
    json = call.common.json;
    if (call.common.color !== undefined) pen = penFor(call.common.color);
    const { operation } = call;
    if (!operation || call.help) return await ownCommand(call, surroundings, pen);
    return await runOperation(operation, call, surroundings, pen);
  } catch (thrown) {
    return fail(asFault(thrown), json, pen, environment);
  }
}

async function runOperation(
  operation: Operation,
  call: Call,
  surroundings: Surroundings,
  pen: TerminalPen,
): Promise<number> {
  const { isTerminal } = surroundings;
  const input = parseInput(operation, call.input);
  const warnings: string[] = [];
  const tally = { events: 0 };
  const bar = operation.counts && !call.common.json ? await progressBar() : null;
  const identity = identityFrom(call.common, surroundings);
  const context = openContext({
    ...identity,
    tally,
    warn: (message) => warnings.push(message),
    progress: bar?.update,
    ...(surroundings.isAttended && !call.common.json ? { ask: askAtTerminal } : {}),
  });
  // Hooks report to the workspace's own journal, and `doctor` changes nothing that it examines.
  const isAside = identity.store !== undefined || operation.name === 'doctor';
  const takeReports = async (): Promise<void> => (isAside ? undefined : surroundings.takeReports?.(context));
  try {
    if (operation.watches?.(input))
      return await watch(operation, context, input, { json: call.common.json, isTerminal, pen, takeReports });
    await takeReports();
    const outcome = await operation.run(context, input).catch((thrown: unknown) => {
      throw operation.scope === 'read' ? thrown : withRecorded(asFault(thrown), tally, identity.key);
    });
    bar?.clear();
    if (outcome.until) {
      show(operation, outcome, warnings, call.common.json, pen);
      await outcome.until;
      return 0;
    }
    // Everything is recorded by now: a failure to close is reported and undoes nothing.
    await context.close().catch((thrown: unknown) => warnings.push(closeWarning(asFault(thrown))));
    if (!operation.speaks) show(operation, outcome, warnings, call.common.json, pen);
    return operation.verdict?.(outcome.data, input) ?? 0;
  } finally {
    bar?.clear();
    // A failure was reported above, or is less important than the one that led here.
    await context.close().catch(() => undefined);
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
  json: boolean,
  pen: TerminalPen,
): void {
  const { data, changed = [] } = outcome;
  if (json) {
    print(1, safeJson({ ok: true, data, changed, ...(warnings.length > 0 ? { warnings } : {}) }));
    return;
  }
  print(1, say(operation, data, pen));
  if (outcome.changed?.length === 0 && operation.scope !== 'read') print(1, pen.dim('Nothing changed.'));
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
  takeReports: () => Promise<void>;
}

/** Prints the output again whenever it has changed, until the process is stopped. */
async function watch(
  operation: Operation,
  context: Context,
  input: ReturnType<typeof parseInput>,
  { json, isTerminal, pen, takeReports }: Showing,
): Promise<number> {
  let shown = '';
  for (let seen: number | undefined; ; ) {
    await takeReports();
    const outcome = await operation.run(context, input);
    const text = say(operation, outcome.data, pen);
    if (text !== shown) {
      if (!json && isTerminal) print(1, CLEAR_SCREEN);
      show(operation, outcome, [], json, pen);
      shown = text;
    }
    seen = await context.news(WATCH_MS, seen);
  }
}

/** Moves the cursor to the top left and clears the screen. */
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** Help, version and completions. */
async function ownCommand(call: Call, { version, commands }: Surroundings, pen: TerminalPen): Promise<number> {
  if (call.version) {
    print(1, call.common.json ? safeJson({ ok: true, data: { version }, changed: [] }) : version);
    return 0;
  }
  const text = await ownText(call, commands, call.common.json ? penFor(false) : pen);
  print(1, call.common.json ? safeJson({ ok: true, data: { text }, changed: [] }) : text);
  return 0;
}

async function ownText(call: Call, commands: Commands, pen: TerminalPen): Promise<string> {
  const [first, ...rest] = call.words;
  if (first === 'completion' && !call.help) {
    const { completionScript } = await import('./completion.ts');
    return completionScript(rest[0], await loadAll(commands));
  }
  const { explain, explainOwn, overview, unknownCommand } = await import('./help.ts');
  if (call.operation) return explain(call.operation, pen);
  if (first === undefined || (first === 'help' && rest.length === 0))
    return overview(await loadAll(commands), pen, true);
  const words = first === 'help' ? rest : call.words;
  if (first !== 'help' && !call.help) throw unknownCommand(words, commands.names);
  const { names, load } = commands;
  const named = names.find((name) => name === words.join('.')) ?? names.find((name) => name === words[0]);
  if (named) return explain(await load(named), pen);
  const group = names.filter((name) => name.startsWith(`${words[0]}.`));
  if (group.length > 0 && words.length === 1) return overview(await Promise.all(group.map(load)), pen, false);
  const own = explainOwn(words[0] ?? '');
  if (own === null) throw unknownCommand(words, commands.names);
  return own;
}

function fail(fault: Fault, json: boolean, pen: TerminalPen, environment: Surroundings['environment']): number {
  const { code, message, hints, data } = fault;
  if (!json || !couldPrint(safeJson({ ok: false, fault: { code, message, hints, data } }))) {
    print(2, `${pen.bad(code)} ${printable(message)}`);
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
