import { type Fixed, fixed, joined, type Line, line, quote, runId, word } from '../line.ts';
import { type Candidate, type Field, type OrderRule, orderedBy, type PlaceWord, type Viewer } from './candidate.ts';

/** Why a command means a run. */
export type CurrentRule = 'named' | 'only' | 'session' | 'conversation' | 'chosen' | 'worktree' | 'latest';

/** The runs that a new session here may continue, in order, each with the rule that puts it before the next. */
export interface Explanation {
  run: string;
  chosenBy: CurrentRule;
  candidates: readonly Explained[];
}

export interface Explained {
  run: string;
  title: string;
  state: string;
  place: PlaceWord;
  isPlanned: boolean;
  isPassed: boolean;
  /** Null for the last one. */
  beforeNext: OrderRule | null;
}

export function explainChoice(run: string, chosenBy: CurrentRule, { candidates }: Field, viewer: Viewer): Explanation {
  const explained = candidates.map((one, index): Explained => {
    const next: Candidate | undefined = candidates[index + 1];
    return {
      run: one.run,
      title: one.title,
      state: one.state.word,
      place: one.place,
      isPlanned: one.facts.kind === 'planned',
      isPassed: one.isPassed,
      beforeNext: next ? orderedBy(one, next, viewer) : null,
    };
  });
  return { run, chosenBy, candidates: explained };
}

export function explanationLines({ chosenBy, candidates }: Explanation): Line {
  const list = candidates.map(({ run, title, state, place, isPlanned, isPassed, beforeNext }, index) => {
    const name = isPlanned ? quote(run, 'title') : runId(run);
    const passed = isPassed ? line`, passed over before` : '';
    const before = beforeNext === null ? '' : line`; before the next one by ${ruleWords[beforeNext]}`;
    return line`${index + 1}. ${name} ${quote(title, 'title', 80)}, ${word(state)}, ${placeWords[place]}${passed}${before}.`;
  });
  const head =
    candidates.length > 0
      ? line`What a new session here may continue, in order:`
      : line`There is nothing that a new session here would continue.`;
  return joined([line`This run was chosen because ${chosenWords[chosenBy]}.`, head, ...list], '\n');
}

const chosenWords: Readonly<Record<CurrentRule, Fixed>> = {
  named: fixed('it was named'),
  only: fixed('it is the only one that is not over'),
  session: fixed('the named session is in it'),
  conversation: fixed('this conversation is in it'),
  chosen: fixed('it is the run chosen with `holdfast use` in this worktree'),
  worktree: fixed('it is the one last recorded in from this worktree'),
  latest: fixed('it is the one last recorded in'),
};

const placeWords: Readonly<Record<PlaceWord, Fixed>> = {
  here: fixed('here'),
  'other branch': fixed('here on another branch'),
  'other worktree': fixed('in another worktree'),
  elsewhere: fixed('on another machine'),
};

const ruleWords: Readonly<Record<OrderRule, Fixed>> = {
  conversation: fixed('the conversation'),
  chosen: fixed('the choice with `holdfast use`'),
  place: fixed('its place'),
  state: fixed('its state'),
  time: fixed('its latest event'),
  id: fixed('its id'),
};
