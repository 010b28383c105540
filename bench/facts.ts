import { nextId } from '../src/core/fold/ids.ts';
import { type Recorder, startSession } from './history.ts';

/** Something the next session must know; a text includes it if it has all of its words. */
export interface Fact {
  what: string;
  /** Must-know facts are sections 1 to 4 of the brief; decisions and questions are sections 5 and 7. */
  column: 'must' | 'decided';
  words: readonly string[];
}

export type Random = () => number;

/** A small generator with a seed (mulberry32), so that a run can be repeated. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The facts of one history: those in the plan, and those to be recorded at some point. */
export interface Facts {
  all: readonly Fact[];
  goal: string;
  /** The step to be resumed, in phase `p3`. */
  current: { step: string; checkpoints: readonly string[]; next: string };
  /** The step that failed, the one another agent works on, the one behind a closed gate. */
  failed: string;
  others: string;
  gated: string;
  /** Each records one fact, as the agent that is active then. */
  plantings: readonly ((recorder: Recorder) => void)[];
}

/** The agent that resumes, and the other active one. */
export const RESUMING = 'claude';
export const OTHER = 'gemini';

export function makeFacts(random: Random): Facts {
  const all: Fact[] = [];
  const plantings: ((recorder: Recorder) => void)[] = [];
  const marker = createMarkers(random);
  const fact = (what: string, column: Fact['column'], ...words: string[]) => all.push({ what, column, words });
  /** A sentence with a unique word at a random point of it. */
  const sentence = (): { text: string; word: string } => {
    const word = marker();
    const plain = SENTENCES[Math.floor(random() * SENTENCES.length)]?.split(' ') ?? [];
    plain.splice(Math.floor(random() * (plain.length + 1)), 0, word);
    return { text: `${plain.join(' ')}.`, word };
  };
  const plant = (what: string, column: Fact['column'], record: (recorder: Recorder, text: string) => void): void => {
    const { text, word } = sentence();
    fact(what, column, word);
    plantings.push((recorder) => record(recorder, text));
  };

  const goal = sentence();
  fact('goal', 'must', goal.word);
  const current = { step: `p3.${marker()}`, checkpoints: [marker(), marker(), marker(), marker()], next: sentence() };
  fact('step', 'must', `step ${current.step}`);
  fact('checkpoint', 'must', `checkpoint ${current.checkpoints[1]}`);
  fact('next checkpoint', 'must', current.checkpoints[2] ?? '');
  fact('next action', 'must', current.next.word);
  const [failed, others, gated] = [`p2.${marker()}`, `p4.${marker()}`, `p4.${marker()}`];
  fact('what a person owes', 'must', `gate ${gated}`);
  fact('another agent at work', 'must', OTHER, others);

  for (const kind of ['constraint', 'constraint', 'dead-end', 'dead-end'] as const) {
    plant(kind, 'must', ({ record, state }, text) => record('note.added', { id: nextId(state, 'N'), kind, text }));
  }
  plant('error', 'must', (recorder, text) => failStep(recorder, failed, text));
  for (let count = 0; count < 2; count++) {
    plant('blocker', 'must', ({ record, state }, text) =>
      record('item.raised', { id: nextId(state, 'B'), kind: 'blocker', text, affects: [gated] }),
    );
    plant('message', 'must', ({ record, state }, text) => {
      const id = nextId(state, 'M');
      const to = RESUMING;
      record('message.sent', { id, from: OTHER, to, type: 'request', priority: 'P1', subject: text, body: FILLER });
    });
    plant('question', 'decided', ({ record, state }, text) =>
      record('item.raised', { id: nextId(state, 'Q'), kind: 'question', text }),
    );
  }
  plant('uncertain effect', 'must', ({ record, state }, name) =>
    record('effect.began', { id: nextId(state, 'X'), name, class: 'irreversible' }),
  );
  plant('commitment', 'must', ({ record, state }, text) =>
    record('item.raised', { id: nextId(state, 'C'), kind: 'commitment', text, to: OTHER }),
  );
  for (const where of [null, null, null, current.step, current.step, 'p3']) {
    const [decision, reason] = [sentence(), sentence()];
    fact(where === null ? 'irreversible decision' : 'decision on the step', 'decided', decision.word, reason.word);
    plantings.push(({ record, state }) =>
      record('decision.made', {
        id: nextId(state, 'D'),
        context: 'How the ledger is moved',
        decision: decision.text,
        reason: reason.text,
        ...(where === null ? { irreversible: true } : { affects: [where] }),
      }),
    );
  }
  return { all, goal: goal.text, current: { ...current, next: current.next.text }, failed, others, gated, plantings };
}

function failStep(recorder: Recorder, step: string, text: string): void {
  const { record, state } = recorder;
  const session = startSession(recorder, 'codex');
  record('step.started', { step, session, claim: nextId(state, 'L') });
  const error = nextId(state, 'E');
  record('item.raised', { id: error, kind: 'error', type: 'runtime', text, step });
  record('step.failed', { step, error });
  record('session.ended', { id: session, reason: 'completed' });
}

const FILLER = 'Please answer before the region is closed for the month.';

const SENTENCES = [
  'the nightly export must keep its old column order because two banks read it by position',
  'bookings of the retired currency are frozen until the auditors have signed the last sheet',
  'replaying the traffic of March twice doubles the fees and cannot be told apart afterwards',
  'the mobile clients send the amount in cents and the older terminals send it in whole units',
  'a refund that crosses midnight belongs to the day on which the payment was first booked',
  'the ledger of the northern region answers slowly and needs a batch of at most fifty rows',
  'rounding is done once at the end of the sheet and never in the lines that lead to it',
];

/** Words that do not occur in any text by chance. */
function createMarkers(random: Random): () => string {
  const used = new Set<string>();
  const pick = (letters: string): string => letters[Math.floor(random() * letters.length)] ?? '';
  return () => {
    for (;;) {
      const syllables = Array.from({ length: 3 }, () => `${pick('bdfgklmnprtvz')}${pick('aeiou')}`);
      const word = `${syllables.join('')}${Math.floor(100 + random() * 900)}`;
      if (used.has(word)) continue;
      used.add(word);
      return word;
    }
  };
}
