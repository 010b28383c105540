import * as v from 'valibot';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { Actor, Scope } from '../../core/words.ts';
import { defineOperation } from '../operation.ts';

export const tokenList = defineOperation({
  name: 'token.list',
  summary: 'List tokens and when each was last used.',
  scope: 'maintain',
  input: v.object({}),
  output: v.object({
    tokens: v.array(
      v.object({
        name: v.string(),
        actor: Actor,
        scope: Scope,
        madeAt: v.string(),
        usedAt: v.nullable(v.string()),
      }),
    ),
  }),
  async run(context) {
    mustBePerson(context.identity, 'see the tokens', 'holdfast token list');
    const { tokens: known } = await context.engine();
    const tokens = await known.listTokens();
    return { data: { tokens: tokens.map(({ hash: _, ...token }) => token) } };
  },
  say: ({ tokens }, pen) =>
    tokens.length === 0
      ? 'There are no tokens yet: `holdfast token add NAME --scope read|write|maintain`.'
      : tokens
          .map(({ name, actor, scope, usedAt }) => {
            const who = actor.name === name ? actor.kind : `${actor.kind} ${actor.name}`;
            const used = usedAt === null ? 'never used' : `last used ${usedAt.slice(0, 16)}Z`;
            return `${pen.bold(name)} ${scope} ${pen.dim(`${who}, ${used}`)}`;
          })
          .join('\n'),
});
