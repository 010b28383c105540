import * as v from 'valibot';
import { ids, joined, type Line, line, id as ownId, word } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { type Mail, type MessageView, mailOf } from '../../core/views/mail.ts';
import { CloseReason } from '../../core/words.ts';
import { act } from '../act.ts';
import { beginGitStatus, fullTreeMark } from '../brief/parts/evidence.ts';
import { nextAction } from '../fields.ts';
import { copyMail, MailLists, sayMail } from '../mail/parts/message.ts';
import { defineOperation, described, lineText } from '../operation.ts';
import { SnapshotTaken, snapshotIn } from '../snapshot/parts/file.ts';
import { fileNotes as fileNotesField, parseFileNotes, why } from '../step/parts/file-notes.ts';
import { compactionHints } from '../worklog/parts/file.ts';

export const sessionEnd = defineOperation({
  name: 'session.end',
  summary: 'End a session; its steps stay in progress until someone takes over.',
  scope: 'write',
  words: ['reason'],
  flags: { fileNotes: 'file-note', notes: 'note', issues: 'issue', contextUsage: 'context-usage' },
  examples: ['holdfast session end --reason context-exhausted --next "wire the router"'],
  input: v.object({
    reason: v.optional(described(CloseReason, 'Why it ends (default completed).'), 'completed'),
    next: nextAction,
    why,
    fileNotes: fileNotesField,
    notes: v.optional(described(v.array(Sentence), 'Something to remember about this session.')),
    issues: v.optional(described(v.array(Sentence), 'Something that went badly.')),
    contextUsage: v.optional(
      described(v.pipe(v.number(), v.minValue(0), v.maxValue(100)), 'How full the context was, in percent.'),
    ),
  }),
  output: v.object({
    session: v.object({ id: v.string(), agent: v.string(), reason: CloseReason }),
    run: v.string(),
    version: v.number(),
    interrupted: v.array(v.string()),
    /** What the session leaves for the next one. */
    snapshot: v.nullable(SnapshotTaken),
    mail: MailLists,
    /** Messages passed to the maintainer. */
    escalated: v.array(v.string()),
    hints: v.array(lineText),
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
    const agent = ended?.actor.name ?? context.identity.actor.name;
    const { now } = await context.engine();
    const mail = mailOf(done.state, ended?.actor ?? context.identity.actor, now());
    const escalated = done.events.flatMap((event) => (event.type === 'message.escalated' ? [event.body.id] : []));
    return {
      data: {
        session: { id, agent, reason: words.reason },
        run: done.run,
        version: done.state.version,
        interrupted: left.map((step) => step.key),
        snapshot: snapshotIn(context, done.events),
        mail: copyMail(mail),
        escalated,
        hints: [...mailHints(mail, escalated), ...compactionHints(done.state)],
      },
      changed: done.changed,
    };
  },
  say: ({ session, interrupted, snapshot, mail, hints }, pen) => {
    const keys = joined(interrupted.map((key) => pen.quote(key, 'name')));
    const left = interrupted.length > 0 ? line` Left in progress: ${keys}.` : '';
    const kept = snapshot?.path ? line` Its snapshot is ${pen.quote(snapshot.path, 'path')}.` : '';
    const agent = pen.quote(session.agent, 'name');
    return joined(
      [
        line`Session ${pen.bold(ownId(session.id))} of ${agent} ended: ${word(session.reason)}.${left}${kept}`,
        ...sayMail(mail, pen),
        ...hints.map((hint) => pen.warn(hint)),
      ],
      '\n',
    );
  },
});

function mailHints({ unread, replies }: Mail, escalated: readonly string[]): Line[] {
  const all = (messages: readonly MessageView[]): Line => ids(messages.map((message) => message.id));
  return [
    ...(unread.length > 0 ? [line`It ended over unread mail: ${all(unread)}.`] : []),
    ...(replies.length > 0 ? [line`It ended over answers that were not read: ${all(replies)}.`] : []),
    ...(escalated.length > 0 ? [line`Left to the maintainer: ${ids(escalated)}.`] : []),
  ];
}
