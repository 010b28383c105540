import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dangerous, injections, nameInjections, skeletonOf } from '../src/core/injections.suite.ts';
import { type Folder, newFolder } from './command-line.ts';
import { type McpClient, openClient } from './mcp-client.ts';

/** The words for each field of a story, by number. */
interface Words {
  text(slot: number): string;
  label(slot: number): string;
  name(slot: number): string;
}

const plain: Words = { text: (slot) => `x ${slot}`, label: (slot) => `x ${slot}`, name: (slot) => `x${slot}` };

/** Starts at another injection in each story, so that every field gets every one of them. */
function hostile(shift: number): Words {
  // An argument of a command cannot hold these.
  const texts = injections.map((text) =>
    text.replace(/\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, ''),
  );
  const pick = (list: readonly string[], slot: number): string => list[(slot + shift) % list.length] ?? '';
  return {
    text: (slot) => `${pick(texts, slot)} ${slot}`,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: labels may not contain them
    label: (slot) => `${pick(texts, slot).replace(/[\u0000-\u001f\u007f-\u009f]/g, '')} ${slot}`,
    name: (slot) => `${pick(nameInjections, slot)}${slot}`,
  };
}

/** Everything that models read in a story of two agents: answers by name. */
async function story({ text, label, name }: Words): Promise<Map<string, string>> {
  const folder = newFolder();
  const [first, second, third] = [name(1), name(2), name(3)];
  folder.data('init', '--title', text(4), '--goal', text(5), '--id', name(6));
  folder.data('plan', 'add', first, text(7), '--checkpoint', label(8), '--context', `${label(9)}.md`);
  folder.data('plan', 'add', second, text(10), '--after', first);
  folder.data('plan', 'add', third, text(11), '--gate');
  const [me, them] = [name(12), name(13)];
  const ada = await openClient(folder, { words: ['--agent', me] });
  const bob = await openClient(folder, { words: ['--agent', them] });
  const read = new Map<string, string>();
  // Where the budget is small, the length of the words decides which lines are left out.
  const calls: [string, McpClient, string, object][] = [
    ['start', ada, 'start', { key: first }],
    ['held', bob, 'start', { key: first }],
    ['blocked', bob, 'start', { key: second }],
    ['unknown', bob, 'start', { key: name(14) }],
    ['checkpoint', ada, 'checkpoint', { name: label(8), next: text(15) }],
    ['decide', ada, 'decide', { context: text(16), decision: text(17), reason: text(18), irreversible: true }],
    ['blocker', ada, 'raise', { kind: 'blocker', text: text(19), affects: [first], workaround: text(20) }],
    ['commitment', ada, 'raise', { kind: 'commitment', text: text(21), to: them, due: label(22) }],
    ['question', bob, 'raise', { kind: 'question', text: text(23), to: me }],
    ['send', bob, 'mail', { action: 'send', to: me, type: 'request', subject: text(24), body: text(25) }],
    ['send to nobody', bob, 'mail', { action: 'send', to: name(26), type: 'request', subject: text(27), body: '' }],
    ['inbox', ada, 'mail', { action: 'inbox' }],
    ['show', ada, 'mail', { action: 'show', id: 'M-1' }],
    ['reply', ada, 'mail', { action: 'reply', id: 'M-1', body: text(28) }],
    ['answers', bob, 'mail', { action: 'inbox' }],
    ['answered', bob, 'mail', { action: 'show', id: 'M-1' }],
    ['block', ada, 'mail', { action: 'block', id: 'M-1', note: text(29) }],
    ['offer', ada, 'handoff', { action: 'offer', to: them, message: text(30) }],
    ['clarify', bob, 'handoff', { action: 'clarify', id: 'H-1', question: text(31) }],
    ['list', bob, 'handoff', { action: 'list' }],
    ['resume', bob, 'resume', { budget: 20_000 }],
    ['own', ada, 'resume', { budget: 20_000 }],
    ['search', bob, 'search', { words: ['17'] }],
    ['accept', bob, 'handoff', { action: 'accept', id: 'H-1' }],
    ['settle', bob, 'settle', { id: 'B-1', as: 'resolved', note: text(32) }],
    ['fail', bob, 'finish', { action: 'fail', message: text(33), errorType: 'runtime' }],
    ['after', bob, 'resume', { budget: 20_000 }],
    ['end', bob, 'finish', { action: 'end', reason: 'completed', next: text(34) }],
  ];
  for (const [title, client, tool, args] of calls) {
    const { content } = await client.call(tool, args);
    read.set(title, content.map((part: { text: string }) => part.text).join('\n'));
  }
  const prompt = await ada.request('prompts/get', { name: 'handoff', arguments: { to: them, message: text(35) } });
  read.set('prompt', prompt.messages[0].content.text);
  const status = await ada.request('resources/read', { uri: 'holdfast://status' });
  read.set('status', status.contents[0].text);
  const { resources } = await ada.request('resources/list');
  read.set('resources', resources.map((one: { title: string }) => one.title).join('\n'));
  await Promise.all([ada.close(), bob.close()]);
  for (const [file, content] of filesOf(folder)) read.set(file, content);
  return read;
}

/** RESUME.md and the snapshots, in order of time. */
function filesOf(folder: Folder): [string, string][] {
  const data = folder.own();
  const contents = readdirSync(join(data, 'snapshots'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .sort((a, b) => versionOf(a) - versionOf(b));
  return [
    ['RESUME.md', readFileSync(join(data, 'RESUME.md'), 'utf8')],
    ...contents.map((text, index): [string, string] => [`snapshot ${index}`, text]),
  ];
}

const versionOf = (snapshot: string): number => Number(/journal_version: (\d+)/.exec(snapshot)?.[1]);

/** Without quotations and times. The token of a snapshot has the name of its agent. */
const outside = (text: string): string =>
  skeletonOf(text.replace(/^revision: REV-.*$/m, 'revision: REV').replace(/^(\d+\. |- )`[^`\n]*`/gm, '$1`path`'))
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d\d:\d\d|\d+ s\b/g, 'T')
    // It is made of the id of the run.
    .replace(/`holdfast resume [0-9a-f]{6,16}`/, '`holdfast resume RUN`');

describe('what models read', () => {
  it('C5: is the same outside quotations, whatever was recorded', { timeout: 120_000 }, async () => {
    const expected = await story(plain);
    const titles = [...expected.keys()];
    expect(titles.filter((title) => title.startsWith('snapshot'))).not.toEqual([]);
    for (let shift = 0; shift < injections.length; shift += 4) {
      const read = await story(hostile(shift));
      expect([...read.keys()]).toEqual(titles);
      for (const title of titles) {
        const text = read.get(title) ?? '';
        expect(`${title}: ${outside(text)}`).toBe(`${title}: ${outside(expected.get(title) ?? '')}`);
        expect(text, title).not.toMatch(dangerous);
      }
    }
  });
});
