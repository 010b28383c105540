import { createHash, randomBytes } from 'node:crypto';

/** Says what it is where it is found lying about. */
const PREFIX = 'hf_';

export function makeSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export function isSecret(text: string): boolean {
  return /^hf_[\w-]{43}$/.test(text);
}

/**
 * What is kept of a secret. A fast hash is enough, and no salt: the slow ones protect words that people choose, and 256
 * random bits cannot be guessed however fast the guesses come.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
