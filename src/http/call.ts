import { parse } from 'node:path';
import { asFault, Fault, nearest, quoted } from '../core/fault.ts';
import { withRecorded } from '../core/recorded.ts';
import type { Engine } from '../engine/engine.ts';
import type { Identity } from '../engine/execute.ts';
import { limitEngine, withinOf } from '../engine/limit.ts';
import type { Context } from '../operations/context.ts';
import { operationNames, operations } from '../operations/index.ts';
import { type Operation, parseInput, unwrap } from '../operations/operation.ts';
import type { Token } from '../store/presence.ts';
import { mustReach } from './access.ts';
import { answer, Refusal } from './answer.ts';
import { type Limits, readJson } from './limits.ts';

/** The operations offered over HTTP: all but those that need the caller's own machine. */
export async function loadOffered(): Promise<Operation[]> {
  const all = await Promise.all(operationNames.map((name) => operations[name]()));
  return all.filter((operation) => operation.local !== true);
}

/** The input fields accepted over HTTP: a path or a command would mean one on the server's machine. */
export function offeredFields(operation: Operation): string[] {
  const { local } = operation;
  return Object.keys(operation.input.entries).filter((field) => !Array.isArray(local) || !local.includes(field));
}

/** Runs the operation that a request names, as the actor of its token. */
export async function callOperation(
  name: string,
  request: Request,
  token: Token,
  { base, limits, stopped }: { base: Context; limits: Limits; stopped: AbortSignal },
): Promise<Response> {
  const operation = await find(name);
  if (request.method === 'GET' && operation.scope !== 'read') {
    throw new Refusal(405, 'usage', `${quoted(name)} changes something: use POST.`, [], { allow: 'POST' });
  }
  mustReach(token, operation.scope, name);
  const url = new URL(request.url);
  const raw = request.method === 'GET' ? fromQuery(operation, url.searchParams) : await readJson(request, limits);
  const { run, input } = split(operation, raw);
  const warnings: string[] = [];
  const tally = { events: 0 };
  const named = contextFor(base, token, {
    run: run ?? url.searchParams.get('run') ?? request.headers.get('holdfast-run') ?? undefined,
    session: request.headers.get('holdfast-session'),
    key: request.headers.get('idempotency-key'),
    gone: AbortSignal.any([request.signal, stopped]),
    warn: (message) => warnings.push(message),
  });
  const parsed = parseInput(operation, input);
  const isVerbatim = request.headers.get('holdfast-verbatim') === 'yes';
  await named.takeReports();
  const outcome = await operation.run({ ...named, tally, isVerbatim }, parsed).catch((thrown: unknown) => {
    throw operation.scope === 'read' ? thrown : withRecorded(asFault(thrown), tally);
  });
  const exit = operation.verdict?.(outcome.data, parsed);
  return answer(outcome, warnings, exit === undefined ? {} : { 'holdfast-exit': String(exit) });
}

export interface Named {
  run: string | undefined;
  session: string | null;
  key: string | null;
  /** Aborted when the client disconnects or the server stops. */
  gone: AbortSignal;
  warn(message: string): void;
}

/** The context of one request: the server's engine, and the token's actor on everything it records. */
export function contextFor(base: Context, token: Token, named: Named): Context {
  const { run, session, key, gone, warn } = named;
  const evidence = `token:${token.name}` as const;
  const identity: Identity = { actor: token.actor, evidence, session, key, scope: token.scope };
  const served = base.workspace();
  const isServed = served !== null && (token.workspaces === '*' || token.workspaces.includes(served.id));
  let limited: Promise<Engine> | undefined;
  return {
    ...base,
    identity,
    token,
    run,
    warn,
    // A token of other workspaces has nothing to do with the folder that this server was started in.
    ...(isServed ? {} : { workspace: () => null, dir: parse(base.dir).root }),
    engine() {
      limited ??= base.engine().then((engine) => limitEngine(engine, withinOf(token)));
      return limited;
    },
    reopen() {
      const opened = base.reopen();
      return { ...contextFor(opened, token, named), close: () => opened.close() };
    },
    // A run opened over HTTP belongs to the served workspace, or to none; no folder is created for it.
    createWorkspace: () => (isServed ? served : null),
    async news(ms, seen) {
      const engine = await base.engine();
      const left = new Promise<never>((_, reject) => {
        const leave = (): void =>
          reject(new Fault('unavailable', 'The wait was interrupted.', { hints: ['Ask again.'] }));
        if (gone.aborted) leave();
        else gone.addEventListener('abort', leave, { once: true });
      });
      return Promise.race([engine.waitForEvents(ms, seen), left]);
    },
  };
}

async function find(name: string): Promise<Operation> {
  const known = operationNames.find((one) => one === name);
  const operation = known && (await operations[known]());
  if (operation && operation.local !== true) return operation;
  const near = nearest(name, operationNames);
  throw new Refusal(
    404,
    'not_found',
    operation ? `${quoted(name)} can only be run on your own machine.` : `There is no operation ${quoted(name)}.`,
    [
      ...(operation || near.length === 0 ? [] : [`Did you mean ${near.map((one) => `\`${one}\``).join(', ')}?`]),
      'All of them are in `/openapi.json`.',
    ],
  );
}

/** The run may be named in the body too, unless the operation has a field of that name. */
function split(operation: Operation, raw: unknown): { run: string | undefined; input: Record<string, unknown> } {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    throw new Fault('invalid', 'The input must be a JSON object.', { hints: ['Send `{}` for an empty one.'] });
  }
  const input = { ...(raw as Record<string, unknown>) };
  let run: string | undefined;
  if ('run' in input && !('run' in operation.input.entries)) {
    if (typeof input['run'] !== 'string') throw new Fault('invalid', 'run must be a string.');
    run = input['run'];
    delete input['run'];
  }
  const offered = offeredFields(operation);
  const unknown = Object.keys(input).find((field) => !offered.includes(field));
  if (unknown !== undefined) {
    const near = nearest(unknown, offered);
    throw new Fault('invalid', `${quoted(unknown)} is not known here.`, {
      hints: [
        ...near.map((other) => `Did you mean \`${other}\`?`),
        `\`${operation.name}\` takes ${offered.length > 0 ? offered.join(', ') : 'nothing'}.`,
      ],
      data: { field: unknown },
    });
  }
  return { run, input };
}

/** Converts query parameters to the types of the schema; what does not convert stays text, and the schema refuses it. */
function fromQuery(operation: Operation, query: URLSearchParams): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const field of new Set(query.keys())) {
    const values = query.getAll(field);
    const schema = operation.input.entries[field];
    const type = schema === undefined ? 'string' : unwrap(schema).type;
    const [value = ''] = values;
    if (type === 'array') input[field] = values;
    else if (type === 'number')
      input[field] = value.trim() === '' || Number.isNaN(Number(value)) ? value : Number(value);
    else if (type === 'boolean')
      input[field] = value === 'true' || value === '' ? true : value === 'false' ? false : value;
    else input[field] = value;
  }
  return input;
}
