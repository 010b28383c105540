import type { ModelDecision, ModelItem, ModelNote, RunModel } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import type { Entry } from '../text/list.ts';
import type { Page, PageEditor } from '../text/page.ts';
import type { HandoffNote } from './handoff.ts';
import type { StepChanges } from './progress.ts';
import type { Roadmap } from './roadmap.ts';
import type { StatePage } from './state-markdown.ts';
import type { Steps } from './steps.ts';

/** Everything read of one `.planning/`: the run model, and where each part of it is. */
export interface Reading {
  model: RunModel;
  state: StatePage | null;
  roadmap: Roadmap | null;
  roadmapPath: string;
  steps: Steps;
  decisions: Placed<ModelDecision>[];
  items: Placed<ModelItem>[];
  notes: Placed<ModelNote>[];
  handoffs: HandoffNote[];
  /** The handoff that is newer than STATE.md; its position and next action count. */
  lead: HandoffNote | null;
  problems: Problem[];
  writable: boolean;
}

/** A part of the run model with its entry in STATE.md; null where another file has it. */
export interface Placed<T> {
  value: T;
  entry: Entry | null;
}

/** STATE.md while it is edited: what was read, what it is to say, and the edits so far. */
export interface Draft {
  reading: Reading;
  state: StatePage;
  page: Page;
  model: RunModel;
  changes: StepChanges;
  edit: PageEditor;
}
