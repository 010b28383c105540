import type { Body, Call, Wire } from './wire.ts';
import { document, events, fieldsOf, textIn } from './wire-text.ts';

/** OpenAI's Responses: Codex CLI. */
export const openaiResponses: Wire = {
  asks: (path) => /\/responses(?:\/compact)?$/.test(path),
  read: (body) => ({
    tools: new Map(
      (body['tools'] ?? []).flatMap((tool: Body) =>
        tool['name']
          ? [[tool['name'], { fields: fieldsOf(tool['parameters']), isFreeform: tool['type'] === 'custom' }]]
          : [],
      ),
    ),
    system: '',
    lastUser: textIn((body['input'] ?? []).findLast((one: Body) => one['role'] === 'user')?.content),
  }),
  write(reply, body) {
    const output: Body[] = [
      ...(reply.text === null ? [] : [messageItem(reply.id, reply.text)]),
      ...reply.calls.map(callItem),
    ];
    const { usage } = reply;
    const response = {
      id: `resp_${reply.id}`,
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      model: body['model'],
      status: 'completed',
      output,
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input + usage.output,
      },
    };
    if (body['stream'] !== true) return document(response);
    const stream: Body[] = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    ];
    for (const [index, item] of output.entries()) {
      stream.push({ type: 'response.output_item.added', output_index: index, item });
      if (item['type'] === 'message') {
        const at = { item_id: item['id'], output_index: index, content_index: 0 };
        stream.push({ type: 'response.output_text.delta', ...at, delta: reply.text });
      }
      stream.push({ type: 'response.output_item.done', output_index: index, item });
    }
    stream.push({ type: 'response.completed', response });
    return events(stream);
  },
};

function messageItem(id: string, text: string): Body {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
}

function callItem({ id, tool, input }: Call): Body {
  const item = { call_id: `call_${id}`, name: tool, status: 'completed' };
  return typeof input === 'string'
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...item, input }
    : { type: 'function_call', id: `fc_${id}`, ...item, arguments: JSON.stringify(input) };
}
