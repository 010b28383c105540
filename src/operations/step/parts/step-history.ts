import type { Note, Step } from '../../../core/fold/state.ts';
import type { Engine } from '../../../engine/engine.ts';

export interface StepHistory {
  checkpoints: { name: string; at: string; next: string | null }[];
  /** The sessions that held it, the newest last. */
  sessions: string[];
  notes: Note[];
}

/** A history up to this length is read whole; of a longer one only the events since the step was last taken. */
const READ_WHOLE = 5000;
const MOST_EVENTS = 20_000;

/** What only the events have: every checkpoint, who held the step, and notes on it. */
export async function readStepHistory(engine: Engine, run: string, step: Step): Promise<StepHistory> {
  const [head] = await engine.heads({ run });
  const last = head?.version ?? 0;
  const after = last <= READ_WHOLE ? 0 : Math.max(0, step.startedVersion - 1);
  const history: StepHistory = { checkpoints: [], sessions: [], notes: [] };
  if (last > READ_WHOLE && step.startedVersion === 0) return history;
  for await (const page of engine.eventPages(run, { after, upTo: Math.min(last, after + MOST_EVENTS) })) {
    for (const event of page) {
      if (!('step' in event.body) || event.body.step !== step.key) {
        if (event.type === 'handoff.accepted' && event.body.claims.some((claim) => claim.step === step.key))
          addSession(history, event.body.session);
        continue;
      }
      if (event.type === 'step.checkpointed') {
        const { name, next = null } = event.body;
        history.checkpoints.push({ name, at: event.at, next });
      } else if (event.type === 'note.added') {
        const { at, actor, session } = event;
        history.notes.push({ ...event.body, at, by: actor.name, session });
      } else if (event.type === 'step.started' || event.type === 'step.retried' || event.type === 'step.reopened') {
        if (event.body.session) addSession(history, event.body.session);
      }
    }
  }
  return history;
}

function addSession({ sessions }: StepHistory, id: string): void {
  if (!sessions.includes(id)) sessions.push(id);
}
