import * as v from 'valibot';
import type { State } from '../../core/fold/state.ts';
import { line, id as ownId } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { DecisionType } from '../../core/words.ts';
import { act, currentState, idInEvents, inRun } from '../act.ts';
import type { Context } from '../context.ts';
import { affects, label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { warnOfKeys } from './parts/named.ts';

export const Made = v.object({ id: v.string(), run: v.string(), version: v.number() });

export const decide = defineOperation({
  name: 'decide',
  summary: 'Record a decision with its reason.',
  scope: 'write',
  words: ['decision'],
  flags: { alternatives: 'alternative' },
  synonyms: { reason: ['why'] },
  examples: [
    'holdfast decide "httpOnly cookie" --why "scripts cannot read it"',
    'holdfast decide --context "Token storage" --decision "httpOnly cookie" --reason "XSS" --alternative "localStorage: readable by scripts"',
  ],
  input: v.object({
    context: v.optional(
      described(Sentence, 'What needed a decision (default: the title of the step you hold, else of the run).'),
    ),
    decision: described(Sentence, 'What was decided.'),
    reason: described(Sentence, 'Why this and not another.'),
    type: v.optional(described(DecisionType, 'What kind of decision it is.')),
    key: v.optional(described(label, 'A name to find it by: `holdfast decisions --key`.')),
    alternatives: v.optional(described(v.array(Sentence), 'What was considered and rejected, and why.')),
    irreversible: v.optional(described(v.boolean(), 'It cannot be undone; it is in every brief.')),
    affects,
    supersedes: v.optional(described(label, 'The decision this one replaces.')),
  }),
  output: Made,
  async run(given, { type, context: topic, ...body }) {
    const context = await inRun(given);
    const state = await currentState(context);
    warnOfKeys(context, state, body.affects);
    const about = topic ?? topicOf(context, state);
    const supersedes = body.supersedes ?? (await inForce(context, body.key));
    const done = await act(context, {
      ...{ type: 'decision.make', decisionType: type, context: about, ...body },
      ...(supersedes === undefined ? {} : { supersedes }),
    });
    return { data: { id: idInEvents(done) ?? '', run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => line`Recorded decision ${pen.bold(ownId(id))}.`,
});

/** A key has one value: the newest decision in force with it is superseded. */
async function inForce(context: Context & { run: string }, key: string | undefined): Promise<string | undefined> {
  if (key === undefined) return undefined;
  const engine = await context.engine();
  const rows = await engine.rows(context.run, { kind: 'decision', tag: `key:${key}`, status: 'active', limit: 1 });
  return rows[0]?.id;
}

/** The step that the caller's session holds, if it is one, else the run. */
function topicOf(context: Context, { run, steps }: State): string {
  const { session, actor } = context.identity;
  const held = [...steps.values()].filter(({ holder, status }) => {
    if (status !== 'in_progress' || holder === null) return false;
    return session === null ? holder.agent === actor.name : holder.session === session;
  });
  return (held.length === 1 ? held[0]?.title : run?.title) ?? 'The work';
}
