import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';

const { createMcpHandler } = (await import('../dist/lib/mcp/http.js' as string)) as typeof import('../src/mcp/http.ts');

function open() {
  const folder = newWorkspace();
  const server = openTestServer(folder.path, { mcp: createMcpHandler({ version: '0.0.0' }) });
  const ask = async (token: string | undefined, method: string, params: object, headers = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
    const response = await server.send('/mcp', { method: 'POST', body }, { token, headers: all });
    const text = await response.text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    return { status: response.status, ...(JSON.parse(data) as { result?: Record<string, never>; error?: object }) };
  };
  return { folder, server, ask };
}

describe('MCP over HTTP', () => {
  it('offers the tools and records under the name of the token', async () => {
    const { folder, server, ask } = open();
    const { result } = await ask(server.agent('ivy'), 'tools/list', {});
    expect(result).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ name: 'checkpoint' })]) });
    await ask(server.agent('ivy'), 'tools/call', { name: 'start', arguments: { key: 't1' } });
    expect(folder.data('status')['sessions']).toMatchObject([{ agent: 'ivy' }]);
    await server.close();
  });

  it('accepts the text of an attachment, and no file of this machine', async () => {
    const { folder, server, ask } = open();
    const { result } = await ask(server.agent('ivy'), 'tools/list', {});
    const listed = result as unknown as { tools: { name: string; inputSchema: { properties: object } }[] };
    for (const name of ['mail', 'handoff']) {
      const properties = listed.tools.find((tool) => tool.name === name)?.inputSchema.properties;
      expect([name, properties]).toEqual([name, expect.objectContaining({ payloadText: expect.anything() })]);
      expect(properties).not.toHaveProperty('payload');
    }
    folder.data('mail', 'send', '--to', 'ivy', '--type', 'request', '--subject', 'Plan', '--body', 'b');
    const args = { action: 'reply', id: 'M-1', body: 'So', payloadText: 'one\ntwo' };
    await ask(server.agent('ivy'), 'tools/call', { name: 'mail', arguments: args });
    expect(folder.run('mail', 'show', 'M-1', '--raw').out).toBe('one\ntwo\n');
    await server.close();
  });

  it('refuses without a token, beyond its scope, from a foreign host, and a body that is too large', async () => {
    const { folder, server, ask } = open();
    const version = folder.data('status')['version'];
    expect((await ask(undefined, 'tools/list', {})).status).toBe(401);
    const reader = server.tokenFor('agent', 'ivy', 'read');
    const refused = await ask(reader, 'tools/call', { name: 'start', arguments: { key: 't1' } });
    expect(JSON.stringify(refused)).toContain('not_allowed');
    expect(
      (await ask(server.person, 'tools/list', {}, { origin: 'https://evil.example' })).status,
    ).toBeGreaterThanOrEqual(400);
    const large = { name: 'decide', arguments: { context: 'x'.repeat(3 * 1024 * 1024) } };
    expect((await ask(server.person, 'tools/call', large)).status).toBe(413);
    expect(folder.data('status')['version']).toBe(version);
    await server.close();
  });

  /** A client of the 2025 revisions with a session, and the stream for the server's messages. */
  async function meet({ server }: ReturnType<typeof open>, token: string) {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const post = (method: string, params: object, id?: number) =>
      server.send(
        '/mcp',
        { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', method, params, ...(id ? { id } : {}) }) },
        { token, headers },
      );
    const clientInfo = { name: 'somebody', version: '1' };
    const met = await post('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, 1);
    await met.text();
    const id = met.headers.get('mcp-session-id') ?? '';
    headers['mcp-session-id'] = id;
    await post('notifications/initialized', {});
    const listen = (more: Record<string, string> = {}) =>
      server.send('/mcp', { method: 'GET' }, { token, headers: { ...headers, ...more, accept: 'text/event-stream' } });
    return { id, headers, post, listen };
  }

  /** Reads a stream until it contains the text. */
  async function until(response: Response, words: string): Promise<string> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let said = '';
    while (!said.includes(words)) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) break;
      said += value;
    }
    await reader?.cancel();
    return said;
  }

  it('notifies a connected client of changed resources, and repeats what it missed while it was cut off', async () => {
    const opened = open();
    const { folder, server } = opened;
    const client = await meet(opened, server.agent('ivy'));
    expect(client.id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await client.post('resources/subscribe', { uri: 'holdfast://brief' }, 2)).status).toBe(200);
    const stream = await client.listen();
    folder.data('note', 'Something new');
    const first = await until(stream, 'notifications/resources/updated');
    expect(first).toContain('"uri":"holdfast://brief"');
    const lastId = [...first.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
    folder.data('note', 'Something newer');
    // It reconnects and gets what was sent in between.
    const again = await client.listen({ 'last-event-id': lastId });
    expect(await until(again, 'notifications/resources/updated')).toContain('"uri":"holdfast://brief"');
    await server.close();
  });

  it('notifies a client of the newest revision of changes while it listens', async () => {
    const { folder, server } = open();
    const params = {
      notifications: { resourceSubscriptions: ['holdfast://status'] },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'somebody', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
    const stream = await server.send('/mcp', { method: 'POST', body }, { token: server.agent('ivy'), headers });
    expect(stream.status).toBe(200);
    // Changes before the first poll are not reported: make changes until one is.
    const timer = setInterval(() => folder.data('note', 'Something new'), 500);
    const said = await until(stream, 'notifications/resources/updated');
    clearInterval(timer);
    expect(said).toContain('"uri":"holdfast://status"');
    await server.close();
  });

  it('answers a request with an unknown session, and never uses the session of another token', async () => {
    const opened = open();
    const { server, ask } = opened;
    const { id, listen } = await meet(opened, server.agent('ivy'));
    const named = { 'mcp-session-id': 'of-another-process' };
    expect((await ask(server.agent('ivy'), 'tools/list', {}, named)).result).toHaveProperty('tools');
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id };
    expect((await server.send('/mcp', { method: 'GET' }, { token: server.agent('eve'), headers })).status).toBe(405);
    const own = await listen();
    expect(own.status).toBe(200);
    await own.body?.cancel();
    // Events are recorded for the token's actor, whichever token opened the session.
    const done = await ask(
      server.agent('eve'),
      'tools/call',
      { name: 'start', arguments: { key: 't1' } },
      { 'mcp-session-id': id },
    );
    expect(JSON.stringify(done)).toContain('in_progress');
    expect(opened.folder.data('status')['sessions']).toMatchObject([{ agent: 'eve' }]);
    await server.close();
  });
});
