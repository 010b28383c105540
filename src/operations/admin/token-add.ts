import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { ActorName } from '../../core/text.ts';
import { Actor, Scope } from '../../core/words.ts';
import { defineOperation, described } from '../operation.ts';
import { hashSecret, makeSecret } from './parts/token-secret.ts';

export const tokenAdd = defineOperation({
  name: 'token.add',
  summary: 'Let a person or an agent in over the network; the secret is shown once.',
  scope: 'maintain',
  words: ['name'],
  examples: ['holdfast token add ada --scope maintain', 'holdfast token add codex --scope write --agent'],
  input: v.object({
    name: described(ActorName, 'Whom it is for; everything done with it is recorded under this name.'),
    scope: described(Scope, 'To look, to record, or to do what only a maintainer may.'),
    agent: v.optional(described(v.boolean(), 'It is for an agent, not for a person.')),
  }),
  output: v.object({ name: v.string(), actor: Actor, scope: Scope, secret: v.string() }),
  async run(context, { name, scope, agent = false }) {
    mustBePerson(context.identity, 'give out tokens', `holdfast token add ${name} --scope ${scope}`);
    if (agent && scope === 'maintain') {
      throw new Fault(
        'usage',
        'A token of an agent cannot have the scope maintain: what it allows is a person’s only.',
        {
          hints: ['Give the agent `--scope write`.'],
        },
      );
    }
    const { tokens, now } = await context.engine();
    const secret = makeSecret();
    const actor: Actor = { kind: agent ? 'agent' : 'person', name };
    if (!(await tokens.addToken({ name, hash: hashSecret(secret), actor, scope, madeAt: now(), usedAt: null }))) {
      throw new Fault('illegal', `There is a token ${quoted(name)} already.`, {
        hints: ['Choose another name, or see them with `holdfast token list`; one that is not needed can be revoked.'],
        data: { name },
      });
    }
    return {
      data: { name, actor, scope, secret },
      changed: [{ path: `token.${name}`, before: null, after: scope }],
    };
  },
  say: ({ name, actor, scope, secret }, pen) =>
    [
      `Token for the ${actor.kind} ${pen.bold(name)}, scope ${scope}. It is shown this once:`,
      '',
      `  ${secret}`,
      '',
      'Send it as `Authorization: Bearer …`, or enter it on the page of `holdfast serve`.',
    ].join('\n'),
});
