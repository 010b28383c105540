import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { writeOnce } from './write.ts';

/** A name that the .gitignore of the folder leaves out. */
const FILE = 'token-notify';

/** The secret that receivers check the signature of notices with; made once. Of several servers that start at once, all get the first one's. */
export function noticeSecret(folder: string): string {
  const file = join(folder, FILE);
  writeOnce(file, `${randomBytes(32).toString('hex')}\n`, 0o600);
  const secret = readFileSync(file, 'utf8').trim();
  if (/^[0-9a-f]{64}$/.test(secret)) return secret;
  throw new Fault('invalid', `${file} does not hold a secret for signing notices.`, {
    hints: ['Delete it: the next start makes a new one, which the receivers of notices need then.'],
    data: { file },
  });
}
