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

/** No tool destroys anything or reaches beyond the workspace. Hints that equal the protocol's default are left out. */
interface Annotations {
  readOnlyHint: boolean;
  destructiveHint?: false;
  idempotentHint?: true;
  openWorldHint: false;
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

const definitions: readonly Definition[] = [
  {
    name: 'resume',
    description:
      'The current state of the work: position, next action, decisions, blockers, files to read. Call it first in a session and after compaction.',
    actions: { '': 'resume' },
    // A verdict is an exit code, and running recorded commands needs a shell.
    omits: ['strict', 'probe'],
    idempotent: true,
  },
  {
    name: 'start',
    description: 'Take a step of the plan before working on it, or take over an interrupted one.',
    actions: { '': 'start' },
    idempotent: true,
  },
  {
    name: 'checkpoint',
    description: 'Record progress inside the step you hold: after each part that works, and before anything risky.',
    actions: { '': 'checkpoint' },
  },
  {
    name: 'finish',
    description: 'End the step you hold (complete, fail, release) or your session (end).',
    actions: { complete: 'complete', fail: 'fail', release: 'release', end: 'session.end' },
    omits: ['fileNotes', 'why', 'contextUsage', 'issues'],
  },
  {
    name: 'decide',
    description: 'Record a decision with its reason, so that it is not decided again.',
    actions: { '': 'decide' },
    omits: ['key'],
  },
  {
    name: 'raise',
    description: 'Record something open: a blocker, finding, question, commitment or error.',
    actions: { '': 'raise' },
    omits: ['followUp'],
  },
  {
    name: 'settle',
    description: 'Close an open item, or reopen it.',
    actions: { '': 'settle' },
    omits: ['followUp'],
    idempotent: true,
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
    omits: ['all', 'closed', 'before', 'limit', 'about', 'ask', 'raw'],
  },
  {
    name: 'handoff',
    description: 'Offer your work to another agent, or take over what was offered to you.',
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
    name: 'search',
    description: 'Find past decisions, notes, items, mail, steps and sessions by their words.',
    actions: { '': 'search' },
    idempotent: true,
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
      openWorldHint: false,
    },
  };
}
