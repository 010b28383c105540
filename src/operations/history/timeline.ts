import * as v from 'valibot';
import { type SessionLabel, sessionLabel } from '../../core/views/labels.ts';
import { sessionWordOf } from '../../core/views/run-state.ts';
import { foldTimeline, gatherUsage, type SessionSpan, type UsagePoint } from '../../core/views/timeline.ts';
import type { Engine } from '../../engine/engine.ts';
import { currentRun } from '../act.ts';
import { limit, version } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

/** Of a longer history only the newest part is read. */
const MOST_EVENTS = 50_000;
const USAGE_POINTS = 300;
const BUSY = 200;

export const timeline = defineOperation({
  name: 'timeline',
  summary: 'Show which session held which step when, how it ended, and the tokens over time.',
  scope: 'read',
  input: v.object({
    at: v.optional(described(version, 'Only up to this version.')),
    limit: limit(200),
  }),
  output: v.object({
    run: v.string(),
    version: v.number(),
    /** The newest ones, the oldest of them first. */
    sittings: v.array(
      shaped<SessionSpan & { label: SessionLabel }>({ session: v.string(), agent: v.string(), from: v.string() }),
    ),
    total: v.number(),
    /** When anything was recorded; the time in between is idle. */
    busy: v.array(v.object({ from: v.string(), to: v.string() })),
    usage: v.array(shaped<UsagePoint>({ at: v.string(), agent: v.string() })),
  }),
  async run(context, { at, limit: wanted = 200 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const [head] = await engine.heads({ run });
    const last = Math.min(at ?? Number.POSITIVE_INFINITY, head?.version ?? 0);
    const folded = foldTimeline();
    for await (const page of engine.eventPages(run, { after: Math.max(0, last - MOST_EVENTS), upTo: last })) {
      for (const event of page) folded.add(event);
    }
    const { sittings, usage, busy } = folded.timeline();
    const labels = await labelsAt(engine, run, at);
    return {
      data: {
        run,
        version: last,
        sittings: sittings.slice(-wanted).map((span) => ({ ...span, label: labels(span) })),
        total: sittings.length,
        busy: busy.slice(-BUSY),
        usage: gatherUsage(usage, USAGE_POINTS),
      },
    };
  },
  say: ({ sittings, total }, pen) =>
    sittings.length === 0
      ? 'No session is recorded.'
      : [
          ...(total > sittings.length ? [pen.dim(`${total - sittings.length} earlier ones`)] : []),
          ...sittings.flatMap(({ session, agent, from, to, status, handedTo, steps }) => [
            `${pen.bold(session)} ${agent} ${pen.dim(`${minute(from)} to ${to ? minute(to) : 'now'}, ${status}${handedTo ? `, handed to ${handedTo}` : ''}`)}`,
            ...steps.map((one) => `    ${one.step} ${pen.dim(`${minute(one.from)} ${one.end}`)}`),
          ]),
        ].join('\n'),
});

/** A session that has not ended is as its process and its lease say; of the past only the events are known. */
async function labelsAt(
  engine: Engine,
  run: string,
  at: number | undefined,
): Promise<(span: SessionSpan) => SessionLabel> {
  const state = at === undefined ? await engine.load(run) : null;
  const liveness = state && (await engine.liveness(state));
  return ({ session, status, handedTo }) => {
    const present = status === 'active' ? state?.sessions.get(session) : undefined;
    if (state && liveness && present) return sessionLabel(sessionWordOf(state, present, liveness));
    return sessionLabel(status, handedTo !== null);
  };
}

const minute = (at: string): string => `${at.slice(0, 16)}Z`;
