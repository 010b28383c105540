import * as v from 'valibot';
import { Fault, notFound } from '../../core/fault.ts';
import type { Message } from '../../core/fold/state.ts';
import { joined, line } from '../../core/line.ts';
import { currentState } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';
import { attachmentsOf, type ReceivedAttachment } from './parts/attachment.ts';
import { findMessage, sayMessage } from './parts/message.ts';

export const mailShow = defineOperation({
  name: 'mail.show',
  summary: 'Show a message and its replies; this does not acknowledge it.',
  scope: 'read',
  words: ['id'],
  examples: ['holdfast mail show M-4', 'holdfast mail show M-4 --raw > router.diff'],
  input: v.object({
    id: reference,
    raw: v.optional(described(v.boolean(), 'Print only its attachment, byte for byte, if its token is valid.')),
  }),
  output: v.object({
    /** The text of the attachment; null unless `raw` was given. */
    payload: v.nullable(v.string()),
    payloads: v.array(
      v.object({
        tokens: v.array(v.string()),
        verdict: v.string(),
        format: v.nullable(v.string()),
        ask: v.nullable(v.string()),
        files: v.array(v.string()),
      }),
    ),
    message: shaped<Message>({ id: v.string(), from: v.string(), to: v.string(), status: v.string() }),
    now: v.string(),
    run: v.string(),
  }),
  async run(context, { id, raw }) {
    const state = await currentState(context);
    const engine = await context.engine();
    const run = state.run?.id ?? '';
    const message = await findMessage(context, run, id);
    if (!message) throw notFound('message', id, state.messages.keys(), 'See your mail with `holdfast mail inbox`.');
    const attachments = attachmentsOf([message.body, ...message.replies.map((reply) => reply.body)].join('\n\n'));
    const payloads = attachments.map(({ content: _, ...rest }) => rest);
    const payload = raw ? mustBeValid(message.id, attachments.at(-1)) : null;
    return { data: { payload, payloads, message, now: engine.now(), run } };
  },
  say: ({ payload, payloads, message, now }, pen) =>
    // The command line adds the line feed at the end.
    payload !== null
      ? line`${pen.whole(payload.replace(/\n$/, ''))}`
      : joined(
          [
            sayMessage(message, now, pen),
            ...payloads.map(({ tokens, verdict }) => {
              const mark =
                verdict === 'valid'
                  ? pen.good(line`verified`)
                  : pen.bad(pen.quote(verdict.replaceAll('-', ' '), 'name'));
              return line`Attachment ${pen.quote(tokens.join(', '))}: ${mark}`;
            }),
          ],
          '\n',
        ),
});

function mustBeValid(id: string, attachment: ReceivedAttachment | undefined): string {
  if (attachment?.verdict === 'valid' && attachment.content !== null) return attachment.content;
  if (!attachment || attachment.verdict === 'no-payload')
    throw new Fault('not_found', `${id} has no attachment.`, {
      hints: [`Read it with \`holdfast mail show ${id}\`.`],
    });
  throw new Fault('corrupt', `The attachment of ${id} does not match its token ${attachment.tokens.join(', ')}.`, {
    hints: [`Ask for it again with \`holdfast mail reply ${id} --body needs-resend\`.`],
    data: { tokens: attachment.tokens, verdict: attachment.verdict },
  });
}
