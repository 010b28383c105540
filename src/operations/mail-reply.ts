import * as v from 'valibot';
import { Sentence } from '../core/text.ts';
import { act } from './act.ts';
import { reference } from './fields.ts';
import { MailMoved } from './mail-outcome.ts';
import { defineOperation, described } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const mailReply = defineOperation({
  name: 'mail.reply',
  summary: 'Say something on a message; the other side has it to read.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast mail reply M-4 --body "Which of the two?"'],
  input: v.object({ id: reference, body: described(Sentence, 'What you say.') }),
  output: MailMoved,
  async run(context, { id, body }) {
    const done = await act(context, { type: 'message.reply', id, body });
    await writeResumeFile(context, done.state);
    const replied = done.events.find((event) => event.type === 'message.replied')?.body.id ?? id;
    const status = done.state.messages.get(replied)?.status ?? '';
    return { data: { id: replied, status, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id, status }, pen) => `Replied on ${pen.bold(id)}, which is ${status}.`,
});
