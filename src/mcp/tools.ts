import { type OperationName, operationNames, operations } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';
import { type InputSchema, inputSchemaOf, unionSchema } from './schema.ts';

/** A tool: one operation, or several of a kind under one name. */
export interface Tool {
  name: string;
  description: string;
  /** Its operations by the value of `action`; under an empty name where there is one. */
  actions: ReadonlyMap<string, Offered>;
  schema: InputSchema;
  annotations: Annotations;
}

/** Nothing is ever destroyed, and nothing beyond the workspace is touched. What a hint is taken for anyway is left out. */
interface Annotations {
  readOnlyHint: boolean;
  destructiveHint?: false;
  idempotentHint?: true;
  openWorldHint: false;
}

export interface Offered {
  operation: Operation;
  /** The input fields it takes here. */
  fields: readonly string[];
  /** The fields of its answer that are given as data; all of them where this is left out. */
  answers?: readonly string[] | undefined;
}

interface Definition {
  name: string;
  description: string;
  actions: Readonly<Record<string, OperationName>>;
  /** Input fields that make no sense here. */
  omits?: readonly string[];
  /** Doing it twice does nothing more. */
  idempotent?: true;
}

const definitions: readonly Definition[] = [
  {
    name: 'resume',
    description:
      'Where the work stands: position, next action, decisions, blockers, files to read. Call it first in a session and after compaction.',
    actions: { '': 'resume' },
    // A verdict is an exit code, and running recorded commands is for whoever has a shell.
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
    description: 'End the step you hold (complete, fail, release) or your sitting (end).',
    actions: { complete: 'complete', fail: 'fail', release: 'release', end: 'session.end' },
    omits: ['fileNotes', 'why', 'contextUsage', 'issues'],
  },
  {
    name: 'decide',
    description: 'Record a decision with its reason, so that nobody decides it again.',
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
    description: 'Settle something open, or open it again.',
    actions: { '': 'settle' },
    omits: ['followUp'],
    idempotent: true,
  },
  {
    name: 'mail',
    description: 'Read and answer messages between agents and people.',
    actions: group('mail'),
    // What is to be done with a payload its type says, and a model reads it in the message; closed mail is found by search.
    omits: ['all', 'closed', 'before', 'limit', 'about', 'ask', 'raw'],
  },
  {
    name: 'handoff',
    description: 'Offer your work to another agent, or take over what was offered to you.',
    actions: group('handoff', 'offer'),
    // Starting another agent is for whoever has a terminal to watch it, and speaking for one that is gone for a person.
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

/** Clients put the data of an answer into the conversation: of long ones, what a model goes on with. */
const answers: Partial<Record<OperationName, readonly string[]>> = {
  // The text says the rest, within its budget.
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

/** All operations `NAME.x` as `x`, and `NAME` itself under the name given. */
function group(name: string, own?: string): Record<string, OperationName> {
  const members = operationNames.filter((one) => one.startsWith(`${name}.`) || (own !== undefined && one === name));
  return Object.fromEntries(members.map((one) => [one === name ? own : one.slice(name.length + 1), one]));
}

/** Fields for whoever has no file on this machine. */
const inPlaceOfFiles: readonly string[] = ['payloadText'];

/** The tools, with the fields left out that name something on the caller's machine where that is another one. */
export async function loadTools({ remote }: { remote: boolean }): Promise<Tool[]> {
  return Promise.all(definitions.map((definition) => loadTool(definition, remote)));
}

async function loadTool(definition: Definition, remote: boolean): Promise<Tool> {
  const { name, description, actions: named, omits = [], idempotent = false } = definition;
  const actions = new Map<string, Offered>();
  const schemas = new Map<string, InputSchema>();
  for (const [action, operationName] of Object.entries(named)) {
    const operation = await operations[operationName]();
    const elsewhere = remote ? (Array.isArray(operation.local) ? operation.local : []) : inPlaceOfFiles;
    const schema = inputSchemaOf(operation, new Set([...omits, ...elsewhere]));
    schemas.set(action, schema);
    actions.set(action, { operation, fields: Object.keys(schema.properties), answers: answers[operationName] });
  }
  const schema = schemas.get('') ?? unionSchema(schemas);
  // A workspace may have several runs; which one a call without it means is the same as on the command line.
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
