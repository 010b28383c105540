import { resolve } from 'node:path';
import { clientAmong, clientOfShell, conversationsIn } from '../clients/recognise.ts';
import { type Evidence, UNKNOWN } from '../core/evidence.ts';
import type { SessionProof } from '../core/rules/session-proof.ts';
import { isName } from '../core/text.ts';
import type { Actor } from '../core/words.ts';
import { actorNamed, type OpenOptions } from '../operations/open.ts';
import { isClientName } from '../operations/people.ts';
import { accountName } from '../workspace/people.ts';
import { ancestorsOf, ownerOf } from '../workspace/process.ts';
import type { CommonFlags } from './arguments.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a process can know of who called it. */
export interface Caller {
  environment: Environment;
  cwd: string;
  /** Standard input and error are a terminal. */
  isAttended: boolean;
  /** The process that started this one. */
  parent: number;
}

/** The identity, folder and store of a command, from its flags and its caller. */
export function identityFrom(flags: CommonFlags, caller: Caller): Omit<OpenOptions, 'warn'> {
  const { environment, cwd } = caller;
  const session = flags.session ?? given(environment, 'HOLDFAST_SESSION');
  const pid = Number(environment['HOLDFAST_PID']);
  const owner = Number.isSafeInteger(pid) && pid > 0 ? ownerOf(pid) : undefined;
  return {
    dir: resolve(cwd, flags.dir ?? '.'),
    store: flags.store ?? given(environment, 'HOLDFAST_STORE'),
    run: flags.run ?? given(environment, 'HOLDFAST_RUN'),
    ...actorFrom(flags, caller, session !== undefined),
    session,
    proof: proofOf(flags, caller, session !== undefined),
    key: flags.idempotency ?? newKey(),
    isKeyNew: flags.idempotency === undefined,
    isVerbatim: flags.verbatim,
    owner,
    clients: async () => (await import('./client-homes.ts')).clientsFrom(environment),
    environment,
  };
}

/** A name for this one call, in case it must be repeated: it is not a secret, and the module for secrets loads slowly. */
function newKey(): string {
  const part = (): string =>
    Math.floor(Math.random() * 2 ** 48)
      .toString(36)
      .padStart(10, '0');
  return `k-${part()}${part()}`;
}

/** An empty variable counts as unset: scripts clear them this way. */
function given(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined;
}

/**
 * An agent names itself or is recognised by its shell. A person is one who sits at a terminal that no agent's client
 * opened. Whatever else calls is an agent without a name.
 */
function actorFrom(
  flags: CommonFlags,
  { environment, isAttended, parent }: Caller,
  hasSession: boolean,
): { actor: Actor; evidence: Evidence } {
  const shell = clientOfShell(environment);
  const named = flags.agent ?? given(environment, 'HOLDFAST_AGENT');
  if (named !== undefined) {
    return { actor: actorNamed('agent', named), evidence: shell ? 'agent-shell' : 'stated' };
  }
  const client = shell ?? (isAttended ? clientAmong(ancestorsOf(parent)) : null);
  if (client) return { actor: { kind: 'agent', name: client }, evidence: 'agent-shell' };
  // The session names its agent; until it is looked up, any agent will do.
  if (hasSession) return { actor: { kind: 'agent', name: UNKNOWN }, evidence: isAttended ? 'terminal' : 'stated' };
  const person = given(environment, 'HOLDFAST_PERSON');
  if (isAttended) return { actor: actorNamed('person', person ?? userName()), evidence: 'terminal' };
  if (person !== undefined) return { actor: actorNamed('person', person), evidence: 'stated' };
  return { actor: { kind: 'agent', name: UNKNOWN }, evidence: 'none' };
}

/** Processes are looked at only if a session is named, and its rules ask for them. */
function proofOf(flags: CommonFlags, { environment, parent }: Caller, hasSession: boolean): SessionProof {
  let ancestors: SessionProof['ancestors'] | undefined;
  return {
    agent: flags.agent ?? given(environment, 'HOLDFAST_AGENT') ?? null,
    conversations: conversationsIn(environment),
    get ancestors() {
      ancestors ??= hasSession ? ancestorsOf(parent).flatMap(({ pid }) => ownerOf(pid) ?? []) : [];
      return ancestors;
    },
  };
}

function userName(): string {
  const [name = ''] = accountName();
  return isName(name, '._@+-', 64) && !isClientName(name) ? name : 'person';
}
