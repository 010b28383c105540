import * as v from 'valibot';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { defineOperation, described } from '../operation.ts';
import { expiryInWords, reachInWords, shownToken, TokenShown } from './parts/token-reach.ts';

export const tokenList = defineOperation({
  name: 'token.list',
  summary: 'List tokens and when each was last used.',
  scope: 'maintain',
  by: 'person',
  input: v.object({ all: v.optional(described(v.boolean(), 'Also those that were revoked, with who did it.')) }),
  output: v.object({ tokens: v.array(TokenShown) }),
  async run(context, { all = false }) {
    mustBePerson(context.identity, 'see the tokens', 'holdfast token list');
    const { tokens: known } = await context.engine();
    const tokens = await known.listTokens({ revoked: all });
    return { data: { tokens: tokens.map(shownToken) } };
  },
  say: ({ tokens }, pen) =>
    tokens.length === 0
      ? 'There are no tokens yet: `holdfast token add NAME --scope read|write|maintain`.'
      : tokens
          .map((token) => {
            const { name, actor, scope, usedAt, madeBy, revoked } = token;
            const facts = [
              actor.name === name ? actor.kind : `${actor.kind} ${actor.name}`,
              reachInWords(token),
              ...(revoked === null ? [expiryInWords(token)] : []),
              ...(madeBy === null ? ['made by version 0.1'] : [`made by ${madeBy.actor.name}`]),
              usedAt === null ? 'never used' : `last used ${usedAt.slice(0, 16)}Z`,
              ...(revoked === null ? [] : [`revoked by ${revoked.actor.name} at ${revoked.at.slice(0, 16)}Z`]),
            ];
            return `${pen.bold(name)} ${scope} ${pen.dim(facts.join(', '))}`;
          })
          .join('\n'),
});
