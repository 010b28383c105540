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
import { addNote } from './note.ts';
import { addSteps, changeStep, removeStep } from './plan.ts';
import { makeRecovery } from './recovery.ts';
import { pretend, type RuleContext, ruleContextOf } from './rule-context.ts';
import { abortRun, amendRun, archiveRun, openRun, unarchiveRun } from './run.ts';
import { readRunModel } from './run-model.ts';
import {
  endSession,
  goneSessions,
  recoverSession,
  returningSession,
  returnOf,
  startSession,
  supervise,
} from './session.ts';
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
import { addUsage } from './usage.ts';
import { compactWorklog } from './worklog.ts';

/** Who asks, when, and what is known of the world. */
export interface Circumstances extends Liveness {
  actor: Actor;
  /** The session named by the caller, if one was. */
  session: string | null;
  /** The process a session that is opened now belongs to, where that is known. */
  owner?: Owner | undefined;
  /**
   * What a token allows the one who asks; undefined where nobody asked for one. Who comes with a token is proven to be who
   * it says: it speaks under its own name only, and decides as a person only if the token lets it.
   */
  scope?: Scope | undefined;
  /** The conversation of a client the caller is in, where that is known. */
  client?: Session['client'] | undefined;
  /** Records that folded state no longer holds, by kind and id or alias. */
  recall<K extends RowKind>(kind: K, reference: string): Rows[K] | null;
}

export interface Decided {
  drafts: Draft[];
  /** Who the events are recorded under: the session may be one that this very decision opens. */
  actor: Actor;
  session: string | null;
}

/**
 * All rules in one place: a command and the state it was asked in give events, or a fault. Nothing is changed here.
 * Before the command's own rule, sessions that are gone are marked (where the command may take over from them), and a
 * session is found, brought back or opened for the one who asks.
 */
export function decide(state: State, command: Command, circumstances: Circumstances): Decided {
  const drafts: Draft[] = [];
  let work = state;
  const play = (more: Draft[], actor: Actor, session: string | null): void => {
    if (more.length === 0) return;
    if (work === state) work = forkState(state);
    for (const one of more) evolve(work, pretend(one, work, circumstances.now, actor, session), circumstances.recall);
    drafts.push(...more);
  };

  if (circumstances.scope === 'read') {
    throw new Fault('not_allowed', `The token of ${circumstances.actor.name} only lets it look.`, {
      hints: ['Ask a maintainer for a token with the scope write.'],
      data: { scope: 'read' },
    });
  }
  const caller = findCaller(state, command, circumstances);
  const base = { ...circumstances, actor: caller.actor, session: caller.session };
  if (takesOver.has(command.type) && goneSessions({ ...base, state }).length > 0) {
    play(supervise({ ...base, state }, { type: 'run.supervise' }), caller.actor, null);
  }
  let { session } = caller;
  if (caller.returning) {
    play(returningSession({ ...base, state: work, session: null }, caller.returning), caller.actor, null);
    session = [...work.sessions.values()].at(-1) ?? null;
  } else if (session === null && opensSession.has(command.type) && !isLeftOpen(command)) {
    const context = ruleContextOf({ ...base, state: work, session: null });
    const mark = 'mark' in command ? command.mark : undefined;
    const { owner, client } = circumstances;
    play(
      startSession(context, { type: 'session.start', owner, client: client ?? undefined, mark }),
      caller.actor,
      null,
    );
    session = [...work.sessions.values()].at(-1) ?? null;
  }
  const scene = ruleContextOf({
    ...base,
    state: work,
    session: session ? (work.sessions.get(session.id) ?? null) : null,
  });
  const own = ruleOf(command.type)(scene, command);
  const started = own.find((one) => one.type === 'session.started');
  return { drafts: [...drafts, ...own], actor: caller.actor, session: session?.id ?? started?.body.id ?? null };
}

/** Commands that may take what a dead session left. */
const takesOver: ReadonlySet<CommandType> = new Set([
  'step.start',
  'step.retry',
  'session.start',
  'claim.take',
  'handoff.accept',
]);

/** Commands that need a session and are worth opening one for. */
const opensSession: ReadonlySet<CommandType> = new Set(['step.start', 'step.retry', 'claim.take', 'handoff.accept']);

/** A step that is put back for others is nobody's sitting. */
const isLeftOpen = (command: Command): boolean => command.type === 'step.retry' && command.open === true;

interface Caller {
  actor: Actor;
  session: Session | null;
  /** A session that was taken for dead and comes back with this command. */
  returning?: Session;
}

function findCaller(state: State, command: Command, circumstances: Circumstances): Caller {
  const { actor, session: named, client } = circumstances;
  if (named !== null) return namedCaller(state, command, circumstances, named);
  if (command.type === 'session.start') return { actor, session: null };
  const candidates = [...state.sessions.values()].filter(
    (session) =>
      session.agent === actor.name &&
      session.kind === actor.kind &&
      // Two conversations of one client are two sittings.
      (!client || !session.client || session.client.id === client.id) &&
      circumstances.owners.get(session.id) !== 'dead',
  );
  const [only, ...others] = candidates;
  if (only && others.length > 0 && needsSession.has(command.type) && !isLeftOpen(command)) {
    const ids = candidates.map((session) => session.id);
    throw new Fault(
      'usage',
      `${actor.name} has ${ids.length} active sessions: ${ids.join(', ')}. Say which one is meant.`,
      {
        hints: ['Name it with `--session` or `HOLDFAST_SESSION`.'],
        data: { sessions: ids },
      },
    );
  }
  return { actor, session: others.length > 0 ? null : (only ?? null) };
}

/** Commands that are recorded under one session and no other. */
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
  'claim.take',
  'claim.release',
  'snapshot.take',
  'handoff.offer',
  'handoff.accept',
]);

function namedCaller(state: State, command: Command, circumstances: Circumstances, named: string): Caller {
  let session =
    state.sessions.get(named) ??
    [...state.sessions.values()].find((one) => one.alias === named || one.client?.id === named);
  let ended = session ? null : circumstances.recall('session', named);
  // A session that came back under a new number is still called by its old one.
  while (!session && ended?.continuedBy) {
    const next: Session | null =
      state.sessions.get(ended.continuedBy) ?? circumstances.recall('session', ended.continuedBy);
    if (!next?.returns) break;
    if (next.status === 'active') session = next;
    else ended = next;
  }
  const found = session ?? ended;
  if (found) mustBeOwn(found, circumstances);
  if (session) return { actor: actorOf(session), session };
  if (!ended) throw notFound('session', named, state.sessions.keys(), 'See the sessions with `holdfast sessions`.');
  const actor = actorOf(ended);
  const verdict = returnOf(state, ended);
  if (verdict === 'may return') return { actor, session: null, returning: ended };
  // What a fenced session has found is welcome as a note.
  if (verdict.code === 'fenced' && command.type === 'note.add') return { actor, session: null };
  throw verdict;
}

/** A token is proof of one name: with another's session its bearer would sign as somebody else. */
function mustBeOwn(session: Session, { scope, actor }: Circumstances): void {
  if (scope === undefined || (session.agent === actor.name && session.kind === actor.kind)) return;
  throw new Fault('not_allowed', `${session.id} is a session of ${session.agent}; this token is ${actor.name}'s.`, {
    hints: ['Name a session of your own, or none.', 'See the sessions with `holdfast sessions`.'],
    data: { session: session.id, agent: session.agent, actor },
  });
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
  'claim.take': takeClaim,
  'claim.release': releaseClaim,
  'decision.make': makeDecision,
  'decision.retract': retractDecision,
  'item.raise': raiseItem,
  'item.settle': settleItem,
  'note.add': addNote,
  'usage.add': addUsage,
  'effect.begin': beginEffect,
  'effect.end': endEffect,
  'files.see': seeFiles,
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
