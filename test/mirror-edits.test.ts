import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder } from './command-line.ts';

const STATE = 'agent-output/shop/00-session-state.json';

/** Adds one more finding to the state file, or makes a file with one. */
const editor = `
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const file = process.argv[2];
const state = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { open_findings: [] };
state.open_findings.push('edit ' + (state.open_findings.filter((one) => one.startsWith('edit')).length + 1));
writeFileSync(file, JSON.stringify(state, null, 2));
`;

/** Runs the editor, as a process of its own, each time the new text of the state file has been flushed to disk. */
const interruption = `
const fs = require('node:fs');
const { basename } = require('node:path');
const { execFileSync } = require('node:child_process');
const { openSync, fsyncSync } = fs;
const { STATE, EDITOR, EDITS } = process.env;
const handles = new Set();
let left = Number(EDITS);
fs.openSync = (path, ...rest) => {
  const handle = openSync(path, ...rest);
  if (String(path).includes('/.' + basename(STATE) + '.') && String(path).endsWith('.tmp')) handles.add(handle);
  return handle;
};
fs.fsyncSync = (handle) => {
  fsyncSync(handle);
  if (handles.delete(handle) && left-- > 0) execFileSync(process.execPath, [EDITOR, STATE], { env: {} });
};
`;

function put(folder: Folder, path: string, text: string): string {
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function interrupt(folder: Folder, edits: number, path = STATE, script = editor): void {
  Object.assign(folder.env, {
    NODE_OPTIONS: `--require ${put(folder, 'tools/interruption.cjs', interruption)}`,
    EDITOR: put(folder, 'tools/editor.cjs', script),
    STATE: join(folder.path, path),
    EDITS: String(edits),
  });
}

function adopted(): Folder {
  const folder = newFolder();
  const steps = { '1': { name: 'Requirements', agent: '02-Worker', status: 'in_progress', artifacts: [] } };
  const state = { schema_version: '3.0', project: 'shop', current_step: 1, open_findings: [], decision_log: [], steps };
  put(folder, STATE, `${JSON.stringify(state, null, 2)}\n`);
  folder.data('adopt', '--mirror');
  return folder;
}

const findingsIn = (folder: Folder): string[] =>
  JSON.parse(readFileSync(join(folder.path, STATE), 'utf8')).open_findings;
const findingsOf = (folder: Folder): string[] =>
  folder
    .data('items')
    ['items'].map((one: { text: string }) => one.text)
    .sort();

describe('a mirror that is edited while it is written', () => {
  it('absorbs the edit and is written with it', () => {
    const folder = adopted();
    interrupt(folder, 1);
    const { code, err } = folder.run('raise', 'finding', 'ours', '--severity', 'must_fix');
    expect(code).toBe(0);
    expect(err).toMatch(/finding "edit 1" added/);
    folder.env['EDITS'] = '0';
    // The edit is compared with the text it was made to, not with the text that was about to be written.
    expect(folder.data('worklog')['text']).not.toContain('no longer has');
    expect(findingsIn(folder).sort()).toEqual(['edit 1', 'ours']);
    expect(findingsOf(folder)).toEqual(['edit 1', 'ours']);
  });

  it('is left as it is, with a warning, if the edits do not end', () => {
    const folder = adopted();
    interrupt(folder, 1000);
    const { code, err } = folder.run('raise', 'finding', 'ours', '--severity', 'must_fix');
    expect(code).toBe(0);
    expect(err).toContain(`${STATE} keeps changing`);
    const edits = ['edit 1', 'edit 2', 'edit 3', 'edit 4', 'edit 5'];
    expect(findingsIn(folder)).toEqual(edits);
    folder.env['EDITS'] = '0';
    folder.data('mirror', 'sync');
    expect(findingsIn(folder).sort()).toEqual([...edits, 'ours']);
    expect(findingsOf(folder)).toEqual([...edits, 'ours']);
  });

  it('keeps a file that another tool makes at the same moment', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Shop', '--id', 'shop');
    interrupt(folder, 1);
    folder.data('mirror', 'add', 'apex', STATE);
    const kept = readdirSync(folder.own('rejected'), { recursive: true, encoding: 'utf8' });
    const copies = kept.filter((name) => name.endsWith('~00-session-state.json'));
    expect(copies).toHaveLength(1);
    expect(readFileSync(folder.own('rejected', copies[0] ?? ''), 'utf8')).toContain('edit 1');
    expect(JSON.parse(readFileSync(join(folder.path, STATE), 'utf8'))).toMatchObject({ project: 'shop' });
  });

  it.each([
    [
      'snap',
      'working-session/WORKLOG.md',
      '(## Decision Index\\n\\n.*\\n.*\\n)',
      '$1| Theirs | ben | 2026-01-02 | Oil |\\n',
    ],
    [
      'codewalk',
      'STATE.md',
      '(\\ndecisions:)\\n',
      '$1\\n  - {date: 2026-01-02, context: "Oil", decision: "Theirs", reason: "cheap"}\\n',
    ],
  ])('absorbs the edit of a page: %s', (format, path, at, put) => {
    const folder = newFolder();
    folder.data('init', '--title', 'Lamps');
    folder.data('mirror', 'add', format);
    folder.data('decide', 'First', '--context', 'Wick', '--why', 'it burns');
    const script = `const fs = require('node:fs'), [, , file] = process.argv;
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/${at}/, '${put}'));`;
    interrupt(folder, 1, path, script);
    expect(folder.run('decide', 'Ours', '--context', 'Glass', '--why', 'it is clear').code).toBe(0);
    folder.env['EDITS'] = '0';
    const text = readFileSync(join(folder.path, path), 'utf8');
    const decided = folder.data('decisions')['decisions'].map((one: { decision: string }) => one.decision);
    expect([...decided].sort()).toEqual(['First', 'Ours', 'Theirs']);
    for (const words of decided) expect(text).toContain(words);
  });
});
