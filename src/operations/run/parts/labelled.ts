import * as v from 'valibot';
import { type Line, line } from '../../../core/line.ts';
import { type RunLabel, runLabel } from '../../../core/views/labels.ts';
import type { RunState } from '../../../core/views/run-state.ts';
import { type Pen, shaped } from '../../operation.ts';

/** The state of a run with the word that people read for it. */
export type LabelledState = RunState & { label: RunLabel };
export const LabelledState = shaped<LabelledState>({
  state: v.string(),
  word: v.string(),
  why: v.string(),
  label: v.string(),
});

export const labelled = (state: RunState): LabelledState => ({ ...state, label: runLabel(state.word) });

/** Behind the label: `: claude on p1.2`; of an open run, what is left. */
export function whyShown(label: string, why: string, pen: Pen): Line {
  if (why === '') return line``;
  const reason = pen.quote(why, 'text', 120);
  return label === 'open' ? line`; left: ${reason}` : line`: ${reason}`;
}
