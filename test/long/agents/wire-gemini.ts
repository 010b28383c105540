import type { Body, Wire } from './wire.ts';
import { document, events, fieldsOf, textIn } from './wire-text.ts';

/** Gemini's own. It also gets requests for JSON by a schema: which model to use, who speaks next. */
export const geminiContents: Wire = {
  asks: (path) => /:(?:streamGenerateContent|generateContent)$/.test(path),
  read: (body) => ({
    tools: new Map(
      (body['tools'] ?? [])
        .flatMap((tool: Body) => tool['functionDeclarations'] ?? [])
        .map((tool: Body) => [tool['name'], { fields: fieldsOf(tool['parametersJsonSchema'] ?? tool['parameters']) }]),
    ),
    system: '',
    lastUser: textIn((body['contents'] ?? []).findLast((one: Body) => one['role'] === 'user')?.parts),
  }),
  write(reply, body, path) {
    const schema = body['generationConfig']?.responseJsonSchema ?? body['generationConfig']?.responseSchema;
    const text = schema ? JSON.stringify(anyOf(schema)) : reply.text;
    const parts: Body[] = [
      ...(text === null ? [] : [{ text }]),
      ...reply.calls.map(({ id, tool, input }) => ({ functionCall: { id, name: tool, args: input } })),
    ];
    const { input, cached, output } = reply.usage;
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      modelVersion: 'scripted',
      responseId: reply.id,
      usageMetadata: {
        promptTokenCount: input,
        cachedContentTokenCount: cached,
        candidatesTokenCount: output,
        totalTokenCount: input + output,
      },
    };
    return path.endsWith(':streamGenerateContent') ? events([answer]) : document(answer);
  },
};

/** Some value that a schema allows. */
function anyOf(schema: Body): unknown {
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  switch (String(schema['type']).toLowerCase()) {
    case 'object':
      return Object.fromEntries(
        Object.entries<Body>(schema['properties'] ?? {}).map(([name, inner]) => [name, anyOf(inner)]),
      );
    case 'array':
      return [];
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    default:
      return 'some';
  }
}
