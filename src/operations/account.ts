import type { Account } from '../core/account.ts';
import { accountOf, type RunRecords } from '../core/account-of.ts';
import type { State } from '../core/state.ts';
import type { RowKind, Rows } from '../core/touch.ts';
import type { Engine } from '../engine/engine.ts';

/** Everything that is known of a run, for a file to be written of it. It reads the whole history. */
export async function readWholeRun(engine: Engine, state: State): Promise<Account> {
  const run = state.run?.id ?? '';
  const all = async <K extends RowKind>(kind: K): Promise<Rows[K][]> => {
    const records = await engine.records(run, { kind, limit: Number.MAX_SAFE_INTEGER });
    return records.filter((record) => record.status !== 'removed').map((record) => record.doc as Rows[K]);
  };
  const records: RunRecords = {
    decisions: await all('decision'),
    items: await all('item'),
    notes: await all('note'),
    sessions: await all('session'),
    messages: await all('message'),
    results: await all('result'),
    files: await all('file'),
    foreign: await all('foreign'),
  };
  return accountOf(state, records);
}
