import { isMaintainer } from '../core/rules/rule-context.ts';
import { addMs } from '../core/time.ts';
import type { Scope } from '../core/words.ts';
import { makerOf } from '../operations/admin/parts/token-reach.ts';
import { hashSecret, makeSecret } from '../operations/admin/parts/token-secret.ts';
import type { Context } from '../operations/context.ts';
import type { Token } from '../store/presence.ts';

/** Lets the person or agent that started the server sign in. */
export interface Link {
  secret: string;
  token: Token;
}

const VALID_MS = 12 * 3_600_000;

/**
 * Only this process knows the secret: it is in no file that an agent could read and in no store that could be copied, so
 * it ends with the server. A server that no person started at a terminal gives no maintainer rights.
 */
export function prepareLink(context: Context): Link {
  const { actor } = context.identity;
  const scope: Scope = isMaintainer(context.identity) ? 'maintain' : 'write';
  const secret = makeSecret();
  const hash = hashSecret(secret);
  const workspace = context.workspace();
  const now = context.now();
  const token: Token = {
    name: `link-${hash.slice(0, 8)}`,
    hash,
    actor,
    scope,
    workspaces: workspace === null ? '*' : [...workspace.ids],
    runs: null,
    madeAt: now,
    madeBy: makerOf(context),
    expiresAt: addMs(now, VALID_MS),
    usedAt: null,
    revoked: null,
  };
  return { secret, token };
}
