import * as v from 'valibot';
import { ActorName } from '../../core/text.ts';
import { estimateTokens } from '../../core/tokens.ts';
import { currentState } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { briefFor } from './parts/compose.ts';
import { beginGitStatus } from './parts/evidence.ts';
import { Budget, briefFields } from './parts/fields.ts';

const List = v.array(v.looseObject({ id: v.string() }));

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
    freshness: v.looseObject({ text: v.string(), fresh: v.boolean() }),
    nextAction: v.looseObject({ text: v.string(), basis: v.string() }),
    conflicts: List,
    uncertain: List,
    run: v.string(),
    version: v.number(),
  }),
  async run(context, { budget, role, for: reader }) {
    const status = beginGitStatus(context);
    const state = await currentState(context);
    const { brief, text, usedTokens, omitted } = await briefFor(context, state, status, {
      session: null,
      agent: reader ?? null,
      role,
      budgetTokens: budget,
    });
    const { headline, freshness, nextAction, conflicts, uncertain, budgetTokens } = brief;
    return {
      data: {
        text,
        sections: sectionsIn(text),
        budget: { limit: budgetTokens, used: usedTokens, omitted },
        headline,
        freshness: { ...freshness },
        nextAction: { ...nextAction },
        conflicts: conflicts.map((conflict) => ({ ...conflict })),
        uncertain: uncertain.map((effect) => ({ ...effect })),
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

/** The blocks of a brief, each with its title; the first one shows the position. */
function sectionsIn(text: string): { title: string; text: string; tokens: number }[] {
  return text
    .trimEnd()
    .split('\n\n')
    .flatMap((block, index) => {
      const [first = '', ...rest] = block.split('\n');
      const footer = rest.at(-1)?.startsWith('Brief: about') ? rest.pop() : undefined;
      const title = index === 0 ? 'Where the work stands' : first.startsWith('- ') ? 'Left out' : titleOf(first);
      const own = [first, ...rest].join('\n');
      const sections = [{ title, text: own, tokens: estimateTokens(own) + 1 }];
      return footer === undefined
        ? sections
        : [...sections, { title: 'Footer', text: footer, tokens: estimateTokens(footer) + 1 }];
    });
}

/** A line that is title and content at once is named by its first words. */
const titleOf = (line: string): string => (line.startsWith('Brief: about') ? 'Footer' : (line.split(': ')[0] ?? line));
