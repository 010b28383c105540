import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ruleText } from '../src/clients/cursor/rule.ts';
import { unknownLines } from '../src/core/brief/grammar.suite.ts';
import { estimateTokens } from '../src/core/tokens.ts';
import type { Folder } from './command-line.ts';
import { hook, newAgent, newRepository, startOf } from './hook-player.ts';

const RULE = '.cursor/rules/holdfast.mdc';

function newProject() {
  const folder = newRepository();
  folder.data('install', 'cursor', '--project');
  const path = join(folder.path, RULE);
  return { folder, path, rule: () => readFileSync(path, 'utf8') };
}

function tell(folder: Folder, event: string, session: string, more: object, pid = '') {
  const input = { ...startOf(folder, 'startup', session), hook_event_name: event, ...more };
  return hook(folder, 'claude', event, input, pid === '' ? {} : { HOLDFAST_PID: pid });
}

const ask = (folder: Folder, session: string, prompt: string, pid = '') =>
  tell(folder, 'UserPromptSubmit', session, { prompt }, pid);

function edit(folder: Folder, session: string, name: string, pid = ''): void {
  writeFileSync(join(folder.path, name), 'one\n');
  const tool = { tool_name: 'Write', tool_input: { file_path: join(folder.path, name), content: 'one\n' } };
  tell(folder, 'PostToolUse', session, { ...tool, tool_use_id: name, tool_response: {} }, pid);
}

const stop = (folder: Folder, session: string, said: string) =>
  tell(folder, 'Stop', session, { last_assistant_message: said });

/** A turn that ends with a question, so that its run is unfinished. */
function leaveQuestion(folder: Folder): void {
  ask(folder, 'c1', 'Show the opening hours of each branch.');
  edit(folder, 'c1', 'hours.txt');
  stop(folder, 'c1', 'The page is drafted. Should closed days be shown?');
}

describe("Cursor's rule file", () => {
  it('gets the brief at the end of a turn, in 450 tokens, and is empty where nothing is unfinished', () => {
    const { folder, rule } = newProject();
    expect(rule()).toBe(ruleText(null));
    leaveQuestion(folder);
    const [, , , , , header, run, asked] = rule().split('\n');
    expect(header).toMatch(/^Holdfast record of .* UTC: unfinished work in this folder\./);
    expect(run).toMatch(/^Run \S+: claude \(S-1\) ended its turn with a question to the user at /);
    expect(asked).toMatch(/^Asked \(.*\): "Show the opening hours of each branch\."$/);
    expect(rule()).toContain('Changed, not committed: "hours.txt" new, 1 line.');
    expect(unknownLines(rule().slice(ruleText(null).length).trim())).toEqual([]);
    expect(estimateTokens(rule())).toBeLessThanOrEqual(490);
    ask(folder, 'c1', 'No.');
    stop(folder, 'c1', 'Done.');
    expect(rule()).toBe(ruleText(null));
  });

  it('is not touched by what only reads, nor written again because time passed', () => {
    const { folder, path, rule } = newProject();
    leaveQuestion(folder);
    const before = [rule(), statSync(path).mtimeMs];
    for (const words of [['resume'], ['status'], ['runs'], ['log'], ['brief', 'show']]) folder.data(...words);
    hook(folder, 'claude', 'SessionStart', startOf(folder, 'startup', 'c2'));
    folder.data('note', 'A remark');
    expect([rule(), statSync(path).mtimeMs]).toEqual(before);
    folder.data('note', 'Never show private numbers', '--kind', 'constraint');
    expect(rule()).toContain('"Never show private numbers"');
  });

  it('is left alone once someone edited it, and leaves with uninstall', () => {
    const { folder, path, rule } = newProject();
    leaveQuestion(folder);
    expect(folder.data('install', 'cursor', '--project')['files']).toContainEqual(
      expect.objectContaining({ path: RULE, action: 'unchanged' }),
    );
    const written = rule();
    writeFileSync(path, `${written}\nMine.\n`);
    folder.data('decide', 'Closed days are shown', '--why', 'guests ask');
    expect(rule()).toBe(`${written}\nMine.\n`);
    writeFileSync(path, written);
    folder.data('uninstall', 'cursor', '--project');
    expect(() => rule()).toThrow('ENOENT');
  });

  it('is not written where install did not write it', () => {
    const folder = newRepository();
    const path = join(folder.path, RULE);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, ruleText(null));
    leaveQuestion(folder);
    expect(readFileSync(path, 'utf8')).toBe(ruleText(null));
  });

  it('says that a session was cut off once that is recorded', async () => {
    const { folder, rule } = newProject();
    const agent = newAgent();
    ask(folder, 'c1', 'Show the opening hours of each branch.', agent.pid);
    edit(folder, 'c1', 'hours.txt', agent.pid);
    await agent.kill();
    folder.data('supervise');
    expect(rule()).toMatch(/^Run \S+: claude \(S-1\) was cut off in the middle of a turn at /m);
  });
});
