import { clientNames, clients } from '../clients/index.ts';
import type { Decision, State } from '../core/fold/state.ts';
import { oneLine } from '../core/text.ts';
import { planView, type StepView } from '../core/views/plan.ts';
import { currentState } from '../operations/act.ts';
import type { Context } from '../operations/context.ts';
import { openContext } from '../operations/open.ts';
import type { Operation } from '../operations/operation.ts';
import { aliasNames, withoutAliases } from './aliases.ts';
import { commonFlags, type FlagSpec, flagsOf, ownCommands } from './arguments.ts';
import type { Commands } from './commands.ts';
import { shells } from './completion.ts';

/** A word that could come next, and what it is. */
interface Choice {
  value: string;
  text: string;
}

export interface Completing {
  dir: string;
  store: string | undefined;
  commands: Commands;
}

/**
 * What could stand at the end of a command line. It reads only: nothing is recorded, and reports of hooks stay where they
 * are. Where anything goes wrong there are no completions.
 */
export async function complete(words: readonly string[], where: Completing): Promise<string[]> {
  const current = (words.at(-1) ?? '').replace(/^=/, '');
  const found = await choicesFor(words.slice(0, -1), current, where);
  return found
    .filter(({ value }) => value.startsWith(current) && SAFE.test(value))
    .slice(0, MOST)
    .map(({ value, text }) => `${value}\t${oneLine(text, 80)}`);
}

/** A word that needs no quotes in any of the shells. */
const SAFE = /^[\p{L}\p{N}._:@/+-]+$/u;
const MOST = 200;

async function choicesFor(before: readonly string[], current: string, where: Completing): Promise<Choice[]> {
  const { commands } = where;
  const [first, second] = before.filter((word) => !word.startsWith('-'));
  if (first === undefined) return [...(await commandChoices(commands)), ...plain(aliasNames)];
  const members = commands.names.filter((name) => name.startsWith(`${first}.`));
  if (second === undefined && before.at(-1) === first && members.length > 0 && !current.startsWith('-'))
    return [
      ...(await Promise.all(
        members.map(async (name) => ({
          value: name.slice(first.length + 1),
          text: (await commands.load(name)).summary,
        })),
      )),
      ...(commands.names.includes(first) ? await wordChoices(await commands.load(first), before.slice(1), where) : []),
    ];
  if (first === 'completion') return plain(shells);
  if (first === 'help') return commandChoices(commands);
  const meant = meaning(before);
  const name =
    commands.names.find((one) => one === meant.words.slice(0, 2).join('.')) ??
    commands.names.find((one) => one === meant.words[0]);
  if (name === undefined) return [];
  const operation = await commands.load(name);
  const rest = [...meant.words.slice(name.split('.').length), ...meant.rest];
  return current.startsWith('-') ? flagChoices(operation, rest) : wordChoices(operation, rest, where, first);
}

const plain = (values: readonly string[]): Choice[] => values.map((value) => ({ value, text: '' }));

/** The words of a line in the words of the commands; `resolve` and `answer` wait for an id. */
function meaning(before: readonly string[]): { words: string[]; rest: string[] } {
  const [first = ''] = before;
  if (first === 'resolve' || first === 'answer') return { words: ['settle'], rest: before.slice(1) };
  const at = before.findIndex((word, index) => index > 0 && word.startsWith('-'));
  const words = before.slice(0, at < 0 ? 2 : Math.min(at, 2));
  try {
    return withoutAliases(words, before.slice(words.length));
  } catch {
    return { words, rest: before.slice(words.length) };
  }
}

async function commandChoices({ names, load }: Commands): Promise<Choice[]> {
  const first = [...new Set(names.map((name) => name.split('.')[0] ?? ''))];
  const texts = await Promise.all(
    first.map(async (value) => {
      const members = names.filter((name) => name.startsWith(`${value}.`)).map((name) => name.split('.')[1]);
      return { value, text: names.includes(value) ? (await load(value)).summary : members.join(', ') };
    }),
  );
  return [...texts, ...plain(ownCommands.filter((name) => name !== 'hook'))];
}

/** Each flag once, unless it may be repeated. */
function flagChoices(operation: Operation, rest: readonly string[]): Choice[] {
  const given = new Set(rest.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/=.*$/s, '')));
  const own = flagsOf(operation)
    .filter(({ field, name, kind }) => !operation.words?.includes(field) && (kind === 'list' || !given.has(name)))
    .map(({ name, text }) => ({ value: `--${name}`, text }));
  const common = Object.entries(commonFlags).filter(([name]) => !given.has(name));
  return [...own, ...common.map(([name, text]) => ({ value: `--${name}`, text }))];
}

/** The values of the flag before, or of the next word. */
async function wordChoices(
  operation: Operation,
  rest: readonly string[],
  where: Completing,
  typed = '',
): Promise<Choice[]> {
  const specs = flagsOf(operation);
  const flagOf = (word: string): FlagSpec | undefined =>
    specs.find(({ name, also, kind }) => kind !== 'boolean' && [name, ...also].some((one) => word === `--${one}`));
  const last = rest.at(-1) ?? '';
  const asked = flagOf(last);
  if (asked) return valuesOf(operation, asked, where, typed);
  if (last === '--run' || last === '-r') return runChoices(where);
  if (last === '--agent' || last === '-a') return clientChoices();
  if (last === '--session') return fromState(where, sessionChoices);
  const placed = rest.filter((word, index) => !word.startsWith('-') && !isValueOf(rest[index - 1], flagOf));
  const fields = operation.words ?? [];
  const field = fields[Math.min(placed.length, fields.length - 1)];
  const spec = specs.find((one) => one.field === field);
  if (spec === undefined || (placed.length >= fields.length && spec.kind !== 'list')) return [];
  return valuesOf(operation, spec, where, typed);
}

const isValueOf = (before: string | undefined, flagOf: (word: string) => unknown): boolean =>
  before !== undefined &&
  (flagOf(before) !== undefined || ['--run', '-r', '--agent', '-a', '--session', '--dir', '--store'].includes(before));

async function valuesOf(
  operation: Operation,
  { field, options }: FlagSpec,
  where: Completing,
  typed: string,
): Promise<Choice[]> {
  const { name } = operation;
  if (field === 'client') return [...clientChoices(), { value: 'all', text: 'All that are found' }];
  if (options.length > 0) return plain(options);
  if (field === 'run' || field === 'runs') return runChoices(where);
  if (stepFields.has(field)) return fromState(where, (state) => stepChoices(state, typed || name));
  if (field === 'affects') return fromState(where, (state) => stepChoices(state, ''));
  if (field === 'to' && name !== 'session.move') return clientChoices();
  if (field === 'from') return fromState(where, sessionChoices);
  if (field === 'for')
    return fromState(where, (state) => [
      ...stepChoices(state, ''),
      ...itemChoices(state),
      { value: 'mail', text: 'Until there is mail' },
    ]);
  if (field === 'supersedes' || name === 'retract') return decisionChoices(where);
  if (field === 'id') return fromState(where, (state) => idChoices(state, name, typed));
  return [];
}

const stepFields = new Set(['key', 'step', 'parent', 'after', 'followUp', 'before']);

const clientChoices = (): Choice[] => clientNames.map((value) => ({ value, text: clients[value].title }));

async function inContext<T>({ dir, store }: Completing, read: (context: Context) => Promise<T>): Promise<T> {
  const actor = { kind: 'agent', name: 'unknown' } as const;
  const context = openContext({ dir, store, actor, evidence: 'none', onlyReads: true });
  try {
    return await read(context);
  } finally {
    await context.close();
  }
}

const fromState = (where: Completing, choose: (state: State) => Choice[]): Promise<Choice[]> =>
  inContext(where, async (context) => choose(await currentState(context)));

function stepChoices(state: State, command: string): Choice[] {
  const { leaves, all } = planView(state);
  const fits = stepsFor[command];
  return (fits ? leaves.filter(fits) : all).map(({ step }) => ({ value: step.key, text: step.title }));
}

/** The steps that a command can be about. */
const stepsFor: Readonly<Record<string, (view: StepView) => boolean>> = {
  start: ({ status, interrupted, obstacles }) => interrupted || (status === 'pending' && obstacles.length === 0),
  done: ({ status, obstacles }) => status === 'in_progress' || (status === 'pending' && obstacles.length === 0),
  complete: ({ status }) => status === 'in_progress',
  checkpoint: ({ status }) => status === 'in_progress',
  retry: ({ status }) => status === 'failed',
  reopen: ({ status }) => status === 'completed' || status === 'skipped',
  skip: ({ status }) => status === 'pending' || status === 'failed',
};

const itemChoices = ({ items }: State): Choice[] =>
  [...items.values()].map(({ id, kind, text }) => ({ value: id, text: `${kind}: ${text}` }));
const sessionChoices = ({ sessions }: State): Choice[] =>
  [...sessions.values()].map(({ id, agent }) => ({ value: id, text: agent }));
const effectChoices = ({ effects }: State): Choice[] =>
  [...effects.values()].map(({ id, name }) => ({ value: id, text: name }));

/** What is open, by the kind that a command is about. */
function idChoices(state: State, name: string, typed: string): Choice[] {
  if (name.startsWith('mail.'))
    return [...state.messages.values()].map(({ id, subject }) => ({ value: id, text: subject }));
  if (name.startsWith('handoff.'))
    return [...state.handoffs.values()].map(({ id, from, to }) => ({ value: id, text: `${from} to ${to}` }));
  if (name === 'effect.end') return effectChoices(state);
  if (typed === 'answer') return itemChoices(state).filter(({ value }) => value.startsWith('Q-'));
  return typed === 'resolve' ? itemChoices(state) : [...itemChoices(state), ...effectChoices(state)];
}

const runChoices = (where: Completing): Promise<Choice[]> =>
  inContext(where, async (context) => {
    const ids = context.workspace()?.ids;
    const heads = await (await context.engine()).heads({ ...(ids ? { workspace: ids } : {}), limit: MOST });
    return heads.map(({ run, title }) => ({ value: run, text: title }));
  });

const decisionChoices = (where: Completing): Promise<Choice[]> =>
  inContext(where, async (context) => {
    const { run } = await currentState(context);
    const rows = await (await context.engine()).rows(run?.id ?? '', { kind: 'decision', limit: MOST });
    return rows.map(({ doc }) => ({ value: (doc as Decision).id, text: (doc as Decision).decision }));
  });
