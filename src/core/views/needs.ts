import type { Effect, State } from '../fold/state.ts';
import type { Conflict } from './conflict.ts';
import { questionIn } from './last-words.ts';
import { isInTurn, isUncertain, isWaiting, openQuestion } from './left.ts';
import { isGone, type Liveness } from './liveness.ts';
import { type Waiting, waitsForPerson } from './needs-you.ts';

/** Something that a person should look at: the same list, and so the same number, wherever it is shown. */
export interface Need {
  kind: Waiting['kind'] | 'effect' | 'conflict' | 'reply' | 'blocker';
  /** What a command takes: an id or a step key; of a reply its session. */
  id: string;
  text: string;
  /** Null where no time is known. */
  at: string | null;
  by: string | null;
  step: string | null;
  /** Of an effect: it cannot be undone. */
  irreversible: boolean;
  /** Of a conflict: what was recorded, and what is there. */
  expected?: string;
  found?: string;
}

/** Unknown outcomes first, those that cannot be undone before the others. */
export function needsOf(state: State, liveness: Liveness, conflicts: readonly Conflict[] = []): Need[] {
  const base = { by: null, step: null, irreversible: false };
  return [
    ...unknownOutcomes(state, liveness).map((effect) => ({
      ...base,
      kind: 'effect' as const,
      id: effect.id,
      text: effect.name,
      at: effect.at,
      by: effect.by,
      step: effect.step ?? null,
      irreversible: effect.class === 'irreversible',
    })),
    ...replyOf(state).map((reply) => ({ ...base, ...reply })),
    ...waitsForPerson(state).flatMap((what) => waitingNeeds(state, what)),
    ...conflicts.map(({ id, path, since, step, expected, found }) => ({
      ...base,
      kind: 'conflict' as const,
      id,
      text: path,
      at: since,
      step,
      expected,
      found,
    })),
  ];
}

/** Effects without a recorded end that are not simply running: nobody knows whether they happened. */
export function unknownOutcomes(state: State, liveness: Liveness): Effect[] {
  return [...state.effects.values()]
    .filter((effect) => isUncertain(effect) && !effect.asks && !isRunning(state, effect, liveness))
    .sort((a, b) => Number(b.class === 'irreversible') - Number(a.class === 'irreversible') || (a.at < b.at ? 1 : -1));
}

/** Its session is alive, and either in its turn or not expected to wait for it. */
export function isRunning(state: State, { session, background }: Effect, liveness: Liveness): boolean {
  const present = session === null ? undefined : state.sessions.get(session);
  return present !== undefined && !isGone(present, liveness) && (isInTurn(present) || background === true);
}

/** The agent asked in its conversation, or showed a plan: the answer is given there. */
function replyOf(state: State): Pick<Need, 'kind' | 'id' | 'text' | 'at' | 'by'>[] {
  if (!isWaiting(state)) return [];
  const { turn } = state;
  const asked = openQuestion(state);
  if (asked) return [{ kind: 'reply', id: asked.session ?? asked.id, text: asked.name, at: asked.at, by: asked.by }];
  if (!turn) return [];
  const text = (turn.said === null ? null : questionIn(turn.said)) ?? 'It ended its turn with a question.';
  return [{ kind: 'reply', id: turn.session, text, at: turn.endedAt, by: turn.agent }];
}

function waitingNeeds(state: State, { kind, id, text }: Waiting): Need[] {
  const base = { irreversible: false, at: null, by: null, step: null };
  switch (kind) {
    case 'question':
    case 'failure': {
      const item = state.items.get(id);
      const step = kind === 'failure' ? failedStep(state, id) : (item?.step ?? null);
      return [{ ...base, kind, id, text, at: item?.raisedAt ?? null, by: item?.by ?? null, step }];
    }
    case 'gate':
      return [{ ...base, kind, id, text, step: id }];
    case 'mail': {
      const message = state.messages.get(id);
      return [{ ...base, kind, id, text, at: message?.at ?? null, by: message?.from ?? null }];
    }
    case 'handoff': {
      const handoff = state.handoffs.get(id);
      return [{ ...base, kind, id, text, at: handoff?.at ?? null, by: handoff?.to ?? null }];
    }
    case 'escalation': {
      // Everything that remains is blocked: the blockers are what a person can resolve.
      const active = [...state.items.values()].filter((item) => item.kind === 'blocker' && item.status === 'active');
      return active.map((item) => ({
        ...base,
        kind: 'blocker' as const,
        id: item.id,
        text: item.text,
        at: item.raisedAt,
        by: item.by,
        step: item.step ?? item.affects?.find((key) => state.steps.has(key)) ?? null,
      }));
    }
    default:
      return kind satisfies never;
  }
}

function failedStep(state: State, id: string): string | null {
  if (state.steps.has(id)) return id;
  for (const step of state.steps.values()) if (step.error === id) return step.key;
  return null;
}
