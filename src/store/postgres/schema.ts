/** Parts of the Codewalk views, over a row `r`, its document `d` and the position `p` of its run. */
const initiative = "coalesce(p ->> 'initiative', r.run)";
const rowsOf = (name: string): string =>
  `${name}.records r JOIN ${name}.runs USING (run), LATERAL ${name}.readable(r.doc) AS d, LATERAL ${name}.readable(position) AS p`;
/** As a file wrote it; what it left out stays out. */
const said = (field: string): string => `nullif(coalesce(d -> 'stated' ->> '${field}', d ->> '${field}'), '')`;
/** The name in the file, or one that continues its numbers. */
const nameOf = (name: string, prefix: string, isMeant: string): string => `coalesce(r.alias, '${prefix}-' || to_char(
    substring(r.id from '[0-9]+')::bigint + greatest(0, coalesce((
      SELECT max(substring(n.alias from '^${prefix}-([0-9]{1,9})$')::bigint - substring(n.id from '[0-9]+')::bigint)
      FROM ${name}.records n, LATERAL ${name}.readable(n.doc) AS e WHERE n.run = r.run AND n.kind = r.kind AND ${isMeant}), 0)),
    'FM9999999999000'))`;

/**
 * The statements that bring each version of the schema to the next; `name` is the quoted name of the schema. Released
 * entries are never changed.
 *
 * - Every key leads with the run, so that the tables can be spread over machines by it.
 * - `records` has the rows of the projection; `text` holds only the part of the searched text that is not in `doc`, see
 *   `text-column.ts`.
 * - `records.terms` holds the words of the text and, marked as such, the tags: one index finds both, see `terms.ts`.
 * - `events.tx` gives the feed an order that a reader can follow, see `feed.ts`.
 * - JSON is stored as text: `jsonb` neither keeps the exact bytes, which are hashed, nor accepts every string.
 */
export const migrations: readonly ((name: string) => string)[] = [
  (name) => `
CREATE TABLE ${name}.runs (
  run text COLLATE "C" PRIMARY KEY,
  workspace text NOT NULL,
  title text NOT NULL,
  status text NOT NULL,
  version integer NOT NULL,
  hash text NOT NULL,
  opened_at text NOT NULL,
  updated_at text NOT NULL,
  touched bigint NOT NULL,
  position text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX runs_workspace ON ${name}.runs (workspace);
CREATE SEQUENCE ${name}.touches CACHE 1;

CREATE TABLE ${name}.events (
  run text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  tx bigint NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  at text NOT NULL,
  type text NOT NULL,
  actor_kind text NOT NULL,
  actor_name text NOT NULL,
  session text,
  key text,
  basis text NOT NULL,
  previous text NOT NULL,
  hash text NOT NULL,
  body_hash text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (run, version)
);
CREATE INDEX events_feed ON ${name}.events (tx, seq);
CREATE INDEX events_key ON ${name}.events (run, key, version) WHERE key IS NOT NULL;

CREATE TABLE ${name}.records (
  run text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  alias text,
  status text NOT NULL,
  version integer NOT NULL,
  at text COLLATE "C" NOT NULL,
  tags text NOT NULL,
  doc text NOT NULL,
  text text,
  terms tsvector,
  PRIMARY KEY (run, id, kind)
);
CREATE INDEX records_alias ON ${name}.records (run, alias) WHERE alias IS NOT NULL;
CREATE INDEX records_version ON ${name}.records (run, kind, version);
CREATE INDEX records_status ON ${name}.records (run, kind, status, version);
CREATE INDEX records_terms ON ${name}.records USING gin (terms) WHERE terms IS NOT NULL;

CREATE TABLE ${name}.cache (
  run text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL,
  hash text NOT NULL,
  format integer NOT NULL,
  state text NOT NULL
);

CREATE TABLE ${name}.beats (
  run text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  at text COLLATE "C" NOT NULL,
  PRIMARY KEY (run, session)
);

CREATE TABLE ${name}.tokens (
  name text COLLATE "C" PRIMARY KEY,
  hash text COLLATE "C" NOT NULL UNIQUE,
  actor_kind text NOT NULL,
  actor_name text NOT NULL,
  scope text NOT NULL,
  made_at text NOT NULL,
  used_at text COLLATE "C"
);

-- JSON text may name characters that jsonb refuses (NUL, half a surrogate pair); one such document must not break a view.
CREATE FUNCTION ${name}.readable(document text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(document, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1\\\\ufffd', 'g')::jsonb
$$;
CREATE FUNCTION ${name}.seconds(instant text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN instant ~ '^\\d{4}-\\d{2}-\\d{2}' THEN floor(extract(epoch FROM instant::timestamptz))::bigint END
$$;

CREATE VIEW ${name}.initiative_state AS SELECT
  run AS initiative_id,
  (p ->> 'phase')::numeric::integer AS current_phase,
  (p ->> 'plan')::numeric::integer AS current_plan,
  p ->> 'task' AS current_task,
  (p ->> 'wave')::numeric::integer AS current_wave,
  p ->> 'status' AS status,
  (p -> 'progress')::text AS progress_json,
  ${name}.seconds(updated_at) AS updated_at
FROM ${name}.runs, LATERAL ${name}.readable(position) AS p;

CREATE VIEW ${name}.initiative_decisions AS SELECT
  run || '/' || id AS id,
  run AS initiative_id,
  ${name}.seconds(d ->> 'at') AS date,
  d ->> 'context' AS context,
  d ->> 'decision' AS decision,
  d ->> 'reason' AS reason,
  (d -> 'alternatives')::text AS alternatives_json,
  NOT coalesce((d ->> 'irreversible')::boolean, false) AS reversible
FROM ${name}.records, LATERAL ${name}.readable(doc) AS d WHERE kind = 'decision';

CREATE VIEW ${name}.initiative_blockers AS SELECT
  run || '/' || id AS id,
  run AS initiative_id,
  d ->> 'status' AS status,
  d ->> 'text' AS description,
  ${name}.seconds(d ->> 'raisedAt') AS identified_at,
  (d -> 'affects')::text AS affects_json,
  d ->> 'workaround' AS workaround,
  d ->> 'resolution' AS resolution,
  ${name}.seconds(d ->> 'settledAt') AS resolved_at
FROM ${name}.records, LATERAL ${name}.readable(doc) AS d WHERE kind = 'item' AND d ->> 'kind' = 'blocker';

CREATE VIEW ${name}.session_history AS SELECT
  run || '/' || id AS id,
  run AS initiative_id,
  d ->> 'agent' AS agent_id,
  ${name}.seconds(d ->> 'startedAt') AS started_at,
  ${name}.seconds(d ->> 'endedAt') AS ended_at,
  (d ->> 'contextUsage')::real AS context_usage,
  (d -> 'completed')::text AS completed_json,
  (d -> 'issues')::text AS issues_json,
  d ->> 'endReason' AS handoff_reason
FROM ${name}.records, LATERAL ${name}.readable(doc) AS d WHERE kind = 'session';
`,
  // Tokens say what they reach, who made them and when they end; the row of a revoked one stays. Those of version 0.1 reach
  // everything. The secrets of its login links lay in the workspace, so those tokens end here.
  (name) => `
ALTER TABLE ${name}.tokens
  DROP CONSTRAINT tokens_pkey,
  DROP CONSTRAINT tokens_hash_key,
  ADD PRIMARY KEY (hash),
  ADD COLUMN workspaces text NOT NULL DEFAULT '"*"',
  ADD COLUMN runs text,
  ADD COLUMN made_by text,
  ADD COLUMN expires_at text COLLATE "C",
  ADD COLUMN revoked_at text COLLATE "C",
  ADD COLUMN revoked_by text;
ALTER TABLE ${name}.tokens ALTER COLUMN workspaces DROP DEFAULT;
CREATE UNIQUE INDEX tokens_name ON ${name}.tokens (name) WHERE revoked_at IS NULL;
UPDATE ${name}.tokens SET
  revoked_at = to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  revoked_by = '{"actor":{"kind":"agent","name":"holdfast"},"evidence":"none"}'
  WHERE name = 'link-' || left(hash, 8);
`,
  // What the name of the actor rests on. Events that were recorded before do not say.
  (name) => `
ALTER TABLE ${name}.events ADD COLUMN evidence text;
`,
  // Which journal this is: a user's state folder remembers the heads of its runs.
  (name) => `
ALTER TABLE ${name}.meta ADD COLUMN store text, ADD COLUMN epoch text;
UPDATE ${name}.meta SET store = 's-' || left(replace(gen_random_uuid()::text, '-', ''), 12);
`,
  // The Codewalk views show what `export --as sql` writes (`formats/codewalk/tables.ts`); a test compares them.
  (name) => `
DROP VIEW ${name}.initiative_state, ${name}.initiative_decisions, ${name}.initiative_blockers, ${name}.session_history;

CREATE VIEW ${name}.initiative_state AS SELECT
  coalesce(p ->> 'initiative', run) AS initiative_id,
  (p ->> 'phase')::numeric::integer AS current_phase,
  (p ->> 'plan')::numeric::integer AS current_plan,
  p ->> 'task' AS current_task,
  (p ->> 'wave')::numeric::integer AS current_wave,
  p ->> 'status' AS status,
  (p -> 'progress')::text AS progress_json,
  ${name}.seconds(updated_at) AS updated_at
FROM ${name}.runs, LATERAL ${name}.readable(position) AS p;

CREATE VIEW ${name}.initiative_decisions AS SELECT
  ${initiative} || '/' || coalesce(r.alias, r.id) AS id,
  ${initiative} AS initiative_id,
  ${name}.seconds(${said('at')}) AS date,
  nullif(d ->> 'context', '') AS context,
  d ->> 'decision' AS decision,
  nullif(d ->> 'reason', '') AS reason,
  nullif((d -> 'alternatives')::text, '[]') AS alternatives_json,
  NOT (d ->> 'irreversible')::boolean AS reversible
FROM ${rowsOf(name)} WHERE r.kind = 'decision' AND d ->> 'status' = 'active';

CREATE VIEW ${name}.initiative_blockers AS SELECT
  ${initiative} || '/' || ${nameOf(name, 'block', "e ->> 'kind' = 'blocker'")} AS id,
  ${initiative} AS initiative_id,
  d ->> 'status' AS status,
  d ->> 'text' AS description,
  ${name}.seconds(${said('raisedAt')}) AS identified_at,
  nullif((d -> 'affects')::text, '[]') AS affects_json,
  d ->> 'workaround' AS workaround,
  d ->> 'resolution' AS resolution,
  ${name}.seconds(${said('settledAt')}) AS resolved_at
FROM ${rowsOf(name)} WHERE r.kind = 'item' AND d ->> 'kind' = 'blocker' AND r.status <> 'removed';

CREATE VIEW ${name}.session_history AS SELECT
  ${initiative} || '/' || ${nameOf(name, 'session', 'TRUE')} AS id,
  ${initiative} AS initiative_id,
  ${said('agent')} AS agent_id,
  ${name}.seconds(${said('startedAt')}) AS started_at,
  ${name}.seconds(${said('endedAt')}) AS ended_at,
  (d ->> 'contextUsage')::real AS context_usage,
  nullif(coalesce(d -> 'finished', d -> 'completed')::text, '[]') AS completed_json,
  (SELECT jsonb_agg(once.value ORDER BY once.place)::text FROM (
    SELECT told.value, min(told.place) AS place FROM (
      SELECT n AS place, value FROM jsonb_array_elements_text(coalesce(d -> 'issues', '[]')) WITH ORDINALITY AS i (value, n)
      UNION ALL
      SELECT 1000000000 + substring(f.id from '[0-9]+')::bigint, e ->> 'text' FROM ${name}.records f, LATERAL ${name}.readable(f.doc) AS e
        WHERE f.run = r.run AND f.kind = 'item' AND e ->> 'kind' = 'finding' AND e ->> 'session' = r.id
    ) AS told GROUP BY told.value
  ) AS once) AS issues_json,
  coalesce(d ->> 'why', CASE d ->> 'status'
    WHEN 'context-exhausted' THEN 'Context limit reached'
    WHEN 'timeout' THEN 'Time limit reached'
    WHEN 'maintainer-directed' THEN 'Stopped by the maintainer'
    WHEN 'crashed' THEN 'crashed' END) AS handoff_reason
FROM ${rowsOf(name)} WHERE r.kind = 'session' AND r.status <> 'removed';
`,
  // Bytes that events name by their hash; they come compressed where that is worth it.
  (name) => `
CREATE TABLE ${name}."values" (
  run text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  encoding text NOT NULL,
  size integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (run, sha256)
);
ALTER TABLE ${name}."values" ALTER COLUMN data SET STORAGE EXTERNAL;
`,
  // What is left of dropped runs; `tx` is higher than that of every event that is gone.
  (name) => `
CREATE TABLE ${name}.dropped (
  run text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  workspace text NOT NULL,
  version integer NOT NULL,
  at text COLLATE "C" NOT NULL,
  made_by text NOT NULL,
  reason text NOT NULL,
  tx bigint NOT NULL,
  PRIMARY KEY (run, hash)
);
CREATE INDEX dropped_tx ON ${name}.dropped (tx);
`,
];
