import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder } from './command-line.ts';

/** A folder with an adopted and mirrored file, and the current text of the file. */
function adopted(path: string, text: string): { folder: Folder; now: () => string } {
  const folder = newFolder();
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  folder.env['HOLDFAST_AGENT'] = 'ada';
  folder.data('adopt', '--mirror');
  expect(readFileSync(file, 'utf8')).toBe(text);
  return { folder, now: () => readFileSync(file, 'utf8') };
}

const turnfile = `turnfile:
  version: "0.1.0"
  project: "lighthouse"

agents:
  bo:
    role: "agent"
    status: "offline"
    current_task: null
    last_seen: null
    session_id: null

coordination:
  revision: 1
  active_phase: "one"
  active_step: "none"

  tasks:
    wick:
      description: "Trim the wick"
      owner: "bo"
      status: "pending"
      priority: "P0"
      depends_on: []
      created_by: "maintainer"
      created_rev: 1
      claim_rev: null
      completed_rev: null
      notes: "Never with wet hands."
`;

const session = `---
session_id: lighthouse
created: '2026-05-02T08:00:00Z'
updated: '2026-05-02T09:00:00Z'
status: in_progress
current_phase: 1
total_phases: 2
phases:
  - id: 1
    status: in_progress
    agents: []
  - id: 2
    name: Lenses
    status: pending
    agents: []
---

# Lighthouse Orchestration Log
`;

const tasks = `# Project State

## Current Position

We are between two milestones.

## Decisions

None.

## Session Continuity

Last session: 2026-05-01
Stopped at: The lamp room is swept
Resume file: None
`;

const phases = `# Project State

## Current Position

Phase: 1 of 2 (Lamps)
Status: In progress

## Phase Progress

| Phase | Status | Done |
|-------|--------|------|
| 1. Lamps | In progress | 40% |
| 2. Lenses | Not started | 0% |

## Session Continuity

Last session: 2026-05-01
Stopped at: The lamp room is swept
Resume file: None
`;

describe('a mirrored file', () => {
  it('shows the task of an agent in a Turnfile, and keeps the notes of the task', () => {
    const { folder, now } = adopted('working-session/TURNFILE.yaml', turnfile);
    folder.data('start', 'wick');
    expect(now()).toMatch(/ {2}ada:\n(?: {4}.*\n)*? {4}current_task: "wick"\n/);
    folder.data('complete', 'wick', '--summary', 'It burns');
    expect(now()).toContain('notes: "Never with wet hands. — It burns"');
    expect(now()).toMatch(/ {2}ada:\n(?: {4}.*\n)*? {4}current_task: null\n/);
    const after = now();
    folder.data('mirror', 'sync');
    expect(now()).toBe(after);
  });

  it('moves the current phase of a Maestro session, and names a phase once', () => {
    const { folder, now } = adopted('docs/maestro/state/active-session.md', session);
    expect(folder.run('status').out).not.toContain('null');
    folder.data('start', '1');
    folder.data('complete', '1', '--summary', 'It burns');
    expect(now()).toContain('current_phase: 2\n');
    expect(now()).toContain('\n## Phase 1 ✓\n');
    folder.data('note', 'Oil is low');
    expect(now()).toContain('current_phase: 2\n');
  });

  it('shows in a GSD page where a session stopped, and corrects the row of a phase', () => {
    const { folder, now } = adopted('.planning/STATE.md', phases);
    folder.data('start', '1');
    expect(now()).toContain('Stopped at: The lamp room is swept');
    folder.data('complete', '1');
    expect(now()).toContain('| 1. Lamps | Complete | 100% |');
    expect(now()).toContain('| 2. Lenses | Not started | 0% |');
    folder.data('session', 'end', '--reason', 'completed');
    expect(now()).toContain('Stopped at: Completed 1 Lamps\n');
  });

  it('writes no phase into a GSD page for a step that is not one', () => {
    const { folder, now } = adopted('.planning/STATE.md', tasks);
    folder.data('plan', 'add', 'sweep', 'Sweep the stairs', '--kind', 'task');
    folder.data('plan', 'add', 'polish', 'Polish the brass', '--kind', 'task', '--after', 'sweep');
    folder.data('start', 'sweep');
    folder.data('complete', 'sweep');
    expect(now()).not.toMatch(/^Phase:/m);
    expect(now()).toContain('We are between two milestones.');
  });
});
