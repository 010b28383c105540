import * as v from 'valibot';
import { line, id as ownId, word } from '../../core/line.ts';
import { reference } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { MailMoved, messageNote, moveMail } from './parts/message.ts';

export const mailBlock = defineOperation({
  name: 'mail.block',
  summary: 'Report what blocks you from doing what a message asks for.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast mail block M-4 --note "waits for B-3"'],
  input: v.object({ id: reference, note: messageNote }),
  output: MailMoved,
  run: (context, { id, note }) => moveMail(context, id, 'blocked', note),
  say: ({ id, status }, pen) => line`${pen.bold(ownId(id))} is ${word(status)}.`,
});
