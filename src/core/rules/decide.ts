import type { Evidence } from '../evidence.ts';
import { Fault, notFound } from '../fault.ts';
import { evolve } from '../fold/evolve.ts';
import type { Session, State } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { RowKind, Rows } from '../fold/touch.ts';
import type { Command, CommandOf, CommandType } from '../journal/command.ts';
import type { Draft, Owner } from '../journal/event.ts';
import type { Liveness } from '../views/liveness.ts';
import type { Actor, Scope } from '../words.ts';
import { releaseClaim, takeClaim } from './claim.ts';
import { acceptConflict } from './conflict.ts';
import { makeDecision, retractDecision } from './decision.ts';
import { beginEffect, endEffect } from './effect.ts';
import { eraseText } from './erasure.ts';
import { seeFiles } from './file.ts';
import {
  acceptHandoff,
  clarifyHandoff,
  declineHandoff,
  finishHandoff,
  offerHandoff,
  takeSnapshot,
  withdrawHandoff,
} from './handoff.ts';
import { raiseItem, settleItem } from './item.ts';
import { escalateMail, moveMessage, replyToMessage, sendMessage } from './mail.ts';
import { addMirror, removeMirror } from './mirror.ts';
import { addNote, approveNote } from './note.ts';
import { addSteps, changeStep, removeStep } from './plan.ts';
import { makeRecovery } from './recovery.ts';
import { provisionalEvent, type RuleContext, ruleContextOf } from './rule-context.ts';
import { abortRun, amendRun, archiveRun, openRun, unarchiveRun } from './run.ts';
import { readRunModel } from './run-model.ts';
import {
  endSession,
  goneSessions,
  moveSession,
  recoverSession,
  returningSession,
  returnOf,
  startSession,
  supervise,
} from './session.ts';
import { mustBeOwn, type SessionProof } from './session-proof.ts';
import {
  checkpointStep,
  completeStep,
  confirmStep,
  failStep,
  releaseStep,
  reopenStep,
  retryStep,
  setGate,
  skipStep,
  startStep,
  verifyStep,
} from './step.ts';
import { beginTurn, endTurn } from './turn.ts';
import { addUsage } from './usage.ts';
import { putValues, removeValues } from './value.ts';
import { compactWorklog } from './worklog.ts';

/** What `decide` needs to know beside state and command: who acts, when, and which sessions live. */
export interface CommandContext extends Liveness {
  actor: Actor;
  /** What the name of the actor rests on. */
  evidence: Evidence;
  /** The session that the command names, if any. */
  session: string | null;
  /** The process that a session opened by this command belongs to, if known. */
  owner?: Owner | undefined;
  /**
   * What the token allows; undefined where no token is required. A token proves a name: its bearer acts under that name
   * only, and as a person only with the scope `maintain`.
   */
  scope?: Scope | undefined;
  /** The client conversation that the command comes from, if known. */
  client?: Session['client'] | undefined;
  /** What the caller shows for a session that it names; undefined where the interface found the session itself. */
  proof?: SessionProof | undefined;
  /** Names of people that a new agent may not be called like, beside those that the run knows. */
  people?: readonly string[] | undefined;
  /** Finds rows that folded state no longer holds, by kind and by id or alias. */
  recall<K extends RowKind>(kind: K, reference: string): Rows[K] | null;
}

export interface Decided {
  drafts: Draft[];
  /** The actor and session that the events are recorded under. This decision may have opened the session. */
  actor: Actor;
  evidence: Evidence;
  session: string | null;
}

/**
 * Turns a command and the state it was given in into events, or throws a fault. State is not changed. Before the rule of
 * the command itself, sessions that are gone are ended (if the command may take over from them), and the session of the
 * actor is found, brought back or opened.
 */
export function decide(state: State, command: Command, context: CommandContext): Decided {
  if (context.scope === 'read') {
    throw new Fault('not_allowed', `The token of ${context.actor.name} only allows reading.`, {
      hints: ['Ask a maintainer for a token with the scope write.'],
      data: { scope: 'read' },
    });
  }
  const drafts: Draft[] = [];
  let work = state;
  const { actor, session: own, returning } = identify(state, command, context);
  // At a terminal a session of an agent is only stated: the evidence is of a person.
  const evidence = context.evidence === 'terminal' && actor.kind === 'agent' ? 'stated' : context.evidence;
  const by = { actor, evidence, session: null };
  const play = (more: Draft[]): void => {
    if (more.length === 0) return;
    if (work === state) work = forkState(state);
    for (const one of more) evolve(work, provisionalEvent(one, work, context.now, by), context.recall);
    drafts.push(...more);
  };
  const base = { ...context, actor, evidence, session: own };
  if (takesOver.has(command.type) && goneSessions({ ...base, state }).length > 0) {
    play(supervise({ ...base, state }, { type: 'run.supervise' }));
  }
  let session = own;
  if (returning) {
    play(returningSession({ ...base, state: work, session: null }, returning));
    session = [...work.sessions.values()].at(-1) ?? null;
  } else if (session === null && opensSession.has(command.type) && !isLeftOpen(command)) {
    const mark = 'mark' in command ? command.mark : undefined;
    const { owner, client } = context;
    const start = { type: 'session.start', owner, client: client ?? undefined, mark } as const;
    play(startSession(ruleContextOf({ ...base, state: work, session: null }), start));
    session = [...work.sessions.values()].at(-1) ?? null;
  }
  const acting = session ? (work.sessions.get(session.id) ?? null) : null;
  const decided = ruleOf(command.type)(ruleContextOf({ ...base, state: work, session: acting }), command);
  const started = decided.find((one) => one.type === 'session.started');
  return { drafts: [...drafts, ...decided], actor, evidence, session: session?.id ?? started?.body.id ?? null };
}

/** Commands that may take over what a gone session left. */
const takesOver: ReadonlySet<CommandType> = new Set([
  'step.start',
  'step.retry',
  'session.start',
  'claim.take',
  'handoff.accept',
]);

/** Commands that open a session if the actor has none. */
const opensSession: ReadonlySet<CommandType> = new Set(['step.start', 'step.retry', 'claim.take', 'handoff.accept']);

/** A retry that leaves the step for others needs no session. */
const isLeftOpen = (command: Command): boolean => command.type === 'step.retry' && command.open === true;

interface ActingIdentity {
  actor: Actor;
  session: Session | null;
  /** A session that was taken for dead and comes back with this command. */
  returning?: Session;
}

function identify(state: State, command: Command, context: CommandContext): ActingIdentity {
  const { actor, session: named, client } = context;
  if (named !== null) return identifyByName(state, command, context, named);
  if (command.type === 'session.start') return { actor, session: null };
  const conversations = client ? [client.id] : (context.proof?.conversations ?? []);
  const candidates = [...state.sessions.values()].filter(
    (session) =>
      session.agent === actor.name &&
      session.kind === actor.kind &&
      // Two conversations of one client are two sessions.
      (conversations.length === 0 || !session.client || conversations.includes(session.client.id)) &&
      context.owners.get(session.id) !== 'dead',
  );
  const [only, ...others] = candidates;
  if (only && others.length > 0 && needsSession.has(command.type) && !isLeftOpen(command)) {
    const ids = candidates.map((session) => session.id);
    throw new Fault('usage', `${actor.name} has ${ids.length} active sessions. Choose one: ${ids.join(', ')}.`, {
      hints: ['Name it with `--session` or `HOLDFAST_SESSION`.'],
      data: { sessions: ids },
    });
  }
  return { actor, session: others.length > 0 ? null : (only ?? null) };
}

/** Commands that must be recorded under exactly one session. */
const needsSession: ReadonlySet<CommandType> = new Set([
  'step.start',
  'step.checkpoint',
  'step.complete',
  'step.fail',
  'step.retry',
  'step.reopen',
  'step.release',
  'session.end',
  'session.recover',
  'turn.begin',
  'turn.end',
  'claim.take',
  'claim.release',
  'snapshot.take',
  'handoff.offer',
  'handoff.accept',
]);

function identifyByName(state: State, command: Command, context: CommandContext, named: string): ActingIdentity {
  let session =
    state.sessions.get(named) ??
    [...state.sessions.values()].find((one) => one.alias === named || one.client?.id === named);
  let ended = session ? null : context.recall('session', named);
  // A session that came back under a new id can still be named by its old one.
  while (!session && ended?.continuedBy) {
    const next: Session | null = state.sessions.get(ended.continuedBy) ?? context.recall('session', ended.continuedBy);
    if (!next?.returns) break;
    if (next.status === 'active') session = next;
    else ended = next;
  }
  const found = session ?? ended;
  if (found) mustBeOwn(found, context);
  if (session) return { actor: actorOf(session), session };
  // No other session is suggested: it would be someone else's.
  if (!ended) throw notFound('session', named, [], 'See the sessions with `holdfast sessions`.');
  const actor = actorOf(ended);
  const verdict = returnOf(state, ended);
  if (verdict === 'may return') return { actor, session: null, returning: ended };
  // A fenced session may still file a note.
  if (verdict.code === 'fenced' && command.type === 'note.add') return { actor, session: null };
  throw verdict;
}

const actorOf = (session: Session): Actor => ({ kind: session.kind, name: session.agent });

type Rule<T extends CommandType> = (context: RuleContext, command: CommandOf<T>) => Draft[];

function ruleOf<T extends CommandType>(type: T): Rule<T> {
  return rules[type] as unknown as Rule<T>;
}

const rules: { [T in CommandType]: Rule<T> } = {
  'run.open': openRun,
  'run.amend': amendRun,
  'run.abort': abortRun,
  'run.archive': archiveRun,
  'run.unarchive': unarchiveRun,
  'run.supervise': supervise,
  'plan.add': addSteps,
  'plan.change': changeStep,
  'plan.remove': removeStep,
  'step.start': startStep,
  'step.checkpoint': checkpointStep,
  'step.complete': completeStep,
  'step.fail': failStep,
  'step.retry': retryStep,
  'step.skip': skipStep,
  'step.reopen': reopenStep,
  'step.confirm': confirmStep,
  'step.release': releaseStep,
  'step.verify': verifyStep,
  'gate.set': setGate,
  'session.start': startSession,
  'session.end': endSession,
  'session.recover': recoverSession,
  'session.move': moveSession,
  'turn.begin': beginTurn,
  'turn.end': endTurn,
  'claim.take': takeClaim,
  'claim.release': releaseClaim,
  'decision.make': makeDecision,
  'decision.retract': retractDecision,
  'item.raise': raiseItem,
  'item.settle': settleItem,
  'note.add': addNote,
  'note.approve': approveNote,
  'usage.add': addUsage,
  'effect.begin': beginEffect,
  'effect.end': endEffect,
  'files.see': seeFiles,
  'value.put': putValues,
  'value.remove': removeValues,
  'message.send': sendMessage,
  'message.move': moveMessage,
  'message.reply': replyToMessage,
  'message.escalate': escalateMail,
  'worklog.compact': compactWorklog,
  'snapshot.take': takeSnapshot,
  'handoff.offer': offerHandoff,
  'handoff.accept': acceptHandoff,
  'handoff.clarify': clarifyHandoff,
  'handoff.decline': declineHandoff,
  'handoff.withdraw': withdrawHandoff,
  'handoff.finish': finishHandoff,
  'conflict.accept': acceptConflict,
  'mirror.add': addMirror,
  'mirror.remove': removeMirror,
  'account.read': readRunModel,
  'recovery.make': makeRecovery,
  'text.erase': eraseText,
};
