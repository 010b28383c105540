import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { faultExits } from '../core/fault.ts';
import type { Operation } from '../operations/operation.ts';
import { loadOffered, offeredFields } from './call.ts';

/** The API as an OpenAPI 3.1 document, made from the schemas that check the input. */
export async function describeApi(version: string): Promise<Record<string, unknown>> {
  const all = await loadOffered();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version,
      description:
        'Remembers where your coding agent was. Every operation is `POST /api/NAME`; read-only ones are `GET` too.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { cookie: [] }],
    paths: {
      ...Object.fromEntries(all.map((operation) => [`/api/${operation.name}`, pathOf(operation)])),
      '/api/feed': feedPath,
      '/api/whoami': {
        get: { operationId: 'whoami', summary: 'Show whose token this is.', responses: { 200: ok({}), 401: refused } },
      },
      '/health': healthPath('health', 'Check that the server answers.'),
      '/healthz': healthPath('healthz', 'The same as `/health`.'),
      '/readyz': healthPath('readyz', 'Check that the journal can be read.'),
      '/metrics': {
        get: {
          operationId: 'metrics',
          summary: 'Numbers of what the token reaches, in the text format of Prometheus.',
          responses: { 200: { description: 'The numbers.', content: { 'text/plain': {} } }, 401: refused },
        },
      },
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token made by `holdfast token add`.' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'holdfast',
          description: 'Set by the link that `holdfast serve` prints.',
        },
      },
      parameters: {
        run: { name: 'holdfast-run', in: 'header', description: 'The run to work on.', schema: { type: 'string' } },
        session: {
          name: 'holdfast-session',
          in: 'header',
          description: 'Act as this session.',
          schema: { type: 'string' },
        },
        key: {
          name: 'idempotency-key',
          in: 'header',
          description: 'The request is recorded once per key, however often it is sent.',
          schema: { type: 'string' },
        },
        verbatim: {
          name: 'holdfast-verbatim',
          in: 'header',
          description: 'With `yes`, text is recorded as given, even where it looks like a secret.',
          schema: { type: 'string', enum: ['yes'] },
        },
      },
      schemas: { Change, Refused },
      responses: {
        Refused: {
          description: 'Refused. `fault.data.recorded` of a changing operation says whether anything was recorded.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Refused' } } },
        },
      },
    },
  };
}

const refused = { $ref: '#/components/responses/Refused' };

const Change = {
  type: 'object',
  required: ['path'],
  properties: { path: { type: 'string' }, before: {}, after: {} },
};

const Refused = {
  type: 'object',
  required: ['ok', 'fault'],
  properties: {
    ok: { const: false },
    fault: {
      type: 'object',
      required: ['code', 'message', 'hints', 'data'],
      properties: {
        code: { enum: Object.keys(faultExits) },
        message: { type: 'string' },
        hints: { type: 'array', items: { type: 'string' } },
        data: { type: 'object' },
      },
    },
  },
};

function pathOf(operation: Operation): Record<string, unknown> {
  const { name, summary, scope } = operation;
  const about = { summary, description: `Needs the scope \`${scope}\`.`, tags: [name.split('.')[0]] };
  const responses = { 200: ok(schemaOf(operation.output)), '4XX': refused, '5XX': refused };
  const input = inputOf(operation);
  const post = {
    ...about,
    operationId: name,
    parameters: ['run', 'session', 'key'].map(parameter),
    requestBody: { content: { 'application/json': { schema: input } } },
    responses,
  };
  if (scope !== 'read') return { post };
  const query = Object.entries(input.properties).map(([field, schema]) => ({
    name: field,
    in: 'query',
    required: input.required.includes(field),
    ...('description' in schema ? { description: schema['description'] } : {}),
    schema,
  }));
  return {
    post,
    get: {
      ...about,
      operationId: `${name}.get`,
      parameters: [...['run', 'session'].map(parameter), ...query],
      responses,
    },
  };
}

const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });

function ok(data: object): Record<string, unknown> {
  return {
    description: 'Done, or nothing to do.',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['ok', 'data'],
          properties: {
            ok: { const: true },
            data,
            changed: { type: 'array', items: { $ref: '#/components/schemas/Change' } },
            warnings: { type: 'array', items: { type: 'string' } },
          },
        },
      },
    },
  };
}

function inputOf(operation: Operation): { properties: Record<string, Record<string, unknown>>; required: string[] } {
  const whole = schemaOf(operation.input) as {
    properties?: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  const offered = offeredFields(operation);
  const properties = Object.fromEntries(
    Object.entries(whole.properties ?? {}).filter(([field]) => offered.includes(field)),
  );
  return { ...whole, properties, required: whole.required ?? [] };
}

/** Checks that are functions do not show in a schema; the operation still makes them. */
function schemaOf(schema: v.GenericSchema): Record<string, unknown> {
  const { $schema: _, ...rest } = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' });
  return rest;
}

const healthPath = (operationId: string, summary: string) => ({
  get: { operationId, summary, security: [], responses: { 200: ok({}), 503: refused } },
});

const feedPath = {
  get: {
    operationId: 'feed',
    summary: 'Follow the events of all runs, live.',
    description:
      'Server-Sent Events. A message `events` holds `{ "events": […] }` and has the cursor after them as its id: reconnect with it in `Last-Event-ID` or `after`.',
    parameters: [
      {
        name: 'after',
        in: 'query',
        description: 'The cursor to continue from; `now` (the default) or `beginning`.',
        schema: { type: 'string' },
      },
      { name: 'run', in: 'query', description: 'Only events of this run.', schema: { type: 'string' } },
      { name: 'last-event-id', in: 'header', schema: { type: 'string' } },
    ],
    responses: {
      200: { description: 'The feed.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      '4XX': refused,
    },
  },
};
