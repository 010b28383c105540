import type { Line } from '../core/line.ts';
import { type OperationName, operations } from '../operations/index.ts';
import type { Operation, Pen } from '../operations/operation.ts';
import { type InputSchema, inputSchemaOf, unionSchema } from './schema.ts';

/** One operation, or several related ones under one name. */
export interface Tool {
  name: string;
  description: string;
  /** Its operations by the value of `action`; a single operation has an empty name. */
  actions: ReadonlyMap<string, Offered>;
  schema: InputSchema;
  annotations: Annotations;
}

/** No tool destroys anything. Hints that equal the protocol's default are left out. */
interface Annotations {
  readOnlyHint: boolean;
  destructiveHint?: false;
  idempotentHint?: true;
}

export interface Offered {
  operation: SpokenOperation;
  /** The input fields offered to models. */
  fields: readonly string[];
  /** The fields of its output to return as data; all of them if left out. */
  answers?: readonly string[] | undefined;
}

/** An operation whose answer is made of lines, so that what it repeats is quoted. */
export interface SpokenOperation extends Operation {
  say(data: unknown, pen: Pen): Line;
}

/** The names of those operations. Any other one does not compile as a tool. */
export type SpokenName = {
  [Name in OperationName]: (typeof operations)[Name] extends () => Promise<infer Found>
    ? Found extends { say(data: never, pen: Pen): Line }
      ? Name
      : never
    : never;
}[OperationName];

interface Definition {
  name: string;
  description: string;
  actions: Readonly<Record<string, SpokenName>>;
  /** Input fields that make no sense for a model. */
  omits?: readonly string[];
  /** Calling it twice has no further effect. */
  idempotent?: true;
}

/** The descriptions have the words that a model searches for. */
const definitions: readonly Definition[] = [
  {
    name: 'resume',
    description:
      'Where did we leave off: what was asked, changed, run, failed and left open, and what comes next. Also continues a named earlier run, or "new" to keep this work apart.',
    actions: { '': 'resume' },
    // A verdict is an exit code, and running recorded commands needs a shell.
    omits: ['strict', 'probe', 'explain'],
    idempotent: true,
  },
  {
    name: 'start',
    description: 'Take a step of the plan before working on it, or take over an interrupted one.',
    actions: { '': 'start' },
    omits: ['next', 'loaded', 'anyway', 'reason'],
    idempotent: true,
  },
  {
    name: 'checkpoint',
    description: 'Save progress inside the step you hold: after each part that works, and before anything risky.',
    actions: { '': 'checkpoint' },
  },
  {
    name: 'finish',
    description: 'Complete, fail or release the step you hold, or end your session.',
    actions: { complete: 'complete', fail: 'fail', release: 'release', end: 'session.end' },
    omits: ['fileNotes', 'why', 'contextUsage', 'issues'],
  },
  {
    name: 'decide',
    description: 'Record a decision and its reason, so that it is not made again.',
    actions: { '': 'decide' },
    omits: ['key', 'type'],
  },
  {
    name: 'note',
    description:
      'Remember for the next session: a constraint the user gave (never touch X), a dead end (tried, does not work), or progress.',
    actions: { '': 'note' },
    omits: ['step'],
  },
  {
    name: 'raise',
    description: 'Report a blocker, problem, question for the user, finding, promise or error that stays open.',
    actions: { '': 'raise' },
    omits: ['followUp', 'type', 'due', 'step'],
  },
  {
    name: 'settle',
    description:
      'Close something open: a blocker, question, error or finding, or an uncertain effect (X-3: did the deploy happen?) with what you found.',
    actions: { '': 'settle' },
    omits: ['followUp'],
    idempotent: true,
  },
  {
    name: 'search',
    description:
      'Was this decided, tried or done before? Finds decisions, notes, items, messages, steps, sessions by words.',
    actions: { '': 'search' },
    // A model asks again in other words instead of turning pages.
    omits: ['all', 'kind', 'status', 'since', 'limit', 'cursor'],
    idempotent: true,
  },
  {
    name: 'plan',
    description: 'Show, add or import the steps of longer work.',
    actions: { show: 'plan.show', add: 'plan.add', import: 'plan.import' },
    omits: ['at', 'wave', 'agents', 'parallel', 'gate', 'checkpoints', 'kind', 'context'],
  },
  {
    name: 'runs',
    description: 'List unfinished and recent runs.',
    actions: { '': 'runs' },
    omits: ['dropped'],
    idempotent: true,
  },
  {
    name: 'handoff',
    description: 'Give work to another agent or accept it.',
    actions: {
      offer: 'handoff',
      accept: 'handoff.accept',
      clarify: 'handoff.clarify',
      decline: 'handoff.decline',
      withdraw: 'handoff.withdraw',
      list: 'handoff.list',
    },
    // Starting another agent needs a terminal, and acting for a session that is gone needs a person.
    omits: ['start', 'launch', 'from', 'limit'],
  },
  {
    name: 'mail',
    description: 'Read and answer messages between agents and people.',
    actions: {
      inbox: 'mail.inbox',
      show: 'mail.show',
      send: 'mail.send',
      reply: 'mail.reply',
      ack: 'mail.ack',
      action: 'mail.action',
      block: 'mail.block',
      close: 'mail.close',
    },
    // The type of an attachment says what to do with it, and the message contains it; search finds closed mail.
    omits: ['all', 'closed', 'before', 'limit', 'about', 'ask', 'raw', 'by'],
  },
];

const ofStep = ['step.key', 'step.title', 'step.status', 'step.checkpoint', 'step.stale', 'run', 'session', 'version'];

/** Clients put the returned data into the conversation: long outputs are cut to what a model continues with. */
const answers: Partial<Record<OperationName, readonly string[]>> = {
  // The text has the rest, within its budget.
  resume: ['run.id', 'run.title', 'headline', 'position', 'nextAction', 'budget', 'text'],
  start: ofStep,
  checkpoint: ofStep,
  complete: ofStep,
  fail: [...ofStep, 'error'],
  release: [...ofStep, 'id'],
  'session.end': [
    'session.id',
    'session.agent',
    'session.reason',
    'run',
    'version',
    'interrupted',
    'escalated',
    'hints',
  ],
};

/** Fields for callers without access to this machine's files. */
const inPlaceOfFiles: readonly string[] = ['payloadText'];

/** The tools; over a network, without the fields that name something on the caller's machine. */
export async function loadTools({ remote }: { remote: boolean }): Promise<Tool[]> {
  return Promise.all(definitions.map((definition) => loadTool(definition, remote)));
}

async function loadTool(definition: Definition, remote: boolean): Promise<Tool> {
  const { name, description, actions: named, omits = [], idempotent = false } = definition;
  const actions = new Map<string, Offered>();
  const schemas = new Map<string, InputSchema>();
  for (const [action, operationName] of Object.entries(named)) {
    const operation: SpokenOperation = await operations[operationName]();
    // It needs files of the machine that the server runs on.
    if (remote && operation.local === true) continue;
    const elsewhere = remote ? (Array.isArray(operation.local) ? operation.local : []) : inPlaceOfFiles;
    const schema = inputSchemaOf(operation, new Set([...omits, ...elsewhere]));
    schemas.set(action, schema);
    actions.set(action, { operation, fields: Object.keys(schema.properties), answers: answers[operationName] });
  }
  const schema = schemas.get('') ?? unionSchema(schemas);
  // Without it, the run is chosen as on the command line.
  schema.properties['run'] = { type: 'string' };
  const readOnlyHint = [...actions.values()].every(({ operation }) => operation.scope === 'read');
  return {
    name,
    description,
    actions,
    schema,
    annotations: {
      readOnlyHint,
      ...(readOnlyHint ? {} : { destructiveHint: false }),
      ...(idempotent && !readOnlyHint ? { idempotentHint: true } : {}),
    },
  };
}
