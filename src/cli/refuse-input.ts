import { Fault, nearest } from '../core/fault.ts';
import type { InputProblem, Operation } from '../operations/operation.ts';
import { type FlagSpec, flagsOf } from './arguments.ts';

type Input = Readonly<Record<string, unknown>>;

/** Refuses a command line in the words it was typed in: flags and words of the command, and a line that would work. */
export function refuseTyped(operation: Operation, input: Input, fault: Fault): Fault {
  const problems = (fault.data['problems'] ?? []) as InputProblem[];
  const specs = flagsOf(operation);
  const command = operation.name.replace('.', ' ');
  const words = (operation.words ?? []) as readonly string[];
  const nameOf = ({ path }: InputProblem): string => {
    const spec = specs.find(({ field }) => field === path.split('.')[0]);
    if (!spec) return path;
    return words.includes(spec.field) ? (nouns[spec.field] ?? `a ${spec.field}`) : `--${shownName(spec)}`;
  };
  const missing = problems.filter(({ isMissing }) => isMissing);
  const wrong = problems.filter(({ isMissing }) => !isMissing);
  const near = wrong.flatMap(({ path, options }) => nearest(String(input[path] ?? ''), options));
  const sentences = [
    ...(missing.length > 0 ? [`\`${command}\` needs ${missing.map(nameOf).join(' and ')}.`] : []),
    ...wrong.map((problem) => `${capitalized(nameOf(problem))} ${problem.message}.`),
  ];
  const hints = [
    ...(near.length > 0 ? [`Did you mean ${near.map((option) => `\`${option}\``).join(', ')}?`] : []),
    ...(wrong.length === 0 ? [`Example: \`${example(operation, specs, input, missing)}\``] : []),
    `See \`holdfast help ${command}\`.`,
  ];
  return new Fault('invalid', sentences.join(' '), { hints, data: fault.data });
}

/** What a word of a command is called. */
const nouns: Readonly<Record<string, string>> = { key: 'a step', id: 'an id', text: 'a text', as: 'an outcome' };

const shownName = ({ name, also }: FlagSpec): string => also[0] ?? name;
const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What was typed, with a place for what is missing. */
function example(
  operation: Operation,
  specs: readonly FlagSpec[],
  input: Input,
  missing: readonly InputProblem[],
): string {
  const words = (operation.words ?? []) as readonly string[];
  const shown = specs.filter(({ field }) => input[field] !== undefined || missing.some(({ path }) => path === field));
  const shownValue = (spec: FlagSpec): string =>
    input[spec.field] === undefined ? placeholder(spec) : shellWord(String(input[spec.field]));
  const placed = words.flatMap((word) => shown.filter(({ field }) => field === word)).map(shownValue);
  const flags = shown
    .filter(({ field }) => !words.includes(field))
    .flatMap((spec) => [`--${shownName(spec)}`, ...(spec.kind === 'boolean' ? [] : [shownValue(spec)])]);
  return ['holdfast', ...operation.name.split('.'), ...placed, ...flags].join(' ');
}

/** Stands for a value that the reader fills in. */
function placeholder({ field, kind, options }: FlagSpec): string {
  if (options[0] !== undefined) return options[0];
  if (kind === 'number') return '10';
  if (field === 'key' || field === 'step') return 'STEP';
  return field === 'id' || field === 'file' ? field.toUpperCase() : '"…"';
}

const shellWord = (text: string): string =>
  /^[\w./:@+-]+$/.test(text) ? text : `"${text.replace(/["\\$`]/g, '\\$&')}"`;
