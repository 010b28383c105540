import * as v from 'valibot';
import { line, id as ownId, word } from '../../core/line.ts';
import { reference } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { MailMoved, messageNote, moveMail } from './parts/message.ts';

export const mailAction = defineOperation({
  name: 'mail.action',
  summary: 'Report that you did what a message asked for.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast mail action M-4 --note "reviewed, two findings raised"'],
  input: v.object({ id: reference, note: messageNote }),
  output: MailMoved,
  run: (context, { id, note }) => moveMail(context, id, 'actioned', note),
  say: ({ id, status }, pen) => line`${pen.bold(ownId(id))} is ${word(status)}.`,
});
