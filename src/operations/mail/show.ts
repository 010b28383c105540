import * as v from 'valibot';
import { Fault, notFound } from '../../core/fault.ts';
import type { Message } from '../../core/fold/state.ts';
import { currentState } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';
import { attachmentsOf, type ReceivedAttachment } from './parts/attachment.ts';
import { findMessage, sayMessage } from './parts/message.ts';

export const mailShow = defineOperation({
  name: 'mail.show',
  summary: 'Show a message whole, with all that was said on it; reading acknowledges nothing.',
  scope: 'read',
  words: ['id'],
  examples: ['holdfast mail show M-4', 'holdfast mail show M-4 --raw > router.diff'],
  input: v.object({
    id: reference,
    raw: v.optional(
      described(v.boolean(), 'Give its payload word for word and nothing else, if it is the one that was sent.'),
    ),
  }),
  output: v.object({
    /** What the message carries; null unless that was asked for. */
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
    const carried = attachmentsOf([message.body, ...message.replies.map((reply) => reply.body)].join('\n\n'));
    const payloads = carried.map(({ content: _, ...rest }) => rest);
    const asked = raw ? mustBeWhole(message.id, carried.at(-1)) : null;
    return { data: { payload: asked, payloads, message, now: engine.now(), run } };
  },
  say: ({ payload, payloads, message, now }, pen) =>
    // The line feed at its end is put by whoever prints it.
    payload?.replace(/\n$/, '') ??
    [
      sayMessage(message, now, pen),
      ...payloads.map(({ tokens, verdict }) => {
        const mark = verdict === 'valid' ? pen.good('verified') : pen.bad(verdict.replaceAll('-', ' '));
        return `Payload ${tokens.join(', ')}: ${mark}`;
      }),
    ].join('\n'),
});

/** What is not what its token says is not given out as if it were. */
function mustBeWhole(id: string, payload: ReceivedAttachment | undefined): string {
  if (payload?.verdict === 'valid' && payload.content !== null) return payload.content;
  if (!payload || payload.verdict === 'no-payload')
    throw new Fault('not_found', `${id} carries no payload.`, {
      hints: [`Read it with \`holdfast mail show ${id}\`.`],
    });
  throw new Fault('corrupt', `The payload of ${id} is not the one ${payload.tokens.join(', ')} was made for.`, {
    hints: [`Ask for it again with \`holdfast mail reply ${id} --body needs-resend\`.`],
    data: { tokens: payload.tokens, verdict: payload.verdict },
  });
}
