import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../fault.ts';
import { evolve, fold } from '../fold/evolve.ts';
import { rowsOf } from '../fold/row.ts';
import type { State } from '../fold/state.ts';
import { deserializeState, emptyState, serializeState } from '../fold/state-tables.ts';
import type { Recall, RowKind, Rows } from '../fold/touch.ts';
import type { Event } from '../journal/event.ts';
import { chainVerifier } from '../journal/verify.ts';
import { planView } from '../views/plan.ts';
import { positionOf } from '../views/position.ts';
import { allow, play, turns } from './commands.suite.ts';
import { decide } from './decide.ts';

const RUNS = { numRuns: 60 };
const law = (predicate: (run: ReturnType<typeof play>) => void) =>
  fc.assert(
    fc.property(turns, (played) => {
      predicate(play(played));
    }),
    RUNS,
  );
const stored = (events: readonly Event[]): Event[] => JSON.parse(JSON.stringify(events)) as Event[];
const problems = (events: readonly Event[]) => {
  const verifier = chainVerifier();
  for (const event of events) verifier.push(event);
  return verifier.finish();
};
/** A state as plain data, to compare two regardless of the order of fields. */
const plain = (state: State): unknown =>
  serializeState(state)
    .split('\n')
    .map((line) => JSON.parse(line));

describe('folding', () => {
  it('in parts, through saved state at any version, equals folding at once', () => {
    fc.assert(
      fc.property(turns, fc.array(fc.nat(200), { maxLength: 4 }), (played, cuts) => {
        const events = stored(play(played).events);
        const whole = fold(emptyState(), events);
        let parts = emptyState();
        for (const event of events) {
          if (cuts.includes(event.version)) parts = deserializeState(serializeState(parts));
          evolve(parts, event);
        }
        expect(plain(parts)).toEqual(plain(whole));
      }),
      RUNS,
    );
  });

  it('is saved as ASCII, whatever text is in it', () => {
    const state = emptyState();
    state.counters['größer 日本 🚀'] = 1;
    const saved = serializeState(state);
    expect([...saved].filter((character) => character > '\u007f')).toEqual([]);
    expect(deserializeState(saved).counters).toEqual(state.counters);
  });

  it('stored events give the state that was decided on', () => {
    law((run) => expect(plain(fold(emptyState(), stored(run.events)))).toEqual(plain(run.state)));
  });

  it('without recall gives the same state as with it', () => {
    law((run) => expect(plain(fold(emptyState(), run.events))).toEqual(plain(run.state)));
  });

  it('accepts any recorded history: any selection in any order', () => {
    fc.assert(
      fc.property(turns, fc.infiniteStream(fc.nat()), (played, stream) => {
        const { events } = play(played);
        const shuffled = events
          .map((event) => ({ event, rank: stream.next().value as number }))
          .filter(({ rank }) => rank % 5 !== 0)
          .sort((a, b) => a.rank - b.rank)
          .map(({ event }) => event);
        const rows = new Map<string, unknown>();
        const recall: Recall = <K extends RowKind>(kind: K, id: string) =>
          (rows.get(`${kind}:${id}`) ?? null) as Rows[K] | null;
        const state = emptyState();
        for (const event of shuffled) {
          const touches = evolve(state, event, recall);
          for (const touch of touches) rows.set(`${touch.kind}:${touch.id}`, touch.after);
          rowsOf([{ event, touches }]);
        }
        expect(positionOf(state, planView(state))).toBeDefined();
        expect(plain(fold(emptyState(), shuffled))).toEqual(plain(state));
      }),
      RUNS,
    );
  });
});

describe('deciding', () => {
  it('throws nothing but faults and does not change the state', () => {
    fc.assert(
      fc.property(turns, (played) => {
        play(played, (run, turn) => {
          const before = serializeState(run.state);
          try {
            decide(run.state, turn.command, run.contextOf(turn.by));
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(Fault);
          }
          expect(serializeState(run.state)).toBe(before);
          allow(run, turn);
        });
      }),
      RUNS,
    );
  });

  it('reports a change exactly when it recorded something', () => {
    fc.assert(
      fc.property(turns, (played) => {
        play(played, (run, turn) => {
          const outcome = allow(run, turn);
          if (outcome) expect(outcome.changed.length > 0, outcome.types.join()).toBe(outcome.events.length > 0);
        });
      }),
      RUNS,
    );
  });

  it('never gives an id twice', () => {
    law(({ events }) => {
      const made = events.flatMap((event) => {
        const { body } = event as { body: { id?: string; claim?: string; claims?: { claim: string }[] } };
        const first = /\.(started|taken|made|raised|added|began|sent|offered)$/.test(event.type);
        const own = first && body.id && event.type !== 'step.added' ? [body.id] : [];
        return [...own, ...(body.claim ? [body.claim] : []), ...(body.claims ?? []).map(({ claim }) => claim)];
      });
      expect(made.filter((id, index) => made.indexOf(id) !== index)).toEqual([]);
    });
  });

  it('keeps every holder an active session, and every held step in progress', () => {
    law(({ state }) => {
      for (const step of state.steps.values()) {
        if (!step.holder) continue;
        expect(step.status).toBe('in_progress');
        expect(state.sessions.get(step.holder.session)?.held).toContain(step.key);
      }
      for (const claim of state.claims.values()) expect(state.sessions.has(claim.session)).toBe(true);
    });
  });
});

describe('the chain', () => {
  it('of what was decided holds', () => {
    law(({ events }) => expect(problems(stored(events))).toEqual([]));
  });

  it('shows any field that was changed', () => {
    fc.assert(
      fc.property(turns, fc.nat(), fc.nat(), (played, where, which) => {
        const events = stored(play(played).events);
        const event = events[where % events.length] as unknown as Record<string, unknown>;
        const fields = Object.keys(event);
        const field = fields[which % fields.length] as string;
        event[field] = tampered(event[field]);
        expect(problems(events as Event[])).not.toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('shows a dropped event, unless it was the last, and a swapped pair', () => {
    fc.assert(
      fc.property(turns, fc.nat(), (played, where) => {
        const { events } = play(played);
        fc.pre(events.length > 2);
        const at = where % (events.length - 1);
        expect(problems(events.toSpliced(at, 1))).not.toEqual([]);
        const [one, other] = events.slice(at, at + 2) as [Event, Event];
        expect(problems(events.toSpliced(at, 2, other, one))).not.toEqual([]);
      }),
      RUNS,
    );
  });
});

function tampered(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  if (value === null) return 'x';
  return { ...(value as object), name: 'x' };
}
