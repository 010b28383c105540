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
  // Tokens say what they reach, who made them and when they end; the row of a revoked one stays. Those of version 0.1 reach
  // everything. The secrets of its login links lay in the workspace, so those tokens end here.
  `
ALTER TABLE tokens RENAME TO tokens_1;
CREATE TABLE tokens (
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  scope TEXT NOT NULL,
  workspaces TEXT NOT NULL,
  runs TEXT,
  made_at TEXT NOT NULL,
  made_by TEXT,
  expires_at TEXT,
  used_at TEXT,
  revoked_at TEXT,
  revoked_by TEXT
) WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;
INSERT INTO tokens (hash, name, actor_kind, actor_name, scope, workspaces, made_at, used_at)
  SELECT hash, name, actor_kind, actor_name, scope, '"*"', made_at, used_at FROM tokens_1;
DROP TABLE tokens_1;
UPDATE tokens SET revoked_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
  revoked_by = '{"actor":{"kind":"agent","name":"holdfast"},"evidence":"none"}'
  WHERE name = 'link-' || substr(hash, 1, 8);
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
];
