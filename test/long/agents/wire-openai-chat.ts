import type { Body, Wire } from './wire.ts';
import { document, events, fieldsOf, textIn } from './wire-text.ts';

/** OpenAI's Chat Completions: Qwen Code, Copilot CLI, OpenCode. */
export const openaiChat: Wire = {
  asks: (path) => /\/chat\/completions$/.test(path),
  read: (body) => ({
    tools: new Map(
      (body['tools'] ?? []).flatMap(({ function: described, custom }: Body) => {
        if (described) return [[described.name, { fields: fieldsOf(described.parameters) }]];
        return custom ? [[custom.name, { fields: [], isFreeform: true }]] : [];
      }),
    ),
    system: textIn((body['messages'] ?? []).find((one: Body) => one['role'] === 'system')?.content),
    lastUser: textIn((body['messages'] ?? []).findLast((one: Body) => one['role'] === 'user')?.content),
  }),
  write(reply, body) {
    const calls = reply.calls.map(({ id, tool, input }, index) => {
      const words = typeof input === 'string' ? JSON.stringify({ input }) : JSON.stringify(input);
      return { index, id: `call_${id}`, type: 'function', function: { name: tool, arguments: words } };
    });
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    const { input, cached, output } = reply.usage;
    const usage = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    };
    const head = { id: `chatcmpl-${reply.id}`, created: Math.floor(Date.now() / 1000), model: body['model'] };
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content: reply.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
      const choices = [{ index: 0, finish_reason: finish, message }];
      return document({ ...head, object: 'chat.completion', choices, usage });
    }
    const chunk = (delta: Body, reason: string | null = null): Body => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const stream = [
      chunk({ role: 'assistant', content: reply.text ?? '' }),
      ...calls.map((call) => chunk({ tool_calls: [call] })),
      chunk({}, finish),
      { ...head, object: 'chat.completion.chunk', choices: [], usage },
    ];
    return events(stream, 'data: [DONE]\n\n');
  },
};
