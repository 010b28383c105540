import * as v from 'valibot';
import { type RunLabel, runLabel } from '../../../core/views/labels.ts';
import type { RunState } from '../../../core/views/run-state.ts';
import { shaped } from '../../operation.ts';

/** The state of a run with the word that people read for it. */
export type LabelledState = RunState & { label: RunLabel };
export const LabelledState = shaped<LabelledState>({
  state: v.string(),
  word: v.string(),
  why: v.string(),
  label: v.string(),
});

export const labelled = (state: RunState): LabelledState => ({ ...state, label: runLabel(state.word) });
