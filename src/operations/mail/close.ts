import * as v from 'valibot';
import { line, id as ownId, word } from '../../core/line.ts';
import { Disposition } from '../../core/words.ts';
import { reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { MailMoved, messageNote, moveMail } from './parts/message.ts';

export const mailClose = defineOperation({
  name: 'mail.close',
  summary: 'Close a message you sent; a person may close any message, anyone a notify.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast mail close M-4 --as resolved --note "merged"'],
  input: v.object({
    id: reference,
    as: described(Disposition, 'How it ended; deferred leaves it open without a time limit (only a person may).'),
    note: messageNote,
  }),
  output: MailMoved,
  run: (context, { id, as, note }) => moveMail(context, id, 'closed', note, as),
  say: ({ id, status }, pen) =>
    status === 'closed'
      ? line`${pen.bold(ownId(id))} is closed.`
      : line`${pen.bold(ownId(id))} is deferred and stays ${word(status)}.`,
});
