import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { program } from './command-line.ts';
import { newRepository } from './hook-player.ts';

const source = fileURLToPath(new URL('../plugins/opencode/holdfast.js', import.meta.url));

/** As the installer does: with absolute paths instead of a name on the search path. */
async function loadPlugin(folder: string) {
  const command = JSON.stringify([process.execPath, program]);
  mkdirSync(join(folder, '.opencode'));
  const file = join(folder, '.opencode', 'holdfast.mjs');
  writeFileSync(file, readFileSync(source, 'utf8').replace("['holdfast']", command));
  const { Holdfast } = await import(pathToFileURL(file).href);
  const models = { demo: { limit: { context: 1000 } } };
  const client = { config: { providers: async () => ({ data: { providers: [{ id: 'p', models }] } }) } };
  return Holdfast({ client, directory: folder });
}

it('brings a whole session of OpenCode into the journal, and the brief into its first message', async () => {
  const folder = newRepository();
  folder.data('init', '--title', 'The form');
  const plugin = await loadPlugin(folder.path);
  const sessionID = 'ses_1';
  await plugin.event({ event: { type: 'session.created', properties: { sessionID, info: { id: sessionID } } } });
  const ask = async (id: string, text: string) => {
    const output = {
      message: { id },
      parts: [{ type: 'text', text }] as { type: string; text: string; synthetic?: boolean }[],
    };
    await plugin['chat.message']({ sessionID }, output);
    return output.parts;
  };
  const [brief, asked] = await ask('msg_1', 'Let the form remember');
  expect(brief).toMatchObject({ synthetic: true, text: expect.stringContaining('the work this session continues') });
  expect(asked?.text).toBe('Let the form remember');
  const todos = [{ content: 'Remember', status: 'in_progress', priority: 'high' }];
  await plugin.event({ event: { type: 'todo.updated', properties: { sessionID, todos } } });
  const call = { tool: 'bash', sessionID, callID: 'call_1' };
  await plugin['tool.execute.before'](call, { args: { command: 'npm test' } });
  await plugin['tool.execute.after'](
    { ...call, args: { command: 'npm test' } },
    { metadata: { exit: 1 }, output: 'x' },
  );
  const tokens = { input: 700, output: 80, reasoning: 0, cache: { read: 0, write: 0 } };
  const info = {
    id: 'msg_2',
    sessionID,
    role: 'assistant',
    providerID: 'p',
    modelID: 'demo',
    time: { completed: 2 },
    tokens,
  };
  await plugin.event({ event: { type: 'message.updated', properties: { info } } });
  const compacting = { context: [] as string[] };
  await plugin['experimental.session.compacting']({ sessionID }, compacting);
  expect(compacting.context).toEqual([expect.stringContaining('Remember')]);
  const [notice] = await ask('msg_3', 'Go on');
  expect(notice?.text).toContain('78 % of the context');
  await plugin.dispose();
  const types = (folder.data('log')['events'] as { type: string; body: { exitCode?: number; input?: number } }[]).map(
    ({ type, body }) => `${type}${body.exitCode ?? body.input ?? ''}`,
  );
  expect(types).toEqual(
    expect.arrayContaining(['step.started', 'effect.began', 'effect.ended1', 'usage.added700', 'session.ended']),
  );
});
