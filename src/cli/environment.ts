import { resolve } from 'node:path';
import { clientOfShell } from '../clients/recognise.ts';
import { isName } from '../core/text.ts';
import type { Actor } from '../core/words.ts';
import { actorNamed, type OpenOptions } from '../operations/open.ts';
import { ownerOf } from '../workspace/process.ts';
import type { CommonFlags } from './arguments.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The identity, folder and store of a command, from its flags and the environment. */
export function identityFrom(flags: CommonFlags, environment: Environment, cwd: string): Omit<OpenOptions, 'warn'> {
  const session = flags.session ?? given(environment, 'HOLDFAST_SESSION');
  const pid = Number(environment['HOLDFAST_PID']);
  const owner = Number.isSafeInteger(pid) && pid > 0 ? ownerOf(pid) : undefined;
  return {
    dir: resolve(cwd, flags.dir ?? '.'),
    store: flags.store ?? given(environment, 'HOLDFAST_STORE'),
    run: flags.run ?? given(environment, 'HOLDFAST_RUN'),
    actor: actorFrom(flags, environment, session !== undefined),
    session,
    key: flags.idempotency,
    isVerbatim: flags.verbatim,
    owner,
    clients: async () => (await import('./client-homes.ts')).clientsFrom(environment),
    environment,
  };
}

/** An empty variable counts as unset: scripts clear them this way. */
function given(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined;
}

/** An agent names itself or is recognised by its shell; anything else is the person at the terminal. */
function actorFrom(flags: CommonFlags, environment: Environment, hasSession: boolean): Actor {
  const named = flags.agent ?? given(environment, 'HOLDFAST_AGENT');
  if (named !== undefined) return actorNamed('agent', named);
  const client = clientOfShell(environment);
  if (client) return { kind: 'agent', name: client };
  // The session names its agent; until it is looked up, any agent will do.
  if (hasSession) return { kind: 'agent', name: 'agent' };
  return { kind: 'person', name: userName() };
}

function userName(): string {
  try {
    // Loaded on demand: not needed for agents.
    const name = process.getBuiltinModule('node:os').userInfo().username.slice(0, 64);
    return isName(name, '._@+-', 64) ? name : 'person';
  } catch {
    return 'person';
  }
}
