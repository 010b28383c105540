import * as v from 'valibot';
import { notFound } from '../../core/fault.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { makerOf } from './parts/token-reach.ts';

export const tokenRevoke = defineOperation({
  name: 'token.revoke',
  summary: 'Revoke a token.',
  scope: 'maintain',
  by: 'person',
  words: ['name'],
  examples: ['holdfast token revoke codex'],
  input: v.object({ name: described(label, 'The name of the token.') }),
  output: v.object({ name: v.string() }),
  async run(context, { name }) {
    mustBePerson(context.identity, 'revoke tokens', `holdfast token revoke ${name}`);
    const { tokens, now } = await context.engine();
    if (!(await tokens.revokeToken(name, { at: now(), ...makerOf(context) }))) {
      const known = await tokens.listTokens();
      throw notFound(
        'token',
        name,
        known.map((token) => token.name),
        'See them with `holdfast token list`.',
      );
    }
    return { data: { name }, changed: [{ path: `token.${name}`, before: 'valid', after: null }] };
  },
  say: ({ name }, pen) => `Revoked ${pen.bold(name)}.`,
});
