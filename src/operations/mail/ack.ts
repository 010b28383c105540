import * as v from 'valibot';
import { line, id as ownId, word } from '../../core/line.ts';
import { reference } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { MailMoved, messageNote, moveMail } from './parts/message.ts';

export const mailAck = defineOperation({
  name: 'mail.ack',
  summary: 'Acknowledge a message you received, or the replies to one.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast mail ack M-4 --note "will look this afternoon"'],
  input: v.object({ id: reference, note: messageNote }),
  output: MailMoved,
  run: (context, { id, note }) => moveMail(context, id, 'acknowledged', note),
  say: ({ id, status }, pen) => line`${pen.bold(ownId(id))} is ${word(status)}.`,
});
