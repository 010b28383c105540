import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { Refusal } from './answer.ts';

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

/**
 * A page of another site must not reach this server through its reader's browser: neither through a name of its own that
 * resolves to this server (the host must be ours), nor by a request from its own pages (the origin must be ours).
 */
export function createRequestCheck(host: string, names: readonly string[]): (request: Request) => void {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const isOwn = (name: string): boolean => {
    if (isLoopback(name) || known.has(name)) return true;
    if (isLoopback(host)) return false;
    // Another site's name is never an IP address or this machine's own name.
    return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name === hostname().toLowerCase();
  };
  return (request) => {
    const url = new URL(request.url);
    if (!isOwn(url.hostname.toLowerCase())) {
      throw new Refusal(421, 'not_allowed', 'This server is not known under that name.', [
        'Ask for it by its address, or start it with `holdfast serve --name NAME`.',
      ]);
    }
    const origin = request.headers.get('origin');
    const site = request.headers.get('sec-fetch-site');
    const isForeign = origin !== null && hostOf(origin) !== url.host;
    // Following a link to this server is allowed: the page it opens contains no secret.
    const isCrossSite = site === 'cross-site' && request.headers.get('sec-fetch-mode') !== 'navigate';
    if (isForeign || isCrossSite) {
      throw new Refusal(403, 'not_allowed', 'Pages of other sites may not use this server.', [
        'Use the dashboard at its own address, or a program with a token.',
      ]);
    }
  };
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

/** Set on every response. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};
