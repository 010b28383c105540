import { describe, expect, it } from 'vitest';
import { Fault } from '../src/core/fault.ts';
import { createMcpHandler } from '../src/mcp/http.ts';
import { openContext } from '../src/operations/open.ts';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';
import { openClient } from './mcp-client.ts';

const holderOf = (folder: Folder, key: string): string =>
  folder.data('status')['steps'].find((step: { key: string }) => step.key === key).holder?.session;
const sessionOf = (folder: Folder, id: string) =>
  folder.data('sessions')['sessions'].find((session: { id: string }) => session.id === id);

describe('the identity', () => {
  it('is the client, the conversation in its environment, and the parent process', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder, { env: { CLAUDE_CODE_SESSION_ID: 'c-1' } });
    await client.call('start', { key: 't1' });
    expect(sessionOf(folder, 'S-1')).toMatchObject({
      agent: 'claude',
      kind: 'agent',
      client: { name: 'claude', id: 'c-1' },
      owner: { pid: process.pid },
    });
    await client.close();
  });

  it('is recognised from what the client sends with a call', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder, { name: 'codex-mcp-client' });
    await client.call('start', { key: 't1' }, { sessionId: 'thread-7' });
    expect(sessionOf(folder, 'S-1')).toMatchObject({ agent: 'codex', client: { name: 'codex', id: 'thread-7' } });
    await client.call('start', { key: 't3' }, { sessionId: 'thread-8' });
    expect([holderOf(folder, 't1'), holderOf(folder, 't3')]).toEqual(['S-1', 'S-2']);
    const { isError } = await client.call('checkpoint', { name: 'x' }, { sessionId: 'thread-7' });
    expect([isError, await client.close()]).toEqual([undefined, 0]);
  });

  it('is the process if the client sends no id, and marked as inferred', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder, { name: 'gemini-cli-mcp-client' });
    await client.call('start', { key: 't1' });
    await client.close();
    expect(sessionOf(folder, 'S-1')).toMatchObject({ agent: 'gemini', client: { name: 'gemini', inferred: true } });
    const again = await openClient(folder, { name: 'gemini-cli-mcp-client' });
    expect((await again.call('finish', { action: 'complete' })).isError).toBeUndefined();
    await again.close();
  });

  it('has the agent name given at start, or the client’s own name', async () => {
    const folder = newWorkspace();
    const named = await openClient(folder, { words: ['--agent', 'reviewer'] });
    await named.call('start', { key: 't1' });
    await named.close();
    const stranger = await openClient(folder, { name: 'My Client!', modern: true });
    await stranger.call('start', { key: 't3' });
    await stranger.close();
    expect(['S-1', 'S-2'].map((id) => sessionOf(folder, id).agent)).toEqual(['reviewer', 'my-client']);
  });

  it('is refused on a step that another session holds now, and may start a new session', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder, { env: { CLAUDE_CODE_SESSION_ID: 'c-1' } });
    await client.call('start', { key: 't1' });
    await client.call('handoff', { action: 'offer', to: 'bob' });
    folder.data('handoff', 'accept', 'H-1', '--agent', 'bob');
    const refused = await client.call('checkpoint', { name: 'drafted' });
    expect(refused.structuredContent.fault.code).toBe('fenced');
    expect((await client.call('start', { key: 't3' })).isError).toBeUndefined();
    await client.close();
  });
});

describe('the server', () => {
  it('starts its instructions with the trigger, writes only the protocol and ends with its input', async () => {
    const client = await openClient(newWorkspace());
    await client.call('resume');
    expect(await client.close()).toBe(0);
    const [hello, ...rest] = client.lines.map((line) => JSON.parse(line));
    expect(hello.result.instructions).toMatch(
      /^Call `resume` to see where earlier work stopped before continuing it, and after compaction\./,
    );
    expect(hello.result.instructions.length).toBeLessThan(2048);
    expect(rest.every((message) => message.jsonrpc === '2.0')).toBe(true);
  });

  it('finds a workspace that is created while it runs', async () => {
    const folder = newFolder();
    const client = await openClient(folder);
    expect((await client.call('resume')).structuredContent.fault).toMatchObject({ code: 'not_found' });
    folder.data('init', '--title', 'New', '--id', 'fresh');
    expect((await client.call('resume')).structuredContent.data.run.id).toBe('fresh');
    await client.close();
  });

  it('answers simultaneous calls in order, and all of them before it ends', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder);
    const calls = [client.call('start', { key: 't1' }), client.call('checkpoint', { name: 'drafted' })];
    const ended = client.close();
    for (const { isError } of await Promise.all(calls)) expect(isError).toBeUndefined();
    expect(await ended).toBe(0);
  });

  it('refuses unknown input of a tool and lists what it takes', async () => {
    const client = await openClient(newWorkspace());
    const { structuredContent } = await client.call('finish', { action: 'complete', sumary: 'x' });
    expect(structuredContent.fault).toMatchObject({
      code: 'invalid',
      hints: ['Did you mean `summary`?', expect.any(String)],
    });
    await client.close();
  });

  it('offers the brief, the status and each run as resources, and reports changes', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder);
    const { resources } = await client.request('resources/list');
    expect(resources.map((one: { uri: string }) => one.uri)).toEqual([
      'holdfast://brief',
      'holdfast://status',
      'holdfast://run/auth',
    ]);
    for (const { uri } of resources) {
      const { contents } = await client.request('resources/read', { uri });
      expect(contents[0].text).toContain('t1');
    }
    expect(await client.error('resources/read', { uri: 'holdfast://run/none' })).toMatchObject({
      data: { code: 'not_found' },
    });
    await client.request('resources/subscribe', { uri: 'holdfast://brief' });
    folder.data('note', 'Something new');
    expect(await client.notification('notifications/resources/updated')).toMatchObject({ uri: 'holdfast://brief' });
    await client.close();
  });

  it('stops reporting after an unsubscribe', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder);
    await client.request('resources/subscribe', { uri: 'holdfast://brief' });
    await client.request('resources/subscribe', { uri: 'holdfast://status' });
    await client.request('resources/unsubscribe', { uri: 'holdfast://brief' });
    folder.data('note', 'Something new');
    expect(await client.notification('notifications/resources/updated')).toMatchObject({ uri: 'holdfast://status' });
    expect(client.lines.join()).not.toContain('"uri":"holdfast://brief"}}');
    await client.close();
  });

  it('notifies a client of the newest revision of changes while it listens, and ends with it', async () => {
    const folder = newWorkspace();
    const client = await openClient(folder, { modern: true });
    void client.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['holdfast://run/auth'] } });
    await client.notification('notifications/subscriptions/acknowledged');
    folder.data('note', 'Something new');
    expect(await client.notification('notifications/resources/updated')).toMatchObject({ uri: 'holdfast://run/auth' });
    expect(await client.close()).toBe(0);
  });

  it('completes the arguments of prompts and the ids of runs', async () => {
    const folder = newWorkspace();
    folder.data('session', 'start', '--agent', 'carla');
    const client = await openClient(folder);
    const complete = async (ref: object, name: string, value: string) =>
      (await client.request('completion/complete', { ref, argument: { name, value } })).completion;
    const prompt = (name: string) => ({ type: 'ref/prompt', name });
    expect(await complete(prompt('resume'), 'role', 'ver')).toEqual({ values: ['verifier'], total: 1, hasMore: false });
    expect((await complete(prompt('handoff'), 'to', 'c')).values).toEqual([
      'carla',
      'claude',
      'codex',
      'copilot',
      'cursor',
    ]);
    expect((await complete(prompt('handoff'), 'message', 'x')).values).toEqual([]);
    const run = { type: 'ref/resource', uri: 'holdfast://run/{id}' };
    expect((await complete(run, 'id', 'A')).values).toEqual(['auth']);
    expect(
      await client.error('completion/complete', { ref: prompt('none'), argument: { name: 'x', value: '' } }),
    ).toMatchObject({ code: -32602 });
    await client.close();
  });

  it('offers prompts to resume and to hand over', async () => {
    const client = await openClient(newWorkspace());
    const { prompts } = await client.request('prompts/list');
    expect(prompts.map((one: { name: string }) => one.name)).toEqual(['resume', 'handoff']);
    const resumed = await client.request('prompts/get', { name: 'resume', arguments: {} });
    expect(resumed.messages[0].content.text).toContain('Next: "Issue tokens" is ready (step "t1").');
    const handed = await client.request('prompts/get', { name: 'handoff', arguments: { to: 'codex' } });
    expect(handed.messages[0].content.text).toContain('Hand your work over to "codex".');
    await client.close();
  });
});

describe('over HTTP', () => {
  it('serves each request as the actor it was admitted as, within its scope', async () => {
    const folder = newWorkspace();
    const context = openContext({ dir: folder.path, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
    const handler = createMcpHandler({ version: '0.0.0' });
    const post = async (scope: 'read' | 'write', name: string, args: object) => {
      const request = new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      });
      const response = await handler.fetch(request, {
        owner: scope,
        isValid: async () => true,
        contextOf: (run) => ({ ...context, run }),
        mayCall(operation) {
          if (scope === 'read' && operation.scope !== 'read') throw new Fault('not_allowed', 'Only reading.');
        },
      });
      const text = await response.text();
      const body = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
      return JSON.parse(body).result;
    };
    expect((await post('read', 'start', { key: 't1' })).structuredContent.fault.code).toBe('not_allowed');
    expect((await post('write', 'start', { key: 't1' })).structuredContent.data.step.status).toBe('in_progress');
    expect((await post('read', 'resume', {})).structuredContent.data.position.step).toBe('t1');
    await handler.close();
    await context.close();
    expect(sessionOf(folder, 'S-1').agent).toBe('ada');
  });

  it('sends nothing more in a session whose token is no longer valid, and ends it', async () => {
    const folder = newWorkspace();
    const context = openContext({ dir: folder.path, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
    const handler = createMcpHandler({ version: '0.0.0' });
    let holds = true;
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const send = (body?: object) =>
      handler.fetch(
        new Request('http://127.0.0.1/mcp', {
          method: body ? 'POST' : 'GET',
          headers,
          ...(body ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) } : {}),
        }),
        {
          owner: 'ada',
          isValid: async () => holds,
          contextOf: (run) => ({ ...context, run }),
          mayCall: () => undefined,
        },
      );
    const clientInfo = { name: 'x', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const met = await send({ method: 'initialize', params });
    headers['mcp-session-id'] = met.headers.get('mcp-session-id') ?? '';
    await met.text();
    await (await send({ method: 'resources/subscribe', params: { uri: 'holdfast://brief' } })).text();
    const stream = await send();
    holds = false;
    folder.data('note', 'Something new');
    expect(await stream.text()).not.toContain('notifications/resources/updated');
    await handler.close();
    await context.close();
  });
});
