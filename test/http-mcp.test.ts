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
});
