import { sideOf } from '../fold/message.ts';
import type { State, Step } from '../fold/state.ts';
import { isSameName } from '../names.ts';
import type { Actor } from '../words.ts';
import { isGone, type Liveness, leaseEnd } from './liveness.ts';
import { mailOf } from './mail.ts';

/** Another agent that works or worked here, what it left, and what it owes the reader. */
export interface Peer {
  agent: string;
  session: string;
  role: string | null;
  /** Active now; gone with steps in progress; or gone with none. */
  state: 'here' | 'mid-stream' | 'complete';
  /** When the lease of an active session ends. */
  until: string | null;
  steps: readonly string[];
  alive: boolean;
  /** Ids of promises to the reader, and of the reader's questions and messages that it has not answered. */
  owes: readonly string[];
  claims: readonly { id: string; files: readonly string[] }[];
}

/** Of peers that left nothing in progress, only the last few matter. */
const COMPLETE_LIMIT = 2;

export function peersOf(state: State, liveness: Liveness, mine: string | null, reader: Actor | null): Peer[] {
  const owes = debtsTo(state, reader, liveness.now);
  const owed = (agent: string): readonly string[] => owes.get(agent) ?? [];
  const here = [...state.sessions.values()]
    .filter((session) => session.id !== mine)
    .map((session): Peer => {
      const { id, agent, role } = session;
      const steps = [...state.steps.values()].filter((step) => step.holder?.session === id);
      return {
        agent,
        session: id,
        role,
        state: 'here',
        until: leaseEnd(session, liveness),
        steps: steps.map((step) => step.key),
        alive: !isGone(session, liveness),
        owes: owed(agent),
        claims: [...state.claims.values()]
          .filter((claim) => claim.session === id)
          .map(({ id: claim, files }) => ({ id: claim, files })),
      };
    });
  const active = new Set([...[...state.sessions.values()].map((session) => session.agent), reader?.name]);
  return [...here, ...peersWhoLeft(state, active, owed)];
}

/** Peers without a session, by the steps they held last. */
function peersWhoLeft(
  state: State,
  active: ReadonlySet<string | undefined>,
  owed: (agent: string) => readonly string[],
): Peer[] {
  const last = new Map<string, Step>();
  const unfinished = new Map<string, string[]>();
  for (const step of state.steps.values()) {
    const { lastAgent: agent, lastSession, status } = step;
    if (agent === null || lastSession === null || active.has(agent)) continue;
    if (status === 'in_progress') unfinished.set(agent, [...(unfinished.get(agent) ?? []), step.key]);
    const known = last.get(agent);
    if (!known || (step.endedAt ?? '') >= (known.endedAt ?? '')) last.set(agent, step);
  }
  const gone = [...last].map(
    ([agent, step]): Peer => ({
      agent,
      session: step.lastSession ?? '',
      role: null,
      state: unfinished.has(agent) ? 'mid-stream' : 'complete',
      until: null,
      steps: unfinished.get(agent) ?? [step.key],
      alive: false,
      owes: owed(agent),
      claims: [],
    }),
  );
  const left = gone.filter((other) => other.state === 'mid-stream' || other.owes.length > 0);
  const rest = gone.filter((other) => !left.includes(other));
  const when = ({ agent }: Peer): string => last.get(agent)?.endedAt ?? '';
  rest.sort((a, b) => (when(a) < when(b) ? 1 : -1));
  return [...left, ...rest.slice(0, COMPLETE_LIMIT)];
}

/** What others owe the reader, by their names. */
function debtsTo(state: State, reader: Actor | null, now: string): Map<string, string[]> {
  const debts = new Map<string, string[]>();
  if (!reader) return debts;
  const owe = (who: string, id: string): void => void debts.set(who, [...(debts.get(who) ?? []), id]);
  for (const { id, kind, by, to } of state.items.values()) {
    if (kind === 'commitment' && to !== undefined && sideOf({ from: by, to }, reader) === 'to') owe(by, id);
    if (kind === 'question' && to !== undefined && isSameName(by, reader.name)) owe(to, id);
  }
  for (const { id, to, type, status } of mailOf(state, reader, now).unanswered) {
    if (type !== 'notify' && status !== 'actioned') owe(to, id);
  }
  return debts;
}
