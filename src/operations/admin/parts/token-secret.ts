import { createHash, randomBytes } from 'node:crypto';

/** Makes a leaked secret recognisable. */
const PREFIX = 'hf_';

export function makeSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export function isSecret(text: string): boolean {
  return /^hf_[\w-]{43}$/.test(text);
}

/**
 * Only the hash is stored. A fast hash without salt is enough: slow hashes protect passwords that people choose, and 256
 * random bits cannot be guessed at any speed.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
