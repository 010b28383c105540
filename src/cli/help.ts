import { clientNames } from '../clients/index.ts';
import { Fault, nearest, quoted } from '../core/fault.ts';
import type { OperationName } from '../operations/index.ts';
import type { Operation, Pen } from '../operations/operation.ts';
import { commonFlags, type FlagSpec, flagsOf, ownCommands } from './arguments.ts';
import { shells, switchOn } from './completion.ts';
import { wrapped } from './wrap.ts';

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
const CELL = 55;

const IN_A_SENTENCE = 'Holdfast remembers where your coding agent was, so the next session can continue.';

export function shortHelp(pen: Pen, columns: number): string {
  const cell = ([form, summary, also]: (typeof shortList)[number]): string => {
    const other = also === undefined ? '' : ` (${also})`;
    return `${pen.bold(form.padEnd(17))} ${`${summary}${other}`.padEnd(CELL - 20)}`;
  };
  const half = shortList.length / 2;
  const rows =
    columns >= TWO_COLUMNS && Number.isFinite(columns)
      ? shortList.slice(0, half).map((left, index) => `  ${cell(left)}${cell(shortList[index + half] ?? left)}`)
      : shortList.map((one) => `  ${cell(one)}`);
  return [
    wrapped(IN_A_SENTENCE, columns),
    '',
    ...rows.map((row) => row.trimEnd()),
    '',
    'Also resolve, answer, search, next, doctor, capture, demo.',
    'More: `holdfast help COMMAND`, `holdfast help --all`.',
  ].join('\n');
}

/** A name with its summary, which is wrapped beside it. */
const rowOf = (width: number, pen: Pen, columns: number) => (name: string, summary: string) =>
  `  ${pen.bold(name.replace('.', ' ').padEnd(width))}${wrapped(summary, columns, width + 2)}`;
const widthOf = (all: readonly Operation[]): number => Math.max(...all.map(({ name }) => name.length)) + 2;

/** The commands that begin with the same noun. */
export function groupOf(all: readonly Operation[], pen: Pen, columns: number): string {
  const row = rowOf(widthOf(all), pen, columns);
  return all.map(({ name, summary }) => row(name, summary)).join('\n');
}

export function allCommands(all: readonly Operation[], pen: Pen, columns: number): string {
  const row = rowOf(widthOf(all), pen, columns);
  const summaries = new Map<string, string>([
    ...all.map(({ name, summary }) => [name, summary] as const),
    ...Object.entries(own).map(([name, { summary }]) => [name, summary] as const),
  ]);
  const grouped = new Set(Object.values(groups).flat());
  const rest = [...summaries.keys()].filter((name) => !grouped.has(name as Grouped));
  const shown = Object.entries({ ...groups, ...(rest.length > 0 ? { Others: rest } : {}) });
  return [
    wrapped(IN_A_SENTENCE, columns),
    '',
    `${pen.bold('Usage')}  holdfast COMMAND [words] [--flags]`,
    ...shown.flatMap(([heading, names]) => [
      '',
      pen.bold(heading),
      ...names.flatMap((name) => (summaries.has(name) ? [row(name, summaries.get(name) ?? '')] : [])),
    ]),
    '',
    ...[
      `Every command takes ${Object.keys(commonFlags)
        .map((name) => `--${name}`)
        .join(', ')}.`,
      'Variables: HOLDFAST_RUN, HOLDFAST_SESSION, HOLDFAST_AGENT, HOLDFAST_PERSON, HOLDFAST_STORE, HOLDFAST_STATE_HOME, HOLDFAST_PID, NO_COLOR, FORCE_COLOR.',
      'Exit: 0 done or nothing to do, 1 refused by a rule, 2 usage, 3 try again, 4 damaged or newer, 5 untrusted, 6 read-only, 70 a bug.',
    ].map((line) => wrapped(line, columns)),
  ].join('\n');
}

type Grouped = OperationName | (typeof ownCommands)[number] | 'serve' | 'mcp' | 'demo';

/** Every command by what it is about. */
const groups: Readonly<Record<string, readonly Grouped[]>> = {
  'Start here': [
    'install',
    'uninstall',
    'init',
    'next',
    'status',
    'resume',
    'runs',
    'use',
    'log',
    'show',
    'demo',
    'help',
  ],
  'Plan and steps': [
    ...([
      'plan.show',
      'plan.add',
      'plan.set',
      'plan.remove',
      'plan.import',
      'start',
      'checkpoint',
      'complete',
    ] as const),
    ...(['fail', 'retry', 'skip', 'reopen', 'confirm', 'release', 'verify', 'gate', 'wait'] as const),
  ],
  'Decisions and open items': ['decide', 'decisions', 'retract', 'note', 'raise', 'items', 'settle', 'accept'],
  'Mail and handoff': [
    ...(['mail.inbox', 'mail.show', 'mail.send', 'mail.reply', 'mail.ack', 'mail.action', 'mail.block'] as const),
    ...(['mail.close', 'handoff', 'handoff.accept', 'handoff.clarify', 'handoff.decline'] as const),
    ...(['handoff.withdraw', 'handoff.list', 'snapshot', 'snapshots', 'check'] as const),
  ],
  'For agents': [
    ...(['session.start', 'session.end', 'session.move', 'sessions', 'whoami', 'heartbeat', 'effect.begin'] as const),
    ...(['effect.end', 'claim', 'usage.add', 'usage', 'brief.show', 'hook', 'mcp'] as const),
  ],
  'Other tools’ files': ['adopt', 'export', 'mirror.add', 'mirror.list', 'mirror.sync', 'mirror.remove'],
  'History and archive': ['search', 'timeline', 'board', 'worklog', 'compact', 'archive', 'unarchive', 'abort'],
  Maintenance: ['doctor', 'supervise', 'recover', 'journal.export', 'journal.import', 'scan', 'erase', 'drop'],
  'Sharing and server': ['serve', 'token.add', 'token.list', 'token.revoke'],
  Settings: ['trust', 'config', 'capture', 'completion'],
};

/** Commands about the command line itself. */
const own: Record<(typeof ownCommands)[number], { summary: string; usage: string }> = {
  completion: {
    summary: 'Print completions for bash, zsh, fish or PowerShell.',
    usage: `holdfast completion ${shells.join('|')}\n\nSwitch them on with one line:\n${Object.values(switchOn)
      .map((line) => `  ${line}`)
      .join('\n')}`,
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

/** A longer flag has its text on the next line. */
const FLAG_CHARS = 28;

export function explain(operation: Operation, pen: Pen, columns: number): string {
  const specs = flagsOf(operation);
  const required = (spec: FlagSpec): boolean =>
    (operation.input.entries[spec.field] as { type: string }).type !== 'optional';
  const words = (operation.words ?? []) as readonly string[];
  const flags = specs.filter((spec) => !words.includes(spec.field));
  const placed = words.map((word) => {
    const spec = specs.find((one) => one.field === word) as FlagSpec;
    const shown =
      spec.options.length > 0 ? spec.options.join('|') : `${wordOf(spec)}${spec.kind === 'list' ? '…' : ''}`;
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
  const rows = [...specs.filter((spec) => words.includes(spec.field)), ...flags].map((spec) => ({
    shown: words.includes(spec.field) ? wordOf(spec) : flagForm(spec),
    text: spec.text,
  }));
  const fitting = rows.filter(({ shown }) => shown.length <= FLAG_CHARS);
  const width = Math.max(0, ...fitting.map(({ shown }) => shown.length)) + 2;
  return [
    wrapped(operation.summary, columns),
    '',
    `${pen.bold('Usage')}  ${wrapped(usage.join(' '), columns, 7)}`,
    ...(rows.length > 0 ? [''] : []),
    ...rows.map(({ shown, text }) => {
      const beside = shown.length <= FLAG_CHARS ? shown.padEnd(width) : `${shown}\n${' '.repeat(width + 2)}`;
      return `  ${beside}${wrapped(text, columns, width + 2)}`.trimEnd();
    }),
    ...(operation.by === 'person' ? ['', wrapped(PERSONS_ONLY, columns)] : []),
    ...(operation.examples ? ['', pen.bold('Examples'), ...operation.examples.map((example) => `  ${example}`)] : []),
    '',
    pen.dim(
      wrapped(
        `Also ${Object.keys(commonFlags)
          .map((name) => `--${name}`)
          .join(', ')}.`,
        columns,
      ),
    ),
  ].join('\n');
}

const PERSONS_ONLY =
  'It needs a person at a terminal, which a command line cannot prove: any program of yours can open one. A token on a server can.';

function flagForm(spec: FlagSpec): string {
  if (spec.kind === 'boolean') return `--${spec.name}`;
  const value = spec.options.length > 0 ? spec.options.join('|') : spec.kind === 'number' ? 'N' : wordOf(spec);
  return `--${spec.name} ${value}${spec.kind === 'list' ? '…' : ''}`;
}

/** What a value is called: a whole word that says what to write. */
function wordOf({ field, name, kind, text }: FlagSpec): string {
  if (field === 'key') return text.startsWith('The step') ? 'STEP' : 'KEY';
  if (field === 'context' && kind === 'list') return 'FILE';
  return placeholders[field] ?? name.replace(/^.*-/, '').toUpperCase();
}

const placeholders: Readonly<Record<string, string>> = {
  about: 'ID',
  affects: 'STEP',
  after: 'STEP',
  again: 'ID',
  alternatives: 'TEXT',
  approvedBy: 'NAME',
  artifacts: 'FILE',
  as: 'OUTCOME',
  body: 'TEXT',
  built: 'TEXT',
  by: 'TIME',
  checkpoints: 'NAME',
  context: 'TEXT',
  continues: 'SESSION',
  decision: 'TEXT',
  design: 'FILE',
  due: 'DATE',
  expires: 'TIME',
  fileNotes: 'FILE=NOTE',
  followUp: 'STEP',
  for: 'STEP|ID|mail',
  from: 'SESSION',
  goal: 'TEXT',
  ignoreCommands: 'COMMAND',
  issues: 'TEXT',
  message: 'TEXT',
  next: 'TEXT',
  note: 'TEXT',
  notes: 'TEXT',
  of: 'SESSION',
  out: 'FILE',
  parent: 'STEP',
  payload: 'FILE',
  plan: 'FILE',
  probe: 'COMMAND',
  question: 'TEXT',
  reason: 'TEXT',
  summary: 'TEXT',
  supersedes: 'ID',
  to: 'NAME',
  transcript: 'FILE',
  why: 'TEXT',
  workaround: 'TEXT',
};

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
      ...(near.length > 0 ? [`Did you mean ${near.map((name) => `\`holdfast ${name}\``).join(', ')}?`] : []),
      'See all of them with `holdfast help --all`.',
    ],
    data: { near },
  });
}
