import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { newFolder, newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
type Data = any;

async function read(response: Response): Promise<Data> {
  return { status: response.status, ...((await response.json()) as Data) };
}

describe('an operation over HTTP', () => {
  it('is recorded under the name and kind of the token, whatever the request says', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    await server.post('note', { text: 'by a person' }, { token: server.person, headers: { 'holdfast-agent': 'eve' } });
    await server.post('note', { text: 'by an agent' }, { token: server.agent('ada') });
    const claimed = await read(await server.post('note', { text: 'x', agent: 'eve' }, { token: server.agent('ada') }));
    expect(claimed).toMatchObject({ status: 400, fault: { code: 'invalid', data: { field: 'agent' } } });
    expect(folder.data('log', '--limit', '2')['events']).toMatchObject([
      { person: 'root', agent: null },
      { person: null, agent: 'ada' },
    ]);
    await server.close();
  });

  it('accepts only a session of the token’s own actor', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const ada = server.agent('ada');
    const started = await read(await server.post('session.start', {}, { token: ada }));
    expect(started.data.session).toMatchObject({ id: 'S-1', agent: 'ada' });
    const headers = { 'holdfast-session': 'S-1' };
    expect((await server.post('start', { key: 't1' }, { token: ada, headers })).status).toBe(200);
    const before = folder.data('log', '--limit', '1')['version'];
    for (const token of [server.agent('bob'), server.person]) {
      for (const [operation, input] of [
        ['checkpoint', { name: 'drafted' }],
        ['heartbeat', {}],
      ] as const) {
        const refused = await read(await server.post(operation, input, { token, headers }));
        expect([operation, refused.ok]).toEqual([operation, false]);
      }
    }
    expect(folder.data('log', '--limit', '1')['version']).toBe(before);
    await server.close();
  });

  it('answers a read by GET too, with numbers, lists and booleans in the query', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const token = server.tokenFor('person', 'ada', 'read');
    expect(await read(await server.send('/api/log?limit=2&run=auth', {}, { token }))).toMatchObject({
      status: 200,
      data: { events: [{}, { type: 'step.added' }] },
    });
    expect(await read(await server.send('/api/decisions?all=true', {}, { token }))).toMatchObject({ status: 200 });
    expect(await read(await server.send('/api/search?words=issue&words=tokens&all=true', {}, { token }))).toMatchObject(
      {
        data: { results: [{ id: 't1' }] },
      },
    );
    expect(await read(await server.send('/api/log?limit=many', {}, { token }))).toMatchObject({
      status: 400,
      fault: { code: 'invalid' },
    });
    expect(await read(await server.send('/api/note?text=x', {}, { token: server.person }))).toMatchObject({
      status: 405,
      fault: { code: 'usage' },
    });
    await server.close();
  });

  it('finds the run by header, query or body, and says which one it took of several', async () => {
    const folder = newWorkspace();
    folder.data('init', '--title', 'Other', '--id', 'other');
    const server = openTestServer(folder.path);
    const token = server.person;
    expect(await read(await server.post('status', {}, { token }))).toMatchObject({
      status: 200,
      data: { run: { id: 'other' } },
      warnings: [expect.stringContaining('Using run other, one of 2')],
    });
    expect((await read(await server.post('status', {}, { token, run: 'other' }))).data.run.id).toBe('other');
    expect((await read(await server.post('status', { run: 'auth' }, { token }))).data.run.id).toBe('auth');
    expect((await read(await server.send('/api/status?run=other', {}, { token }))).data.run.id).toBe('other');
    expect((await server.post('status', {}, { token, run: 'none-such' })).status).toBe(404);
    await server.close();
  });

  it('records once per idempotency key', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const headers = { 'idempotency-key': 'k-1' };
    const first = await read(await server.post('note', { text: 'once' }, { token: server.person, headers }));
    const again = await read(await server.post('note', { text: 'once' }, { token: server.person, headers }));
    expect(again).toMatchObject({ status: 200, data: { id: first.data.id }, changed: [] });
    expect(folder.data('search', 'once')['results']).toHaveLength(1);
    await server.close();
  });

  it('gives each refusal the status of its code, and a verdict its exit code', async () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'ada');
    const server = openTestServer(folder.path);
    const token = server.agent('bob');
    const refusals: [number, string, string, unknown][] = [
      [404, 'not_found', 'start', { key: 't9' }],
      [409, 'illegal', 'complete', { key: 't3' }],
      [409, 'blocked', 'start', { key: 't2' }],
      [409, 'held', 'start', { key: 't1' }],
      [403, 'not_allowed', 'skip', { key: 't3', reason: 'r' }],
      [400, 'usage', 'verify', { key: 't1' }],
      [400, 'invalid', 'raise', { kind: 'worry', text: 'x' }],
      [503, 'unavailable', 'wait', { for: 't1', timeout: 0 }],
      [404, 'not_found', 'strat', {}],
    ];
    for (const [status, code, operation, input] of refusals) {
      const refused = await read(await server.post(operation, input, { token }));
      expect([operation, refused]).toMatchObject([operation, { status, ok: false, fault: { code } }]);
    }
    const sound = await server.post('doctor', {}, { token });
    expect([sound.status, sound.headers.get('holdfast-exit')]).toEqual([200, '0']);
    await server.close();
  });

  it('offers nothing that names a file or a command of the server', async () => {
    const folder = newWorkspace();
    writeFileSync(join(folder.path, 'plan.yaml'), 'steps: [{ key: more, title: One more }]\n');
    const server = openTestServer(folder.path);
    const token = server.person;
    const tries: [number, string, unknown][] = [
      [404, 'plan.import', { file: 'plan.yaml' }],
      [404, 'journal.export', { out: 'x.jsonl' }],
      [404, 'serve', {}],
      [400, 'verify', { key: 't1', probe: 'touch probed' }],
      [400, 'init', { title: 'X', plan: 'plan.yaml' }],
      [400, 'resume', { probe: true }],
    ];
    for (const [status, operation, input] of tries) {
      expect([operation, (await server.post(operation, input, { token })).status]).toEqual([operation, status]);
    }
    await server.close();
  });

  it('carries an attachment as text, bounded, and never one of the server’s files', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const [ada, bob] = [server.agent('ada'), server.agent('bob')];
    const message = { to: 'bob', type: 'request', subject: 'Plan', body: 'Look.' };
    const sent = await read(await server.post('mail.send', { ...message, payloadText: 'a\nb' }, { token: ada }));
    expect(sent.data.tokens).toEqual([expect.stringMatching(/^REV-\d{8}-plan-1-h[0-9a-f]{8}$/)]);
    const shown = await read(await server.post('mail.show', { id: sent.data.id, raw: true }, { token: bob }));
    expect(shown.data).toMatchObject({ payload: 'a\nb\n', payloads: [{ tokens: sent.data.tokens, verdict: 'valid' }] });
    const checked = await read(await server.post('check', {}, { token: bob }));
    expect(checked.data.rules).toMatchObject([{ rule: 'payload', result: 'pass' }]);
    for (const input of [{ payload: 'package.json' }, { payloadText: 'x\n'.repeat(70_000) }]) {
      const refused = await read(await server.post('mail.send', { ...message, ...input }, { token: ada }));
      expect([Object.keys(input)[0], refused.status, refused.fault.code]).toEqual([
        Object.keys(input)[0],
        400,
        'invalid',
      ]);
    }
    await server.close();
  });

  it('serves a store without a workspace, and creates no folder for it', async () => {
    const folder = newFolder();
    const server = openTestServer(folder.path, { store: join(folder.path, 'team.db') });
    const opened = await read(await server.post('init', { title: 'Far away', id: 'far' }, { token: server.person }));
    expect(opened).toMatchObject({ status: 200, data: { run: { id: 'far' }, workspace: null } });
    expect(folder.run('status').code).toBe(1);
    await server.close();
  });
});

describe('the description of the API', () => {
  it('is an OpenAPI 3.1 document with every offered operation and its required fields', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const response = await server.send('/openapi.json');
    const api = (await response.json()) as Data;
    expect([response.status, api.openapi]).toEqual([200, '3.1.0']);
    expect(await new Validator().validate(structuredClone(api))).toMatchObject({ valid: true });
    expect(api.paths['/api/note'].post.requestBody.content['application/json'].schema).toMatchObject({
      type: 'object',
      required: ['text'],
    });
    expect(Object.keys(api.paths['/api/status'])).toEqual(['post', 'get']);
    expect(Object.keys(api.paths['/api/note'])).toEqual(['post']);
    expect(api.paths['/api/verify'].post.requestBody.content['application/json'].schema.properties).not.toHaveProperty(
      'probe',
    );
    expect(api.paths).not.toHaveProperty('/api/plan.import');
    expect(api.paths).toHaveProperty('/api/session.start');
    await server.close();
  });
});

describe('the dashboard’s files', () => {
  it('are served with their types, cached by name', async () => {
    const folder = newWorkspace();
    mkdirSync(join(folder.path, 'web/assets'), { recursive: true });
    writeFileSync(join(folder.path, 'web/index.html'), '<!doctype html><title>Dashboard</title>');
    writeFileSync(join(folder.path, 'web/assets/app-1a2b.js'), 'export {};');
    const server = openTestServer(folder.path);
    const page = await server.send('/');
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    expect(await page.text()).toContain('Dashboard');
    const script = await server.send('/assets/app-1a2b.js');
    expect([script.headers.get('content-type'), script.headers.get('cache-control')]).toEqual([
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    const known = await server.send('/', {}, { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
    expect(known.status).toBe(304);
    expect((await server.send('/', { method: 'HEAD' })).status).toBe(200);
    expect((await server.send('/', { method: 'DELETE' })).status).toBe(405);
    await server.close();
  });

  it('are never read from outside their folder', async () => {
    const folder = newWorkspace();
    mkdirSync(join(folder.path, 'web'));
    writeFileSync(join(folder.path, 'web/index.html'), 'index');
    writeFileSync(join(folder.path, 'web/.hidden.js'), 'secret');
    writeFileSync(join(folder.path, 'secret.txt'), 'secret');
    writeFileSync(join(folder.path, 'web/backup.sqlite'), 'secret');
    symlinkSync(join(folder.path, 'secret.txt'), join(folder.path, 'web/link.txt'));
    const server = openTestServer(folder.path);
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/%2e%2e%2fsecret.txt',
      '/..%5csecret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '//etc/hosts.txt',
      '/link.txt',
      '/.hidden.js',
      '/backup.sqlite',
      '/secret.txt%00.js',
      '/%c0%ae%c0%ae/secret.txt',
    ]) {
      const response = await server.send(path);
      expect([path, await response.text()]).toEqual([path, expect.not.stringContaining('secret')]);
    }
    await server.close();
  });

  it('are replaced by a page that says so when they are missing', async () => {
    const server = openTestServer(newWorkspace().path);
    const page = await server.send('/');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Holdfast is running')]);
    await server.close();
  });
});
