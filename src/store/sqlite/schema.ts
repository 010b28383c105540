/** Parts of the Codewalk views, over a row `r` and its run. */
const initiative = "coalesce(position ->> '$.initiative', run)";
/** As a file wrote it; what it left out stays out. */
const said = (name: string): string => `nullif(coalesce(r.doc ->> '$.stated.${name}', r.doc ->> '$.${name}'), '')`;
const secondsOf = (name: string): string => `unixepoch(${said(name)})`;
/** The name in the file, or one that continues its numbers. */
const nameOf = (prefix: string, isMeant: string): string => `coalesce(r.alias, printf('${prefix}-%03d',
    CAST(substr(r.id, 3) AS INTEGER) + max(0, coalesce((
      SELECT max(CAST(substr(alias, ${prefix.length + 2}) AS INTEGER) - CAST(substr(id, 3) AS INTEGER)) FROM records
      WHERE run = r.run AND kind = r.kind AND ${isMeant} AND alias GLOB '${prefix}-[0-9]*'), 0))))`;

/** "HFst": distinguishes a journal from any other SQLite file. */
export const APPLICATION_ID = 0x48467374;

/**
 * The statements that bring each version of the schema to the next. Released entries are never changed.
 *
 * - `events` is the journal; its rows are in the order of recording, which is the order of the feed.
 * - `records` has the rows of the projection.
 * - `tags` repeats status and version, so that the newest rows with a tag are read without looking at all of them.
 * - `records.text` holds only the part of the searched text that is not in `doc`, see `text-column.ts`.
 * - `search` holds no text, only which term is in which row; its terms are cut by `search-terms.ts`, so that its
 *   tokenizer only splits at spaces.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  workspace TEXT NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  version INTEGER NOT NULL,
  hash TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  touched INTEGER NOT NULL,
  position TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_workspace ON runs (workspace, status);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  version INTEGER NOT NULL,
  at TEXT NOT NULL,
  type TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  session TEXT,
  key TEXT,
  basis TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE UNIQUE INDEX events_version ON events (run, version);
CREATE INDEX events_key ON events (run, key, version) WHERE key IS NOT NULL;

CREATE TABLE records (
  number INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  alias TEXT,
  status TEXT NOT NULL,
  version INTEGER NOT NULL,
  at TEXT NOT NULL,
  tags TEXT NOT NULL,
  text TEXT,
  doc TEXT NOT NULL
);
CREATE UNIQUE INDEX records_id ON records (run, id, kind);
CREATE INDEX records_alias ON records (run, alias) WHERE alias IS NOT NULL;
CREATE INDEX records_status ON records (run, kind, status, version);

CREATE TABLE tags (
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  tag TEXT NOT NULL,
  status TEXT NOT NULL,
  version INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (run, kind, tag, status, version, number)
) WITHOUT ROWID;

CREATE TABLE cache (
  run TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  hash TEXT NOT NULL,
  format INTEGER NOT NULL,
  state TEXT NOT NULL
);

CREATE TABLE beats (
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (run, session)
) WITHOUT ROWID;

CREATE TABLE tokens (
  name TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  actor_kind TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  scope TEXT NOT NULL,
  made_at TEXT NOT NULL,
  used_at TEXT
) WITHOUT ROWID;

CREATE VIRTUAL TABLE search USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');

CREATE VIEW initiative_state AS SELECT
  run AS initiative_id,
  position ->> '$.phase' AS current_phase,
  position ->> '$.plan' AS current_plan,
  position ->> '$.task' AS current_task,
  position ->> '$.wave' AS current_wave,
  position ->> '$.status' AS status,
  position -> '$.progress' AS progress_json,
  unixepoch(updated_at) AS updated_at
FROM runs;

CREATE VIEW initiative_decisions AS SELECT
  run || '/' || id AS id,
  run AS initiative_id,
  unixepoch(doc ->> '$.at') AS date,
  doc ->> '$.context' AS context,
  doc ->> '$.decision' AS decision,
  doc ->> '$.reason' AS reason,
  doc -> '$.alternatives' AS alternatives_json,
  NOT coalesce(doc ->> '$.irreversible', 0) AS reversible
FROM records WHERE kind = 'decision';

CREATE VIEW initiative_blockers AS SELECT
  run || '/' || id AS id,
  run AS initiative_id,
  doc ->> '$.status' AS status,
  doc ->> '$.text' AS description,
  unixepoch(doc ->> '$.raisedAt') AS identified_at,
  doc -> '$.affects' AS affects_json,
  doc ->> '$.workaround' AS workaround,
  doc ->> '$.resolution' AS resolution,
  unixepoch(doc ->> '$.settledAt') AS resolved_at
FROM records WHERE kind = 'item' AND doc ->> '$.kind' = 'blocker';

CREATE VIEW session_history AS SELECT
  run || '/' || id AS id,
  run AS initiative_id,
  doc ->> '$.agent' AS agent_id,
  unixepoch(doc ->> '$.startedAt') AS started_at,
  unixepoch(doc ->> '$.endedAt') AS ended_at,
  CAST(doc ->> '$.contextUsage' AS REAL) AS context_usage,
  doc -> '$.completed' AS completed_json,
  doc -> '$.issues' AS issues_json,
  doc ->> '$.endReason' AS handoff_reason
FROM records WHERE kind = 'session';
`,
  // Tokens give authority, and a journal can come with a folder that someone else made: they are in the user's state folder.
  `
DROP TABLE tokens;
`,
  // What the name of the actor rests on. Events that were recorded before do not say.
  `
ALTER TABLE events ADD COLUMN evidence TEXT;
`,
  // Which journal this is: a user's state folder remembers the heads of its runs.
  `
CREATE TABLE meta (single INTEGER PRIMARY KEY CHECK (single = 1), store TEXT NOT NULL, epoch TEXT NOT NULL);
INSERT INTO meta VALUES (1, 's-' || lower(hex(randomblob(6))), 'e-' || lower(hex(randomblob(6))));
`,
  // Journals of versions between 0.1 and 0.2 still have the table.
  `
DROP TABLE IF EXISTS tokens;
`,
  // The Codewalk views show what `export --as sql` writes (`formats/codewalk/tables.ts`); a test compares them.
  `
DROP VIEW initiative_state;
DROP VIEW initiative_decisions;
DROP VIEW initiative_blockers;
DROP VIEW session_history;

CREATE VIEW initiative_state AS SELECT
  coalesce(position ->> '$.initiative', run) AS initiative_id,
  position ->> '$.phase' AS current_phase,
  position ->> '$.plan' AS current_plan,
  position ->> '$.task' AS current_task,
  position ->> '$.wave' AS current_wave,
  position ->> '$.status' AS status,
  position -> '$.progress' AS progress_json,
  unixepoch(updated_at) AS updated_at
FROM runs;

CREATE VIEW initiative_decisions AS SELECT
  ${initiative} || '/' || coalesce(r.alias, r.id) AS id,
  ${initiative} AS initiative_id,
  ${secondsOf('at')} AS date,
  nullif(r.doc ->> '$.context', '') AS context,
  r.doc ->> '$.decision' AS decision,
  nullif(r.doc ->> '$.reason', '') AS reason,
  nullif(r.doc -> '$.alternatives', '[]') AS alternatives_json,
  NOT (r.doc ->> '$.irreversible') AS reversible
FROM records r JOIN runs USING (run) WHERE r.kind = 'decision' AND r.doc ->> '$.status' = 'active';

CREATE VIEW initiative_blockers AS SELECT
  ${initiative} || '/' || ${nameOf('block', "doc ->> '$.kind' = 'blocker'")} AS id,
  ${initiative} AS initiative_id,
  r.doc ->> '$.status' AS status,
  r.doc ->> '$.text' AS description,
  ${secondsOf('raisedAt')} AS identified_at,
  nullif(r.doc -> '$.affects', '[]') AS affects_json,
  r.doc ->> '$.workaround' AS workaround,
  r.doc ->> '$.resolution' AS resolution,
  ${secondsOf('settledAt')} AS resolved_at
FROM records r JOIN runs USING (run)
WHERE r.kind = 'item' AND r.doc ->> '$.kind' = 'blocker' AND r.status <> 'removed';

CREATE VIEW session_history AS SELECT
  ${initiative} || '/' || ${nameOf('session', 'TRUE')} AS id,
  ${initiative} AS initiative_id,
  ${said('agent')} AS agent_id,
  ${secondsOf('startedAt')} AS started_at,
  ${secondsOf('endedAt')} AS ended_at,
  CAST(r.doc ->> '$.contextUsage' AS REAL) AS context_usage,
  nullif(coalesce(r.doc -> '$.finished', r.doc -> '$.completed'), '[]') AS completed_json,
  nullif((SELECT json_group_array(value) FROM (
    SELECT value FROM (
      SELECT key AS place, value FROM json_each(r.doc, '$.issues')
      UNION ALL
      SELECT 1000000000 + CAST(substr(f.id, 3) AS INTEGER), f.doc ->> '$.text' FROM records f
        WHERE f.run = r.run AND f.kind = 'item' AND f.doc ->> '$.kind' = 'finding' AND f.doc ->> '$.session' = r.id
    ) GROUP BY value ORDER BY min(place)
  )), '[]') AS issues_json,
  coalesce(r.doc ->> '$.why', CASE r.doc ->> '$.status'
    WHEN 'context-exhausted' THEN 'Context limit reached'
    WHEN 'timeout' THEN 'Time limit reached'
    WHEN 'maintainer-directed' THEN 'Stopped by the maintainer'
    WHEN 'crashed' THEN 'crashed' END) AS handoff_reason
FROM records r JOIN runs USING (run) WHERE r.kind = 'session' AND r.status <> 'removed';
`,
  // Bytes that events name by their hash.
  `
CREATE TABLE "values" (
  run TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  encoding TEXT NOT NULL,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (run, sha256)
);
`,
  // What is left of dropped runs. `reserved` is the highest number of an event in the order of recording that may be gone.
  `
CREATE TABLE dropped (
  run TEXT NOT NULL,
  hash TEXT NOT NULL,
  workspace TEXT NOT NULL,
  version INTEGER NOT NULL,
  at TEXT NOT NULL,
  made_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (run, hash)
) WITHOUT ROWID;
ALTER TABLE meta ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;
`,
];

const named = (type: string, ...names: string[]): string[] => names.map((name) => `${type} ${name}`);

/**
 * Everything in a journal. One with anything else was changed by someone: a trigger or a view in place of a table would
 * answer and write what it wants.
 */
export const parts: readonly string[] = [
  ...named('table', 'runs', 'events', 'records', 'tags', 'cache', 'beats', 'meta', 'values', 'dropped'),
  ...named('table', 'search', 'search_data', 'search_idx', 'search_docsize', 'search_config'),
  ...named(
    'index',
    'runs_workspace',
    'events_version',
    'events_key',
    'sqlite_autoindex_cache_1',
    'sqlite_autoindex_values_1',
  ),
  ...named('index', 'records_id', 'records_alias', 'records_status'),
  ...named('view', 'initiative_state', 'initiative_decisions', 'initiative_blockers', 'session_history'),
];
