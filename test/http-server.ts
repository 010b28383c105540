import { vi } from 'vitest';
import type { Log } from '../src/http/log.ts';
import type { Token } from '../src/store/presence.ts';
import type { Store } from '../src/store/store.ts';
import { stateOf } from './command-line.ts';
import { unlimitedToken } from './unlimited-token.ts';

// As built: loading every operation from source takes longer than the tests.
const { createApp } = (await import('../dist/lib/http/app.js' as string)) as typeof import('../src/http/app.ts');
const { openContext } = (await import(
  '../dist/lib/operations/open.js' as string
)) as typeof import('../src/operations/open.ts');
const { hashSecret, makeSecret } = (await import(
  '../dist/lib/operations/admin/parts/token-secret.js' as string
)) as typeof import('../src/operations/admin/parts/token-secret.ts');

type AppOptions = Parameters<typeof createApp>[0];

export interface Sent {
  token?: string | undefined;
  run?: string | undefined;
  headers?: Record<string, string>;
}

/** The application in this process, without a port, over a folder or a store. */
export function openTestServer(dir: string, options: Partial<AppOptions> & { store?: Store | string } = {}) {
  const { store, ...rest } = options;
  // The same as that of commands in the folder: tokens are there.
  vi.stubEnv('HOLDFAST_STATE_HOME', stateOf(dir));
  const lines: { level: string; message: string; facts: unknown }[] = [];
  const log: Log = (level, message, facts) => lines.push({ level, message, facts });
  const clock = { now: () => new Date().toISOString() };
  const context = openContext({
    dir,
    store,
    actor: { kind: 'person', name: 'host' },
    evidence: 'library',
    now: () => clock.now(),
  });
  // Known only to the application: the store has only the tokens a test creates.
  const own: Token[] = [];
  const app = createApp({ context, version: '0.0.0', web: `${dir}/web`, log, own, ...rest });
  const known = new Map<string, string>();

  function tokenFor(kind: 'agent' | 'person', name: string, scope: Token['scope']): string {
    const id = `${kind} ${name} ${scope}`;
    const secret = known.get(id) ?? makeSecret();
    if (!known.has(id)) {
      const madeAt = new Date().toISOString();
      own.push({ ...unlimitedToken, name: id, hash: hashSecret(secret), actor: { kind, name }, scope, madeAt });
    }
    known.set(id, secret);
    return secret;
  }

  async function send(path: string, init: RequestInit = {}, { token, run, headers }: Sent = {}): Promise<Response> {
    const all = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(run === undefined ? {} : { 'holdfast-run': run }),
      ...headers,
    };
    return app.fetch(
      new Request(path.startsWith('http') ? path : `http://127.0.0.1:4177${path}`, { ...init, headers: all }),
    );
  }

  return {
    app,
    context,
    /** The clock of the server; a test may set it. */
    clock,
    lines,
    send,
    tokenFor,
    get person() {
      return tokenFor('person', 'root', 'maintain');
    },
    agent: (name: string) => tokenFor('agent', name, 'write'),
    post: (operation: string, input: unknown, sent: Sent = {}) =>
      send(
        `/api/${operation}`,
        { method: 'POST', body: JSON.stringify(input) },
        { ...sent, headers: { 'content-type': 'application/json', ...sent.headers } },
      ),
    close: () => context.close(),
  };
}
