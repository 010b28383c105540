import type { Evidence } from '../core/evidence.ts';
import { Fault, quoted } from '../core/fault.ts';
import type { Owner } from '../core/journal/event.ts';
import type { Here } from '../core/journal/located.ts';
import type { SessionProof } from '../core/rules/session-proof.ts';
import { isName } from '../core/text.ts';
import type { Actor } from '../core/words.ts';
import { createEngine, type Engine, type EngineOptions } from '../engine/engine.ts';
import type { Store } from '../store/store.ts';
import { findForeignState } from '../workspace/foreign.ts';
import { repositoryAt } from '../workspace/git/repository.ts';
import { findOldJournal, isOldJournalTracked } from '../workspace/old-folder.ts';
import { probeOwner } from '../workspace/process.ts';
import { openStateFolder, thisUser } from '../workspace/state/folder.ts';
import { knownMachineId, machineId } from '../workspace/state/machine.ts';
import { createWorkspace, findWorkspace, noWorkspace, type Workspace } from '../workspace/workspace.ts';
import type { Clients, Context } from './context.ts';
import { isClientName } from './people.ts';

/** The wiring: store, clock, identity. */
export interface OpenOptions {
  /** The folder to work in; its workspace is searched for upward. */
  dir: string;
  /** The workspace of that folder, if it is already known. */
  workspace?: Workspace | undefined;
  /** Use only the store: no workspace is searched for or created. */
  withoutWorkspace?: boolean | undefined;
  /** An open store, a PostgreSQL address, or the path of a SQLite file. */
  store?: Store | string | undefined;
  actor: Actor;
  /** What the name of the actor rests on. */
  evidence: Evidence;
  session?: string | undefined;
  run?: string | undefined;
  key?: string | undefined;
  isKeyNew?: boolean | undefined;
  isVerbatim?: boolean | undefined;
  owner?: Owner | undefined;
  /** What the caller shows for the session that it names. */
  proof?: SessionProof | undefined;
  environment?: Context['environment'];
  now?: (() => string) | undefined;
  /** Whether the process of a session lives; the system is asked when left out. */
  probe?: EngineOptions['probe'] | undefined;
  random?: (() => number) | undefined;
  clients?: (() => Promise<Clients>) | undefined;
  tally?: Context['tally'];
  warn?: ((message: string) => void) | undefined;
  progress?: Context['progress'];
  ask?: Context['ask'];
  onlyReads?: boolean | undefined;
  /** Records what hooks left for the next command. */
  takeReports?: ((context: Context) => Promise<void>) | undefined;
}

export function openContext(options: OpenOptions): Context & { close(): Promise<void> } {
  let { workspace }: { workspace?: Workspace | null | undefined } = options;
  let engine: Promise<Engine> | undefined;
  let opened: Store | undefined;
  let here: Here | undefined;
  let aheadMs = 0;
  const now = options.now ?? (() => new Date(Date.now() + aheadMs).toISOString());
  const find = (): Workspace | null => {
    if (workspace === undefined) workspace = options.withoutWorkspace ? null : findWorkspace(options.dir);
    return workspace;
  };
  const open = async (): Promise<Engine> => {
    const store =
      typeof options.store === 'object' ? options.store : await openStore(options.store, find(), options.dir);
    if (typeof options.store !== 'object') opened = store;
    aheadMs = store.aheadMs;
    const found = find();
    if (found?.clone.origin?.isSettled === false && isOwnJournal(options.store, found)) {
      const { settleCopy } = await import('./run/parts/settle-copy.ts');
      await settleCopy(found, store, now());
    }
    if (found && options.environment) await mention(found, context.warn);
    const describe: EngineOptions['describe'] = async (moment, asked) => {
      const { describeSnapshot } = await import('./snapshot/parts/text.ts');
      return describeSnapshot({ ...context, engine: async () => asked }, moment);
    };
    const {
      probe = (owner) => probeOwner(owner, owner.machine ? context.here().machine : null),
      random = Math.random,
    } = options;
    return createEngine({ store, now, probe, random, describe, here: context.here });
  };
  const context: Context & { close(): Promise<void> } = {
    identity: {
      actor: options.actor,
      evidence: options.evidence,
      session: options.session ?? null,
      key: options.key ?? null,
      isKeyNew: options.isKeyNew,
      owner: options.owner,
      proof: options.proof,
    },
    run: options.run,
    onlyReads: options.onlyReads,
    isVerbatim: options.isVerbatim,
    dir: options.dir,
    workspace: find,
    here() {
      const found = find();
      let machine: string | null | undefined;
      here ??= {
        clone: found?.clone.clone ?? null,
        // Looked up when it is needed: most commands name no process.
        get machine() {
          machine ??= found ? machineId(found.state) : knownMachineId(openStateFolder(thisUser()));
          return machine;
        },
      };
      return here;
    },
    environment: options.environment,
    createWorkspace(folder = options.dir, how = {}) {
      if (!options.withoutWorkspace) {
        createWorkspace(folder, how);
        workspace = undefined;
      }
      return find();
    },
    journalFile: () => (typeof options.store === 'object' ? null : journalFile(options.store, find())),
    now,
    engine() {
      // Tried again after a failure: a program may look before it creates the workspace.
      engine ??= open().catch((thrown: unknown) => {
        engine = undefined;
        throw thrown;
      });
      return engine;
    },
    clients: options.clients ?? (() => Promise.resolve(null)),
    tally: options.tally,
    warn: options.warn ?? (() => undefined),
    progress: options.progress,
    ask: options.ask,
    // Hooks report to the workspace's own journal.
    async takeReports() {
      if (options.store === undefined) await options.takeReports?.({ ...context, warn: this.warn });
    },
    async news(ms, seen) {
      await this.takeReports();
      return (await this.engine()).waitForEvents(ms, seen);
    },
    reopen: () => openContext(options),
    async close() {
      await opened?.close();
    },
  };
  return context;
}

/** Names become parts of file names and are shown on terminals, so their characters are restricted. */
export function actorNamed(kind: Actor['kind'], name: string): Actor {
  if (isName(name, '._@+-', 64) && !(kind === 'person' && isClientName(name))) return { kind, name };
  throw new Fault('invalid', `${quoted(name)} cannot be the name of ${kind === 'agent' ? 'an agent' : 'a person'}.`, {
    hints: [
      'A name has letters, digits, dots, dashes, underscores, @ or +, at most 64 of them.',
      ...(kind === 'person' ? ['A person cannot be called like the client of an agent.'] : []),
    ],
  });
}

async function openStore(address: string | undefined, workspace: Workspace | null, dir: string): Promise<Store> {
  if (address === undefined && workspace) mustBeAgreed(workspace);
  const chosen = address ?? workspace?.config.store;
  if (chosen !== undefined && /^postgres(ql)?:\/\//.test(chosen)) {
    const { openPostgresStore } = await import('../store/postgres/store.ts');
    const isProposed = address === undefined && workspace?.ownConfig.store === undefined;
    return openPostgresStore({ url: chosen, isProposed });
  }
  mustBeFile(chosen);
  const { openSqliteStore } = await import('../store/sqlite/store.ts');
  const file = journalFile(address, workspace);
  const readonly = address === undefined && workspace?.canWrite === false;
  if (file !== null) return openSqliteStore({ file, readonly });
  throw await notAWorkspace(dir);
}

function journalFile(address: string | undefined, workspace: Workspace | null): string | null {
  const chosen = address ?? workspace?.config.store;
  if (chosen !== undefined) return isAddress(chosen) ? null : chosen;
  return workspace?.files.file('journal.db', '-wal', '-shm', '-journal') ?? null;
}

/** The one in the data folder, which comes along when that is copied. */
const isOwnJournal = (address: OpenOptions['store'], { config }: Workspace): boolean =>
  address === undefined && config.store === undefined;

const isAddress = (text: string): boolean => /^[a-z][a-z\d+.-]+:\//i.test(text);

/** Mentions another tool's state, so that the user does not start over without knowing about it. */
async function notAWorkspace(dir: string): Promise<Fault> {
  const foreign = findForeignState(dir);
  const found = foreign.map(({ format, path }) => `${path} (${format})`).join(', ');
  const hints = (await hasOldJournal(repositoryAt(dir)?.root ?? dir)) ? [OLD_JOURNAL] : [];
  if (foreign.length > 0) hints.push(`Another tool left its state here: ${found}. Read it before you start a new run.`);
  return noWorkspace(hints, { foreign });
}

const OLD_JOURNAL =
  'A journal of version 0.1 is in `.holdfast/` and is no longer read: `holdfast init --move-old` takes over its runs.';

/** One that came with the repository is not the user's, and nothing is said of it. */
const hasOldJournal = async (root: string): Promise<boolean> =>
  findOldJournal(root) !== null && !(await isOldJournalTracked(root));

/** What someone at the command line should know of the working tree; said once in a workspace. */
async function mention(workspace: Workspace, warn: (message: string) => void): Promise<void> {
  const { root, proposals, trustState, files } = workspace;
  const once = async (name: string, text: string, isTrue: () => Promise<boolean>): Promise<void> => {
    if (files.size(`mentioned/${name}`) > 0) return;
    const isNews = await isTrue();
    try {
      files.createOnce(`mentioned/${name}`, 'Looked at once.\n');
    } catch {
      // It is looked at again.
    }
    if (isNews) warn(text);
  };
  if (findOldJournal(root) !== null) await once('old-journal', OLD_JOURNAL, () => hasOldJournal(root));
  if (trustState === 'new') await once(`${proposals?.hash.slice(0, 16)}`, NOT_IN_FORCE, async () => true);
}

const NOT_IN_FORCE =
  'Settings in holdfast.json are not in force: nobody on this machine has agreed to them. `holdfast trust` shows what they would do and asks.';

/** The store of settings that are no longer agreed to is not used, and no other journal is begun in its place. */
function mustBeAgreed({ trustState, trust, config }: Workspace): void {
  if (trustState !== 'changed' || trust?.settings.store === undefined || config.store !== undefined) return;
  const message = `holdfast.json changed since you agreed to it on ${trust.at.slice(0, 10)}, and its store is not used until you agree again.`;
  throw new Fault('untrusted', message, {
    hints: ['`holdfast trust` shows what it would do now and asks. `HOLDFAST_STORE` and `--store` work meanwhile.'],
  });
}

/** An unknown address is not a file name. It may hold a password and is not repeated. */
function mustBeFile(address: string | undefined): void {
  if (address === undefined || !isAddress(address)) return;
  throw new Fault(
    'invalid',
    `There is no store for addresses that start with ${quoted(address.split(':')[0] ?? '')}.`,
    {
      hints: ['A store is `postgres://user@host:5432/database` or the path of a SQLite file.'],
    },
  );
}
