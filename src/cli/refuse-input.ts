import { Fault, nearest } from '../core/fault.ts';
import { mustBePerson } from '../core/rules/rule-context.ts';
import { type OpenOptions, openContext } from '../operations/open.ts';
import type { InputProblem, Operation } from '../operations/operation.ts';
import { type Call, type FlagSpec, flagsOf } from './arguments.ts';

type Input = Readonly<Record<string, unknown>>;

/** Refuses a command line in the words it was typed in: flags and words of the command, and lines that would work. */
export async function refuseTyped(
  operation: Operation,
  { input, typed }: Call,
  fault: Fault,
  identity: Omit<OpenOptions, 'warn'>,
): Promise<Fault> {
  const problems = (fault.data['problems'] ?? []) as InputProblem[];
  const specs = flagsOf(operation);
  const command = operation.name.replace('.', ' ');
  const words = (operation.words ?? []) as readonly string[];
  const missing = problems.filter(({ isMissing }) => isMissing);
  const wrong = problems.filter(({ isMissing }) => !isMissing);
  const sample = `holdfast ${typedLine(operation, specs, input, missing)}`;
  if (operation.by === 'person' && operation.scope === 'maintain') {
    // What only a person may do is not refused for its form first.
    const { actor, evidence = 'none' } = identity;
    mustBePerson({ actor, evidence, scope: undefined }, `run \`${command}\``, sample);
  }
  const nameOf = ({ path }: InputProblem): string => {
    const spec = specs.find(({ field }) => field === path.split('.')[0]);
    if (!spec) return path;
    if (!words.includes(spec.field)) return typed[spec.field] ?? `--${shownName(spec)}`;
    return nouns[spec.field] ?? `${/^[aeiou]/.test(spec.field) ? 'an' : 'a'} ${spec.field}`;
  };
  const near = wrong.flatMap(({ path, options }) => nearest(String(input[path] ?? ''), options));
  const sentences = [
    ...(missing.length > 0 ? [`\`${command}\` needs ${missing.map(nameOf).join(' and ')}.`] : []),
    ...wrong.map((problem) => `${capitalized(nameOf(problem))} ${problem.message}.`),
  ];
  const suggested = near.length === 0 && operation.suggest ? await suggestions(operation, identity, input) : [];
  const hints = [
    ...(near.length > 0 ? [`Did you mean ${near.map((option) => `\`${option}\``).join(', ')}?`] : []),
    ...corrected(operation, specs, input, wrong, missing),
    ...suggested,
    ...(wrong.length === 0 && suggested.length === 0 ? [`Example: \`${sample}\``] : []),
    `See \`holdfast help ${command}\`.`,
  ];
  return new Fault('invalid', sentences.join(' '), { hints, data: fault.data });
}

/** What was typed with the nearest choice, or a number, in place of what is wrong; none where nothing is near. */
function corrected(
  operation: Operation,
  specs: readonly FlagSpec[],
  input: Input,
  wrong: readonly InputProblem[],
  missing: readonly InputProblem[],
): string[] {
  if (wrong.length === 0) return [];
  const better: Record<string, unknown> = { ...input };
  for (const { path, options } of wrong) {
    const spec = specs.find(({ field }) => field === path);
    const [option] = nearest(String(input[path] ?? ''), options);
    const value = option ?? (spec?.kind === 'number' ? 20 : undefined);
    if (value === undefined && String(input[path] ?? '').trim() !== '') return [];
    better[path] = value;
  }
  const empty = wrong.filter(({ path }) => better[path] === undefined);
  return [`Example: \`holdfast ${typedLine(operation, specs, better, [...missing, ...empty])}\``];
}

/** What cannot be read here is not worth a second error. */
async function suggestions(
  operation: Operation,
  identity: Omit<OpenOptions, 'warn'>,
  input: Input,
): Promise<readonly string[]> {
  const context = openContext({ ...identity, onlyReads: true, warn: () => undefined });
  try {
    return (await operation.suggest?.(context, input)) ?? [];
  } catch {
    return [];
  } finally {
    await context.close().catch(() => undefined);
  }
}

/** What a word of a command is called. */
const nouns: Readonly<Record<string, string>> = {
  key: 'a step',
  id: 'an id',
  text: 'a text',
  as: 'an outcome',
  for: 'something to wait for',
};

const shownName = ({ name, also }: FlagSpec): string => also[0] ?? name;
const capitalized = (text: string): string =>
  /^[a-z]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;

/** What was typed, with a place for what is missing. */
function typedLine(
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
  return [...operation.name.split('.'), ...placed, ...flags].join(' ');
}

/** Stands for a value that the reader fills in. */
function placeholder({ field, kind, options }: FlagSpec): string {
  if (options[0] !== undefined) return options[0];
  if (kind === 'number') return '10';
  if (field === 'key' || field === 'step') return 'STEP';
  if (field === 'reason') return '"why"';
  return field === 'id' || field === 'file' ? field.toUpperCase() : '"…"';
}

const shellWord = (text: string): string =>
  /^[\w./:@+-]+$/.test(text) ? text : `"${text.replace(/["\\$`]/g, '\\$&')}"`;
