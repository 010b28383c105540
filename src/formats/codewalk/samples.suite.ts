import type { Sample } from '../format.suite.ts';

/** The short forms, with comments, as an agent keeps them. */
export const short = `# STATE.md
initiative: init-9f2
title: Harbour relay

# Current Position
position:
  phase: 2
  phase_name: "Tide tables"
  plan: 3
  plan_name: "Parse the PDF"
  task: "Read the second page" # the first is done
  wave: 1
  status: in_progress

# Progress Tracking
progress:
  phases_total: 4
  phases_completed: 1
  current_phase_tasks: 8
  current_phase_completed: 5
  bar: "███████░░░░░░░░░ 41%"

# Decisions Made
decisions:
  - date: 2024-01-14
    context: "Where berths live"
    decision: "Rows, not text"
    reason: "Queries stay simple"
  - date: 2024-01-15
    context: "Poll interval"
    decision: "7 days"
    reason: "Tides are known"
    alternatives_considered:
      - "Daily: too many requests"
    reversible: false

# Active Blockers
blockers:
  - id: block-001
    description: "Waiting for the harbour office"
    blocked_since: 2024-01-15
    affects: ["Phase 3: Berths"]
    workaround: "Use last year's"

# Session History
sessions:
  - id: session-001
    started: 2024-01-14T09:00:00Z
    ended: 2024-01-14T17:00:00Z
    completed: ["Phase 1: Schema", "Phase 2 Tasks 1-3"]
  - id: session-002
    started: 2024-01-15T09:00:00Z
    status: active
    working_on: "Phase 2, Task 4"

# Next Action
next_action: |
  Read the second page.
  Then the third.

# Context for Resume
resume_context:
  files_modified_this_session:
    - src/pdf.ts
    - src/tide.ts
  key_implementations:
    - "Tables are cut by ruling lines"
  open_questions: []

owner: mara
`;

export const full = `initiative: init-abc
title: Bells
position: { phase: 2.1, phase_name: Quiet, status: in_progress }
blockers:
  - id: block-001
    status: active
    description: "No key to the tower"
    identified_at: 2024-01-15T10:00:00Z
    affects:
      - "Phase 4: Chimes"
    blocked_tasks:
      - task-xyz: "Hang the bell"
    workaround: null
    resolution: null
  - id: block-002
    status: bypassed
    description: 'It''s raining'
    identified_at: 2024-01-14T09:00:00Z
    workaround: "Umbrella"
    workaround_tasks:
      - task-abc: "Dry the ropes"
sessions:
  - id: session-003
    agent: worker-abc
    started: 2024-01-14T09:00:00Z
    ended: 2024-01-14T12:30:00Z
    context_usage: "62%"
    issues:
      - "Context exceeded 50%"
    handoff_reason: "Context limit reached"
  - id: session-004
    status: crashed
    started: 2024-01-14T13:00:00Z
    notes: "Agent unresponsive, task reset"
  - id: session-005
    status: active
    started: 2024-01-14T14:00:00Z
    notes: "Resuming from session-004 crash"
`;

export const fenced = `# State of the bells

Kept by agents.

\`\`\`yaml
${short.slice(short.indexOf('initiative'))}\`\`\`

Below the fence.
`;

const place = (main: string, ...others: string[]) => ({ format: 'codewalk' as const, main, files: [main, ...others] });

export const folderSample: Sample = {
  name: 'a folder of entries',
  found: place(
    '.planning/STATE.md',
    '.planning/decisions/2024-01-15-pdf.md',
    '.planning/decisions/2024-01-16-prose.md',
    '.planning/blockers/block-001-office.md',
    '.planning/sessions/session-001.md',
  ),
  files: new Map([
    ['.planning/STATE.md', 'initiative: init-1\ntitle: Relay\nposition:\n  phase: 1\n  status: in_progress\n'],
    [
      '.planning/decisions/2024-01-15-pdf.md',
      '---\ndate: 2024-01-15\ncontext: Input\ndecision: PDF\nreason: Nothing else comes\n---\n\nMore words.\n',
    ],
    ['.planning/decisions/2024-01-16-prose.md', '# Ropes\n\n## Decision\n\nHemp\n\n## Reason\n\nIt holds\n'],
    ['.planning/blockers/block-001-office.md', 'id: block-001\nstatus: active\ndescription: The office is closed\n'],
    ['.planning/sessions/session-001.md', 'id: session-001\nagent: w\nstarted: 2024-01-15T09:00:00Z\n'],
  ]),
};

export const samples: readonly Sample[] = [
  { name: 'short forms', found: place('STATE.md'), files: new Map([['STATE.md', short]]) },
  { name: 'full forms', found: place('STATE.md'), files: new Map([['STATE.md', full]]) },
  { name: 'in a fence', found: place('docs/STATE.md'), files: new Map([['docs/STATE.md', fenced]]) },
  folderSample,
];
