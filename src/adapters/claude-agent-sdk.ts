import { createHash, randomUUID } from 'node:crypto';
import { Fault, type Holdfast } from '../index.ts';
import { inTurn, openOwnRun, unlessAbsent } from './own-run.ts';

/**
 * The public entry `holdfast/claude-agent-sdk`: transcripts of Claude's Agent SDK. The types are those of its `SessionStore`,
 * written down here so that the SDK need not be installed.
 */

export interface SessionKey {
  projectKey: string;
  sessionId: string;
  /** Of a subagent; left out for the main transcript. */
  subpath?: string;
}

export type SessionEntry = { type: string; uuid?: string; timestamp?: string; [field: string]: unknown };

export interface SessionSummary {
  sessionId: string;
  mtime: number;
  data: Record<string, unknown>;
}

type Fold = (
  before: SessionSummary | undefined,
  key: SessionKey,
  entries: SessionEntry[],
  options?: { mtime?: number },
) => SessionSummary;

export interface SessionStoreOptions {
  /** The SDK's `foldSessionSummary`. With it the list of sessions needs no transcript. */
  foldSessionSummary?: Fold;
  /** Transcripts that nothing was added to for so many days are removed at the first append of a process; never when left out. */
  keepDays?: number;
}

export interface HoldfastSessionStore {
  append(key: SessionKey, entries: SessionEntry[]): Promise<void>;
  load(key: SessionKey): Promise<SessionEntry[] | null>;
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  listSessionSummaries?(projectKey: string): Promise<SessionSummary[]>;
  delete(key: SessionKey): Promise<void>;
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
}

const SOURCE = 'claude-agent-sdk';
const SESSION = 'session';
const SUMMARY = 'summary';
const DAY_MS = 24 * 3600 * 1000;

/**
 * Keeps transcripts in Holdfast: `query({ options: { sessionStore: sessionStore(hf) } })`. A session of the SDK is a run, and each
 * call of `append` one value of it. A batch that comes again is stored once, and an entry with a known `uuid` is given back once.
 */
export function sessionStore(hf: Holdfast, options: SessionStoreOptions = {}): HoldfastSessionStore {
  const { foldSessionSummary: fold, keepDays } = options;
  const turns = new Map<string, Promise<unknown>>();
  const swept = new Set<string>();

  async function append(key: SessionKey, entries: SessionEntry[]): Promise<void> {
    const run = runOf(key);
    const own = hf.as({ run, exact: true });
    const place = placeOf(key.subpath);
    const isKnown = (await unlessAbsent(own.state.get(SESSION))) !== null;
    if (!isKnown) await openOwnRun(hf, { run, source: SOURCE, title: `Claude session ${key.sessionId}` });
    const before = fold && key.subpath === undefined ? await own.state.get<SessionSummary>(SUMMARY) : null;
    const batch = [
      { key: `t/${place}/${batchId(entries)}`, value: entries, expect: null },
      ...(isKnown ? [] : [{ key: SESSION, value: { projectKey: key.projectKey, sessionId: key.sessionId } }]),
      ...(key.subpath === undefined ? [] : [{ key: `sub/${place}`, value: key.subpath }]),
      ...(fold && key.subpath === undefined
        ? [
            {
              key: SUMMARY,
              value: fold(before?.value, key, entries, { mtime: before?.value.mtime ?? 0 }),
              expect: before?.version ?? null,
            },
          ]
        : []),
    ];
    try {
      await own.state.putAll(batch);
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'conflict') throw thrown;
      // The same batch was stored before, or another process has just changed the summary.
      if (thrown.data['key'] === SUMMARY) await append(key, entries);
    }
  }

  async function sessionsOf(projectKey: string) {
    const { runs } = await hf.runs({ all: true });
    const found: { sessionId: string; mtime: number; own: Holdfast }[] = [];
    for (const { id, source } of runs) {
      if (source !== SOURCE || !id.startsWith(prefixOf(projectKey))) continue;
      const own = hf.as({ run: id, exact: true });
      const session = await unlessAbsent(own.state.get<SessionKey>(SESSION));
      const [last] = await own.state.list({ prefix: `t/${MAIN}/` });
      if (session && last) found.push({ sessionId: session.value.sessionId, mtime: Date.parse(last.at), own });
    }
    return found;
  }

  async function remove({ projectKey, sessionId, subpath }: SessionKey): Promise<void> {
    const own = hf.as({ run: runOf({ projectKey, sessionId }), exact: true });
    const listed = (await unlessAbsent(own.state.list())) ?? [];
    const place = placeOf(subpath);
    const isGone = (key: string): boolean =>
      subpath === undefined ? key !== SESSION : key === `sub/${place}` || key.startsWith(`t/${place}/`);
    const keys = listed.map(({ key }) => key).filter(isGone);
    for (let at = 0; at < keys.length; at += AT_ONCE) await own.state.removeAll(keys.slice(at, at + AT_ONCE));
  }

  /** Once per project and process: looking at every session takes longer than an append. */
  async function sweep(projectKey: string, days: number): Promise<void> {
    if (swept.has(projectKey)) return;
    swept.add(projectKey);
    const oldest = Date.now() - days * DAY_MS;
    for (const { sessionId, mtime } of await sessionsOf(projectKey))
      if (mtime < oldest) await remove({ projectKey, sessionId });
  }

  return {
    async append(key, entries) {
      if (entries.length === 0) return;
      await inTurn(turns, runOf(key), () => append(key, entries));
      if (keepDays !== undefined) await sweep(key.projectKey, keepDays);
    },
    async load(key) {
      const own = hf.as({ run: runOf(key), exact: true });
      const listed = await unlessAbsent(own.state.list({ prefix: `t/${placeOf(key.subpath)}/` }));
      if (listed === null || listed.length === 0) return null;
      const entries: SessionEntry[] = [];
      for (const one of listed.sort((a, b) => a.version - b.version))
        entries.push(...((await own.state.get<SessionEntry[]>(one.key))?.value ?? []));
      return once(entries);
    },
    listSessions: async (projectKey) =>
      (await sessionsOf(projectKey)).map(({ sessionId, mtime }) => ({ sessionId, mtime })),
    ...(fold
      ? {
          async listSessionSummaries(projectKey: string) {
            const summaries: SessionSummary[] = [];
            for (const { own, mtime } of await sessionsOf(projectKey)) {
              const found = await own.state.get<SessionSummary>(SUMMARY);
              if (found) summaries.push({ ...found.value, mtime });
            }
            return summaries;
          },
        }
      : {}),
    delete: (key) => inTurn(turns, runOf(key), () => remove(key)),
    async listSubkeys(key) {
      const own = hf.as({ run: runOf(key), exact: true });
      const listed = (await unlessAbsent(own.state.list({ prefix: 'sub/' }))) ?? [];
      const subpaths = await Promise.all(listed.map((one) => own.state.get<string>(one.key)));
      return subpaths.flatMap((found) => (found ? [found.value] : []));
    },
  };
}

const AT_ONCE = 200;
const MAIN = 'main';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A hash cannot be `main`. */
const placeOf = (subpath: string | undefined): string => (subpath === undefined ? MAIN : sha256(subpath).slice(0, 40));
const prefixOf = (projectKey: string): string => `claude-${sha256(projectKey).slice(0, 16)}-`;
const runOf = ({ projectKey, sessionId }: SessionKey): string =>
  `${prefixOf(projectKey)}${/^[A-Za-z0-9-]{1,40}$/.test(sessionId) ? sessionId : `.${sha256(sessionId).slice(0, 40)}`}`;

/** The SDK sends a batch again that may not have arrived. One without any `uuid` is always new. */
const batchId = (entries: readonly SessionEntry[]): string =>
  entries.some(({ uuid }) => uuid !== undefined) ? sha256(JSON.stringify(entries)).slice(0, 40) : randomUUID();

function once(entries: readonly SessionEntry[]): SessionEntry[] {
  const seen = new Set<string>();
  return entries.filter(({ uuid }) => {
    if (uuid === undefined) return true;
    if (seen.has(uuid)) return false;
    seen.add(uuid);
    return true;
  });
}
