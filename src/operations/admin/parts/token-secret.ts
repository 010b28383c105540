import { createHash, randomBytes } from 'node:crypto';

/** Makes a leaked secret recognisable. */
const PREFIX = 'hft_';

export function makeSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

/** Secrets of version 0.1 begin with `hf_` and stay valid until they are revoked. */
export function isSecret(text: string): boolean {
  return /^hft?_[\w-]{43}$/.test(text);
}

/**
 * Only the hash is stored. A fast hash without salt is enough: slow hashes protect passwords that people choose, and 256
 * random bits cannot be guessed at any speed.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
