import * as v from 'valibot';
import { mustBeAgentName } from '../../core/agent-name.ts';
import { Fault, quoted } from '../../core/fault.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { ActorName } from '../../core/text.ts';
import { Scope } from '../../core/words.ts';
import type { Token } from '../../store/presence.ts';
import { peopleHere } from '../../workspace/people.ts';
import { label } from '../fields.ts';
import { actorNamed } from '../open.ts';
import { defineOperation, described } from '../operation.ts';
import {
  expiryFrom,
  expiryInWords,
  makerOf,
  reachInWords,
  shownToken,
  TokenShown,
  workspacesFor,
} from './parts/token-reach.ts';
import { hashSecret, makeSecret } from './parts/token-secret.ts';

export const tokenAdd = defineOperation({
  name: 'token.add',
  summary: 'Create an access token for a person or an agent; the secret is shown once.',
  scope: 'maintain',
  by: 'person',
  words: ['name'],
  flags: { workspaces: 'workspace', runs: 'only-run' },
  examples: [
    'holdfast token add ada --scope maintain',
    'holdfast token add codex --scope write --agent',
    'holdfast token add ci --scope read --expires 12h',
  ],
  input: v.object({
    name: described(ActorName, 'Who uses it; everything done with it is recorded under this name.'),
    scope: v.optional(
      described(Scope, 'What it allows: to read (default), to record, or everything a maintainer may do.'),
      'read',
    ),
    workspaces: v.optional(
      described(v.array(label), 'A workspace it reaches, by its id, or `*` for all (default: the current one).'),
    ),
    runs: v.optional(described(v.array(label), 'A run it reaches; without any, all runs of its workspaces.')),
    expires: v.optional(described(v.string(), 'When it expires: `12h`, `30d`, `8w` or a date (default 90 days).')),
    agent: v.optional(described(v.boolean(), 'It is for an agent, not for a person.')),
  }),
  output: v.object({ ...TokenShown.entries, secret: v.string() }),
  async run(context, { name, scope, workspaces, runs, expires, agent = false }) {
    mustBePerson(context.identity, 'give out tokens', `holdfast token add ${name} --scope ${scope}`);
    if (agent && scope === 'maintain') {
      throw new Fault('usage', 'An agent’s token cannot have the scope maintain: that is for people only.', {
        hints: ['Give the agent `--scope write`.'],
      });
    }
    const { tokens, now } = await context.engine();
    const actor = actorNamed(agent ? 'agent' : 'person', name);
    if (agent) mustBeAgentName(name, await peopleHere(context.dir));
    const secret = makeSecret();
    const token: Token = {
      name,
      hash: hashSecret(secret),
      actor,
      scope,
      workspaces: workspacesFor(context, workspaces),
      runs: runs && runs.length > 0 ? [...new Set(runs)] : (context.token?.runs ?? null),
      madeAt: now(),
      madeBy: makerOf(context),
      expiresAt: expiryFrom(expires, now()),
      usedAt: null,
      revoked: null,
    };
    if (!(await tokens.addToken(token))) {
      throw new Fault('illegal', `The token ${quoted(name)} already exists.`, {
        hints: ['Choose another name; `holdfast token list` shows the tokens, `holdfast token revoke` removes one.'],
        data: { name },
      });
    }
    return {
      data: { ...shownToken(token), secret },
      changed: [{ path: `token.${name}`, before: null, after: scope }],
    };
  },
  say: ({ secret, ...token }, pen) =>
    [
      `Token for the ${token.actor.kind} ${pen.bold(token.name)}, scope ${token.scope}. It is shown only once:`,
      '',
      `  ${secret}`,
      '',
      `It reaches ${reachInWords(token)} and ${expiryInWords(token)}.`,
      'Send it as `Authorization: Bearer …`, or enter it on the page of `holdfast serve`.',
    ].join('\n'),
});
