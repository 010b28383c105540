import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { setField } from '../text/field.ts';
import { setFront } from '../text/front-matter.ts';
import { editPage, type Page, type PageEditor } from '../text/page.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import type { StepChanges } from './step-changes.ts';
import type { Field } from './words/fields.ts';

/** STATE.md while it is edited: what was read, what it is to say, and the edits so far. */
export interface Draft {
  reading: Reading;
  state: StatePage;
  page: Page;
  model: RunModel;
  changes: StepChanges;
  edit: PageEditor;
  /** Sets a line of the body or a field of the front matter, where it exists. */
  setField(field: Field | undefined, value: string): void;
  setFront(key: string, value: string): void;
}

/** Of two edits of one line the first counts: a position may be said twice. */
export function openDraft(reading: Reading, state: StatePage, model: RunModel, changes: StepChanges): Draft {
  const { page, front } = state;
  const edit = editPage(page, 'ignored');
  return {
    reading,
    state,
    page,
    model,
    changes,
    edit,
    setField: (field, value) => {
      if (field && field.value !== value) setField(edit, page, field, value);
    },
    setFront: (key, value) => {
      const field = front?.fields.get(key);
      if (field && field.value !== value) setFront(edit, page, field, value);
    },
  };
}

/** A status in a table of phases. */
export const statusNames: Record<ModelStep['status'], string> = {
  pending: 'Not started',
  in_progress: 'In progress',
  completed: 'Complete',
  failed: 'Failed',
  skipped: 'Skipped',
};
