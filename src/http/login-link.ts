import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import type { Scope } from '../core/words.ts';
import { hashSecret, isSecret, makeSecret } from '../operations/admin/parts/token-secret.ts';
import type { Context } from '../operations/context.ts';
import type { Token } from '../store/presence.ts';
import { writeOnce } from '../workspace/write.ts';

/** Lets the person or agent that started the server sign in. */
export interface Link {
  secret: string;
  scope: Scope;
  /** Without a folder to keep it in, a token that only this process knows. */
  own: Token | null;
}

const NAME = 'link-';

export function isLinkToken({ name }: Token): boolean {
  return name.startsWith(NAME);
}

/**
 * The secret of the link is in `.holdfast/`, readable by its owner only, so that a restart prints the same link; the store
 * has its hash. A revoked one is not reused: a new one is made. A server that an agent starts gives no maintainer rights.
 */
export async function prepareLink(context: Context): Promise<Link> {
  const { actor } = context.identity;
  const scope: Scope = actor.kind === 'person' ? 'maintain' : 'write';
  const { tokens, now } = await context.engine();
  const tokenOf = (secret: string): Token => {
    const hash = hashSecret(secret);
    return { name: `${NAME}${hash.slice(0, 8)}`, hash, actor, scope, madeAt: now(), usedAt: null };
  };
  const folder = context.workspace()?.folder;
  if (folder === undefined) {
    const secret = makeSecret();
    return { secret, scope, own: tokenOf(secret) };
  }
  const file = join(folder, actor.kind === 'person' ? 'token' : `token-${actor.name}`);
  const kept = readSecret(file);
  if (kept !== null && (await tokens.findToken(hashSecret(kept)))) return { secret: kept, scope, own: null };
  const secret = keepSecret(file, makeSecret(), kept !== null);
  await tokens.addToken(tokenOf(secret));
  return { secret, scope, own: null };
}

function readSecret(file: string): string | null {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    return isSecret(secret) ? secret : null;
  } catch {
    return null;
  }
}

/** If several servers start at once, the first one's secret is used by all. */
function keepSecret(file: string, secret: string, replace: boolean): string {
  try {
    if (replace) writeFileSync(file, `${secret}\n`, { mode: 0o600 });
    else writeOnce(file, `${secret}\n`, 0o600);
    // An existing file keeps its mode otherwise.
    chmodSync(file, 0o600);
    return readSecret(file) ?? secret;
  } catch (cause) {
    throw new Fault('unavailable', `Cannot write the token to ${file}: ${(cause as Error).message}.`, {
      hints: ['Make the folder writable.'],
      cause,
    });
  }
}

/** Through a file that only its owner can read: everyone can read the arguments of a process. */
export function openBrowser(context: Context, url: string): void {
  try {
    const folder = context.workspace()?.folder ?? mkdtempSync(join(tmpdir(), 'holdfast-'));
    const file = join(folder, 'token-link.html');
    writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`, { mode: 0o600 });
    chmodSync(file, 0o600);
    const [command, ...words] = browserCommand(file);
    const child = spawn(command, words, { detached: true, stdio: 'ignore' });
    child.on('error', () => undefined);
    child.unref();
  } catch {
    // The link is printed anyway.
  }
}

function browserCommand(file: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', file];
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '', file];
  return ['xdg-open', file];
}
