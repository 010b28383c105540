import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { asFault, Fault, nearest, quoted } from '../core/fault.ts';
import { type Fixed, joined, type Line, line, quote, quoteWhole } from '../core/line.ts';
import { withRecorded } from '../core/recorded.ts';
import { safeToShow } from '../core/text.ts';
import type { Context } from '../operations/context.ts';
import { type Operation, type Outcome, type Pen, parseInput } from '../operations/operation.ts';
import type { Offered, SpokenOperation, Tool } from './tools.ts';

/** Runs `use` with the context of one request: its identity, and the run that is named. Throws if it may not call this. */
export type Reach = <T>(
  operation: Operation,
  run: string | undefined,
  use: (context: Context) => Promise<T>,
) => Promise<T>;

export type ReachOf = (ctx: ServerContext) => Reach;

/** Runs the operation behind a tool. A refusal is returned as a result, so that the model can read it and react. */
export async function callTool(tool: Tool, given: unknown, reach: Reach): Promise<CallToolResult> {
  try {
    const { offered, run, input } = readCall(tool, given);
    const { operation } = offered;
    const parsed = parseInput(operation, input);
    const { outcome, warnings } = await perform(operation, parsed, run, reach);
    return answer(offered, outcome, warnings);
  } catch (thrown) {
    return refusal(asFault(thrown));
  }
}

/** Runs an operation for its data, outside a tool call. */
export async function dataOf(operation: Operation, reach: Reach): Promise<unknown> {
  return (await perform(operation, parseInput(operation, {}), undefined, reach)).outcome.data;
}

/** Runs an operation for its text, outside a tool call. */
export async function ask(
  operation: SpokenOperation,
  input: Record<string, unknown>,
  run: string | undefined,
  reach: Reach,
): Promise<Line> {
  const { outcome } = await perform(operation, parseInput(operation, input), run, reach);
  return operation.say(outcome.data, plain);
}

async function perform(
  operation: Operation,
  input: Record<string, unknown>,
  run: string | undefined,
  reach: Reach,
): Promise<{ outcome: Outcome<unknown>; warnings: string[] }> {
  const warnings: string[] = [];
  const tally = { events: 0 };
  const outcome = await reach(operation, run, async (given) => {
    const context = { ...given, tally, warn: (message: string) => void warnings.push(message) };
    await context.takeReports();
    return operation.run(context, input);
  }).catch((thrown: unknown) => {
    throw operation.scope === 'read' ? thrown : withRecorded(asFault(thrown), tally);
  });
  return { outcome, warnings };
}

function readCall(
  tool: Tool,
  given: unknown,
): { offered: Offered; run: string | undefined; input: Record<string, unknown> } {
  if (given !== undefined && (given === null || typeof given !== 'object' || Array.isArray(given)))
    throw new Fault('invalid', 'The arguments must be an object.');
  const { action, ...input } = { ...(given as Record<string, unknown> | undefined) };
  const offered = offeredBy(tool, action);
  let run: string | undefined;
  if (!offered.fields.includes('run') && input['run'] !== undefined) {
    if (typeof input['run'] !== 'string') throw new Fault('invalid', 'run must be a string.');
    run = input['run'];
  }
  if (!offered.fields.includes('run')) delete input['run'];
  const unknown = Object.keys(input).find((field) => !offered.fields.includes(field));
  if (unknown === undefined) return { offered, run, input };
  throw new Fault('invalid', `${quoted(unknown)} is not known here.`, {
    hints: [
      ...nearest(unknown, offered.fields).map((near) => `Did you mean \`${near}\`?`),
      offered.fields.length > 0 ? `It takes ${offered.fields.join(', ')} and run.` : 'It takes only run.',
    ],
  });
}

function offeredBy({ name, actions }: Tool, action: unknown): Offered {
  const only = actions.get('');
  const offered = only && action === undefined ? only : typeof action === 'string' ? actions.get(action) : undefined;
  if (offered && (only === undefined || action === undefined)) return offered;
  if (only) throw new Fault('invalid', `\`${name}\` takes no action.`);
  const known = [...actions.keys()];
  const near = typeof action === 'string' ? nearest(action, known) : [];
  throw new Fault('invalid', action === undefined ? 'action is needed.' : `There is no such action of \`${name}\`.`, {
    hints: [...near.map((one) => `Did you mean \`${one}\`?`), `action is one of ${known.join(', ')}.`],
  });
}

/** The same envelope as `--json` on the command line, and its text. */
function answer(
  { operation, answers }: Offered,
  { data, changed }: Outcome<unknown>,
  warnings: readonly string[],
): CallToolResult {
  const lines = [
    operation.say(data, plain),
    ...(changed?.length === 0 && operation.scope !== 'read' ? [line`Nothing changed.`] : []),
    ...warnings.map((warning) => line`Warning: ${quoteWhole(warning)}`),
  ];
  const envelope = {
    ok: true,
    data: answers ? only(data as Record<string, unknown>, answers) : data,
    ...(changed ? { changed } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  return { content: [{ type: 'text', text: joined(lines, '\n') }], structuredContent: asJson(envelope) };
}

function refusal(fault: Fault): CallToolResult {
  const { code, message, hints, data } = fault;
  return {
    isError: true,
    content: [{ type: 'text', text: joined(refusalLines(fault), '\n') }],
    structuredContent: asJson({ ok: false, fault: { code, message, hints, data } }),
  };
}

/** Messages and hints are quoted as a whole: they repeat keys, names and errors of others, and names decide how many. */
export function refusalLines({ code, message, hints }: Fault): Line[] {
  const more = hints.length > 0 ? [line`Hints: ${quoteWhole(hints.join(' '))}`] : [];
  return [line`${code as Fixed}: ${quoteWhole(message)}`, ...more];
}

/** Picks fields, and fields of fields (`step.key`). */
function only(data: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const path of fields) {
    const [field = '', below] = path.split('.');
    if (!(field in data)) continue;
    if (below === undefined) picked[field] = data[field];
    else picked[field] = { ...(picked[field] as object), [below]: (data[field] as Record<string, unknown>)[below] };
  }
  return picked;
}

/** Plain JSON, made harmless: clients put it into prompts unchanged. */
function asJson(value: unknown): Record<string, unknown> {
  return safeToShow(JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
}

const asIs = <Text extends string>(text: Text): Text => text;
const plain: Pen = {
  fit: (text) => quote(text, 'title', 80),
  bold: asIs,
  dim: asIs,
  good: asIs,
  bad: asIs,
  warn: asIs,
  quote,
  whole: quoteWhole,
  pad: asIs,
};
