import type { FileRow, Session, State } from '../fold/state.ts';
import { shortName } from '../prompt/run-id.ts';
import { addMs } from '../time.ts';
import { isSameClone } from '../tree-name.ts';
import { whatIsLeft } from '../views/left.ts';
import { isGone, type Liveness } from '../views/liveness.ts';
import { planView } from '../views/plan.ts';
import { positionOf } from '../views/position.ts';
import { isOver } from '../views/run-state.ts';
import type { BriefForm, NextFacts, Place, Request, RunFacts, Said, Situation, Who } from './facts.ts';
import { actorOf, type BriefFields } from './fields.ts';
import type { BriefRows, Observed } from './observed.ts';
import { openFacts, ruleFacts } from './open-facts.ts';
import { nextFacts, resumingOf, stepFacts } from './position-facts.ts';
import type { BriefReader } from './record.ts';
import { countsFrom, lastTurn, requestsOf, type TurnRecord } from './record.ts';
import { commandFacts, commitsSince, fileFacts, uncertainEffects, type Work } from './work.ts';

export interface Gathering {
  state: State;
  liveness: Liveness;
  form: BriefForm;
  reader: BriefReader;
  rows: BriefRows;
  observed: Observed;
  listed: Omit<BriefFields, 'headline' | 'uncertain' | 'nextAction'>;
}

/** The facts about one run, from its events and from what was seen on this machine. */
export function gatherRun(given: Gathering): RunFacts {
  const { state, liveness, form, reader, rows, observed, listed } = given;
  const { run } = state;
  if (!run) throw new TypeError('a brief needs a run');
  const { now } = liveness;
  const isPlanned = run.kind === 'planned';
  const plan = planView(state);
  const position = positionOf(state, plan, reader.session);
  const isAlive = (id: string): boolean => {
    const session = state.sessions.get(id);
    return session !== undefined && !isGone(session, liveness);
  };
  const turn = lastTurn(state, rows.sessions, reader, form, isAlive);
  const place = placeOf(turn?.session ?? null, observed);
  const isHere = place === null || place.is === 'here';
  const counted = isPlanned ? rows : sinceRequest(state, rows);
  const earlier = new Set(rows.files.filter((file) => !counted.files.includes(file)).map(({ path }) => path));
  const others = rows.sessions.filter(({ id }) => id !== reader.session).map((session) => session.seenAt);
  const seenAt = others.sort().at(-1) ?? '';
  const work: Work = { state, rows: counted, earlier, observed, turn, seenAt, isAlive, isHere, now };
  const facts: Omit<RunFacts, 'situation' | 'resuming'> = {
    id: run.id,
    title: run.title,
    isPlanned,
    ...(run.isCopied ? { isCopied: true } : {}),
    suffix: shortName(run.id),
    place,
    commitsSince: commitsSince(work),
    requests: requestFacts(state, form, reader),
    uncertain: uncertainEffects(work),
    commands: commandFacts(work),
    files: fileFacts(work),
    reading: isPlanned ? readingOf(listed.files, counted.files) : [],
    said: turn ? saidFact(turn, observed) : null,
    steps: stepFacts(plan, position, {
      isPlanned,
      since: sinceTime(state),
      isOthers: (id) => id !== reader.session && isAlive(id),
    }),
    rules: ruleFacts(state, rows.decisions, rows.results),
    moreDecisions: Math.max(0, state.totals.activeDecisions - rows.decisions.length),
    open: openFacts(listed, state, actorOf(reader), isPlanned),
    // An adapter names its values for itself; what it reached is said in words.
    ...(rows.values && run.source === undefined ? { values: rows.values } : {}),
    next: nextFacts(state, rows.sessions, plan, position, isPlanned),
  };
  const situation = situationOf(given, turn, isAlive);
  const resuming = isPlanned && !isOver(run) ? resumingOf(position) : null;
  const whole = { ...facts, next: forReader(facts.next, situation), situation, resuming };
  return form === 'returned' && turn ? newsOf(whole, given, turn) : whole;
}

/** Files and commands since the current request. */
function sinceRequest(state: State, rows: BriefRows): BriefRows {
  const from = countsFrom(state);
  if (from === 0) return rows;
  return {
    ...rows,
    files: rows.files.filter(({ version }) => version > from),
    commands: rows.commands.filter(({ version }) => version > from),
  };
}

const sinceTime = (state: State): string => (countsFrom(state) === 0 ? '' : (state.requests.current?.at ?? ''));

function situationOf(
  { state, form, reader, rows, observed }: Gathering,
  turn: TurnRecord | null,
  isAlive: (session: string) => boolean,
): Situation {
  const { run } = state;
  if (run?.status === 'archived' || run?.status === 'abandoned')
    return { is: run.status, at: run.endedAt ?? run.updatedAt, reason: run.reason };
  if (turn === null) {
    if (run?.source !== undefined)
      return { is: 'program', source: run.source, at: run.updatedAt, reached: run.reached?.name ?? null };
    if (run?.status === 'completed') return { is: 'finished', who: null, at: run.updatedAt, isLast: false };
    const isBegun = [...state.steps.values()].some((step) => step.status !== 'pending');
    return isBegun ? { is: 'unattended', at: run?.updatedAt ?? '' } : { is: 'not-started', at: run?.openedAt ?? '' };
  }
  const { session } = turn;
  if (session.id === reader.session && form !== 'returned')
    return { is: 'own', session: session.id, since: turn.isOpen ? turn.beganAt : null };
  const who: Who = { agent: session.agent, session: session.id };
  const hasWindow = isAlive(session.id);
  if (turn.asks) return { is: 'waiting', who, at: turn.endedAt, for: turn.asks, hasWindow };
  if (turn.isOpen && hasWindow && form !== 'returned') {
    const isShared = form === 'joined';
    return { is: 'working', who, seenAt: session.seenAt, isShared, changed: changedLately(session, rows) };
  }
  if (turn.failure) {
    const by = turn.failure.reason === 'rate-limit' ? 'rate-limit' : { error: turn.failure.message };
    return { is: 'stopped', who, at: turn.endedAt, by, hasWindow };
  }
  if (turn.isOpen) {
    const isDead = observed.clients?.get(session.id) === 'dead';
    const because = turn.endedFirst ? 'session-end' : isDead ? 'process' : 'silence';
    return { is: 'cut-off', who, at: session.seenAt, because, subagents: subagentsOf(session, rows) };
  }
  const left = whatIsLeft(state);
  if (left.length > 0 || (run?.kind === 'planned' && run.status === 'active'))
    return { is: 'open', who, at: turn.endedAt, left, hasWindow };
  return { is: 'finished', who, at: turn.endedAt, isLast: observed.isLastFinished === true };
}

/** What a session that is at work wrote is for itself, not for others to do. */
function forReader(next: NextFacts, situation: Situation): NextFacts {
  const { declared } = next;
  const isForItself =
    situation.is === 'working' && declared && 'session' in declared && declared.session === situation.who.session;
  return isForItself ? { ...next, declared: null } : next;
}

/** Subagents that were at work when their parent was cut off, by the name that the client gave them. */
function subagentsOf(above: Session, { sessions }: BriefRows): string[] {
  return sessions
    .filter(({ parent, status }) => parent === above.id && (status === 'crashed' || status === 'active'))
    .map(({ agent }) => (agent.startsWith(`${above.agent}.`) ? agent.slice(above.agent.length + 1) : agent));
}

const LATELY_MS = 10 * 60_000;
const CHANGED = 3;

function changedLately({ id, seenAt }: Session, { files }: BriefRows): string[] {
  const since = addMs(seenAt, -LATELY_MS);
  return files
    .filter((file) => file.session === id && file.at >= since)
    .slice(0, CHANGED)
    .map(({ path }) => path);
}

/** Where the work was recorded last, seen from the reader; null if nothing is known of a branch. */
function placeOf(session: Session | null, { mark, host, machine, clone }: Observed): Place | null {
  if (session === null) return null;
  const { owner } = session;
  const name = owner?.host.split(' ')[0];
  const isOther = host !== null && name !== host.split(' ')[0];
  if (name !== undefined && (isOther || (owner?.machine && machine !== undefined && owner.machine !== machine)))
    return { is: 'host', host: name };
  if (!isSameClone({ clone: session.mark?.clone ?? owner?.clone }, { clone })) return { is: 'clone' };
  const { branch = null, tree = null } = session.mark ?? {};
  if (session.mark && mark && tree !== (mark.tree ?? null)) return { is: 'worktree', tree: tree ?? 'main', branch };
  return branch === null || !mark ? null : { is: 'here', branch, branchNow: mark.branch ?? null };
}

function requestFacts(state: State, form: BriefForm, reader: BriefReader): Request[] {
  // What a session has just been asked needs no brief.
  const isJust = form === 'joined' && reader.isAtWork !== true;
  const recorded = requestsOf(state);
  const others = recorded.filter(({ session }) => session !== reader.session);
  // A session that was moved to a run of its own brought all of its requests.
  const all = isJust && others.length > 0 ? others : recorded;
  const times = all.map(({ at }) => at).sort();
  return all.map(({ at, text, question }): Request => {
    if (question !== null) return { is: 'answered', at, text, question };
    const which = all.length === 1 ? 'only' : at === times[0] ? 'first' : at === times.at(-1) ? 'last' : 'only';
    return { is: 'asked', which, at, text };
  });
}

function saidFact({ session, said, isOpen, beganAt }: TurnRecord, observed: Observed): Said | null {
  const words = isOpen ? observed.said?.get(session.id) : undefined;
  if (words !== undefined) return { is: 'before-cut', text: words };
  if (!said) return null;
  const isBefore = isOpen || said.at < beganAt;
  return { is: isBefore ? 'turn-before' : 'at-end', at: said.at, text: said.text };
}

/** What a conversation cannot know that its client resumes: its own requests, words and lists are still in it. */
function newsOf(facts: RunFacts, { state, rows, observed }: Gathering, own: TurnRecord): RunFacts {
  const since = own.session.seenAt;
  const isOthers = (session: string | null): boolean => session !== null && session !== own.session.id;
  const agentOf = (session: string): string => rows.sessions.find(({ id }) => id === session)?.agent ?? 'unknown';
  const who = (session: string): Who => ({ agent: agentOf(session), session });
  const request = requestsOf(state).find(
    ({ session, at, which }) => which !== 'first' && isOthers(session) && at > since,
  );
  const { said } = state;
  const changed = new Set(
    rows.files.filter(({ session, at }) => isOthers(session) && at > since).map(({ path }) => path),
  );
  // Another session may have committed what this one left.
  const commits = observed.changes?.commits?.filter(({ at }) => at > since) ?? [];
  const committed = new Set(commits.flatMap(({ paths }) => paths));
  const files = facts.files.files.filter(
    ({ path, is }) => changed.has(path) || is === 'changed-again' || (is === 'committed' && committed.has(path)),
  );
  return {
    ...facts,
    requests: request?.session
      ? [{ is: 'meanwhile', who: who(request.session), at: request.at, text: request.text }]
      : [],
    commands: [],
    files: {
      ...facts.files,
      files,
      total: files.length,
      commits: files.some(({ is }) => is === 'committed') ? facts.files.commits : 0,
      othersDirty: 0,
    },
    reading: [],
    said:
      said?.session && isOthers(said.session) && said.at > since
        ? { is: 'meanwhile', who: who(said.session), at: said.at, text: said.text }
        : null,
    steps: null,
    rules: [],
    moreDecisions: 0,
    open: facts.open.filter(({ is }) => is === 'offer' || is === 'message'),
    next: { ...facts.next, declared: null, ready: null },
  };
}

const READ = 3;

/** At most three context files, and three files of steps that are not named as changed; what should not be read is left out. */
function readingOf(files: BriefFields['files'], changed: readonly FileRow[]): RunFacts['reading'] {
  const isChanged = new Set(changed.map(({ path }) => path));
  const counts = { context: 0, artifact: 0 };
  return files.flatMap(({ path, tokens, advice, why }) => {
    if (advice === 'skip' || tokens === null || (why === 'artifact' && isChanged.has(path))) return [];
    if ((why === 'context' || why === 'artifact') && ++counts[why] > READ) return [];
    return [{ path, tokens }];
  });
}
