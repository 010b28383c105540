import * as v from 'valibot';
import { Fault, nearest, quoted } from '../core/fault.ts';
import { FilePath, StepKey } from '../core/text.ts';
import { type Operation, unwrap } from '../operations/operation.ts';
import { withoutAliases } from './aliases.ts';
import type { Commands } from './commands.ts';

/** A parsed command line: the operation, its input as typed, and the common flags. */
export interface Call {
  operation: Operation | null;
  input: Record<string, unknown>;
  common: CommonFlags;
  help: boolean;
  version: boolean;
  /** `help --all`. */
  isAll: boolean;
  /** The words that named the command. */
  words: string[];
  /** Each field that a flag filled, with the flag as it was typed. */
  typed: Record<string, string>;
}

export interface CommonFlags {
  json: boolean;
  run?: string;
  session?: string;
  agent?: string;
  store?: string;
  dir?: string;
  idempotency?: string;
  verbatim?: boolean;
  quiet?: boolean;
  color?: boolean;
}

export const commonFlags = {
  json: 'Print exactly one JSON object.',
  run: 'The run to work on.',
  session: 'Act as this session.',
  agent: 'Act as this agent.',
  store: 'A PostgreSQL address or a SQLite file, instead of the workspace’s own.',
  dir: 'The folder to work in.',
  idempotency: 'The command is recorded once per key, however often it is repeated.',
  verbatim: 'Text is recorded as given, even where it looks like a secret.',
  quiet: 'Print nothing but warnings and errors (-q).',
} as const;

const isSwitch = (name: string): name is 'json' | 'verbatim' | 'quiet' =>
  name === 'json' || name === 'verbatim' || name === 'quiet';
const isCommonFlag = (name: string): boolean => Object.hasOwn(commonFlags, name);

/** One letter for flags that people type often. */
const shortFlags = new Map([
  ['-n', '--limit'],
  ['-r', '--run'],
  ['-a', '--agent'],
  ['-q', '--quiet'],
]);

/** Commands that are not operations. */
export const ownCommands = ['help', 'completion', 'hook'] as const;

/** A flag of an operation: the field it fills and how. */
export interface FlagSpec {
  field: string;
  name: string;
  /** Other names that are accepted. */
  also: readonly string[];
  kind: 'text' | 'number' | 'boolean' | 'list';
  /** Several keys or paths may be given at once, separated by commas. */
  commas: boolean;
  options: readonly string[];
  /** What help says. */
  text: string;
}

export function flagsOf(operation: Operation): FlagSpec[] {
  return Object.entries(operation.input.entries).map(([field, schema]) => {
    const inner = unwrap(schema);
    const kind =
      inner.type === 'array' ? 'list' : inner.type === 'boolean' || inner.type === 'number' ? inner.type : 'text';
    const name = operation.flags?.[field] ?? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return {
      field,
      name,
      also: operation.synonyms?.[field] ?? [],
      kind,
      commas: inner.item === StepKey || inner.item === FilePath,
      options: inner.type === 'picklist' ? (inner.options ?? []) : [],
      text: descriptionOf(schema as v.GenericSchema),
    };
  });
}

/** Descriptions are on the innermost schema. */
function descriptionOf(schema: v.GenericSchema): string {
  let found = schema as { wrapped?: v.GenericSchema };
  while (found.wrapped) found = found.wrapped as typeof found;
  return v.getDescription(found as v.GenericSchema) ?? '';
}

export async function parseArguments(argv: readonly string[], commands: Commands): Promise<Call> {
  const call: Call = {
    operation: null,
    input: {},
    common: { json: false },
    help: false,
    version: false,
    isAll: false,
    words: [],
    typed: {},
  };
  const { name, rest } = findOperation(argv, commands.names, call);
  if (name === null) return call;
  call.operation = await commands.load(name);
  fill(call, call.operation, rest);
  return call;
}

/** The longest sequence of words that names an operation; common flags may come before it. */
function findOperation(
  argv: readonly string[],
  names: readonly string[],
  call: Call,
): { name: string | null; rest: string[] } {
  const rest = [...argv];
  const words: string[] = [];
  const skipped: string[] = [];
  while (rest.length > 0 && words.length < 2) {
    const next = rest[0] as string;
    if (next.startsWith('-')) {
      if (words.length > 0) break;
      skipped.push(rest.shift() as string);
      const name = (shortFlags.get(next) ?? next).replace(/^--/, '');
      const takesValue = isCommonFlag(name) && !isSwitch(name);
      if (takesValue && rest.length > 0) skipped.push(rest.shift() as string);
      continue;
    }
    words.push(rest.shift() as string);
  }
  if (words.length < 2 || !names.includes(words.join('.'))) {
    const meant = withoutAliases(words, rest);
    words.splice(0, words.length, ...meant.words);
    rest.splice(0, rest.length, ...meant.rest);
  }
  const two = words.length === 2 ? names.find((name) => name === `${words[0]}.${words[1]}`) : undefined;
  if (two) {
    call.words = words;
    return { name: two, rest: [...skipped, ...rest] };
  }
  const [first, second] = words;
  const one = names.find((name) => name === first);
  call.words = words;
  if (one) return { name: one, rest: [...skipped, ...(second === undefined ? [] : [second]), ...rest] };
  for (const flag of skipped) {
    if (flag === '--help' || flag === '-h') call.help = true;
    else if (flag === '--version' || flag === '-V' || flag === '-v') call.version = true;
    else if (flag === '--json') call.common.json = true;
  }
  call.words = [...words, ...rest.filter((word) => !word.startsWith('-'))];
  if (rest.includes('--json')) call.common.json = true;
  if (rest.includes('--all')) call.isAll = true;
  if (rest.includes('--help') || rest.includes('-h')) call.help = true;
  const unknown = [...skipped, ...rest].find((word) => word.startsWith('-') && !isOwnFlag(word));
  // An unknown command is reported before an unknown flag.
  if (unknown !== undefined && (first === undefined || isOwnCommand(first))) throw unknownFlag(unknown);
  return { name: null, rest: [] };
}

const isOwnCommand = (word: string): boolean => (ownCommands as readonly string[]).includes(word);

function isOwnFlag(word: string): boolean {
  const name = word.replace(/^--/, '').replace(/=.*$/s, '');
  return ['-h', '-V', '-v', '-q', 'help', 'all', 'version', 'color', 'no-color'].includes(name) || isCommonFlag(name);
}

function unknownFlag(written: string): Fault {
  const near = nearest(written.replace(/^--?/, ''), ['help', 'version', ...Object.keys(commonFlags)]);
  return new Fault('usage', `There is no flag ${quoted(written)}.`, {
    hints: [...near.map((other) => `Did you mean \`--${other}\`?`), 'See `holdfast help`.'],
  });
}

function fill(call: Call, operation: Operation, argv: string[]): void {
  const specs = flagsOf(operation);
  const flags = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const isFlagged = (spec: FlagSpec): boolean => spec.kind !== 'list' && flags.some((flag) => isFlag(spec, flag));
  const flagged = specs.filter(isFlagged).map(({ field }) => field);
  // A value that is given by its flag is not looked for among the words.
  const fields = [...(operation.words ?? [])].filter((field) => !flagged.includes(field)) as string[];
  const words = [...fields];
  const placed: string[] = [];
  let openList: FlagSpec | null = null;
  let onlyWords = false;
  const rest = [...argv];
  while (rest.length > 0) {
    const next = rest.shift() as string;
    if (onlyWords || !looksLikeFlag(next)) {
      openList = takeWord(call, operation, specs, words, openList, next, placed);
      continue;
    }
    if (next === '--') {
      onlyWords = true;
      continue;
    }
    openList = takeFlag(call, operation, specs, next, rest);
  }
  const read = operation.readWords?.(placed) ?? null;
  if (read === null) return;
  for (const field of fields.slice(0, placed.length)) delete call.input[field];
  Object.assign(call.input, read);
}

const isFlag = ({ name, also }: FlagSpec, argument: string): boolean =>
  [name, ...also].some((one) => argument === `--${one}` || argument.startsWith(`--${one}=`));

/** No flag has a space in its name: a sentence that starts with a dash is text. */
function looksLikeFlag(argument: string): boolean {
  return /^--?[^\d\s=-][^\s=]*(=|$)/.test(argument) || argument === '--';
}

/** A word without a flag is the command's next positional value, or one more of the list before it. */
function takeWord(
  call: Call,
  operation: Operation,
  specs: readonly FlagSpec[],
  words: string[],
  openList: FlagSpec | null,
  value: string,
  placed: string[],
): FlagSpec | null {
  const field = words[0];
  if (field === undefined) {
    if (openList) {
      add(call, openList, value);
      return openList;
    }
    // The last words of a sentence that was typed without quotes.
    const last = (operation.words ?? []).at(-1);
    if (last !== undefined && isFreeText(operation, last)) {
      call.input[last] = `${call.input[last]} ${value}`;
      placed.push(value);
      return openList;
    }
    throw usage(operation, `\`${operation.name.replace('.', ' ')}\` does not take ${quoted(value)}.`, [
      'Put text of several words into quotes.',
    ]);
  }
  const spec = specs.find((one) => one.field === field) as FlagSpec;
  if (spec.kind !== 'list') words.shift();
  add(call, spec, value);
  placed.push(value);
  return openList;
}

/** Whether a field takes text that people write, and not a name. */
const isFreeText = (operation: Operation, field: string): boolean =>
  v.getMetadata(operation.input.entries[field] as v.GenericSchema)['text'] === true;

function takeFlag(
  call: Call,
  operation: Operation,
  specs: readonly FlagSpec[],
  flag: string,
  rest: string[],
): FlagSpec | null {
  const equals = flag.indexOf('=');
  const typed = equals > 0 ? flag.slice(0, equals) : flag;
  const written = shortFlags.get(typed) ?? typed;
  const inline = equals > 0 ? flag.slice(equals + 1) : undefined;
  const name = written.replace(/^--?/, '');
  if (written === '-h' || name === 'help') {
    call.help = true;
    return null;
  }
  const spec =
    specs.find((one) => one.name === name || one.also.includes(name)) ??
    specs.find((one) => one.kind === 'boolean' && `no-${one.name}` === name);
  if (spec?.kind === 'boolean') {
    call.input[spec.field] = inline === undefined ? `no-${spec.name}` !== name : inline !== 'false';
    return null;
  }
  if (spec) {
    call.typed[spec.field] = typed;
    add(call, spec, takeValue(operation, specs, written, inline, rest));
    return spec.kind === 'list' ? spec : null;
  }
  takeCommon(call, operation, specs, written, name, inline, rest);
  return null;
}

function takeCommon(
  call: Call,
  operation: Operation,
  specs: readonly FlagSpec[],
  written: string,
  name: string,
  inline: string | undefined,
  rest: string[],
): void {
  if (isSwitch(name)) call.common[name] = true;
  else if (name === 'color' || name === 'no-color') call.common.color = name === 'color';
  else if (isCommonFlag(name)) {
    const value = takeValue(operation, specs, written, inline, rest);
    // Each of them names something; an empty value is a variable that a script forgot to set.
    if (value === '') throw usage(operation, `${quoted(written)} needs a value.`, []);
    call.common[name as 'run'] = value;
  } else {
    const near = [
      otherWords.get(name) ?? '',
      ...nearest(name, [...specs.map((spec) => spec.name), ...Object.keys(commonFlags)]),
    ];
    throw usage(
      operation,
      `There is no flag ${quoted(written)}.`,
      near
        .filter((other) => specs.some((spec) => spec.name === other) || isCommonFlag(other))
        .map((other) => `Did you mean \`--${other}\`?`),
    );
  }
}

/** What other programs call a flag. */
const otherWords = new Map([
  ['fix', 'repair'],
  ['preview', 'dry-run'],
]);

function takeValue(
  operation: Operation,
  specs: readonly FlagSpec[],
  written: string,
  inline: string | undefined,
  rest: string[],
): string {
  if (inline !== undefined) return inline;
  const value = rest.shift();
  if (value === undefined) throw usage(operation, `${quoted(written)} needs a value.`, []);
  const name = value.startsWith('--') ? value.slice(2) : '';
  if (isCommonFlag(name) || specs.some((spec) => spec.name === name)) {
    throw usage(operation, `${quoted(written)} needs a value; ${quoted(value)} is a flag.`, [
      `If that is the value, write \`${written}=${value}\`.`,
    ]);
  }
  return value;
}

function add(call: Call, spec: FlagSpec, value: string): void {
  if (spec.kind === 'list') {
    const list = (call.input[spec.field] ?? []) as string[];
    call.input[spec.field] = [...list, ...(spec.commas ? value.split(',').filter((part) => part !== '') : [value])];
  } else if (spec.kind === 'number') {
    const number = Number(value);
    // Text that is not a number stays as it is: the schema refuses it.
    call.input[spec.field] = value.trim() === '' || Number.isNaN(number) ? value : number;
  } else call.input[spec.field] = value;
}

function usage(operation: Operation, message: string, hints: readonly string[]): Fault {
  return new Fault('usage', message, {
    hints: [...hints, `See \`holdfast help ${operation.name.replace('.', ' ')}\`.`],
  });
}
