import * as v from 'valibot';
import { Fault, notFound } from '../../core/fault.ts';
import type { EventBody } from '../../core/journal/event.ts';
import { ERASED } from '../../core/text.ts';
import { CloseReason } from '../../core/words.ts';
import { act, currentRun } from '../act.ts';
import type { Context } from '../context.ts';
import { label, nextAction } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { fileNotes, parseFileNotes, why } from '../step/parts/file-notes.ts';
import { treeMark } from '../working-tree.ts';
import { SnapshotTaken, saveSnapshot, snapshotIn } from './parts/file.ts';

export const snapshot = defineOperation({
  name: 'snapshot',
  summary: 'Take a snapshot of your session; ending a session takes one too.',
  scope: 'write',
  flags: { fileNotes: 'file-note' },
  examples: [
    'holdfast snapshot --next "wire the router" --why "the tests need a database"',
    'holdfast snapshot --again P-3',
  ],
  input: v.object({
    reason: v.optional(described(CloseReason, 'Why the session closes, if it does.')),
    next: nextAction,
    why,
    fileNotes,
    again: v.optional(described(label, 'Write the file of an earlier snapshot again.')),
  }),
  output: v.object({ ...SnapshotTaken.entries, run: v.string(), version: v.number() }),
  async run(context, { again, fileNotes: notes, ...words }) {
    if (again !== undefined) return { data: await writeAgain(context, again) };
    const done = await act(context, {
      type: 'snapshot.take',
      ...words,
      fileNotes: parseFileNotes(context, notes),
      mark: treeMark(context),
    });
    const taken = snapshotIn(context, done.events);
    if (!taken) throw new Fault('internal', 'No snapshot was taken.');
    return { data: { ...taken, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id, agent, sequence, token, path }, pen) =>
    `Snapshot ${pen.bold(id)} (${agent} ${sequence})${token ? `, ${token}` : ''}${path ? `: ${path}` : ''}`,
});

/** Writes the file as it was recorded and replaces what is there now. */
async function writeAgain(context: Context, id: string): Promise<SnapshotTaken & { run: string; version: number }> {
  const run = await currentRun(context);
  const taken = await recordedSnapshot(context, run, id);
  const engine = await context.engine();
  const { version } = await engine.load(run);
  const { agent, session, sequence, token, text } = taken;
  if (text === undefined || text === ERASED) {
    throw new Fault('illegal', `The text of ${id} ${text === ERASED ? 'was erased' : 'was never recorded'}.`, {
      hints: ['`holdfast resume` shows the current position.'],
      data: { id },
    });
  }
  const path = saveSnapshot(context, run, taken);
  return { id: taken.id, agent, session, sequence, token: token ?? null, path, run, version };
}

/** A snapshot with its text, which is in the event only. */
export async function recordedSnapshot(
  context: Context,
  run: string,
  id: string,
): Promise<EventBody<'snapshot.taken'>> {
  const engine = await context.engine();
  const row = (await engine.recall(run, [id])).find((one) => one.kind === 'snapshot');
  const event = row ? await engine.event(run, row.version) : null;
  if (event?.type === 'snapshot.taken') return event.body;
  const known = await engine.rows(run, { kind: 'snapshot', limit: 100 });
  const ids = known.map((one) => one.id);
  throw notFound('snapshot', id, ids, ids.length > 0 ? `The newest is ${ids[0]}.` : 'None was taken in this run.');
}
