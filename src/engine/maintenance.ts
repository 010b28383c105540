import { findSecrets, type SecretsFound } from '../core/journal/find-secrets.ts';
import type { Tombstone } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { type Audit, auditRun, type Rebuilt, rebuildRun, type Watch } from './audit.ts';
import { type Dropper, dropRun } from './drop.ts';
import { versionsAbout } from './erase.ts';
import { eventPages } from './event-pages.ts';
import { type ImportOptions, type ImportRun, openImport } from './import-run.ts';

/** Checks and repairs of whole runs. */
export interface Maintenance {
  /** Problems the database reports about itself. */
  inspect(): Promise<string[]>;
  /** Compares what is stored of a run with what its events give. */
  audit(run: string, watch?: Watch): Promise<Audit>;
  /** Drops what is derived from a run and derives it again from its events. */
  rebuild(run: string, watch?: Watch): Promise<Rebuilt>;
  /** The versions of the events with the text of a row (by id or alias), or of one event (by version). */
  versionsAbout(run: string, target: string): Promise<number[]>;
  /** The events in which the present rules find secrets. */
  findSecrets(run: string): Promise<SecretsFound[]>;
  /** Records events of a run that come from another store. */
  openImport(run: string, options?: ImportOptions): Promise<ImportRun>;
  /** Removes a run with all that is kept of it and leaves a tombstone. */
  drop(run: string, by: Dropper): Promise<Tombstone>;
}

export function openMaintenance(store: Store): Maintenance {
  return {
    inspect: () => store.inspect(),
    audit: (run, watch) => auditRun(store, run, watch),
    rebuild: (run, watch) => rebuildRun(store, run, watch),
    versionsAbout: (run, target) => versionsAbout(store, run, target),
    async findSecrets(run) {
      const found: SecretsFound[] = [];
      for await (const page of eventPages(store.journal, run)) {
        for (const event of page) {
          const secrets = findSecrets(event);
          if (secrets) found.push(secrets);
        }
      }
      return found;
    },
    openImport: (run, options) => openImport(store, run, options),
    drop: (run, by) => dropRun(store, run, by),
  };
}
