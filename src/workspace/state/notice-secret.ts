import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import type { OwnFiles } from '../own-files.ts';

const FILE = 'notice-secret';

/** The secret that receivers check the signature of notices with; made once. Of several servers that start at once, all get the first one's. */
export function noticeSecret(state: OwnFiles): string {
  state.createOnce(FILE, `${randomBytes(32).toString('hex')}\n`);
  const secret = state.read(FILE)?.trim() ?? '';
  if (/^[0-9a-f]{64}$/.test(secret)) return secret;
  const file = join(state.root, FILE);
  throw new Fault('invalid', `${file} does not hold a secret for signing notices.`, {
    hints: ['Delete it: the next start makes a new one, which the receivers of notices need then.'],
    data: { file },
  });
}
