import { timingSafeEqual } from 'node:crypto';
import { Fault, quoted } from '../core/fault.ts';
import { addMs } from '../core/time.ts';
import { Scope } from '../core/words.ts';
import type { Engine } from '../engine/engine.ts';
import { hashSecret, isSecret } from '../operations/admin/parts/token-secret.ts';
import type { Token } from '../store/presence.ts';
import { Refusal } from './answer.ts';

/** The token of a request is looked up each time, so that a revoked one is refused at once everywhere. */
export interface Access {
  admit(request: Request): Promise<Token>;
  /** The token with this secret; refused if there is none or it expired. */
  admitSecret(secret: string): Promise<Token>;
  /** Whether a token that was admitted is still valid: not revoked, not expired. */
  isValid(token: Token): Promise<boolean>;
}

/** The last use is noted at most this often: a read must not cost a write. */
const NOTE_USE_EVERY_MS = 60_000;

/** `own` are tokens that only this process knows: they end with it. */
export function createAccess(engine: () => Promise<Engine>, now: () => string, own: readonly Token[] = []): Access {
  async function findHash(hash: string): Promise<Token | null> {
    const mine = own.find((token) => isSame(token.hash, hash));
    if (mine) return mine;
    const { tokens } = await engine();
    const token = await tokens.findToken(hash);
    return token !== null && isSame(token.hash, hash) ? token : null;
  }

  async function admitSecret(secret: string): Promise<Token> {
    const token = isSecret(secret) ? await findHash(hashSecret(secret)) : null;
    if (!token) throw refused('The token is not valid; it may have been revoked.');
    if (hasExpired(token)) {
      throw refused(`The token ${quoted(token.name)} expired at ${token.expiresAt?.slice(0, 16)}Z.`);
    }
    if (!own.includes(token)) await noteUse(token);
    return token;
  }

  function hasExpired({ expiresAt }: Token): boolean {
    return expiresAt !== null && expiresAt <= now();
  }

  async function noteUse({ name, usedAt }: Token): Promise<void> {
    const { tokens } = await engine();
    const at = now();
    if (usedAt !== null && addMs(usedAt, NOTE_USE_EVERY_MS) > at) return;
    // A note that cannot be written does not refuse the request.
    await tokens.useToken(name, at).catch(() => undefined);
  }

  return {
    admitSecret,
    async isValid(token) {
      const known = await findHash(token.hash);
      return known !== null && !hasExpired(known);
    },
    async admit(request) {
      const secret = secretOf(request);
      if (secret === null) throw refused('This needs a token.');
      return admitSecret(secret);
    },
  };
}

function refused(message: string): Refusal {
  return new Refusal(
    401,
    'not_allowed',
    message,
    [
      'Open the link that `holdfast serve` prints, or send `Authorization: Bearer TOKEN`.',
      'A maintainer creates tokens with `holdfast token add NAME --scope read|write|maintain`.',
    ],
    { 'www-authenticate': 'Bearer' },
  );
}

/** Each scope includes those before it. */
export function mustReach(token: Token, needed: Scope, operation: string): void {
  if (Scope.options.indexOf(token.scope) >= Scope.options.indexOf(needed)) return;
  throw new Fault(
    'not_allowed',
    `${quoted(operation)} needs the scope ${needed}; the token of ${token.actor.name} has ${token.scope}.`,
    {
      hints: [
        needed === 'maintain'
          ? 'Only a person may do this: ask a maintainer, and say why.'
          : 'Ask a maintainer for a token with that scope.',
      ],
      data: { scope: token.scope, needed },
    },
  );
}

function secretOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (header !== null) return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? '';
  return cookieOf(request);
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const THIRTY_DAYS_S = 30 * 24 * 3600;

/** Cookies ignore ports: each port gets its own cookie name, or two servers on one host would sign each other out. */
function cookieName(request: Request): string {
  return `holdfast_${new URL(request.url).port || 'web'}`;
}

function cookieOf(request: Request): string | null {
  const name = `${cookieName(request)}=`;
  const parts = (request.headers.get('cookie') ?? '').split(/; */);
  return parts.find((part) => part.startsWith(name))?.slice(name.length) ?? null;
}

/** Scripts cannot read it, and browsers never send it with requests from other sites. */
export function setCookie(request: Request, secret: string | null, isSecure: boolean): string {
  const age = secret === null ? 0 : THIRTY_DAYS_S;
  return `${cookieName(request)}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${isSecure ? '; Secure' : ''}`;
}
