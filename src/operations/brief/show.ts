import * as v from 'valibot';
import type { BriefFields } from '../../core/brief/fields.ts';
import { ActorName } from '../../core/text.ts';
import { estimateTokens } from '../../core/tokens.ts';
import { currentState } from '../act.ts';
import { defineOperation, described, shaped } from '../operation.ts';
import { briefFor } from './parts/compose.ts';
import { beginGitStatus } from './parts/evidence.ts';
import { Budget, briefFields } from './parts/fields.ts';

type Told<Name extends keyof BriefFields> = BriefFields[Name];

export const briefShow = defineOperation({
  name: 'brief.show',
  summary: 'Show the brief as the next agent would get it, with what each part costs; records and writes nothing.',
  scope: 'read',
  examples: ['holdfast brief show --budget 800 --for codex'],
  input: v.object({
    ...briefFields,
    for: v.optional(described(ActorName, 'The reader: their mail and offers are in it.')),
  }),
  output: v.object({
    text: v.string(),
    sections: v.array(v.object({ title: v.string(), text: v.string(), tokens: v.number() })),
    budget: Budget,
    headline: v.string(),
    freshness: shaped<Told<'freshness'>>({ text: v.string(), fresh: v.boolean() }),
    nextAction: shaped<Told<'nextAction'>>({ text: v.string(), basis: v.string() }),
    conflicts: v.array(shaped<Told<'conflicts'>[number]>({ id: v.string() })),
    uncertain: v.array(shaped<Told<'uncertain'>[number]>({ id: v.string() })),
    run: v.string(),
    version: v.number(),
  }),
  async run(context, { budget, role, for: reader }) {
    const status = beginGitStatus(context);
    const state = await currentState(context);
    const { fields, text, usedTokens, omitted, parts } = await briefFor(context, state, status, {
      form: 'start',
      session: null,
      agent: reader ?? null,
      role,
      budget,
    });
    const { headline, freshness, nextAction, conflicts, uncertain, budgetTokens } = fields;
    return {
      data: {
        text,
        sections: parts.map(({ name, lines }) => sectionOf(name, lines.join('\n'))),
        budget: { limit: budgetTokens, used: usedTokens, omitted },
        headline,
        freshness,
        nextAction,
        conflicts: [...conflicts],
        uncertain: [...uncertain],
        run: state.run?.id ?? '',
        version: state.version,
      },
    };
  },
  say: ({ text, sections }, pen) =>
    [
      text.trimEnd(),
      '',
      ...sections.map(({ title, tokens }) => pen.dim(`${String(tokens).padStart(6)} tokens  ${title}`)),
    ].join('\n'),
});

const sectionOf = (title: string, text: string): { title: string; text: string; tokens: number } => ({
  title,
  text,
  tokens: estimateTokens(`${text}\n`),
});
