import * as v from 'valibot';
import { type Letter, mailOf } from '../core/mail.ts';
import { currentState } from './act.ts';
import { copyMail, MailLists, readerOf, sayMail } from './mail-outcome.ts';
import { defineOperation, described } from './operation.ts';

export const mailInbox = defineOperation({
  name: 'mail.inbox',
  summary: 'Show your mail: what is unread, what was answered, what waits for you or for others.',
  scope: 'read',
  examples: ['holdfast mail inbox --agent codex'],
  input: v.object({ all: v.optional(described(v.boolean(), "Everybody's unread mail and what they took on.")) }),
  output: v.object({
    reader: v.nullable(v.string()),
    ...MailLists.entries,
    overdue: v.array(v.string()),
    run: v.string(),
  }),
  async run(context, { all }) {
    const state = await currentState(context);
    const engine = await context.engine();
    const reader = all ? null : await readerOf(context, state);
    const mail = mailOf(state, reader, engine.now());
    const late = (letters: readonly Letter[]) => letters.filter((letter) => letter.overdue !== null);
    const overdue = new Set([...late(mail.unread), ...late(mail.unanswered)].map((letter) => letter.id));
    return {
      data: { reader: reader?.name ?? null, ...copyMail(mail), overdue: [...overdue], run: state.run?.id ?? '' },
    };
  },
  say: ({ reader, ...mail }, pen) => {
    const lines = sayMail(mail, pen);
    return lines.length > 0 ? lines.join('\n') : `There is no open mail${reader === null ? '' : ` for ${reader}`}.`;
  },
});
