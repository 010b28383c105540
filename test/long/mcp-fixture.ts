import { setTimeout } from 'node:timers/promises';
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { unchecked } from '../../src/mcp/schema.ts';
import { createStreamable, type Streamable } from '../../src/mcp/streamable.ts';
import { createWatcher, offerSubscriptions } from '../../src/mcp/subscriptions.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const text = (words: string) => ({ type: 'text' as const, text: words });
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
const embedded = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'This is an embedded resource content.' },
});
const says = (...content: (ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>)[]) => ({
  messages: content.map((one) => ({ role: 'user' as const, content: one })),
});
const args = (...names: string[]) =>
  unchecked({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: name }])),
    required: names,
  });

/** The tools, resources and prompts that the conformance suite needs, behind the same transport. */
export function createFixture(): Streamable {
  const watcher = createWatcher(async () => new Map());
  return createStreamable((_, ended) => {
    const capabilities = { logging: {}, completions: {}, resources: { subscribe: true } };
    const server = new McpServer({ name: 'fixture', version: '1.0.0' }, { capabilities });
    if (ended) offerSubscriptions(server, watcher, ended);
    server.server.setRequestHandler('completion/complete', ({ params }) => ({
      completion: { values: [`${params.argument.value}-completed`], total: 1, hasMore: false },
    }));
    registerTools(server);
    registerQuestions(server);
    registerResources(server);
    registerPrompts(server);
    return server;
  });
}

function registerTools(server: McpServer): void {
  const tool = (name: string, answer: () => CallToolResult) =>
    server.registerTool(name, { description: name, inputSchema: unchecked({ type: 'object' }) }, async () => answer());
  tool('test_simple_text', () => ({ content: [text('This is a simple text response for testing.')] }));
  tool('test_image_content', () => ({ content: [image] }));
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', () => ({ content: [embedded('test://embedded-resource')] }));
  tool('test_multiple_content_types', () => ({
    content: [
      text('Multiple content types test:'),
      image,
      { type: 'resource', resource: { uri: 'test://mixed', mimeType: 'application/json', text: '{"test":"data"}' } },
    ],
  }));
  tool('test_error_handling', () => ({
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  }));
  server.registerTool(
    'test_tool_with_logging',
    { description: 'Logs', inputSchema: unchecked({ type: 'object' }) },
    async (_, ctx) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
        await ctx.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      return { content: [text('Logged.')] };
    },
  );
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Reports progress', inputSchema: unchecked({ type: 'object' }) },
    async (_, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100])
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      return { content: [text('Done.')] };
    },
  );
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Has a schema of the newest draft',
      inputSchema: unchecked({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      }),
    },
    async () => ({ content: [text('ok')] }),
  );
}

function registerResources(server: McpServer): void {
  const reads = (uri: string, mimeType: string, body: { text: string } | { blob: string }) =>
    server.registerResource(uri, uri, { mimeType }, (url) => ({ contents: [{ uri: url.href, mimeType, ...body }] }));
  reads('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  reads('test://static-binary', 'image/png', { blob: PIXEL });
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    (url, { id }) => ({
      contents: [
        {
          uri: url.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}

function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () =>
    says(text('This is a simple prompt for testing.')),
  );
  server.registerPrompt('test_prompt_with_arguments', { argsSchema: args('arg1', 'arg2') }, (given) => {
    const { arg1, arg2 } = given as Record<string, string>;
    return says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`));
  });
  server.registerPrompt('test_prompt_with_embedded_resource', { argsSchema: args('resourceUri') }, (given) =>
    says(embedded((given as Record<string, string>)['resourceUri'] ?? ''), text('Please process it.')),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Image' }, () => says(image, text('Analyse it.')));
}

/** Tools that send requests to the client, and one whose stream is cut off before it answers. */
function registerQuestions(server: McpServer): void {
  const asking = (name: string, ask: (ctx: ServerContext, given: Record<string, string>) => Promise<string>) =>
    server.registerTool(
      name,
      { description: name, inputSchema: unchecked({ type: 'object' }) },
      async (given, ctx) => ({ content: [text(await ask(ctx, given as Record<string, string>))] }),
    );
  asking('test_sampling', async (ctx, { prompt = '' }) => {
    const messages = [{ role: 'user' as const, content: text(prompt) }];
    const { content } = await ctx.mcpReq.requestSampling({ messages, maxTokens: 100 });
    return `LLM response: ${JSON.stringify(content)}`;
  });
  type Properties = ElicitRequestFormParams['requestedSchema']['properties'];
  const elicit = async (ctx: ServerContext, message: string, properties: Properties, required?: string[]) => {
    const requestedSchema = { type: 'object' as const, properties, ...(required ? { required } : {}) };
    const { action, content } = await ctx.mcpReq.elicitInput({ message, requestedSchema });
    return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
  };
  asking('test_elicitation', (ctx, { message = '' }) =>
    elicit(
      ctx,
      message,
      {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      },
      ['username', 'email'],
    ),
  );
  asking('test_elicitation_sep1034_defaults', (ctx) =>
    elicit(ctx, 'Look at the defaults.', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  );
  const options = ['option1', 'option2', 'option3'];
  const titled = ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title }));
  asking('test_elicitation_sep1330_enums', (ctx) =>
    elicit(ctx, 'Choose.', {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }),
  );
  asking('test_reconnection', async (ctx) => {
    ctx.http?.closeSSE?.();
    await setTimeout(100);
    return 'The stream was cut off and found again.';
  });
}
