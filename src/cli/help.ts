import * as v from 'valibot';
import { clientNames } from '../clients/index.ts';
import { Fault, nearest, quoted } from '../core/fault.ts';
import type { OperationName } from '../operations/index.ts';
import type { Operation, Pen } from '../operations/operation.ts';
import { commonFlags, type FlagSpec, flagsOf, ownCommands } from './arguments.ts';

/** What `holdfast help` shows: the commands that people need, with the other name of some. */
const shortList: readonly [form: string, summary: string, also?: string][] = [
  ['install CLIENT', 'Set up recording in a client'],
  ['init', 'Start a run by hand'],
  ['status', 'Where things stand'],
  ['resume', 'The brief for the next session'],
  ['runs', 'All work; `use RUN` switches'],
  ['log', 'Requests, files, commands'],
  ['plan', 'Show, add, import, edit steps'],
  ['start STEP', 'Take a step, or list what is ready'],
  ['checkpoint NAME', 'Record a point you can resume from'],
  ['done [STEP]', 'Finish a step', 'complete'],
  ['decide TEXT', 'Record a decision and why'],
  ['note TEXT', 'Note, constraint or dead end'],
  ['raise KIND TEXT', 'Blocker, question, finding …', 'resolve'],
  ['serve', 'Dashboard', 'ui'],
];

const TWO_COLUMNS = 110;

export function shortHelp(pen: Pen, columns: number): string {
  const cell = ([form, summary, also]: (typeof shortList)[number]): string => {
    const other = also === undefined ? '' : ` (${also})`;
    return `${pen.bold(form.padEnd(18))}${`${summary}${other}`.padEnd(36)}`;
  };
  const half = shortList.length / 2;
  const rows =
    columns >= TWO_COLUMNS
      ? shortList.slice(0, half).map((left, index) => `  ${cell(left)}${cell(shortList[index + half] ?? left)}`)
      : shortList.map((one) => `  ${cell(one)}`);
  return [
    'Holdfast remembers where your coding agent was, so the next session can continue.',
    '',
    ...rows.map((row) => row.trimEnd()),
    '',
    'Also answer, search, next, doctor, trust. More: `holdfast help COMMAND`, `holdfast help --all`.',
  ].join('\n');
}

const rowOf = (width: number, pen: Pen) => (name: string, summary: string) =>
  `  ${pen.bold(name.replace('.', ' ').padEnd(width))}${summary}`;
const widthOf = (all: readonly Operation[]): number => Math.max(...all.map(({ name }) => name.length)) + 2;

/** The commands that begin with the same noun. */
export function groupOf(all: readonly Operation[], pen: Pen): string {
  const row = rowOf(widthOf(all), pen);
  return all.map(({ name, summary }) => row(name, summary)).join('\n');
}

export function allCommands(all: readonly Operation[], pen: Pen): string {
  const row = rowOf(widthOf(all), pen);
  return [
    'Holdfast remembers where your coding agent was, so the next session can continue.',
    '',
    `${pen.bold('Usage')}  holdfast COMMAND [words] [--flags]`,
    ...all.flatMap(({ name, summary }) => [
      ...(name in headings ? ['', headings[name as keyof typeof headings]] : []),
      row(name, summary),
    ]),
    ...Object.entries(own).map(([name, { summary }]) => row(name, summary)),
    '',
    `Every command takes ${Object.keys(commonFlags)
      .map((name) => `--${name}`)
      .join(', ')}.`,
    'Environment: HOLDFAST_RUN, HOLDFAST_SESSION, HOLDFAST_AGENT, HOLDFAST_PERSON, HOLDFAST_STORE, HOLDFAST_STATE_HOME, HOLDFAST_PID, NO_COLOR.',
    'Exit: 0 done or nothing to do, 1 refused by a rule, 2 usage, 3 try again, 4 damaged or newer, 5 untrusted, 6 read-only, 70 a bug.',
  ].join('\n');
}

/** Each heading by the first of its commands. */
const headings = {
  init: 'Start here',
  'plan.show': 'The plan',
  'session.start': 'Steps',
  decide: 'Decisions and open items',
  'mail.inbox': 'Mail',
  note: 'Notes and usage',
  snapshot: 'Handoff',
  log: 'History',
  adopt: 'Files of other tools',
  worklog: 'Archive',
  supervise: 'Setup and maintenance',
  'token.add': 'Server and integrations',
} as const satisfies Partial<Record<OperationName, string>>;

/** Commands about the command line itself. */
const own: Record<(typeof ownCommands)[number], { summary: string; usage: string }> = {
  completion: {
    summary: 'Print completions for bash, zsh or fish.',
    usage:
      'holdfast completion bash|zsh|fish\n\nPut its output where your shell loads completions: in bash, eval "$(holdfast completion bash)" in ~/.bashrc.',
  },
  hook: {
    summary: 'Entry point for client hooks.',
    usage: `holdfast hook ${clientNames.join('|')} EVENT\n\nReads one JSON object, prints one or nothing, and always exits 0: errors are in log/hook.log of the state folder.`,
  },
  help: { summary: 'Explain a command: holdfast help start.', usage: 'holdfast help [COMMAND]' },
};

export function explainOwn(name: string): string | null {
  const found = ownCommands.find((one) => one === name);
  return found ? `${own[found].summary}\n\nUsage  ${own[found].usage}` : null;
}

export function explain(operation: Operation, pen: Pen): string {
  const specs = flagsOf(operation);
  const required = (spec: FlagSpec): boolean =>
    (operation.input.entries[spec.field] as { type: string }).type !== 'optional';
  const words = (operation.words ?? []) as readonly string[];
  const flags = specs.filter((spec) => !words.includes(spec.field));
  const placed = words.map((word) => {
    const spec = specs.find((one) => one.field === word) as FlagSpec;
    const shown =
      spec.options.length > 0 ? spec.options.join('|') : `${word.toUpperCase()}${spec.kind === 'list' ? '…' : ''}`;
    return required(spec) ? shown : `[${shown}]`;
  });
  const needed = flags.filter(required).map(flagForm);
  const usage = [
    'holdfast',
    operation.name.replace('.', ' '),
    ...placed,
    ...needed,
    ...(needed.length < flags.length ? ['[flags]'] : []),
  ];
  const rows = [...specs.filter((spec) => words.includes(spec.field)), ...flags].map((spec) => {
    const shown = words.includes(spec.field) ? spec.field.toUpperCase() : flagForm(spec);
    return { shown, text: v.getDescription(inner(operation.input.entries[spec.field])) ?? '' };
  });
  const width = Math.max(0, ...rows.map((row) => Math.min(row.shown.length, 44))) + 2;
  return [
    operation.summary,
    '',
    `${pen.bold('Usage')}  ${usage.join(' ')}`,
    ...(rows.length > 0 ? ['', ...rows.map((row) => `  ${`${row.shown}  `.padEnd(width)}${row.text}`)] : []),
    ...(operation.by === 'person' ? ['', PERSONS_ONLY] : []),
    ...(operation.examples ? ['', pen.bold('Examples'), ...operation.examples.map((example) => `  ${example}`)] : []),
    '',
    pen.dim(
      `Also ${Object.keys(commonFlags)
        .map((name) => `--${name}`)
        .join(', ')}.`,
    ),
  ].join('\n');
}

const PERSONS_ONLY =
  'It needs a person at a terminal, which a command line cannot prove: any program of yours can open one. A token on a server can.';

/** Descriptions are on the innermost schema. */
function inner(schema: unknown): v.GenericSchema {
  let found = schema as { wrapped?: unknown };
  while (found.wrapped) found = found.wrapped as { wrapped?: unknown };
  return found as unknown as v.GenericSchema;
}

function flagForm(spec: FlagSpec): string {
  if (spec.kind === 'boolean') return `--${spec.name}`;
  const value =
    spec.options.length > 0
      ? spec.options.join('|')
      : spec.kind === 'number'
        ? 'N'
        : spec.name.replace(/^.*-/, '').toUpperCase();
  return `--${spec.name} ${value}${spec.kind === 'list' ? '…' : ''}`;
}

export function unknownCommand(words: readonly string[], commandNames: readonly string[]): Fault {
  const written = words.slice(0, 2).join(' ');
  const names = [...commandNames.map((name) => name.replace('.', ' ')), ...ownCommands];
  const group = names.filter((name) => name.startsWith(`${words[0]} `));
  const near =
    group.length > 0
      ? group
      : [...new Set([...nearest(written, names), ...nearest(words[0] ?? '', names)])].slice(0, 3);
  return new Fault('usage', `There is no command ${quoted(written)}.`, {
    hints: [
      ...(near.length > 0 ? [`Did you mean ${near.map((name) => `\`${name}\``).join(', ')}?`] : []),
      'See all of them with `holdfast help --all`.',
    ],
    data: { near },
  });
}
