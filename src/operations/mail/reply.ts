import * as v from 'valibot';
import { Sentence } from '../../core/text.ts';
import { act, currentState } from '../act.ts';
import { writeResumeFile } from '../brief/parts/resume-file.ts';
import { reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { attachmentFields, attachmentsOf, renderAttachment, withAttachment } from './parts/attachment.ts';
import { findMessage, MailMoved } from './parts/message.ts';

export const mailReply = defineOperation({
  name: 'mail.reply',
  summary: 'Say something on a message; the other side has it to read.',
  scope: 'write',
  words: ['id'],
  local: ['payload'],
  examples: [
    'holdfast mail reply M-4 --body "Which of the two?"',
    'holdfast mail reply M-4 --body "Rather like this" --payload router.diff',
  ],
  input: v.object({ id: reference, body: described(Sentence, 'What you say.'), ...attachmentFields }),
  output: v.object({ ...MailMoved.entries, tokens: v.array(v.string()) }),
  async run(context, { id, body: words, ...payload }) {
    const state = await currentState(context);
    // One that is not there is refused by the rule.
    const answered = (await findMessage(context, state.run?.id ?? '', id)) ?? { subject: id, type: 'notify' };
    const carried = await renderAttachment(context, payload, answered);
    const body = withAttachment(words, carried);
    const done = await act(context, { type: 'message.reply', id, body });
    await writeResumeFile(context, done.state);
    const replied = done.events.find((event) => event.type === 'message.replied')?.body.id ?? id;
    const status = done.state.messages.get(replied)?.status ?? '';
    return {
      data: {
        id: replied,
        status,
        tokens: attachmentsOf(carried ?? '').flatMap((one) => one.tokens),
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, status, tokens }, pen) =>
    [`Replied on ${pen.bold(id)}, which is ${status}.`, ...tokens.map((token) => `Payload ${token}`)].join('\n'),
});
