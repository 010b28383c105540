import * as v from 'valibot';
import { Fault } from '../../../core/fault.ts';
import { ActorName, FilePath, Label, StepKey } from '../../../core/text.ts';
import { StepKind } from '../../../core/words.ts';
import { described } from '../../operation.ts';

/** The fields of a step in a plan. */
export const planFields = {
  kind: v.optional(described(StepKind, 'What kind of unit it is (default: task).')),
  parent: v.optional(described(StepKey, 'The step it is part of.')),
  after: v.optional(described(v.array(StepKey), 'The steps it depends on, separated by commas.')),
  wave: v.optional(described(v.pipe(v.number(), v.integer(), v.minValue(0)), 'The wave it runs in.')),
  agents: v.optional(described(v.array(ActorName), 'An agent it is meant for.')),
  parallel: v.optional(described(v.boolean(), 'It may run in parallel with others.')),
  gate: v.optional(described(v.boolean(), 'A person opens it before it starts.')),
  context: v.optional(described(v.array(FilePath), 'A file it should load; one to three of them.')),
  checkpoints: v.optional(described(v.array(Label), 'The name of a point it is expected to pass, in order.')),
};

export const planFlags = { agents: 'agent', checkpoints: 'checkpoint' } as const;

/** What a session loads before it starts must leave room for the work. */
const MOST_FILES = 3;

export function mustBeFewFiles(context: readonly string[] = []): void {
  if (context.length <= MOST_FILES) return;
  throw new Fault('illegal', `A step loads at most ${MOST_FILES} files at its start, not ${context.length}.`, {
    hints: ['Name the files that the work cannot begin without; others are read when they are needed.'],
  });
}
