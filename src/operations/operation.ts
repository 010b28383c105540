import * as v from 'valibot';
import { Fault } from '../core/fault.ts';
import type { Line, Quoted, QuoteKind } from '../core/line.ts';
import type { Change } from '../core/views/change.ts';
import type { Scope } from '../core/words.ts';
import type { Context } from './context.ts';

type Schema = v.ObjectSchema<v.ObjectEntries, undefined>;

/**
 * One thing the product can do. The interfaces are derived from this: `mail.send` is the command `mail send`, the request
 * `POST /api/mail.send` and the method `hf.mail.send`.
 */
export interface Operation<
  Input extends Schema = Schema,
  Output extends v.GenericSchema = v.GenericSchema,
  Words extends string = string,
> {
  name: string;
  /** One sentence, in the imperative. */
  summary: string;
  /** The scope a token needs to call it. */
  scope: Scope;
  /** Input fields that the command line takes as words, in order; a list comes last and takes the rest. */
  words?: readonly (keyof Input['entries'] & string)[];
  /** What the words are, where their number or form decides it; null if they are what `words` says. */
  readWords?(words: readonly string[]): Partial<Record<keyof Input['entries'] & string, string>> | null;
  /** Flags that are not named like their field: a repeated flag is singular. */
  flags?: Partial<Record<keyof Input['entries'] & string, string>>;
  /** Other names of flags that the command line accepts. */
  synonyms?: Partial<Record<keyof Input['entries'] & string, readonly string[]>>;
  examples?: readonly string[];
  /** Lines to run that help a person whose input is incomplete or wrong; made of what was typed and of the run. */
  suggest?(context: Context, typed: Readonly<Record<string, unknown>>): Promise<readonly string[]>;
  /**
   * What needs the user's own machine and is not offered over a network: the whole operation, or the input fields that
   * name a file or a command.
   */
  local?: true | readonly (keyof Input['entries'] & string)[];
  /** Only a person may call it, or may call it in its whole effect; help says what a command line proves of that. */
  by?: 'person';
  /** It uses the standard streams for a protocol: nothing else is written there. */
  speaks?: true;
  input: Input;
  output: Output;
  run(context: Context, input: v.InferOutput<Input>): Promise<Outcome<v.InferOutput<Output>>>;
  /** The result in words. Those of an operation that models call are a `Line`: recorded text in them is quoted. */
  say(data: v.InferOutput<Output>, pen: Pen): Words;
  /** The output is shown again after every event until the user stops it. */
  watches?(input: v.InferOutput<Input>): boolean;
  /** It may take long: a terminal shows its progress. */
  counts?: boolean;
  /** The exit code of a command that gives a verdict. */
  verdict?(data: v.InferOutput<Output>, input: v.InferOutput<Input>): number;
}

export interface Outcome<Data> {
  data: Data;
  changed?: Change[];
  /** The command keeps running until this settles; its outcome is shown at once. */
  until?: Promise<void>;
}

/** Marks up text for a terminal; plain elsewhere. */
export interface Pen {
  bold<Text extends string>(text: Text): Text;
  dim<Text extends string>(text: Text): Text;
  good<Text extends string>(text: Text): Text;
  bad<Text extends string>(text: Text): Text;
  warn<Text extends string>(text: Text): Text;
  /** Text that someone wrote: in quotes for a model, on one printable line for a person at a terminal. */
  quote(text: string, kind?: QuoteKind, mostChars?: number): Quoted;
  /** The same for a text that was asked for as a whole; a terminal shows its lines. */
  whole(text: string): Quoted;
  /** Quotes a title in a line of which so many columns are taken, cut to fit a terminal. */
  fit(text: string, takenColumns: number): Quoted;
  /** Fills a cell of a table; a model needs no table. */
  pad<Text extends string>(text: Text, width: number): Text;
}

export function defineOperation<Input extends Schema, Output extends v.GenericSchema, Words extends string>(
  operation: Operation<Input, Output, Words>,
): Operation<Input, Output, Words> {
  return operation;
}

/** What is wrong with an input field. */
export interface InputProblem {
  /** The field, with the place inside it. */
  path: string;
  isMissing: boolean;
  /** The end of a sentence that begins with the field: `must be at least 100, not 10`. */
  message: string;
  /** The values that are allowed, where they are a closed set. */
  options: readonly string[];
}

/** Input from outside, checked against the operation's schema. A fault has an `InputProblem` for each field. */
export function parseInput<Input extends Schema>(operation: Operation<Input>, raw: unknown): v.InferOutput<Input> {
  const parsed = v.safeParse(operation.input, raw);
  if (parsed.success) return parsed.output;
  throw inputFault(parsed.issues, [`See \`holdfast help ${operation.name.replace('.', ' ')}\`.`]);
}

/** The refusal of input, with an `InputProblem` for each field. */
export function inputFault(issues: readonly v.BaseIssue<unknown>[], hints: readonly string[]): Fault {
  const problems = issues.map(problemOf);
  const sentences = problems.map(({ path, message }) => `${path || 'The input'} ${message}.`);
  return new Fault('invalid', sentences.join(' '), { hints, data: { problems } });
}

function problemOf(issue: v.BaseIssue<unknown>): InputProblem {
  const isMissing = issue.type !== 'check' && issue.input === undefined;
  const options =
    issue.type === 'picklist' ? (issue.expected ?? '').replace(/[()"]/g, '').split(' | ').filter(Boolean) : [];
  const path = v.getDotPath(issue) ?? '';
  return { path, isMissing, options, message: isMissing ? 'is needed' : inWords(issue, options) };
}

function inWords(issue: v.BaseIssue<unknown>, options: readonly string[]): string {
  const { type, received } = issue;
  const requirement = String((issue as { requirement?: unknown }).requirement ?? '');
  if (type === 'picklist') return `must be one of ${options.join(', ')}, not ${received}`;
  if (type === 'strict_object') return 'is not known here';
  if (type === 'custom') return issue.message;
  if (type === 'min_value') return `must be at least ${requirement}, not ${received}`;
  if (type === 'max_value') return `must be at most ${requirement}, not ${received}`;
  if (type === 'integer' || type === 'safe_integer') return `must be a whole number, not ${received}`;
  if (type === 'number') return `must be a number, not ${received}`;
  return issue.kind === 'schema' ? `must be ${issue.expected}, not ${received}` : issue.message;
}

/** Checks input from outside and runs the operation with it. */
export function callOperation(operation: Operation, context: Context, raw: unknown): Promise<Outcome<unknown>> {
  return operation.run(context, parseInput(operation, raw));
}

/** The schema inside `optional` and `nullable`. */
export function unwrap(schema: v.GenericSchema): { type: string; item?: v.GenericSchema; options?: readonly string[] } {
  let inner = schema as unknown as { type: string; wrapped?: v.GenericSchema; pipe?: readonly v.GenericSchema[] };
  while (inner.wrapped) inner = inner.wrapped as unknown as typeof inner;
  return inner;
}

/** A schema that checks less than the type says. */
export const typed = <T>(schema: v.GenericSchema): v.GenericSchema<T> => schema as v.GenericSchema<T>;

/** A text that is made of lines. */
export const lineText = typed<Line>(v.string());

/** An object of a known type; the given fields are checked, others are accepted. */
export function shaped<T extends object>(entries: v.ObjectEntries): v.GenericSchema<T> {
  return typed<T>(v.looseObject(entries));
}

/** Adds the sentence that help and interfaces show for a field. The schema's type stays as it was. */
export function described<S extends v.GenericSchema>(schema: S, description: string): S {
  return v.pipe(schema as v.GenericSchema, v.description(description)) as v.GenericSchema as S;
}
