import { EVENT_COLUMNS, ROW_COLUMNS, toColumn, toEventRow } from '../columns.ts';
import { continuedHash } from '../refusal.ts';
import { type Columns, EVENT_TYPES, latestRows, type Merged, ROW_TYPES, VECTOR } from './batch.ts';
import type { Connection } from './connection.ts';
import { mayHaveRun } from './fault.ts';

/** Appends of different runs that arrive while others are being written, written together: one commit for all. */
export interface Groups {
  /**
   * Whether the batch was written. If not, it must be tried alone: it may be refused, or another append to its run may be
   * under way, which a group does not wait for, or the group failed because of another batch in it.
   */
  write(batch: Merged): Promise<boolean>;
}

/** So that one group is decided and sent while the server writes another. */
const AT_ONCE = 2;
const MOST_RUNS = 16;
const MOST_CHARS = 256 * 1024;

interface Entry extends Lines {
  batch: Merged;
  resolve(isWritten: boolean): void;
  reject(thrown: unknown): void;
}

/** What a batch adds to the tables. */
interface Lines {
  events: ReturnType<typeof toEventRow>[];
  rows: ReturnType<typeof latestRows>;
  chars: number;
}

/** Only batches of runs that exist. */
export function mayBeGrouped(batch: Merged): boolean {
  return batch.expected > 0 && batch.events.length > 0 && !batch.erase?.length && !batch.values && !batch.revives;
}

export function openGroups(connection: Connection): Groups {
  const waiting: Entry[] = [];
  let running = 0;
  let isCalled = false;

  /** After everything that is ready to append has done so. */
  function call(): void {
    if (isCalled || running >= AT_ONCE || waiting.length === 0) return;
    isCalled = true;
    setImmediate(() => {
      isCalled = false;
      const group = takeGroup(waiting);
      running += 1;
      send(connection, group).finally(() => {
        running -= 1;
        call();
      });
      call();
    });
  }

  return {
    write: (batch) =>
      new Promise((resolve, reject) => {
        const lines = linesOf(batch);
        // Others would wait for so much.
        if (lines.chars > MOST_CHARS) return resolve(false);
        waiting.push({ batch, ...lines, resolve, reject });
        call();
      }),
  };
}

/** Takes at most one batch of each run, in the order of arrival. */
function takeGroup(waiting: Entry[]): Entry[] {
  const group: Entry[] = [];
  const runs = new Set<string>();
  let chars = 0;
  for (let at = 0; at < waiting.length && group.length < MOST_RUNS; ) {
    const entry = waiting[at] as Entry;
    if (runs.has(entry.batch.run) || (group.length > 0 && chars + entry.chars > MOST_CHARS)) {
      at += 1;
      continue;
    }
    waiting.splice(at, 1);
    group.push(entry);
    runs.add(entry.batch.run);
    chars += entry.chars;
  }
  return group;
}

function linesOf({ run, events: recorded, rows: stored, cache }: Merged): Lines {
  const events = recorded.map(toEventRow);
  const rows = latestRows(stored).map((row) => ({ ...row, run: toColumn(run) }));
  const chars = [...events.map(({ body }) => body), ...rows.map(({ doc, text }) => `${doc}${text ?? ''}`)].reduce(
    (sum, text) => sum + text.length,
    cache?.state.length ?? 0,
  );
  return { events, rows, chars };
}

async function send(connection: Connection, group: readonly Entry[]): Promise<void> {
  try {
    const { text, values } = render(connection.name, group);
    const written = new Set((await connection.once<{ run: string }>(text, values)).map(({ run }) => run));
    for (const { batch, resolve } of group) resolve(written.has(toColumn(batch.run)));
  } catch (thrown) {
    for (const { resolve, reject } of group) {
      if (group.length === 1 || mayHaveRun(thrown)) reject(thrown);
      else resolve(false);
    }
  }
}

const GIVEN: Columns = {
  run: 'text',
  expected: 'integer',
  previous: 'text',
  version: 'integer',
  hash: 'text',
  at: 'text',
  workspace: 'text',
  title: 'text',
  status: 'text',
  position: 'text',
};

/**
 * The text depends only on whether there are keys, rows and state, so that few are prepared. A head that
 * another append has locked is left out: nobody in the group waits for it.
 */
function render(name: string, group: readonly Entry[]): { text: string; values: string[] } {
  const values: string[] = [];
  const records = (alias: string, columns: Columns, rows: readonly object[]): string => {
    const types = Object.entries(columns).map((column) => column.join(' '));
    return `json_to_recordset($${values.push(JSON.stringify(rows))}::text::json) AS ${alias} (${types.join(', ')})`;
  };
  const batches = group.map(({ batch }) => batch);
  const rows = group.flatMap((entry) => entry.rows);
  const caches = batches.flatMap(({ run, cache }) => (cache ? [{ run: toColumn(run), ...cache }] : []));
  const events = group.flatMap((entry) => entry.events);
  const keys = batches.flatMap((batch) => batch.keys.map((key) => ({ run: toColumn(batch.run), key: toColumn(key) })));
  const parts = [
    // The limit makes the server look each key up in the index, whatever it expects of the table.
    ...(keys.length > 0
      ? [
          `taken AS (
  SELECT k.run FROM ${records('k', { run: 'text', key: 'text' }, keys)}
  CROSS JOIN LATERAL (SELECT FROM ${name}.events AS e WHERE e.run = k.run AND e.key = k.key LIMIT 1) AS found)`,
        ]
      : []),
    `given AS (SELECT * FROM ${records('g', GIVEN, batches.map(given))})`,
    `locked AS (
  SELECT r.run FROM given AS g JOIN ${name}.runs AS r ON r.run = g.run WHERE r.version = g.expected AND r.hash = g.previous
  FOR UPDATE OF r SKIP LOCKED)`,
    `head AS (
  UPDATE ${name}.runs AS r SET version = g.version, hash = g.hash, updated_at = g.at,
    touched = nextval('${name.replaceAll("'", "''")}.touches'), workspace = coalesce(g.workspace, r.workspace),
    title = coalesce(g.title, r.title), status = coalesce(g.status, r.status), position = coalesce(g.position, r.position)
  FROM given AS g
  WHERE r.run = g.run AND r.run IN (SELECT run FROM locked) AND r.version = g.expected AND r.hash = g.previous
    ${keys.length > 0 ? 'AND r.run NOT IN (SELECT run FROM taken)' : ''}
  RETURNING r.run, r.version, r.hash)`,
    `recorded AS (
  INSERT INTO ${name}.events (${EVENT_COLUMNS}, tx)
  SELECT head.run, ${columnsOf('e', EVENT_TYPES)},
    (SELECT xid_offset FROM ${name}.meta) + pg_current_xact_id()::text::bigint
  FROM head JOIN ${records('e', { run: 'text', ...EVENT_TYPES }, events)} ON e.run = head.run ORDER BY e.run, e.version)`,
  ];
  if (rows.length > 0)
    parts.push(`projected AS (
  INSERT INTO ${name}.records (${ROW_COLUMNS}, text, terms)
  SELECT head.run, ${columnsOf('r', ROW_TYPES, ['terms'])}, ${VECTOR}
  FROM head JOIN ${records('r', { run: 'text', ...ROW_TYPES }, rows)} ON r.run = head.run
  ON CONFLICT (run, id, kind) DO UPDATE SET alias = excluded.alias, status = excluded.status, version = excluded.version, at = excluded.at,
    tags = excluded.tags, doc = excluded.doc, text = excluded.text, terms = excluded.terms)`);
  if (caches.length > 0)
    parts.push(`saved AS (
  INSERT INTO ${name}.cache (run, version, hash, format, state) SELECT head.run, head.version, head.hash, c.format, c.state
  FROM head JOIN ${records('c', { run: 'text', format: 'integer', state: 'text' }, caches)} ON c.run = head.run
  ON CONFLICT (run) DO UPDATE SET version = excluded.version, hash = excluded.hash, format = excluded.format, state = excluded.state)`);
  return { text: `WITH ${parts.join(',\n')}\nSELECT run FROM head`, values };
}

function given(batch: Merged): Record<keyof typeof GIVEN, unknown> {
  const { run, expected, head, events } = batch;
  const last = events.at(-1);
  return {
    run: toColumn(run),
    expected,
    previous: continuedHash(batch),
    version: last?.version,
    hash: last?.hash,
    at: last?.at,
    ...(head && {
      workspace: toColumn(head.workspace),
      title: toColumn(head.title),
      status: toColumn(head.status),
      position: JSON.stringify(head.position),
    }),
  };
}

const columnsOf = (alias: string, columns: Columns, except: readonly string[] = []): string =>
  Object.keys(columns)
    .filter((column) => !except.includes(column))
    .map((column) => `${alias}.${column}`)
    .join(', ');
