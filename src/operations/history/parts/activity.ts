import type { Turn } from '../../../core/fold/conversation.ts';
import type { Effect, FileRow, Session, State } from '../../../core/fold/state.ts';
import { msBetween } from '../../../core/time.ts';
import { isSameTree } from '../../../core/tree-name.ts';
import type { Observation } from '../../../core/views/conflict.ts';
import { isGone, type Liveness } from '../../../core/views/liveness.ts';
import { isRunning } from '../../../core/views/needs.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { StoredRow } from '../../../store/projection.ts';
import { observeFiles } from '../../../workspace/evidence.ts';
import { hostName } from '../../../workspace/process.ts';
import { beginGitStatus } from '../../brief/parts/evidence.ts';
import { observeChanges } from '../../brief/parts/observe.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';

export const activityKinds = ['request', 'file', 'command'] as const;

export interface ActivityFilter {
  kind?: (typeof activityKinds)[number];
  agent?: string;
  failed?: boolean;
  path?: string;
  step?: string;
  at?: number;
}

interface Common {
  at: string;
  version: number;
  agent: string;
  session: string | null;
  /** Where it was recorded; null if that is not known. */
  host: string | null;
  step: string | null;
}

export type ActivityEntry = Common &
  (
    | { kind: 'request'; text: string; turn: Turn['kind']; outcome: Turn['outcome'] | 'cut off' }
    | {
        kind: 'file';
        path: string;
        change: 'created' | 'modified' | 'deleted';
        /** Unknown: not looked at, because it was recorded elsewhere or there is no git. */
        state: 'uncommitted' | 'committed' | 'as before' | 'gone' | 'unknown' | 'elsewhere';
        /** It is not as the run left it. */
        changedSince: boolean;
        added: number | null;
        deleted: number | null;
      }
    | {
        kind: 'command';
        id: string;
        name: string;
        class: string;
        outcome: 'running' | 'unknown' | 'succeeded' | 'failed' | 'cancelled';
        exitCode: number | null;
        durationMs: number | null;
      }
  );

type Kind<K extends ActivityEntry['kind']> = Extract<ActivityEntry, { kind: K }>;

export interface LastMessage {
  text: string;
  agent: string;
  session: string | null;
  at: string | null;
  /** It was said before the session was cut off; the turn has no end. */
  isCut: boolean;
}

/** The newest entries of each kind, in one order. A kind of which more exist ends the list where its known part ends. */
export async function readActivity(
  context: Context & { run: string },
  state: State,
  filter: ActivityFilter,
  wanted: number,
) {
  const engine = await context.engine();
  const people = await readPeople(engine, context.run, state);
  const liveness = await engine.liveness(state);
  const kinds = filter.kind
    ? [filter.kind]
    : filter.failed
      ? (['command'] as const)
      : filter.path
        ? (['file'] as const)
        : activityKinds;
  const pages = await Promise.all(
    kinds.map((kind) => readKind(engine, context.run, filter, wanted, sourceOf(kind, state, people, liveness))),
  );
  const known = pages.filter(({ more }) => more).map(({ entries }) => entries.at(-1)?.at ?? '');
  const from = known.sort().at(-1) ?? '';
  const entries = pages
    .flatMap((page) => page.entries)
    .filter(({ at }) => at >= from)
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.version - a.version))
    .slice(0, wanted);
  const total = pages.reduce((sum, page) => sum + page.entries.length, 0);
  return {
    entries: await withFileStates(context, state, people, entries),
    more: known.length > 0 || total > entries.length,
    agents: [...new Set([...people.values()].map(({ agent }) => agent))].sort(),
    hosts: hostsOf(people),
  };
}

type People = ReadonlyMap<string, Session>;

const SESSIONS = 200;

async function readPeople(engine: Engine, run: string, state: State): Promise<People> {
  const rows = state.totals.sessions > 0 ? await engine.rows(run, { kind: 'session', limit: SESSIONS }) : [];
  return new Map([...rows.map((row) => row.doc as Session), ...state.sessions.values()].map((one) => [one.id, one]));
}

/** The name of a machine without what identifies its boot. */
export const hostOf = (session: Pick<Session, 'owner'> | undefined): string | null =>
  session?.owner?.host.split(' ')[0] ?? null;

export const hereName = (): string => hostName().split(' ')[0] ?? '';

function hostsOf(people: People): string[] {
  const here = hereName();
  const names = new Set([...people.values()].flatMap((session) => hostOf(session) ?? []));
  return [...names].sort((a, b) => Number(b === here) - Number(a === here) || (a < b ? -1 : 1));
}

interface Source {
  row: { kind: string; tag?: string };
  /** Null for a row that is not shown. */
  entry(row: StoredRow): ActivityEntry | null;
}

function sourceOf(kind: (typeof activityKinds)[number], state: State, people: People, liveness: Liveness): Source {
  const placed = (session: string | null, by?: string) => {
    const known = session === null ? undefined : people.get(session);
    return { session, agent: by ?? known?.agent ?? 'unknown', host: hostOf(known) };
  };
  switch (kind) {
    case 'request':
      return { row: { kind: 'turn' }, entry: ({ doc }) => requestEntry(doc as Turn, state, liveness, placed) };
    case 'file':
      return {
        row: { kind: 'file', tag: 'written' },
        entry: ({ doc, version }) => fileEntry(doc as FileRow, version, placed),
      };
    case 'command':
      return {
        row: { kind: 'effect' },
        entry: ({ doc, version }) =>
          commandEntry(doc as Effect, version, isRunning(state, doc as Effect, liveness), placed),
      };
    default:
      return kind satisfies never;
  }
}

type Placed = (session: string | null, by?: string) => Pick<Common, 'session' | 'agent' | 'host'>;

function requestEntry(turn: Turn, state: State, liveness: Liveness, placed: Placed): Kind<'request'> | null {
  if (turn.request === null || turn.kind === 'command') return null;
  const present = state.sessions.get(turn.session);
  const isCut =
    turn.endedAt === null && (!present || present.turn?.version !== turn.version || isGone(present, liveness));
  return {
    kind: 'request',
    at: turn.beganAt,
    version: turn.version,
    ...placed(turn.session, turn.agent),
    step: null,
    text: turn.request,
    turn: turn.kind,
    outcome: isCut ? 'cut off' : turn.outcome,
  };
}

function fileEntry({ path, change, session, step, at }: FileRow, version: number, placed: Placed): Kind<'file'> {
  const rest = { state: 'unknown' as const, changedSince: false, added: null, deleted: null };
  return { kind: 'file', at, version, ...placed(session), step, path, change: change ?? 'modified', ...rest };
}

function commandEntry(effect: Effect, version: number, runs: boolean, placed: Placed): Kind<'command'> | null {
  const { id, name, at, by, session, step = null, class: is, outcome, exitCode = null, endedAt, asks, status } = effect;
  if (asks) return null;
  const isOpen = status === 'began';
  return {
    kind: 'command',
    at,
    version,
    ...placed(session, by),
    step,
    id,
    name,
    class: is,
    outcome: isOpen ? (runs ? 'running' : 'unknown') : (outcome as Kind<'command'>['outcome']),
    exitCode,
    durationMs: endedAt === undefined ? null : Math.max(0, msBetween(at, endedAt)),
  };
}

const PAGE = 200;
/** A filter that hardly matches anything does not read a whole history. */
const MOST_ROWS = 4000;

async function readKind(engine: Engine, run: string, filter: ActivityFilter, wanted: number, { row, entry }: Source) {
  const entries: ActivityEntry[] = [];
  let before = filter.at === undefined ? undefined : filter.at + 1;
  for (let read = 0; read < MOST_ROWS; ) {
    const size = Math.min(PAGE, Math.max(wanted + 1, 20));
    const rows = await engine.rows(run, { ...row, limit: size, ...(before === undefined ? {} : { before }) });
    for (const one of rows) {
      const made = entry(one);
      if (made && matches(made, filter)) entries.push(made);
    }
    read += rows.length;
    before = rows.at(-1)?.version;
    if (rows.length < size || before === undefined) return { entries, more: false };
    if (entries.length > wanted) break;
  }
  return { entries: entries.slice(0, wanted), more: true };
}

function matches(entry: ActivityEntry, { agent, failed, path, step }: ActivityFilter): boolean {
  if (agent !== undefined && entry.agent !== agent) return false;
  if (step !== undefined && entry.step !== step) return false;
  if (failed && !(entry.kind === 'command' && (entry.outcome === 'failed' || entry.outcome === 'unknown')))
    return false;
  return path === undefined || (entry.kind === 'file' && entry.path.toLowerCase().includes(path.toLowerCase()));
}

/** Compares the files of this working tree with the last commit and with what was recorded. */
async function withFileStates(
  context: Context & { run: string },
  state: State,
  people: People,
  entries: readonly ActivityEntry[],
): Promise<ActivityEntry[]> {
  const paths = new Set(entries.flatMap((entry) => (entry.kind === 'file' ? [entry.path] : [])));
  const workspace = context.workspace();
  if (paths.size === 0 || !workspace) return [...entries];
  const engine = await context.engine();
  const rows = await engine.recall(context.run, [...paths]);
  const files = new Map(rows.filter(({ kind }) => kind === 'file').map((row) => [row.id, row.doc as FileRow]));
  const wanted = [...files.values()].map(({ path, sha256 = null, bytes = null, stamp = null }) => ({
    path,
    sha256,
    bytes,
    stamp,
  }));
  const bare = { commands: [], decisions: [], results: [], sessions: [...people.values()], files: [...files.values()] };
  const [changes, seen] = await Promise.all([
    observeChanges(context, state, bare, beginGitStatus(context)),
    observeFiles(workspace.tree, wanted),
  ]);
  const here = { clone: context.here().clone, tree: treeMark(context)?.tree };
  return entries.map((entry) => {
    const file = entry.kind === 'file' ? files.get(entry.path) : undefined;
    if (entry.kind !== 'file' || !file) return entry;
    if ((entry.host !== null && entry.host !== hereName()) || !isSameTree(file, here))
      return { ...entry, state: 'elsewhere' };
    const found = seen.get(entry.path);
    return { ...entry, ...fileState(file, found, changes) };
  });
}

type Changes = Awaited<ReturnType<typeof observeChanges>>;

function fileState(file: FileRow, found: Observation | undefined, changes: Changes) {
  const { path, sha256, change } = file;
  const changedSince =
    (found?.state === 'present' && sha256 != null && found.sha256 !== sha256) ||
    (change === 'deleted' && found?.state === 'present');
  const lines = changes?.lines.get(path);
  const counts =
    lines?.is === 'edited'
      ? { added: lines.added, deleted: lines.deleted }
      : lines?.is === 'new'
        ? { added: lines.lines, deleted: lines.lines === null ? null : 0 }
        : { added: null, deleted: null };
  if (found?.state === 'absent' && change !== 'deleted')
    return { ...counts, state: 'gone' as const, changedSince: true };
  if (!changes) return { ...counts, state: 'unknown' as const, changedSince };
  const isDirty = [...changes.dirty.keys()].some((one) => one === path || (one.endsWith('/') && path.startsWith(one)));
  const isCommitted = changes.commits?.some((commit) => commit.paths.includes(path)) ?? false;
  const is = isDirty ? ('uncommitted' as const) : isCommitted ? ('committed' as const) : ('as before' as const);
  return { ...counts, state: is, changedSince };
}

/** The last words of the last turn; of a session that was cut off, those in its client's transcript on this machine. */
export async function lastMessage(
  context: Context & { run: string },
  state: State,
  at: number | undefined,
): Promise<LastMessage | null> {
  const { turn, said } = state;
  if (turn?.said) return { text: turn.said, agent: turn.agent, session: turn.session, at: turn.endedAt, isCut: false };
  const engine = await context.engine();
  const [row] = turn && at === undefined ? await engine.recall(context.run, [turn.session]) : [];
  const session = turn ? (state.sessions.get(turn.session) ?? (row?.doc as Session | undefined)) : undefined;
  if (session && turn?.endedAt === null && at === undefined) {
    const present = state.sessions.get(session.id);
    if (!present || isGone(present, await engine.liveness(state))) {
      const { wordsBeforeCut } = await import('../../brief/parts/cut-words.ts');
      const words = await wordsBeforeCut(context, session);
      if (words !== null)
        return { text: words, agent: turn.agent, session: session.id, at: session.seenAt, isCut: true };
    }
  }
  if (!said) return null;
  const speaker = said.session === turn?.session ? turn?.agent : undefined;
  return { text: said.text, agent: speaker ?? 'unknown', session: said.session, at: said.at, isCut: false };
}
