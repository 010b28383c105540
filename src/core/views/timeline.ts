import type { Event } from '../journal/event.ts';
import { msBetween } from '../time.ts';

/** One sitting as a stretch of time, with the steps it held. */
export interface SessionSpan {
  session: string;
  agent: string;
  kind: 'agent' | 'person';
  role: string;
  from: string;
  /** Null while it has not ended. */
  to: string | null;
  status: string;
  continues: string | null;
  parent: string | null;
  /** Who took its work over, by name. */
  handedTo: string | null;
  steps: StepSpan[];
}

/** A step in one pair of hands. */
export interface StepSpan {
  step: string;
  from: string;
  to: string | null;
  end: 'held' | 'completed' | 'failed' | 'released' | 'interrupted' | 'crashed' | 'handed';
  checkpoints: { name: string; at: string }[];
}

/** Tokens told of at a moment. */
export interface UsagePoint {
  at: string;
  agent: string;
  input: number;
  output: number;
  cached: number;
}

export interface Timeline {
  sittings: SessionSpan[];
  usage: UsagePoint[];
}

export interface TimelineFold {
  add(event: Event): void;
  /** What was added so far, the oldest sitting first. */
  timeline(): Timeline;
}

/** Gathers who did what when from events in their order. A history that begins in the middle gives what it has. */
export function foldTimeline(): TimelineFold {
  const sittings = new Map<string, SessionSpan>();
  const open = new Map<string, { sitting: SessionSpan; stretch: StepSpan }>();
  const offers = new Map<string, string>();
  const usage: UsagePoint[] = [];

  function begin(step: string, session: string, at: string): void {
    const sitting = sittings.get(session);
    end(step, at, 'interrupted');
    if (!sitting) return;
    const stretch: StepSpan = { step, from: at, to: null, end: 'held', checkpoints: [] };
    sitting.steps.push(stretch);
    open.set(step, { sitting, stretch });
  }

  function end(step: string, at: string, how: StepSpan['end']): void {
    const held = open.get(step);
    if (!held) return;
    Object.assign(held.stretch, { to: at, end: how });
    open.delete(step);
  }

  function endSession(id: string, at: string, reason: string): void {
    const session = sittings.get(id);
    if (!session) return;
    Object.assign(session, { to: at, status: reason });
    for (const [step, held] of open) {
      if (held.sitting === session) end(step, at, reason === 'crashed' ? 'crashed' : 'interrupted');
    }
  }

  function add(event: Event): void {
    const { at } = event;
    switch (event.type) {
      case 'session.started': {
        const { id, agent, kind, role, continues = null, parent = null } = event.body;
        const rest = { from: at, to: null, status: 'active', handedTo: null, steps: [] };
        sittings.set(id, { session: id, agent, kind, role, continues, parent, ...rest });
        return;
      }
      case 'session.ended':
        return endSession(event.body.id, event.body.lastSeenAt ?? at, event.body.reason);
      case 'step.started':
        return begin(event.body.step, event.body.session, at);
      case 'step.retried':
      case 'step.reopened':
        if (event.body.session) begin(event.body.step, event.body.session, at);
        return;
      case 'step.checkpointed':
        open.get(event.body.step)?.stretch.checkpoints.push({ name: event.body.name, at });
        return;
      case 'step.completed':
        return end(event.body.step, at, 'completed');
      case 'step.failed':
        return end(event.body.step, at, 'failed');
      case 'step.released':
        return end(event.body.step, at, 'released');
      case 'handoff.offered':
        offers.set(event.body.id, event.body.from);
        return;
      case 'handoff.accepted': {
        const { id, session, claims } = event.body;
        const sender = sittings.get(offers.get(id) ?? '');
        if (sender) sender.handedTo = sittings.get(session)?.agent ?? null;
        for (const { step } of claims) {
          // The sender may have been ended a moment before: what it had was handed over all the same.
          const last = sender?.steps.findLast((one) => one.step === step);
          if (last) Object.assign(last, { to: last.to ?? at, end: 'handed' });
          open.delete(step);
          begin(step, session, at);
        }
        return;
      }
      case 'usage.added': {
        const { agent, input, output, cached = 0 } = event.body;
        usage.push({ at, agent, input, output, cached });
        return;
      }
      default:
        return;
    }
  }

  return { add, timeline: () => ({ sittings: [...sittings.values()], usage }) };
}

/** Sums points of one agent that fall into the same of so many equal parts of the whole time. */
export function gatherUsage(points: readonly UsagePoint[], parts: number): UsagePoint[] {
  const first = points[0]?.at;
  const last = points.at(-1)?.at;
  if (first === undefined || last === undefined || points.length <= parts) return [...points];
  const width = Math.max(1, msBetween(first, last) / parts);
  const sums = new Map<string, UsagePoint>();
  for (const point of points) {
    const key = `${Math.floor(msBetween(first, point.at) / width)} ${point.agent}`;
    const sum = sums.get(key);
    if (!sum) sums.set(key, { ...point });
    else {
      sum.at = point.at;
      sum.input += point.input;
      sum.output += point.output;
      sum.cached += point.cached;
    }
  }
  return [...sums.values()];
}
