import { spentIn } from '../fold/spent.ts';
import type { Event, EventOf } from '../journal/event.ts';
import { msBetween } from '../time.ts';

/** A session as a span of time, with the steps it held. */
export interface SessionSpan {
  session: string;
  agent: string;
  kind: 'agent' | 'person';
  role: string;
  from: string;
  /** Null while the session has not ended. */
  to: string | null;
  status: string;
  continues: string | null;
  parent: string | null;
  /** The client that reported it, and the machine it ran on, where they are known. */
  client: string | null;
  host: string | null;
  /** The agent that took over its work in a handoff. */
  handedTo: string | null;
  steps: StepSpan[];
  turns: TurnSpan[];
}

/** From a request to the end of the work on it. */
export interface TurnSpan {
  request: string | null;
  from: string;
  /** Null while it is open, and for good if its session was cut off. */
  to: string | null;
  outcome: string | null;
}

/** The time in which one session held one step. */
export interface StepSpan {
  step: string;
  from: string;
  to: string | null;
  end: 'held' | 'completed' | 'failed' | 'released' | 'interrupted' | 'crashed' | 'handed';
  checkpoints: { name: string; at: string }[];
}

export interface UsagePoint {
  at: string;
  agent: string;
  session: string | null;
  model: string | null;
  /** With the cached ones. */
  input: number;
  output: number;
  cached: number;
}

export interface Timeline {
  /** The oldest session first. The name is part of the `--json` output. */
  sittings: SessionSpan[];
  usage: UsagePoint[];
  /** When anything was recorded: times with nothing in between for longer than this view calls idle are apart. */
  busy: { from: string; to: string }[];
}

/** Silence for longer than this is shown as a break. */
export const IDLE_MS = 20 * 60_000;

export interface TimelineFold {
  add(event: Event): void;
  timeline(): Timeline;
}

/** Gathers who did what and when from events in order. A history that starts in the middle gives what it has. */
export function foldTimeline(): TimelineFold {
  const spans: Spans = { sessions: new Map(), open: new Map(), offers: new Map(), usage: [], busy: [] };
  return {
    add: (event) => {
      addBusy(spans, event.at);
      addEvent(spans, event);
    },
    timeline: () => ({ sittings: [...spans.sessions.values()], usage: spans.usage, busy: spans.busy }),
  };
}

interface Spans {
  sessions: Map<string, SessionSpan>;
  /** Steps that are held now. */
  open: Map<string, { holder: SessionSpan; span: StepSpan }>;
  /** The session that made each handoff offer. */
  offers: Map<string, string>;
  usage: UsagePoint[];
  busy: Timeline['busy'];
}

function addBusy({ busy }: Spans, at: string): void {
  const last = busy.at(-1);
  if (last && msBetween(last.to, at) <= IDLE_MS) last.to = at > last.to ? at : last.to;
  else busy.push({ from: at, to: at });
}

function addEvent(spans: Spans, event: Event): void {
  const { at } = event;
  switch (event.type) {
    case 'session.started': {
      const { id, agent, kind, role, continues = null, parent = null, client, owner } = event.body;
      const place = { client: client?.name ?? null, host: owner?.host.split(' ')[0] ?? null };
      const rest = { from: at, to: null, status: 'active', handedTo: null, steps: [], turns: [], ...place };
      spans.sessions.set(id, { session: id, agent, kind, role, continues, parent, ...rest });
      return;
    }
    case 'turn.began': {
      const { session, request = null } = event.body;
      spans.sessions.get(session)?.turns.push({ request, from: at, to: null, outcome: null });
      return;
    }
    case 'turn.ended': {
      const open = spans.sessions.get(event.body.session)?.turns.at(-1);
      if (open && open.to === null) Object.assign(open, { to: at, outcome: event.body.outcome });
      return;
    }
    case 'session.ended':
      return endSession(spans, event.body.id, event.body.lastSeenAt ?? at, event.body.reason);
    case 'step.started':
      return startStep(spans, event.body.step, event.body.session, at);
    case 'step.retried':
    case 'step.reopened':
      if (event.body.session) startStep(spans, event.body.step, event.body.session, at);
      return;
    case 'step.checkpointed':
      spans.open.get(event.body.step)?.span.checkpoints.push({ name: event.body.name, at });
      return;
    case 'step.completed':
      return endStep(spans, event.body.step, at, 'completed');
    case 'step.failed':
      return endStep(spans, event.body.step, at, 'failed');
    case 'step.released':
      return endStep(spans, event.body.step, at, 'released');
    case 'handoff.offered':
      spans.offers.set(event.body.id, event.body.from);
      return;
    case 'handoff.accepted':
      return handOver(spans, event);
    case 'usage.added': {
      const { agent, model = null } = event.body;
      const { session } = event;
      const isOfClient = session !== null && (spans.sessions.get(session)?.client ?? null) !== null;
      const { input, output, cached } = spentIn(event, isOfClient);
      spans.usage.push({ at, agent, session, model, input, output, cached: cached ?? 0 });
      return;
    }
    default:
      return;
  }
}

function startStep(spans: Spans, step: string, session: string, at: string): void {
  const holder = spans.sessions.get(session);
  endStep(spans, step, at, 'interrupted');
  if (!holder) return;
  const span: StepSpan = { step, from: at, to: null, end: 'held', checkpoints: [] };
  holder.steps.push(span);
  spans.open.set(step, { holder, span });
}

function endStep({ open }: Spans, step: string, at: string, end: StepSpan['end']): void {
  const held = open.get(step);
  if (held) Object.assign(held.span, { to: at, end });
  open.delete(step);
}

function endSession(spans: Spans, id: string, at: string, reason: string): void {
  const session = spans.sessions.get(id);
  if (!session) return;
  Object.assign(session, { to: at, status: reason });
  for (const [step, { holder }] of spans.open) {
    if (holder === session) endStep(spans, step, at, reason === 'crashed' ? 'crashed' : 'interrupted');
  }
}

function handOver(spans: Spans, { at, body: { id, session, claims } }: EventOf<'handoff.accepted'>): void {
  const { sessions, open, offers } = spans;
  const sender = sessions.get(offers.get(id) ?? '');
  if (sender) sender.handedTo = sessions.get(session)?.agent ?? null;
  for (const { step } of claims) {
    // The sender may have ended just before, but its steps were still handed over.
    const last = sender?.steps.findLast((one) => one.step === step);
    if (last) Object.assign(last, { to: last.to ?? at, end: 'handed' });
    open.delete(step);
    startStep(spans, step, session, at);
  }
}

/** Divides the whole time into so many equal parts, and sums up each agent's points in each part. */
export function gatherUsage(points: readonly UsagePoint[], parts: number): UsagePoint[] {
  const first = points[0]?.at;
  const last = points.at(-1)?.at;
  if (first === undefined || last === undefined || points.length <= parts) return [...points];
  const width = Math.max(1, msBetween(first, last) / parts);
  const sums = new Map<string, UsagePoint>();
  for (const point of points) {
    const key = `${Math.floor(msBetween(first, point.at) / width)} ${point.agent} ${point.session} ${point.model}`;
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
