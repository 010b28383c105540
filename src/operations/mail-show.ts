import * as v from 'valibot';
import { notFound } from '../core/fault.ts';
import type { Message } from '../core/state.ts';
import { currentState } from './act.ts';
import { reference } from './fields.ts';
import { findMessage, sayMessage } from './mail-outcome.ts';
import { defineOperation, shaped } from './operation.ts';

export const mailShow = defineOperation({
  name: 'mail.show',
  summary: 'Show a message whole, with all that was said on it; reading acknowledges nothing.',
  scope: 'read',
  words: ['id'],
  input: v.object({ id: reference }),
  output: v.object({
    message: shaped<Message>({ id: v.string(), from: v.string(), to: v.string(), status: v.string() }),
    now: v.string(),
    run: v.string(),
  }),
  async run(context, { id }) {
    const state = await currentState(context);
    const engine = await context.engine();
    const run = state.run?.id ?? '';
    const message = await findMessage(context, run, id);
    if (!message) throw notFound('message', id, state.messages.keys(), 'See your mail with `holdfast mail inbox`.');
    return { data: { message, now: engine.now(), run } };
  },
  say: ({ message, now }, pen) => sayMessage(message, now, pen),
});
