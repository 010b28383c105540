import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { ActorName } from '../../core/text.ts';
import { Actor, Scope } from '../../core/words.ts';
import { defineOperation, described } from '../operation.ts';
import { hashSecret, makeSecret } from './parts/token-secret.ts';

export const tokenAdd = defineOperation({
  name: 'token.add',
  summary: 'Create an access token for a person or an agent; the secret is shown once.',
  scope: 'maintain',
  words: ['name'],
  examples: ['holdfast token add ada --scope maintain', 'holdfast token add codex --scope write --agent'],
  input: v.object({
    name: described(ActorName, 'Who uses it; everything done with it is recorded under this name.'),
    scope: described(Scope, 'What it allows: to read, to record, or everything a maintainer may do.'),
    agent: v.optional(described(v.boolean(), 'It is for an agent, not for a person.')),
  }),
  output: v.object({ name: v.string(), actor: Actor, scope: Scope, secret: v.string() }),
  async run(context, { name, scope, agent = false }) {
    mustBePerson(context.identity, 'give out tokens', `holdfast token add ${name} --scope ${scope}`);
    if (agent && scope === 'maintain') {
      throw new Fault('usage', 'An agent’s token cannot have the scope maintain: that is for people only.', {
        hints: ['Give the agent `--scope write`.'],
      });
    }
    const { tokens, now } = await context.engine();
    const secret = makeSecret();
    const actor: Actor = { kind: agent ? 'agent' : 'person', name };
    if (!(await tokens.addToken({ name, hash: hashSecret(secret), actor, scope, madeAt: now(), usedAt: null }))) {
      throw new Fault('illegal', `The token ${quoted(name)} already exists.`, {
        hints: ['Choose another name; `holdfast token list` shows the tokens, `holdfast token revoke` removes one.'],
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
      `Token for the ${actor.kind} ${pen.bold(name)}, scope ${scope}. It is shown only once:`,
      '',
      `  ${secret}`,
      '',
      'Send it as `Authorization: Bearer …`, or enter it on the page of `holdfast serve`.',
    ].join('\n'),
});
