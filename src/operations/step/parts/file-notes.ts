import * as v from 'valibot';
import { Fault, quoted } from '../../../core/fault.ts';
import { Sentence } from '../../../core/text.ts';
import { recordedPath } from '../../../workspace/files.ts';
import type { Context } from '../../context.ts';
import { described } from '../../operation.ts';

/** What an agent adds to a snapshot, apart from the next action. */
export const why = v.optional(described(Sentence, 'Why the work is in this state.'));
export const fileNotes = v.optional(described(v.array(Sentence), 'FILE=TEXT: what was done to a file.'));

export function parseFileNotes(
  context: Context,
  notes: readonly string[] | undefined,
): { path: string; note: string }[] | undefined {
  return notes?.map((note) => parseFileNote(context, note));
}

function parseFileNote(context: Context, note: string): { path: string; note: string } {
  const at = note.indexOf('=');
  if (at < 1 || note.slice(at + 1).trim() === '') {
    throw new Fault('invalid', `${quoted(note)} is not a note about a file.`, {
      hints: ['Write `--file-note FILE=TEXT`.'],
    });
  }
  const tree = context.workspace()?.tree ?? context.dir;
  return { path: recordedPath(tree, context.dir, note.slice(0, at)), note: note.slice(at + 1) };
}
