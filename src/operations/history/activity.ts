import * as v from 'valibot';
import { joined, type Line, line, id as ownId, type Part, time } from '../../core/line.ts';
import { ActorName, Text } from '../../core/text.ts';
import { inRun } from '../act.ts';
import { limit, version } from '../fields.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import {
  type ActivityEntry,
  type ActivityFilter,
  activityKinds,
  type LastMessage,
  lastMessage,
  readActivity,
} from './parts/activity.ts';

export const activity = defineOperation({
  name: 'activity',
  summary: 'Show requests, changed files and commands of a run, newest first.',
  scope: 'read',
  examples: ['holdfast activity --kind command --failed', 'holdfast activity --path src/'],
  input: v.object({
    kind: v.optional(described(v.picklist(activityKinds), 'Only these.')),
    agent: v.optional(described(ActorName, 'Only of this agent.')),
    failed: v.optional(described(v.boolean(), 'Only commands that failed or have no known outcome.')),
    path: v.optional(described(Text, 'Only files whose path contains this.')),
    step: v.optional(described(Text, 'Only of this step.')),
    at: v.optional(described(version, 'Only up to this version.')),
    limit: limit(50),
  }),
  output: v.object({
    run: v.string(),
    version: v.number(),
    entries: v.array(shaped<ActivityEntry>({ kind: v.string(), at: v.string(), version: v.number() })),
    /** There are earlier ones. */
    more: v.boolean(),
    /** What the agent said last; by its client's transcript if it was cut off. */
    said: v.nullable(shaped<LastMessage>({ text: v.string(), agent: v.string() })),
    agents: v.array(v.string()),
    /** The machines on which the run was worked on, this one first. */
    hosts: v.array(v.string()),
  }),
  async run(given, { limit: wanted = 50, ...filter }) {
    const context = await inRun(given);
    const engine = await context.engine();
    const state = await engine.load(context.run, filter.at);
    const found = await readActivity(context, state, filter as ActivityFilter, wanted);
    const said =
      filter.kind === undefined || filter.kind === 'request' ? await lastMessage(context, state, filter.at) : null;
    return { data: { run: context.run, version: state.version, said, ...found } };
  },
  say: ({ entries, more }, pen) =>
    entries.length === 0
      ? line`Nothing of this kind is recorded.`
      : joined([...entries.map((entry) => sayEntry(entry, pen)), ...(more ? [line`And earlier ones.`] : [])], '\n'),
});

function sayEntry(entry: ActivityEntry, pen: Pen): Line {
  const head = line`${pen.dim(time(`${entry.at.slice(0, 16)}Z`))} ${pen.quote(entry.agent, 'name')}`;
  switch (entry.kind) {
    case 'request':
      return line`${head} was asked: ${pen.quote(entry.text, 'title', 120)}`;
    case 'file': {
      const counts = entry.added === null ? '' : line` (+${entry.added} −${entry.deleted ?? 0})`;
      return line`${head} changed ${pen.quote(entry.path, 'path')}${counts}`;
    }
    case 'command':
      return line`${head} ran ${ownId(entry.id)} ${pen.quote(entry.name, 'title', 100)}: ${endOf(entry, pen)}`;
    default:
      return entry satisfies never;
  }
}

function endOf({ outcome, exitCode }: Extract<ActivityEntry, { kind: 'command' }>, pen: Pen): Part {
  if (outcome === 'running') return line`running`;
  if (outcome === 'unknown') return pen.warn(line`outcome unknown`);
  if (outcome === 'failed') return pen.bad(exitCode === null ? line`failed` : line`exit ${exitCode}`);
  return outcome === 'cancelled' ? line`cancelled` : exitCode === null ? line`done` : line`exit ${exitCode}`;
}
