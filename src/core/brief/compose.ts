import type { State } from '../fold/state.ts';
import { type Line, line, quoteStart } from '../line.ts';
import type { Liveness } from '../views/liveness.ts';
import type { BriefFacts, BriefForm, OtherRuns } from './facts.ts';
import { type BriefAction, type BriefFields, listFields } from './fields.ts';
import { gatherRun } from './gather.ts';
import type { BriefRows, Observed } from './observed.ts';
import type { BriefReader } from './record.ts';
import { derivedNext } from './sections/next.ts';
import { resumingLine, shortState } from './sections/situation.ts';

/** Quotations in fields that programs read are not cut for a budget. */
const FIELD_CHARS = 240;

export interface ComposeInput {
  form: BriefForm;
  reader: BriefReader;
  rows: BriefRows;
  observed: Observed;
  budgetTokens: number;
}

const NO_OTHERS: OtherRuns = { lines: [], more: 0 };

/** A brief in both forms: fields for programs, and the facts of its text. */
export function composeBrief(
  state: State,
  liveness: Liveness,
  { form, reader, rows, observed, budgetTokens }: ComposeInput,
): { fields: BriefFields; facts: BriefFacts } {
  const { now } = liveness;
  const listed = listFields(state, liveness, reader, rows, observed, budgetTokens);
  const run = gatherRun({ state, liveness, form, reader, rows, observed, listed });
  const facts: BriefFacts = {
    now,
    form,
    run,
    others: observed.others ?? NO_OTHERS,
    role: listed.role,
    history: observed.history,
  };
  const fields: BriefFields = {
    ...listed,
    headline: run.resuming
      ? resumingLine(run.resuming, FIELD_CHARS)
      : line`${shortState(run, now)}${stoppedAt(state, rows.sessions)}`,
    uncertain: [...state.effects.values()].map(({ id, name, class: kind, at, session }) => {
      const found = observed.processes?.get(id)?.is;
      return {
        id,
        name,
        class: kind,
        began: at,
        session,
        process: found === 'alive' || found === 'none' ? found : 'unknown',
      };
    }),
    nextAction: actionOf(state, facts),
  };
  return { fields, facts };
}

/** Where there is no plan, what the last session says of its place is the position. */
function stoppedAt({ steps, run }: State, sessions: BriefRows['sessions']): Line | '' {
  const [last] = sessions
    // One with a name of its own left a note, which may be older than the file.
    .filter(({ workingOn, status, alias }) => workingOn !== undefined && status !== 'active' && alias === null)
    .sort((one, other) => (one.seenAt < other.seenAt ? 1 : -1));
  if (steps.size > 0 || last?.workingOn === undefined || run?.status !== 'active') return '';
  return line`; the last session stopped at ${quoteStart(last.workingOn, FIELD_CHARS)}`;
}

function actionOf(state: State, { run, form }: BriefFacts): BriefAction {
  const declared = run?.next.declared;
  if (declared) {
    const session = state.next?.text === declared.text ? state.next.session : null;
    return { text: declared.text, basis: 'declared', session, ...('file' in declared ? { file: declared.file } : {}) };
  }
  const isAtWork = run?.situation.is === 'own' && run.situation.since !== null;
  const none = isAtWork ? line`nothing is recorded as next.` : line`nothing is left.`;
  const text: Line = (run && derivedNext(run, form, FIELD_CHARS)) ?? none;
  return { text, basis: 'derived', session: null };
}
