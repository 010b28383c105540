import * as v from 'valibot';
import { Sentence } from '../core/text.ts';
import { CloseReason } from '../core/vocabulary.ts';
import { act } from './act.ts';
import { beginGitStatus, fullTreeMark } from './evidence.ts';
import { nextAction } from './fields.ts';
import { fileNotes as fileNotesField, parseFileNotes, why } from './file-notes.ts';
import { defineOperation, described } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';
import { SnapshotTaken, snapshotIn } from './snapshot-file.ts';

export const sessionEnd = defineOperation({
  name: 'session.end',
  summary: 'End a sitting; its steps stay in progress for whoever goes on.',
  scope: 'write',
  flags: { fileNotes: 'file-note', notes: 'note', issues: 'issue', contextUsage: 'context-usage' },
  examples: ['holdfast session end --reason context-exhausted --next "wire the router"'],
  input: v.object({
    reason: described(CloseReason, 'Why it ends.'),
    next: nextAction,
    why,
    fileNotes: fileNotesField,
    notes: v.optional(described(v.array(Sentence), 'Something to remember about this sitting.')),
    issues: v.optional(described(v.array(Sentence), 'Something that went badly.')),
    contextUsage: v.optional(
      described(v.pipe(v.number(), v.minValue(0), v.maxValue(100)), 'How full the context was, in percent.'),
    ),
  }),
  output: v.object({
    session: v.looseObject({ id: v.string(), agent: v.string(), reason: v.string() }),
    run: v.string(),
    version: v.number(),
    interrupted: v.array(v.string()),
    /** What the session leaves for whoever goes on. */
    snapshot: v.nullable(SnapshotTaken),
    /** Mail to the agent that nobody has looked at. */
    unread: v.array(v.looseObject({ id: v.string(), from: v.string(), priority: v.string(), subject: v.string() })),
  }),
  async run(context, { fileNotes, ...words }) {
    const done = await act(context, {
      type: 'session.end',
      ...words,
      fileNotes: parseFileNotes(context, fileNotes),
      mark: await fullTreeMark(context, beginGitStatus(context)),
    });
    const ended = done.events.find((event) => event.type === 'session.ended');
    const id = ended?.body.id ?? done.session ?? '';
    const left = [...done.state.steps.values()].filter(
      (step) => step.status === 'in_progress' && step.holder === null && step.lastSession === id,
    );
    const agent = ended?.actor.name ?? context.caller.actor.name;
    const unread = [...done.state.messages.values()].filter(({ to, status }) => to === agent && status === 'unread');
    if (unread.length > 0) context.warn(unreadWarning(agent, unread));
    await writeResumeFile(context, done.state);
    return {
      data: {
        session: { id, agent, reason: words.reason },
        run: done.run,
        version: done.state.version,
        interrupted: left.map((step) => step.key),
        snapshot: snapshotIn(context, done.events),
        unread: unread.map(({ id, from, priority, subject }) => ({ id, from, priority, subject })),
      },
      changed: done.changed,
    };
  },
  say: ({ session, interrupted, snapshot }, pen) => {
    const left = interrupted.length > 0 ? ` Left in progress: ${interrupted.join(', ')}.` : '';
    const kept = snapshot?.path ? ` Its snapshot is ${snapshot.path}.` : '';
    return `Session ${pen.bold(session.id)} of ${session.agent} ended: ${session.reason}.${left}${kept}`;
  },
});

function unreadWarning(agent: string, unread: readonly { id: string; priority: string; from: string }[]): string {
  const told = unread.slice(0, 5).map(({ id, priority, from }) => `${id} (${priority}, from ${from})`);
  const more = unread.length > told.length ? ` and ${unread.length - told.length} more` : '';
  return `${agent} leaves mail unread: ${told.join(', ')}${more}.`;
}
