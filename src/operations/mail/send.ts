import * as v from 'valibot';
import { nearest } from '../../core/fault.ts';
import { MAINTAINER } from '../../core/fold/message.ts';
import type { State } from '../../core/fold/state.ts';
import { joined, type Line, line, id as ownId, quote, quoteAll } from '../../core/line.ts';
import { isSameName } from '../../core/names.ts';
import { ActorName, Label, Sentence, Text } from '../../core/text.ts';
import { MessageType, Priority } from '../../core/words.ts';
import { act, idInEvents } from '../act.ts';
import { label } from '../fields.ts';
import { Made } from '../item/decide.ts';
import { defineOperation, described, lineText } from '../operation.ts';
import { attachmentFields, attachmentsOf, renderAttachment, withAttachment } from './parts/attachment.ts';

const RespondBy = v.pipe(
  Label,
  v.check(
    (text) => /^(none|next session|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)$/.test(text),
    'must be a date such as 2026-01-31, a time such as 2026-01-31T12:00Z, `next session` or `none`',
  ),
);

export const mailSend = defineOperation({
  name: 'mail.send',
  summary: 'Send a message to an agent or a person; `maintainer` reaches any person.',
  scope: 'write',
  words: ['to', 'subject', 'body'],
  local: ['payload'],
  examples: [
    'holdfast mail send codex "Review the rotation" "src/rotate.ts, by tomorrow"',
    'holdfast mail send --to codex --type request --subject "Review the rotation" --body "src/rotate.ts, by tomorrow" --priority P1',
    'holdfast mail send --to codex --type request --subject "Router" --body "Apply or say why not" --payload router.diff',
  ],
  input: v.object({
    to: described(ActorName, 'Recipient.'),
    type: v.optional(
      described(MessageType, 'What it asks for (default request); anyone may close a notify.'),
      'request',
    ),
    subject: described(Sentence, 'Subject line.'),
    body: v.optional(described(Text, 'Text of the message.'), ''),
    priority: v.optional(
      described(Priority, 'P0: answer in the next turn; P1: in the next session; P2: any time (default P1).'),
      'P1',
    ),
    by: v.optional(described(RespondBy, 'When an answer is due: a date, a time, `next session` or `none`.')),
    about: v.optional(described(label, 'The id of what it is about.')),
    ...attachmentFields,
  }),
  output: v.object({ ...Made.entries, to: v.string(), tokens: v.array(v.string()), hints: v.array(lineText) }),
  async run(context, { type, by, payload, payloadText, ask, body: words, ...message }) {
    const about = { subject: message.subject, type };
    const rendered = await renderAttachment(context, { payload, payloadText, ask }, about);
    const body = withAttachment(words, rendered);
    const done = await act(context, { type: 'message.send', messageType: type, respondBy: by, body, ...message });
    const { to } = message;
    return {
      data: {
        id: idInEvents(done) ?? '',
        to,
        tokens: attachmentsOf(rendered ?? '').flatMap(({ tokens }) => tokens),
        hints: unknownNameHints(done.state, to, context.identity.actor.name),
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, to, tokens, hints }, pen) =>
    joined(
      [
        line`Sent ${pen.bold(ownId(id))} to ${pen.quote(to, 'name')}.`,
        ...tokens.map((token) => line`Attachment ${pen.quote(token)}`),
        ...hints,
      ],
      '\n',
    ),
});

/** An unknown name is probably a typo; the message waits until an agent of that name starts. */
function unknownNameHints(state: State, to: string, sender: string): Line[] {
  const known = new Set([MAINTAINER, sender, state.run?.openedBy.name ?? '']);
  for (const { agent } of state.sessions.values()) known.add(agent);
  for (const { lastAgent, agents } of state.steps.values())
    for (const name of [lastAgent, ...agents]) known.add(name ?? '');
  for (const { from, acks, replies } of state.messages.values())
    for (const name of [from, ...acks.map((ack) => ack.by), ...replies.map((reply) => reply.from)]) known.add(name);
  if ([...known].some((name) => isSameName(name, to))) return [];
  const near = nearest(to, [...known].filter(Boolean));
  const meant = near.length > 0 ? line` Did you mean ${quoteAll(near, 'name')}?` : '';
  return [line`No one called ${quote(to, 'name')} has worked here so far; the message waits for them.${meant}`];
}
