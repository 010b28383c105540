import type { State } from '../fold/state.ts';
import { id, type Line, line, quote } from '../line.ts';
import { type PlanView, planView } from './plan.ts';

/** Something that waits for a person. */
export interface Waiting {
  kind: 'question' | 'gate' | 'mail' | 'failure' | 'handoff' | 'escalation';
  /** An item, message or handoff, a step key, or the run. */
  id: string;
  text: string;
}

/** What waits for a person now. A gate counts once it is the only obstacle. */
export function waitsForPerson(state: State): Waiting[] {
  const plan = planView(state);
  const isAgent = agentsOf(state);
  const waiting: Waiting[] = [];
  for (const item of state.items.values()) {
    if (item.kind === 'question' && item.status === 'open' && !(item.to !== undefined && isAgent(item.to))) {
      waiting.push({ kind: 'question', id: item.id, text: item.text });
    }
  }
  for (const { step, status, obstacles } of plan.all) {
    const [only, ...others] = obstacles;
    if (status === 'pending' && only?.kind === 'gate' && only.step === step.key && others.length === 0) {
      waiting.push({ kind: 'gate', id: step.key, text: step.title });
    }
  }
  for (const { step, status } of plan.leaves) {
    if (status !== 'failed') continue;
    const error = step.error === null ? undefined : state.items.get(step.error);
    const text = `${step.key} ${step.title}${error ? `: ${error.text}` : ''}`;
    waiting.push({ kind: 'failure', id: step.error ?? step.key, text });
  }
  for (const message of state.messages.values()) {
    const isUrgent = message.priority === 'P0' || message.priority === 'P1';
    if (isUrgent && message.status === 'unread' && !isAgent(message.to)) {
      waiting.push({ kind: 'mail', id: message.id, text: message.subject });
    }
  }
  for (const handoff of state.handoffs.values()) {
    if (handoff.status === 'clarifying') {
      waiting.push({ kind: 'handoff', id: handoff.id, text: handoff.question ?? 'It has a question.' });
    }
  }
  if (plan.escalated) {
    waiting.push({ kind: 'escalation', id: state.run?.id ?? '', text: 'All that remains is blocked.' });
  }
  return waiting;
}

/** The same in short, for the brief and the worklog. A gate is listed as soon as it is closed. */
export function owedByPeople(state: State, plan: PlanView): Line[] {
  const gates = plan.all.filter((view) => view.step.gate?.state === 'closed' && view.status === 'pending');
  const failed = plan.leaves.filter((view) => view.status === 'failed');
  const offers = [...state.handoffs.values()].filter((handoff) => handoff.status === 'clarifying');
  return [
    ...gates.map((view) => line`gate ${quote(view.step.key, 'name')}`),
    ...failed.map(({ step }) => {
      const what = step.error === null ? quote(step.key, 'name') : id(step.error);
      return line`${what} (retry, skip, abort, adjust)`;
    }),
    ...offers.map((handoff) => line`${id(handoff.id)} has a question`),
    ...(plan.escalated ? [line`all that remains is blocked`] : []),
  ];
}

/** Names with a session, a step or token usage are agents. Every other name counts as a person. */
function agentsOf(state: State): (name: string) => boolean {
  const agents = new Set<string>();
  for (const session of state.sessions.values()) if (session.kind === 'agent') agents.add(session.agent);
  for (const step of state.steps.values()) {
    if (step.lastAgent !== null && step.lastAgent !== undefined) agents.add(step.lastAgent);
    for (const agent of step.agents) agents.add(agent);
  }
  for (const { agent } of state.usage.values()) agents.add(agent);
  return (name) => agents.has(name);
}
