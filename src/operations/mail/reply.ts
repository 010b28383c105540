import * as v from 'valibot';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { act, currentState } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { attachmentFields, attachmentsOf, renderAttachment, withAttachment } from './parts/attachment.ts';
import { findMessage, MailMoved } from './parts/message.ts';

export const mailReply = defineOperation({
  name: 'mail.reply',
  summary: 'Reply to a message.',
  scope: 'write',
  words: ['id'],
  local: ['payload'],
  examples: [
    'holdfast mail reply M-4 --body "Which of the two?"',
    'holdfast mail reply M-4 --body "Rather like this" --payload router.diff',
  ],
  input: v.object({ id: reference, body: described(Sentence, 'The text of your reply.'), ...attachmentFields }),
  output: v.object({ ...MailMoved.entries, tokens: v.array(v.string()) }),
  async run(context, { id, body: words, ...attachment }) {
    const state = await currentState(context);
    // The rule refuses a message that does not exist.
    const answered = (await findMessage(context, state.run?.id ?? '', id)) ?? { subject: id, type: 'notify' };
    const rendered = await renderAttachment(context, attachment, answered);
    const body = withAttachment(words, rendered);
    const done = await act(context, { type: 'message.reply', id, body });
    const replied = done.events.find((event) => event.type === 'message.replied')?.body.id ?? id;
    const status = done.state.messages.get(replied)?.status ?? '';
    return {
      data: {
        id: replied,
        status,
        tokens: attachmentsOf(rendered ?? '').flatMap((one) => one.tokens),
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, status, tokens }, pen) =>
    joined(
      [
        line`Replied to ${pen.bold(ownId(id))}, which is ${word(status)}.`,
        ...tokens.map((token) => line`Attachment ${pen.quote(token)}`),
      ],
      '\n',
    ),
});
