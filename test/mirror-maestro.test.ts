import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder } from './command-line.ts';

const SESSION = '.gemini/state/active-session.md';

const plan = `# Implementation Plan: Shop

## Overview

Words.

## Phase 1: Foundation

### Agent: coder
### Parallel: No

## Phase 2: Endpoints

### Agent: coder
### Parallel: Yes
Blocked by: 1

## Risks

None.
`;

function put(folder: Folder, path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const textOf = (folder: Folder, path = SESSION): string => readFileSync(join(folder.path, path), 'utf8');

function git(folder: Folder, ...words: string[]): void {
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org'];
  execFileSync('git', [...who, ...words], { cwd: folder.path, env: { ...process.env, ...folder.env } });
}

/** A committed project with a plan of Maestro's template, mirrored. */
function planned(): Folder {
  const folder = newFolder();
  put(folder, 'docs/plan.md', plan);
  put(folder, 'app.ts', 'app\n');
  put(folder, 'old.ts', 'old\n');
  put(folder, 'dirty.ts', 'dirty\n');
  git(folder, 'init', '-q');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  put(folder, 'dirty.ts', 'changed before the phase\n');
  folder.data('init', '--title', 'Shop', '--plan', 'docs/plan.md');
  folder.data('mirror', 'add', 'maestro');
  return folder;
}

/** The part of the text from one line to another. */
const between = (text: string, from: string, to: string): string => text.split(from)[1]?.split(to)[0] ?? '';

describe('a Maestro session that Holdfast writes', () => {
  it('has the phases of the plan template, with agents, order and parallel work', () => {
    const folder = planned();
    const steps = folder.data('status')['steps'] as { key: string; title: string }[];
    expect(steps.map(({ key, title }) => [key, title])).toEqual([
      ['1', 'Foundation'],
      ['2', 'Endpoints'],
    ]);
    const text = textOf(folder);
    expect(text).toContain('current_phase: 1\ntotal_phases: 2\ntoken_usage:\n  total_input: 0\n  total_output: 0\n');
    expect(text).toContain('  total_cached: 0\n  by_agent: {}\n');
    const second = between(text, '  - id: 2\n', '    errors:');
    expect(second).toContain('name: "Endpoints"\n    status: "pending"\n    agents: ["coder"]\n    parallel: true\n');
    expect(second).toContain('blocked_by: [1]');
  });

  it('lists what a phase did to files, from git, and who did it', () => {
    const folder = planned();
    folder.data('start', '1', '--agent', 'coder2');
    put(folder, 'src/model.ts', 'model\n');
    put(folder, 'app.ts', 'app, changed\n');
    rmSync(join(folder.path, 'old.ts'));
    folder.data('verify', '1', '--probe', 'true', '--agent', 'coder2');
    folder.data('complete', '1', '--summary', 'It stands', '--agent', 'coder2');
    const text = textOf(folder);
    const phase = between(text, '  - id: 1\n', '  - id: 2\n');
    expect(phase).toContain('files_created: ["src/model.ts"]');
    expect(phase).toContain('files_modified: ["app.ts"]');
    expect(phase).toContain('files_deleted: ["old.ts"]');
    expect(text).not.toContain('final_artifacts');
    const log = between(text, '## Phase 1: Foundation ✓\n', '## Phase 2');
    expect(log).toContain('### coder2 Output\n\nIt stands\n');
    expect(log).toContain('- Created: src/model.ts\n- Modified: app.ts\n- Deleted: old.ts\n');
    expect(log.match(/^### .*/gm)).toEqual(['### coder2 Output', '### Files Changed', '### Validation Result']);
    expect(log).toMatch(/### Validation Result\n\nPass: true, exit 0, \d\d:\d\dZ/);
  });

  it('logs each attempt, keeps errors open until the phase is over, and stays at a failed phase', () => {
    const folder = planned();
    const coder = ['--agent', 'coder'];
    folder.data('start', '1', ...coder);
    folder.data('complete', '1', ...coder);
    folder.data('start', '2', ...coder);
    for (const message of ['First', 'Second', 'Third']) {
      folder.data('fail', '2', '--type', 'validation', '--message', message, ...coder);
      expect(textOf(folder)).toContain('current_phase: 2\n');
      if (message !== 'Third') folder.data('retry', '2', ...coder);
    }
    expect(folder.fault('retry', '2', ...coder).hints.join(' ')).toContain('`holdfast retry 2 --open`');
    expect(folder.person.data('retry', '2')['step']).toMatchObject({ holder: null, retries: 3 });
    expect(textOf(folder).match(/resolved: false/g)).toHaveLength(3);
    folder.data('start', '2', ...coder);
    folder.data('complete', '2', '--summary', 'At last', ...coder);
    const text = textOf(folder);
    expect(text.match(/resolution: "completed at retry 3"\n {8}resolved: true/g)).toHaveLength(3);
    expect(text.match(/^## Phase 2: Endpoints .$/gm)).toEqual([
      '## Phase 2: Endpoints ✗',
      '## Phase 2: Endpoints ✗',
      '## Phase 2: Endpoints ✗',
      '## Phase 2: Endpoints ✓',
    ]);
    expect(folder.data('mirror', 'sync')['mirrors'][0].changes ?? []).toEqual([]);
    expect(textOf(folder)).toBe(text);
  });

  it('settles the errors of a phase that a person skips', () => {
    const folder = planned();
    folder.data('start', '1', '--agent', 'coder');
    folder.data('fail', '1', '--message', 'No', '--agent', 'coder');
    folder.person.data('skip', '1', '--reason', 'not needed');
    expect(textOf(folder)).toMatch(/resolution: "phase skipped by \w+: not needed"\n {8}resolved: true/);
  });
});

describe('a second Maestro session', () => {
  it('is refused beside an unfinished one, which can be continued or archived', () => {
    const folder = planned();
    const init = folder.fault('init');
    expect(init).toMatchObject({ code: 'usage', exit: 2 });
    expect(init.hints.join('\n')).toMatch(/holdfast resume --run \S+-shop`[\s\S]*holdfast archive --run \S+-shop`/);
    folder.data('init', '--title', 'Another');
    const add = folder.fault('mirror', 'add', 'maestro');
    expect(add).toMatchObject({ code: 'usage', exit: 2 });
    expect(add.hints.join('\n')).toMatch(/holdfast resume --run [\s\S]*holdfast archive --run /);
  });

  it('is refused beside one in the other folder, and goes where Maestro lives', () => {
    const folder = newFolder();
    put(folder, 'docs/maestro/plans/x.md', '# Plan\n');
    folder.data('init', '--title', 'Here');
    expect(folder.data('mirror', 'add', 'maestro')['mirror'].path).toBe('docs/maestro/state/active-session.md');
    put(folder, '.gemini/settings.json', '{}\n');
    folder.data('init', '--title', 'There');
    expect(folder.fault('mirror', 'add', 'maestro')).toMatchObject({
      exit: 2,
      data: { path: expect.stringContaining('docs/maestro') },
    });
  });

  const interrupted = `---
session_id: "2026-11-01-shop"
created: "2026-11-01T09:00:00Z"
updated: "2026-11-01T10:00:00Z"
status: "in_progress"
design_document: ".gemini/plans/gone.md"
implementation_plan: ".gemini/plans/plan.md"
current_phase: 2
total_phases: 2
phases:
  - id: 1
    name: "Foundation"
    status: "completed"
    started: "2026-11-01T09:00:00Z"
    completed: "2026-11-01T09:30:00Z"
    files_created: ["a.ts"]
  - id: 2
    name: "Endpoints"
    status: "in_progress"
    started: "2026-11-01T09:30:00Z"
    completed: null
    files_created: ["b.ts"]
    errors:
      - agent: "coder"
        timestamp: "2026-11-01T09:40:00Z"
        type: "validation"
        message: "Tests fail"
        resolution: "pending"
        resolved: false
---

# Shop Orchestration Log
`;

  function adopted(): Folder {
    const folder = newFolder();
    put(folder, SESSION, interrupted);
    put(folder, '.gemini/plans/plan.md', '# Plan\n');
    for (const name of ['a.ts', 'b.ts']) put(folder, name, name);
    folder.data('adopt', '--mirror');
    return folder;
  }

  it('tells the files of an interrupted phase and the plan from outside changes', () => {
    const folder = adopted();
    for (const name of ['a.ts', 'b.ts', '.gemini/plans/plan.md']) put(folder, name, 'changed\n');
    const { conflicts, errors } = folder.data('resume') as Record<string, { path: string; kind: string }[]>;
    expect(conflicts?.map(({ path, kind }) => [path, kind]).sort()).toEqual([
      ['.gemini/plans/plan.md', 'plan_changed'],
      ['a.ts', 'changed_outside'],
      ['b.ts', 'half_changed'],
    ]);
    expect(errors).toMatchObject([
      { text: 'Tests fail', options: [expect.stringContaining('retry'), 'skip', 'abort', 'adjust'] },
    ]);
  });

  it('takes its backup along into the archive, and mentions a missing document', () => {
    const folder = adopted();
    folder.data('start', '2', '--agent', 'coder');
    folder.data('complete', '2', '--agent', 'coder');
    expect(textOf(folder)).toContain('started: "2026-11-01T09:30:00Z"\n');
    put(folder, `${SESSION}.bak`, 'older');
    const { out, err } = folder.person.run('archive');
    expect(out + err).toContain('The design document .gemini/plans/gone.md is not there and was not archived.');
    expect(textOf(folder, '.gemini/state/archive/2026-11-01-shop.md.bak')).toBe('older');
  });
});
