import { sideOf } from '../fold/message.ts';
import type { Decision, State } from '../fold/state.ts';
import type { Mail } from '../views/mail.ts';
import type { Offer } from '../views/offer.ts';
import type { Peer } from '../views/peer.ts';
import type { Actor } from '../words.ts';
import type { Open, Rule } from './facts.ts';
import type { BriefFields, BriefItem } from './fields.ts';

/** Constraints, the plan shown to the user, dead ends, irreversible decisions, decisions on the position, what was built. */
export function ruleFacts(state: State, decisions: readonly Decision[], built: readonly { text: string }[]): Rule[] {
  const notes = [...state.notes.values()];
  const rule = (decision: Decision): Rule => ({
    is: 'decision',
    id: decision.id,
    text: decision.decision,
    reason: decision.reason,
    irreversible: decision.irreversible ?? false,
    clone: null,
  });
  return [
    ...notes
      .filter(({ kind }) => kind === 'constraint')
      .map(({ id, at, text }): Rule => ({ is: 'constraint', id, at, text })),
    ...shownPlan(state),
    ...notes.filter(({ kind }) => kind === 'dead-end').map(({ id, text }): Rule => ({ is: 'dead-end', id, text })),
    ...decisions.filter(({ irreversible }) => irreversible).map(rule),
    ...decisions.filter(({ irreversible }) => !irreversible).map(rule),
    ...built.map(({ text }): Rule => ({ is: 'built', text })),
  ];
}

/** The plan that the user was shown for the current request. */
function shownPlan({ plan, requests }: State): Rule[] {
  if (plan === null || plan.at < (requests.current?.at ?? '')) return [];
  const { approvedAt, at, text } = plan;
  return [{ is: approvedAt === null ? 'proposed-plan' : 'approved-plan', at: approvedAt ?? at, text }];
}

type Listed = Pick<
  BriefFields,
  'offers' | 'errors' | 'blockers' | 'questions' | 'mail' | 'commitments' | 'findings' | 'conflicts' | 'others'
>;

/** Everything that is open, in the order of its kinds. `isPlanned`: conflicts with files count, beside what is said of files. */
export function openFacts(listed: Listed, state: State, reader: Actor | null, isPlanned: boolean): Open[] {
  return [
    ...listed.offers.map(offer),
    ...listed.errors.map(
      ({ id, alias, since, text, step }): Open => ({ is: 'error', id, alias, at: since, text, step }),
    ),
    ...listed.blockers.map(
      ({ id, alias, since, text, affects, workaround }): Open => ({
        is: 'blocker',
        id,
        alias,
        at: since,
        text,
        affects,
        workaround,
      }),
    ),
    ...listed.questions.map((item) => question(item, state)),
    ...messages(listed.mail, reader),
    ...listed.commitments.map(
      ({ id, alias, since, text, by, to, due, overdue }): Open => ({
        is: 'commitment',
        id,
        alias,
        at: since,
        text,
        by,
        to,
        due,
        late: overdue,
      }),
    ),
    ...listed.findings
      .filter(({ severity }) => isPlanned || severity === 'must_fix')
      .map(({ id, alias, since, text, severity }): Open => ({ is: 'finding', id, alias, at: since, text, severity })),
    ...listed.conflicts
      .filter(({ kind }) => isPlanned && kind !== 'other_branch')
      .map(({ id, since, path, kind }): Open => ({ is: 'conflict', id, at: since, path, kind })),
    ...listed.others.filter((peer) => peer.state === 'here' && peer.alive).map((peer) => session(peer, state)),
  ];
}

const offer = ({ id, by, at, message }: Offer): Open => ({ is: 'offer', id, by, at, text: message });

function question({ id, alias, since, text, to, forReader }: BriefItem, state: State): Open {
  const isAgent = to !== null && [...state.sessions.values()].some((one) => one.agent === to && one.kind === 'agent');
  const recipient = forReader ? 'reader' : to !== null && isAgent ? { name: to } : 'user';
  return { is: 'question', id, alias, at: since, text, to: recipient };
}

function messages({ unread, pendingAcks, replies, unanswered }: Mail, reader: Actor | null): Open[] {
  const all = new Map([...unread, ...replies, ...pendingAcks, ...unanswered].map((message) => [message.id, message]));
  return [...all.values()].map(
    (message): Open => ({
      is: 'message',
      id: message.id,
      alias: message.alias,
      at: message.news.at(-1)?.at ?? message.at,
      text: message.news.at(-1)?.text ?? message.subject,
      from: message.news.at(-1)?.by ?? message.from,
      toReader: reader !== null && (sideOf(message, reader) === 'to' || message.news.length > 0),
      priority: message.priority,
      late: message.overdue !== null,
      answers: message.news.length > 0 ? message.subject : null,
    }),
  );
}

function session({ agent, session: id, steps, claims }: Peer, { sessions }: State): Open {
  const files = claims.flatMap((claim) => claim.files);
  return { is: 'session', who: { agent, session: id }, at: sessions.get(id)?.startedAt ?? '', steps, files };
}
