import { composeBrief } from '../../../core/brief/compose.ts';
import type { BriefFacts, BriefForm, OtherRuns } from '../../../core/brief/facts.ts';
import type { BriefFields } from '../../../core/brief/fields.ts';
import type { CountTokens } from '../../../core/brief/fill.ts';
import type { BriefRows } from '../../../core/brief/observed.ts';
import type { BriefReader } from '../../../core/brief/record.ts';
import { type BriefText, writeBrief } from '../../../core/brief/write.ts';
import type { Decision, Effect, FileRow, Result, Session, State, Step, Value } from '../../../core/fold/state.ts';
import type { TreeMark } from '../../../core/journal/event.ts';
import { RESULTS } from '../../../core/names.ts';
import type { SeenEvidence } from '../../../core/views/conflict.ts';
import { isGone } from '../../../core/views/liveness.ts';
import { ancestorsOf, planView } from '../../../core/views/plan.ts';
import { positionOf } from '../../../core/views/position.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { GitStatus } from '../../../workspace/git/status.ts';
import { hostName } from '../../../workspace/process.ts';
import type { Context } from '../../context.ts';
import { knownHistory, lookAtHistory } from '../../journal/parts/known-heads.ts';
import { treeMark } from '../../working-tree.ts';
import { filesOfLeft, findEvidence } from './evidence.ts';
import { observeChanges, observeClients, observeProcesses } from './observe.ts';
import { readingList, stepFiles } from './reading-list.ts';

export interface BriefOptions extends BriefReader {
  form: BriefForm;
  /** In tokens; that of a hook depends on the kind of the run. */
  budget?: number | 'hook' | undefined;
  others?: OtherRuns | undefined;
  /** Nothing is unfinished here, and this run was finished last. */
  isLastFinished?: boolean | undefined;
  /** Sessions that are gone, as they will be recorded. */
  ended?: readonly Session[] | undefined;
  /** Edits of mirrored files that were just found. */
  edits?: SeenEvidence['edits'];
  countTokens?: CountTokens | undefined;
  /** Where the reader is; left out, it is the working tree of the command. */
  mark?: TreeMark | undefined;
}

export interface BriefAnswer extends BriefText {
  fields: BriefFields;
  facts: BriefFacts;
  reader: BriefReader;
  /** The same facts for a reader who has no session, without another look. */
  forAnyone(): BriefFacts;
}

const BUDGET_TOKENS = 2000;
/** A session that did not ask gets less: what it was not told it can ask for. */
const AD_HOC_HOOK = { softTokens: 450, hardTokens: 600 };
const PLANNED_HOOK_TOKENS = 1200;

/** The brief of a run. With `status` null it is composed from the journal alone, without a look at the working tree. */
export async function briefFor(
  context: Context,
  state: State,
  status: Promise<GitStatus | null> | null,
  {
    form,
    edits,
    ended = [],
    countTokens,
    budget = BUDGET_TOKENS,
    others,
    isLastFinished,
    mark,
    ...reader
  }: BriefOptions,
): Promise<BriefAnswer> {
  const budgetTokens = budget === 'hook' ? PLANNED_HOOK_TOKENS : budget;
  const engine = await context.engine();
  const position = positionOf(state, planView(state), reader.session);
  const step = position.current?.step;
  // Asked for at the same moment, so that all of them share one look at the run.
  const [liveness, recorded, artifacts, left] = await Promise.all([
    engine.liveness(state),
    readRows(engine, state, step, status !== null),
    status && step ? stepFiles(engine, state, step) : [],
    status ? filesOfLeft(engine, state) : [],
  ]);
  const sessions = recorded.sessions.map((session) => ended.find(({ id }) => id === session.id) ?? session);
  const rows = { ...recorded, sessions };
  const observed = {
    mark: mark ?? treeMark(context),
    host: hostName(),
    ...context.here(),
    others,
    isLastFinished,
    history: await (status ? lookAtHistory(context) : knownHistory(context)),
    processes: await observeProcesses(context, state, liveness),
    clients: observeClients(context, rows.sessions),
    ...(status && {
      seen: await findEvidence(context, state, { status, edits, files: { written: rows.files, left } }),
      files: readingList(context, state, position, artifacts, budgetTokens),
      changes: await observeChanges(context, state, rows, status),
      said: await wordsOfCut(context, state, rows.sessions, reader.session),
    }),
  };
  const input = { rows, observed, budgetTokens };
  const { fields, facts } = composeBrief(state, liveness, { form, reader, ...input });
  const forAnyone = (): BriefFacts =>
    composeBrief(state, liveness, { form: 'start', reader: { session: null, agent: null }, ...input }).facts;
  const isSmall = budget === 'hook' && facts.run?.isPlanned === false;
  const limits = isSmall ? AD_HOC_HOOK : { softTokens: budgetTokens, hardTokens: budgetTokens };
  return { fields, facts, reader, forAnyone, ...writeBrief(facts, { ...limits, countTokens }) };
}

/** The last words of the session that worked last, if its turn has no recorded end and it is gone. */
async function wordsOfCut(
  context: Context,
  state: State,
  sessions: readonly Session[],
  mine: string | null,
): Promise<Map<string, string>> {
  const [last] = sessions
    .filter(({ id, turn, parent }) => id !== mine && parent === null && turn?.endedAt === null)
    .sort((a, b) => (b.turn?.version ?? 0) - (a.turn?.version ?? 0));
  if (!last || last.client === null) return new Map();
  const liveness = await (await context.engine()).liveness(state);
  const present = state.sessions.get(last.id);
  if (present && !isGone(present, liveness)) return new Map();
  // Loaded on demand: it needs the readers of all clients.
  const { wordsBeforeCut } = await import('./cut-words.ts');
  const words = await wordsBeforeCut(context, last);
  return new Map(words === null ? [] : [[last.id, words]]);
}

const SESSIONS = 12;
const COMMANDS = 60;
const FILES = 100;
const STEP_RESULTS = 3;
const VALUES = 20;

/** The page that is written after most commands does not name values: looking for them costs a query. */
async function readRows(engine: Engine, state: State, step: Step | undefined, withValues: boolean): Promise<BriefRows> {
  const run = state.run?.id ?? '';
  const [sessions, commands, files, results, values, decisions] = await Promise.all([
    state.totals.sessions > 0 ? engine.rows(run, { kind: 'session', limit: SESSIONS }) : [],
    engine.rows(run, { kind: 'effect', status: 'ended', limit: COMMANDS }),
    engine.rows(run, { kind: 'file', tag: 'written', limit: FILES }),
    engine.rows(run, { kind: 'result', limit: STEP_RESULTS }),
    withValues ? engine.rows(run, { kind: 'value', status: 'current', limit: VALUES }) : [],
    decisionsAbout(engine, state, step),
  ]);
  const recent = sessions.map((row) => row.doc as Session);
  const missing = [...state.sessions.values()].filter((session) => !recent.some(({ id }) => id === session.id));
  return {
    sessions: [...missing, ...recent].map((session) => state.sessions.get(session.id) ?? session),
    commands: commands.map((row) => ({ effect: row.doc as Effect, version: row.version })),
    files: files.map((row) => row.doc as FileRow),
    results: [
      ...[...state.steps.values()].flatMap((one) => one.built),
      ...results.flatMap((row) => (row.doc as Result).built),
    ].map((text) => ({ text })),
    decisions,
    values: values
      .map((row) => row.doc as Value)
      .filter(({ key }) => !key.startsWith(RESULTS))
      .map(({ key, bytes, at }) => ({ key, bytes, at })),
  };
}

/** Every irreversible decision belongs in the brief; no budget holds more than these. */
const IRREVERSIBLE_LIMIT = 60;
const NEWEST_LIMIT = 12;

/** Decisions about the step, its ancestors and its files first, then irreversible ones, then those that replace others, then the newest. */
async function decisionsAbout(engine: Engine, state: State, step: Step | undefined): Promise<Decision[]> {
  const run = state.run?.id ?? '';
  const total = state.totals.activeDecisions;
  if (total === 0) return [];
  const keys = step ? [step.key, ...ancestorsOf(state, step).map((above) => above.key), ...filesOf(step)] : [];
  const active = { kind: 'decision', status: 'active' };
  // Few are read with one query instead of one per tag: RESUME.md needs them after most commands.
  const all = total <= IRREVERSIBLE_LIMIT ? await engine.rows(run, { ...active, limit: total }) : null;
  const page = async (limit: number, tag?: string) =>
    all
      ? all.filter(({ tags }) => tag === undefined || tags.includes(tag)).slice(0, limit)
      : engine.rows(run, { ...active, limit, ...(tag === undefined ? {} : { tag }) });
  const pages = await Promise.all([
    ...keys.map((key) => page(NEWEST_LIMIT, `affects:${key}`)),
    page(IRREVERSIBLE_LIMIT, 'irreversible'),
    page(NEWEST_LIMIT),
  ]);
  const newest = (pages.at(-1) ?? []).map((row) => row.doc as Decision);
  const replacing = newest.filter((decision) => decision.supersedes);
  const related = pages.slice(0, -1).flatMap((page) => page.map((row) => row.doc as Decision));
  return [...new Map([...related, ...replacing, ...newest].map((decision) => [decision.id, decision])).values()];
}

/** Each file costs a query; a step should name few. */
const FILES_LIMIT = 3;

function filesOf({ context, artifacts }: Step): string[] {
  return [...new Set([...context, ...artifacts.map((artifact) => artifact.path)])].slice(0, FILES_LIMIT);
}
