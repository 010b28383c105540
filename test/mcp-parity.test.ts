import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/core/tokens.ts';
import { loadTools } from '../src/mcp/tools.ts';
import { type Folder, newWorkspace } from './command-line.ts';
import { openClient } from './mcp-client.ts';

/** One call of the story, made with a tool and on the command line. With `as`, another agent makes it on the command line. */
type Moment =
  | { tool: string; args: Record<string, unknown>; words: string[]; as?: never }
  | { as: string; words: string[]; tool?: never };

const tool = (name: string, args: Record<string, unknown>, ...words: string[]): Moment => ({ tool: name, args, words });
const other = (as: string, ...words: string[]): Moment => ({ as, words });

/** Every tool with every action, done and refused. */
const life: readonly Moment[] = [
  tool('resume', { budget: 1500, role: 'verifier' }, 'resume', '--budget', '1500', '--role', 'verifier'),
  tool('resume', { budget: 1 }, 'resume', '--budget', '1'),
  tool('start', { key: 't9' }, 'start', 't9'),
  tool('start', { key: 't2' }, 'start', 't2'),
  tool('start', {}, 'start'),
  tool('checkpoint', { name: 'drafted' }, 'checkpoint', 'drafted'),
  tool('start', { key: 't1' }, 'start', 't1'),
  tool('start', { key: 't1' }, 'start', 't1'),
  tool(
    'checkpoint',
    { name: 'drafted', artifacts: ['a.ts'], built: 'The issuer in a.ts', next: 'test it' },
    ...['checkpoint', 'drafted', '--artifact', 'a.ts', '--built', 'The issuer in a.ts', '--next', 'test it'],
  ),
  tool('checkpoint', { name: 'x', artifacts: ['../b.ts'] }, 'checkpoint', 'x', '--artifact', '../b.ts'),
  tool(
    'decide',
    { context: 'Storage', decision: 'Cookies', reason: 'XSS', alternatives: ['localStorage'], irreversible: true },
    ...['decide', '--context', 'Storage', '--decision', 'Cookies', '--reason', 'XSS'],
    ...['--alternative', 'localStorage', '--irreversible'],
  ),
  tool('decide', { context: 'Storage', decision: 'x' }, 'decide', '--context', 'Storage', '--decision', 'x'),
  tool(
    'raise',
    { kind: 'blocker', text: 'No keys', affects: ['t3'] },
    'raise',
    'blocker',
    'No keys',
    '--affects',
    't3',
  ),
  tool('raise', { kind: 'worry', text: 'x' }, 'raise', 'worry', 'x'),
  tool('settle', { id: 'B-1', as: 'resolved', note: 'came' }, 'settle', 'B-1', '--as', 'resolved', '--note', 'came'),
  tool('settle', { id: 'B-7', as: 'resolved' }, 'settle', 'B-7', '--as', 'resolved'),
  other('claude', 'effect', 'begin', 'deploy', '--class', 'irreversible'),
  tool('settle', { id: 'X-1', as: 'resolved' }, 'settle', 'X-1', 'resolved'),
  tool('settle', { id: 'B-1', as: 'succeeded' }, 'settle', 'B-1', 'succeeded'),
  tool('settle', { id: 'X-1', as: 'succeeded', note: 'It is up' }, 'settle', 'X-1', 'succeeded', '--note', 'It is up'),
  tool('note', { text: 'No new table', kind: 'constraint' }, 'note', 'No new table', '--kind', 'constraint'),
  tool('note', { text: 'x', kind: 'wish' }, 'note', 'x', '--kind', 'wish'),
  tool('runs', {}, 'runs'),
  tool('plan', { action: 'show' }, 'plan', 'show'),
  tool(
    'plan',
    { action: 'add', key: 't5', title: 'Tidy up', after: ['t3'] },
    'plan',
    'add',
    't5',
    'Tidy up',
    '--after',
    't3',
  ),
  tool('plan', { action: 'import', file: 'none.md' }, 'plan', 'import', 'none.md'),
  tool('search', { words: ['cookies'] }, 'search', 'cookies'),
  other('bob', 'mail', 'send', '--to', 'claude', '--type', 'request', '--subject', 'Review', '--body', 'a.ts'),
  tool('mail', { action: 'inbox' }, 'mail', 'inbox'),
  tool('mail', { action: 'show', id: 'M-1' }, 'mail', 'show', 'M-1'),
  tool('mail', { action: 'ack', id: 'M-1', note: 'soon' }, 'mail', 'ack', 'M-1', '--note', 'soon'),
  tool('mail', { action: 'block', id: 'M-1', note: 'B-1' }, 'mail', 'block', 'M-1', '--note', 'B-1'),
  tool('mail', { action: 'reply', id: 'M-1', body: 'Which?' }, 'mail', 'reply', 'M-1', '--body', 'Which?'),
  tool(
    'mail',
    { action: 'reply', id: 'M-1', body: 'So?', payload: 'a.ts' },
    ...['mail', 'reply', 'M-1', '--body', 'So?', '--payload', 'a.ts'],
  ),
  tool('mail', { action: 'action', id: 'M-1', note: 'done' }, 'mail', 'action', 'M-1', '--note', 'done'),
  tool(
    'mail',
    { action: 'close', id: 'M-1', as: 'resolved', note: 'x' },
    ...['mail', 'close', 'M-1', '--as', 'resolved', '--note', 'x'],
  ),
  tool(
    'mail',
    { action: 'send', to: 'bob', type: 'notify', subject: 'Done', body: 'See a.ts', priority: 'P2' },
    ...['mail', 'send', '--to', 'bob', '--type', 'notify', '--subject', 'Done', '--body', 'See a.ts'],
    ...['--priority', 'P2'],
  ),
  tool('finish', { action: 'complete', summary: 'Works' }, 'complete', '--summary', 'Works'),
  tool('finish', { action: 'complete', key: 't1' }, 'complete', 't1'),
  tool('start', { key: 't2' }, 'start', 't2'),
  tool('finish', { action: 'release', key: 't2' }, 'release', 't2'),
  tool('start', { key: 't2' }, 'start', 't2'),
  tool(
    'finish',
    { action: 'fail', message: 'No clock', type: 'runtime' },
    'fail',
    '--message',
    'No clock',
    '--type',
    'runtime',
  ),
  tool('start', { key: 't2' }, 'start', 't2'),
  tool('start', { key: 't3' }, 'start', 't3'),
  tool('handoff', { action: 'offer', to: 'bob', message: 'Yours' }, 'handoff', '--to', 'bob', '--message', 'Yours'),
  tool(
    'handoff',
    { action: 'offer', to: 'bob', payload: 'none.ts' },
    ...['handoff', '--to', 'bob', '--payload', 'none.ts'],
  ),
  tool('handoff', { action: 'list' }, 'handoff', 'list'),
  tool('handoff', { action: 'withdraw', id: 'H-1' }, 'handoff', 'withdraw', 'H-1'),
  other('bob', 'plan', 'add', 't4', 'Clean up'),
  other('bob', 'start', 't4'),
  other('bob', 'handoff', '--to', 'claude'),
  tool(
    'handoff',
    { action: 'clarify', id: 'H-2', question: 'All?' },
    'handoff',
    'clarify',
    'H-2',
    '--question',
    'All?',
  ),
  tool('handoff', { action: 'decline', id: 'H-2', reason: 'busy' }, 'handoff', 'decline', 'H-2', '--reason', 'busy'),
  other('bob', 'handoff', '--to', 'claude'),
  tool('handoff', { action: 'accept', id: 'H-3' }, 'handoff', 'accept', 'H-3'),
  tool(
    'handoff',
    { action: 'offer', to: 'bob', message: 'With this', payload: 'a.ts' },
    ...['handoff', '--to', 'bob', '--message', 'With this', '--payload', 'a.ts'],
  ),
  tool('mail', { action: 'show', id: 'M-6' }, 'mail', 'show', 'M-6'),
  tool(
    'finish',
    { action: 'end', reason: 'context-exhausted', next: 'go on', notes: ['n'] },
    ...['session', 'end', '--reason', 'context-exhausted', '--next', 'go on', '--note', 'n'],
  ),
];

/** Replaces what differs between two runs of the story: times and folders. */
function timeless<T>(value: T, { path }: Folder): T {
  const text = JSON.stringify(value)
    .replaceAll(JSON.stringify(path).slice(1, -1), 'FOLDER')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')
    .replace(/\d+ s ago/g, 'AGO')
    .replace(/-h[\da-f]{8}/g, '-hHASH')
    .replace(/about \d+ of/g, 'about N of')
    .replace(/"used":\d+/g, '"used":0')
    .replace(/"stamp":[\d.]+/g, '"stamp":0')
    // A server knows the process of its client, a command of its own only with hooks.
    .replace(/"machine":(?:null|"[^"]*")/g, '"machine":"M"');
  return JSON.parse(text) as T;
}

describe('tools', () => {
  it('answer and refuse as the command line does, in every action of every tool', async () => {
    const [mine, theirs] = [newWorkspace(), newWorkspace()];
    for (const { path } of [mine, theirs]) writeFileSync(join(path, 'a.ts'), 'export {}');
    const client = await openClient(mine, { env: { CLAUDE_CODE_SESSION_ID: 'c-1' } });
    for (const moment of life) {
      const { words } = moment;
      // Not with `--agent`, which names the agents of a step in `plan add`.
      for (const folder of [mine, theirs]) folder.env['HOLDFAST_AGENT'] = moment.as ?? 'claude';
      const ran = theirs.run(...words, '--json').json;
      if (moment.as !== undefined) {
        expect(mine.run(...words, '--json').json.ok, words.join(' ')).toBe(ran.ok);
        continue;
      }
      const { isError = false, structuredContent, content } = await client.call(moment.tool, moment.args);
      const [got, wanted] = [timeless(structuredContent, mine), timeless(ran, theirs)];
      expect(got, words.join(' ')).toMatchObject({ ok: wanted.ok });
      expect(isError).toBe(!wanted.ok);
      if (wanted.ok) expect(wanted).toMatchObject(got);
      // A command line names its flags where a tool names its fields.
      else if (wanted.fault.data['problems']) expect(got.fault.data).toEqual(wanted.fault.data);
      else expect(got).toEqual(wanted);
      expect(content).toEqual([{ type: 'text', text: expect.any(String) }]);
      if (!wanted.ok) expect(content[0].text).toContain(`${structuredContent.fault.code}: `);
    }
    expect(await client.close()).toBe(0);
    expect(mine.data('log')['events'].map((event: { type: string }) => event.type)).toEqual(
      theirs.data('log')['events'].map((event: { type: string }) => event.type),
    );
  }, 120_000);

  it('are all in that story, with every action', async () => {
    const offered = (await loadTools({ remote: false })).flatMap(({ name, actions }) =>
      [...actions.keys()].map((action) => `${name} ${action}`.trim()),
    );
    const lived = life.flatMap((moment) =>
      moment.tool === undefined ? [] : [`${moment.tool} ${moment.args['action'] ?? ''}`.trim()],
    );
    expect([...new Set(lived)].sort()).toEqual(offered.sort());
  });

  it('describe their input in fewer than 2,500 tokens', async () => {
    const client = await openClient(newWorkspace());
    const listed = JSON.stringify(await client.request('tools/list'));
    await client.close();
    expect(estimateTokens(listed)).toBeLessThan(2500);
    expect(encode(listed).length).toBeLessThan(2500);
  });

  it('declare their side effects', async () => {
    const client = await openClient(newWorkspace());
    const { tools } = await client.request('tools/list');
    await client.close();
    const readers = tools.filter((one: { annotations: { readOnlyHint: boolean } }) => one.annotations.readOnlyHint);
    expect(readers.map((one: { name: string }) => one.name)).toEqual(['resume', 'search', 'runs']);
    for (const { annotations } of tools)
      expect(annotations.readOnlyHint || annotations.destructiveHint === false).toBe(true);
  });
});
