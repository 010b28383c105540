import { join } from 'node:path';
import type { Actor, Owner } from './core/event.ts';
import { Fault } from './core/fault.ts';
import { createEngine, type Engine } from './engine/engine.ts';
import type { Context } from './operations/context.ts';
import type { Store } from './store/store.ts';
import { findForeignState } from './workspace/foreign.ts';
import { probeOwner } from './workspace/process.ts';
import { createWorkspace, findWorkspace, type Workspace } from './workspace/workspace.ts';

/** The wiring: which store, which clock, who calls. */
export interface OpenOptions {
  /** The folder to work in; its workspace is looked for upward. */
  dir: string;
  /** A store that is open already, a PostgreSQL address, or the path of a SQLite file. */
  store?: Store | string | undefined;
  actor: Actor;
  session?: string | undefined;
  run?: string | undefined;
  key?: string | undefined;
  owner?: Owner | undefined;
  now?: (() => string) | undefined;
  warn?: ((message: string) => void) | undefined;
}

export function openContext(options: OpenOptions): Context & { close(): Promise<void> } {
  let workspace: Workspace | null | undefined;
  let engine: Promise<Engine> | undefined;
  let opened: Store | undefined;
  const findIt = (): Workspace | null => {
    workspace ??= findWorkspace(options.dir);
    return workspace;
  };
  const open = async (): Promise<Engine> => {
    const store =
      typeof options.store === 'object' ? options.store : await openStore(options.store, findIt(), options.dir);
    if (typeof options.store !== 'object') opened = store;
    return createEngine({ store, now: options.now ?? systemNow, probe: probeOwner, random: Math.random });
  };
  return {
    caller: { actor: options.actor, session: options.session ?? null, key: options.key ?? null, owner: options.owner },
    run: options.run,
    dir: options.dir,
    workspace: findIt,
    createWorkspace() {
      workspace = createWorkspace(options.dir, randomWorkspaceId);
      return workspace;
    },
    engine() {
      engine ??= open();
      return engine;
    },
    warn: options.warn ?? (() => undefined),
    pause: (ms) =>
      new Promise((resolve) => {
        setTimeout(resolve, ms);
      }),
    async close() {
      await opened?.close();
    },
  };
}

const systemNow = (): string => new Date().toISOString();

function randomWorkspaceId(): string {
  const digits = Array.from({ length: 12 }, () => Math.floor(Math.random() * 16).toString(16));
  return `w-${digits.join('')}`;
}

async function openStore(address: string | undefined, workspace: Workspace | null, dir: string): Promise<Store> {
  const chosen = address ?? workspace?.config.store;
  if (chosen !== undefined && /^postgres(ql)?:\/\//.test(chosen)) {
    const { openPostgresStore } = await import('./store/postgres/store.ts');
    return openPostgresStore({ url: chosen });
  }
  const { openSqliteStore } = await import('./store/sqlite/store.ts');
  if (chosen !== undefined) return openSqliteStore({ file: chosen });
  if (workspace) return openSqliteStore({ file: join(workspace.folder, 'journal.db') });
  throw noWorkspace(dir);
}

/** Where another tool keeps state, nobody should start afresh without knowing it. */
function noWorkspace(dir: string): Fault {
  const foreign = findForeignState(dir);
  const found = foreign.map(({ format, path }) => `${path} (${format})`).join(', ');
  return new Fault('not_found', 'There is no workspace here: no `.holdfast/` in this folder or above it.', {
    hints: [
      ...(foreign.length > 0 ? [`But work was left here: ${found}. Read it before you begin anew.`] : []),
      'Make a workspace with `holdfast init --title …`, or point to one with `--dir`.',
    ],
    data: { foreign },
  });
}
