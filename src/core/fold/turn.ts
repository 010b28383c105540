import type { Event, EventOf, TreeMark } from '../journal/event.ts';
import { questionIn } from '../views/last-words.ts';
import { isFinished } from '../views/left.ts';
import type { Request, Turn } from './conversation.ts';
import { firstAndLastWords, firstWords } from './conversation.ts';
import type { Session, State } from './state.ts';
import type { AddTouch } from './touch.ts';

export function applyTurn(state: State, event: EventOf<'turn.began' | 'turn.ended'>, touch: AddTouch): void {
  const { session } = event.body;
  const before = state.sessions.get(session);
  if (event.type === 'turn.began') openTurn(state, event, session, event.body);
  else {
    closeTurn(state, event, session, event.body);
    for (const id of event.body.background ?? []) outliveTurn(state, id, touch);
  }
  const after = state.sessions.get(session);
  if (!before || !after) return;
  const placed = { ...after, mark: movedMark(after.mark, event.body.mark) };
  state.sessions.set(session, placed);
  touch('session', session, before, placed);
  if (after.turn)
    touch('turn', rowId(after.turn), rowOf(before.turn, after.turn), { id: rowId(after.turn), ...after.turn });
}

/** A command that runs on after the turn it began in is in the background, however it was started. */
function outliveTurn(state: State, id: string, touch: AddTouch): void {
  const before = state.effects.get(id);
  if (!before || before.background) return;
  const after = { ...before, background: true };
  state.effects.set(id, after);
  touch('effect', id, before, after);
}

/** The session stays compared with the commit it started at; only where it works may change. */
function movedMark(before: TreeMark | null, now: TreeMark | undefined): TreeMark | null {
  if (!now || !before) return now ?? before;
  return { ...before, branch: now.branch ?? null, tree: now.tree ?? null };
}

type Began = Partial<Pick<Turn, 'kind' | 'request'>> | EventOf<'turn.began'>['body'];

/** Also for the notes with which version 0.1 recorded a request. */
export function openTurn(state: State, event: Event, session: string, began: Began): void {
  const { kind = 'unknown', request } = began;
  const present = state.sessions.get(session);
  const turn: Turn = {
    session,
    agent: present?.agent ?? event.actor.name,
    kind,
    request: request ? firstWords(request) : null,
    beganAt: event.at,
    version: event.version,
    endedAt: null,
    outcome: null,
    said: null,
    asks: false,
    failure: null,
    background: [],
    cutBy: null,
  };
  keepRequest(state, turn);
  if (present) state.sessions.set(session, { ...present, turn });
  // The turn of a subagent is part of its parent's.
  if (present?.parent === null || !present) state.turn = turn;
}

/** A command to the client is not a request, and neither is "continue" alone. */
function keepRequest(state: State, { kind, request, session, beganAt: at, version }: Turn): void {
  if (request === null || kind === 'command' || state.sessions.get(session)?.parent) return;
  const question = kind === 'answer' && state.turn?.asks && state.turn.said ? questionIn(state.turn.said) : null;
  const made: Request = { text: request, session, at, kind, version, question };
  const { first, current } = state.requests;
  const isNew = current === null || (kind === 'request' && isFinished(state, session));
  state.requests = { first: first ?? made, current: isNew ? made : current, latest: made };
  // The last request of the session before is kept beside the one of this session.
  const before = state.asked.filter((one) => one.session !== session).slice(-1);
  state.asked = [...before, { text: request, session, at }];
}

type Ended = Partial<Pick<Turn, 'outcome' | 'said'>> | EventOf<'turn.ended'>['body'];

/** Also for the snapshots with which version 0.1 recorded the end of a turn. */
export function closeTurn(state: State, event: Event, session: string, ended: Ended): void {
  const { outcome, said, asks, background, failure } = { asks: false, background: [], failure: null, ...ended };
  const present: Session | undefined = state.sessions.get(session);
  if (!present?.turn || present.turn.endedAt !== null) return;
  const turn: Turn = {
    ...present.turn,
    endedAt: event.at,
    outcome: outcome ?? 'done',
    said: said ?? null,
    asks: asks ?? false,
    background: background ?? [],
    failure: failure ?? null,
  };
  state.sessions.set(session, { ...present, turn });
  if (state.turn?.version === turn.version) state.turn = turn;
  if (said && outcome === 'done') state.said = { text: firstAndLastWords(said), session, at: event.at };
}

const rowId = ({ version }: Turn): string => `turn-${version}`;
const rowOf = (before: Turn | null, { version }: Turn): (Turn & { id: string }) | null =>
  before?.version === version ? { id: rowId(before), ...before } : null;
