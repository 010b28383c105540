import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOf, type Folder, newFolder, newWorkspace } from './command-line.ts';

const ACTIVE = 'docs/maestro/state/active-session.md';
const ARCHIVED = 'docs/maestro/state/archive/2026-03-01-tokens.md';

function put(folder: Folder, path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const has = (folder: Folder, path: string): boolean => existsSync(join(folder.path, path));
const textOf = (folder: Folder, path: string): string => readFileSync(join(folder.path, path), 'utf8');

/** What is moved, and was: the only record in the state folder. */
function recordOf(folder: Folder, run: string): string {
  const [clone = ''] = readdirSync(folder.state('archives'));
  return folder.state('archives', clone, `${run}.json`);
}

const session = (): Folder => copyOf('adopted run', adopt);
const finished = (): Folder => copyOf('finished run', () => finish(session()));

function adopt(): Folder {
  const folder = newFolder();
  const phase = (id: number, name: string) =>
    [
      `  - id: ${id}`,
      `    name: "${name}"`,
      '    status: pending',
      '    agents: ["coder"]',
      '    parallel: false',
      '    started: null',
      '    completed: null',
      '    blocked_by: []',
      '    files_created: []',
      '    files_modified: []',
      '    files_deleted: []',
      '    errors: []',
      '    retry_count: 0',
    ].join('\n');
  put(
    folder,
    ACTIVE,
    `---
session_id: "2026-03-01-tokens"
created: "2026-03-01T09:00:00Z"
updated: "2026-03-01T09:00:00Z"
status: in_progress
design_document: "docs/maestro/plans/2026-03-01-tokens-design.md"
implementation_plan: "docs/maestro/plans/2026-03-01-tokens-impl-plan.md"
current_phase: 1
total_phases: 2
token_usage:
  total_input: 0
  total_output: 0
  total_cached: 0
  by_agent: {}
phases:
${phase(1, 'Schema')}
${phase(2, 'Rotation')}
---

# Tokens Orchestration Log
`,
  );
  put(folder, 'docs/maestro/plans/2026-03-01-tokens-design.md', '# Design\n');
  put(folder, 'docs/maestro/plans/2026-03-01-tokens-impl-plan.md', '# Plan\n');
  folder.data('adopt', '--mirror');
  return folder;
}

function finish(folder: Folder): Folder {
  for (const step of folder.data('plan', 'show')['steps'] as { key: string }[]) {
    folder.data('start', step.key, '--agent', 'ada');
    folder.data('complete', step.key, '--agent', 'ada');
  }
  return folder;
}

describe('archiving a run with files of its own', () => {
  it('is offered when the last step is done', () => {
    const folder = session();
    for (const key of ['1', '2']) folder.data('start', key, '--agent', 'ada');
    expect(folder.run('complete', '1', '--agent', 'ada').out).not.toContain('archive');
    expect(folder.run('complete', '2', '--agent', 'ada').out).toContain('`holdfast archive --run 2026-03-01-tokens`');
  });

  it('moves plans, design and state, updates status and references, and reports the moves', () => {
    const folder = finished();
    const { moved, run } = folder.data('archive');
    expect(run.status).toBe('archived');
    expect(moved.map((one: { to: string }) => one.to)).toEqual([
      'docs/maestro/plans/archive/2026-03-01-tokens-design.md',
      'docs/maestro/plans/archive/2026-03-01-tokens-impl-plan.md',
      ARCHIVED,
    ]);
    expect(has(folder, ACTIVE)).toBe(false);
    const text = textOf(folder, ARCHIVED);
    expect(text).toMatch(/^status: "?completed/m);
    expect(text).toContain('docs/maestro/plans/archive/2026-03-01-tokens-design.md');
    expect(folder.data('mirror', 'list', '--run', run.id)['mirrors']).toEqual([]);
  });

  it('archives an unfinished run only with a reason, and not as completed', () => {
    const folder = session();
    expect(folder.fault('archive')).toMatchObject({ code: 'illegal' });
    expect(has(folder, ACTIVE)).toBe(true);
    folder.person.data('archive', '--reason', 'Nobody needs it');
    expect(textOf(folder, ARCHIVED)).not.toMatch(/^status: "?completed/m);
    expect(folder.data('runs')['runs']).toMatchObject([{ status: 'archived' }]);
  });

  it('never overwrites a file of the same name', () => {
    const folder = finished();
    put(folder, ARCHIVED, 'Somebody else\n');
    const { moved } = folder.data('archive');
    expect(textOf(folder, ARCHIVED)).toBe('Somebody else\n');
    expect(moved.at(-1).to).toBe('docs/maestro/state/archive/2026-03-01-tokens-2.md');
  });

  it('drops its plan when it was refused', () => {
    const folder = session();
    expect(folder.fault('archive', '--agent', 'ada')).toMatchObject({ code: 'illegal' });
    put(folder, ARCHIVED, 'Somebody else\n');
    finish(folder);
    const { moved } = folder.data('archive');
    expect(textOf(folder, ARCHIVED)).toBe('Somebody else\n');
    expect(moved.at(-1).to).toBe('docs/maestro/state/archive/2026-03-01-tokens-2.md');
    expect(textOf(folder, moved.at(-1).to).match(/status: "?completed/g)).toHaveLength(3);
  });

  it('takes another name if the chosen one was taken meanwhile', () => {
    const folder = finished();
    const { run } = folder.data('archive');
    const intent = recordOf(folder, run.id);
    const { intents, ...record } = JSON.parse(readFileSync(intent, 'utf8'));
    const [first] = intents;
    // As after a crash before the last move, and then another file takes the name.
    put(folder, ACTIVE, textOf(folder, ARCHIVED));
    put(folder, ARCHIVED, 'Somebody else\n');
    writeFileSync(intent, JSON.stringify({ ...record, intents: [{ ...first, done: false }] }));
    folder.data('archive', '--run', run.id);
    expect(has(folder, ACTIVE)).toBe(false);
    expect(textOf(folder, ARCHIVED)).toBe('Somebody else\n');
    expect(textOf(folder, 'docs/maestro/state/archive/2026-03-01-tokens-2.md')).toContain('2026-03-01-tokens');
    expect(folder.data('unarchive', run.id)['moved']).toHaveLength(3);
    expect(has(folder, ACTIVE)).toBe(true);
  });

  it('is completed by running it again after a crash', () => {
    const folder = finished();
    const { run } = folder.data('archive');
    // As after a crash in the middle: one document moved, the rest not, the intent not marked as done.
    const intent = recordOf(folder, run.id);
    const { intents, ...record } = JSON.parse(readFileSync(intent, 'utf8'));
    const [first] = intents;
    const state = first.moves.at(-1);
    put(folder, state.from, textOf(folder, state.to));
    writeFileSync(join(folder.path, state.to), '');
    const to = state.to.replace('.md', '-x.md');
    const moves = first.moves.slice(0, -1).concat({ ...state, to });
    writeFileSync(intent, JSON.stringify({ ...record, intents: [{ ...first, done: false, moves }] }));
    folder.data('archive', '--run', run.id);
    expect(has(folder, ACTIVE)).toBe(false);
    expect(has(folder, to)).toBe(true);
  });

  it('leaves a RESUME.md that shows it, since when, and how to continue; so does abandoning', () => {
    const folder = newWorkspace();
    const text = () => textOf(folder, '.git/holdfast/RESUME.md');
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('checkpoint', 'half', '--next', 'write the rest', '--agent', 'ada');
    folder.data('session', 'end', '--reason', 'timeout', '--agent', 'ada');
    expect(text()).toContain('write the rest');
    folder.person.data('archive', '--reason', 'Nobody needs it');
    const { at } = folder.data('log', '--limit', '1', '--run', 'auth')['events'][0];
    expect(text()).toBe(`Nothing is unfinished here. Last archived: "User authentication", ${at.slice(11, 16)}.\n`);
    const shown = folder.data('resume', '--run', 'auth');
    expect(shown['text']).toMatch(/^Run "auth" "User authentication": archived at .*: "Nobody needs it"\./m);
    expect(shown['text']).not.toMatch(/write the rest|Resuming|^Next/m);
    folder.data('unarchive', 'auth');
    expect(text()).toMatch(/^Resuming from[\s\S]*^Next, as "ada" wrote .*"write the rest"$/m);
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('fail', '--message', 'no disk', '--agent', 'ada');
    expect(text()).toContain('a person chooses: retry (2 left), skip, abort or adjust the plan.');
    folder.person.data('abort', '--reason', 'Enough');
    expect(text()).toMatch(/^Nothing is unfinished here\. Last abandoned: "User authentication", \d\d:\d\d\.\n$/);
  });

  it('comes back with its files', () => {
    const folder = finished();
    const { run } = folder.data('archive');
    expect(folder.data('unarchive', run.id)['moved']).toHaveLength(3);
    expect([has(folder, ACTIVE), has(folder, ARCHIVED)]).toEqual([true, false]);
    expect(textOf(folder, ACTIVE)).toContain('design_document: "docs/maestro/plans/2026-03-01-tokens-design.md"');
    folder.data('reopen', '2', '--reason', 'Wrong', '--agent', 'ada');
    expect(textOf(folder, ACTIVE)).toMatch(/^status: "?in_progress/m);
  });
});
