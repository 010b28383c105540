import type { Body, Wire } from './wire.ts';
import { document, events, fieldsOf, textIn } from './wire-text.ts';

/** Anthropic's Messages: Claude Code. */
export const anthropicMessages: Wire = {
  asks: (path) => /\/messages$/.test(path),
  read: (body) => ({
    tools: new Map(
      (body['tools'] ?? []).map((tool: Body) => [tool['name'], { fields: fieldsOf(tool['input_schema']) }]),
    ),
    system: '',
    lastUser: textIn((body['messages'] ?? []).findLast((one: Body) => one['role'] === 'user')?.content),
  }),
  write(reply, body) {
    const content: Body[] = [
      ...(reply.text === null ? [] : [{ type: 'text', text: reply.text }]),
      ...reply.calls.map(({ id, tool, input }) => ({ type: 'tool_use', id: `toolu_${id}`, name: tool, input })),
    ];
    const { input, cached, output } = reply.usage;
    const usage = {
      input_tokens: input - cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cached,
      output_tokens: output,
    };
    const stop = { stop_reason: reply.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
    const message = { id: `msg_${reply.id}`, type: 'message', role: 'assistant', model: body['model'], content, usage };
    if (body['stream'] !== true) return document({ ...message, ...stop });
    const stream: Body[] = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    ];
    for (const [index, block] of content.entries()) {
      const isText = block['type'] === 'text';
      const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
      const delta = isText
        ? { type: 'text_delta', text: block['text'] }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) };
      stream.push(
        { type: 'content_block_start', index, content_block: start },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      );
    }
    stream.push({ type: 'message_delta', delta: stop, usage }, { type: 'message_stop' });
    return events(stream);
  },
};
