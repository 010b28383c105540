import type { Found } from '../format.ts';

/** Session files as in real repositories, one of each variant. */

export const ACTIVE = 'docs/maestro/state/active-session.md';

export const place = (main = ACTIVE, ...others: string[]): Found => ({
  format: 'maestro',
  main,
  files: [main, ...others],
});

/** The first template: quoted strings, lists in brackets, blank lines between the blocks. */
export const seed = `---
session_id: "2026-02-15-rate-limits"
created: "2026-02-15T10:30:00Z"
updated: "2026-02-15T11:45:00Z"
status: "in_progress"
design_document: ".gemini/plans/2026-02-15-rate-limits-design.md"
implementation_plan: ".gemini/plans/2026-02-15-rate-limits-impl-plan.md"
current_phase: 2
total_phases: 3

token_usage:
  total_input: 15000
  total_output: 8000
  total_cached: 3000
  by_agent:
    coder:
      input: 8000
      output: 4000
      cached: 2000
    tester: { input: 7000, output: 4000, cached: 1000 }

phases:
  - id: 1
    name: "Token bucket"
    status: "completed"
    agents: ["coder"]
    parallel: false
    started: "2026-02-15T10:35:00Z"
    completed: "2026-02-15T10:45:00Z"
    blocked_by: []
    files_created: ["src/bucket.ts", "src/clock.ts (monotonic)"]
    files_modified: []
    files_deleted: ["src/old-limiter.ts"]
    errors: []
    retry_count: 0

  - id: 2
    name: "Middleware" # the part with the headers
    status: "failed"
    agents: ["coder", "tester"]
    parallel: false
    started: "2026-02-15T11:25:00Z"
    completed: null
    blocked_by: [1]
    files_created: []
    files_modified: ["src/app.ts"]
    files_deleted: []
    errors:
      - agent: "coder"
        timestamp: "2026-02-15T11:40:00Z"
        type: "validation"
        message: "Lint: unused variable 'userId'"
        resolution: "pending"
        resolved: false
      - agent: "tester"
        timestamp: "2026-02-15T11:44:00Z"
        type: "timeout"
        message: "The suite hung"
        resolution: "Raised the limit"
        resolved: true
    retry_count: 1
  - id: 3
    name: "Documentation"
    status: "pending"
    agents: []
    parallel: false
    started: null
    completed: null
    blocked_by: [2]
    files_created: []
    files_modified: []
    files_deleted: []
    errors: []
    retry_count: 0
---

# Rate limits Orchestration Log

Design and plan were approved.

## Phase 1: Token bucket ✅

### coder Output
A bucket with a monotonic clock.

### Files Changed
- Created: [src/bucket.ts, src/clock.ts]
- Modified: [none yet]

### Validation Result
Pass: 12 tests

---

## Phase 2: Middleware (cross)

- Wrote the headers.
`;

/** As js-yaml of the servers 1.4 and 1.5 writes it. */
export const served = `---
session_id: checkout-retries-20260401
task: 'Retry failed payments: at most three times'
created: '2026-04-01T05:50:17.499Z'
updated: '2026-04-01T06:26:38.695Z'
status: in_progress
workflow_mode: standard
design_document: /home/kim/.gemini/tmp/checkout/plans/checkout-design.md
implementation_plan: docs/maestro/plans/checkout-impl-plan.md
current_phase: 3
total_phases: 4
execution_mode: parallel
execution_backend: native
current_batch: batch-2
task_complexity: medium
token_usage:
  total_input: 0
  total_output: 0
  total_cached: 0
  by_agent: {}
phases:
  - id: 1
    name: State & queue
    status: completed
    agents:
      - coder
    parallel: false
    started: '2026-04-01T05:50:17.499Z'
    completed: '2026-04-01T06:15:01.373Z'
    blocked_by: []
    files_created:
      - src/queue.ts
      - path: src/retry.ts
        description: backoff
    files_modified:
      - /home/kim/checkout/src/app.ts
    files_deleted: []
    downstream_context:
      key_interfaces_introduced:
        - 'enqueue(job): Promise<Id>'
      patterns_established: One queue for all retries
      integration_points:
        - None.
      assumptions: []
      warnings:
        - The clock is not monotonic
      posture: >-
        Careful with
        money
    errors: []
    retry_count: 0
  - id: 2
    status: in_progress
    agents:
      - coder
    parallel: true
    started: '2026-04-01T06:15:01.373Z'
    completed: null
    blocked_by:
      - 1
    files_created: []
    files_modified: []
    files_deleted: []
    downstream_context:
      key_interfaces_introduced: []
      patterns_established: []
      integration_points: []
      assumptions: []
      warnings: []
    errors: []
    retry_count: 0
  - id: 3
    name: Dashboard
    status: in_progress
    agent: ux_designer
    parallel: true
    started: '2026-04-01T06:15:01.373Z'
    completed: null
    blocked_by:
      - 1
  - id: 4
    name: Review
    status: pending
    agents: []
    parallel: false
    started: null
    completed: null
    blocked_by:
      - 2
      - 3
    files_created: []
    files_modified: []
    files_deleted: []
    errors: []
    retry_count: 0
---

# Retry failed payments: at most three times Orchestration Log
`;

const phase = (id: number | string, status: string, more: object = {}) => ({
  id,
  name: `Part ${id}`,
  status,
  agents: ['coder'],
  parallel: false,
  started: status === 'pending' ? null : '2026-05-01T19:00:08.066Z',
  completed: status === 'completed' ? '2026-05-01T20:00:08.066Z' : null,
  blocked_by: [],
  files_created: [],
  files_modified: [],
  files_deleted: [],
  planned_files: ['src/plan.ts'],
  downstream_context: {
    key_interfaces_introduced: [],
    patterns_established: [],
    integration_points: [],
    assumptions: [],
    warnings: [],
  },
  errors: [],
  retry_count: 0,
  ...more,
});

const jsonSession = (id: string, phases: object[]) =>
  `---\n${JSON.stringify(
    {
      session_id: id,
      task: 'Übersetze alles: "sofort"',
      created: '2026-05-01T19:00:08.066Z',
      updated: '2026-05-01T19:30:08.066Z',
      status: 'in_progress',
      workflow_mode: 'standard',
      design_document: null,
      implementation_plan: null,
      current_phase: 2,
      total_phases: phases.length,
      execution_mode: null,
      execution_backend: 'native',
      current_batch: null,
      task_complexity: null,
      token_usage: { total_input: 0, total_output: 0, total_cached: 0, by_agent: {} },
      phases,
    },
    null,
    2,
  )}\n---\n# Übersetze alles: "sofort" Orchestration Log\n`;

/** As the server 1.6 writes it. */
export const json = jsonSession('2026-05-01-translate', [
  phase(1, 'completed', { files_created: ['src/de.json'], requires_reconciliation: false }),
  phase(2, 'in_progress', { blocked_by: [1] }),
  phase(3, 'pending', { blocked_by: [2] }),
]);

/** With the fields of an unmerged branch, and ids as text. */
export const next = jsonSession('2026-05-02-review', [
  phase('impl', 'completed', { kind: 'implementation', final_artifacts: ['src/a.ts'] }),
  phase(2, 'completed', {
    kind: 'review',
    blocked_by: ['impl'],
    findings: [
      { id: 'F1', severity: 'high', message: 'Tokens are logged' },
      { id: 'F2', severity: 'low', message: 'A name is odd' },
    ],
  }),
  phase('P3', 'in_progress', { kind: 'revision', parent_phase_id: 'impl', addressed_finding_ids: ['F1'] }),
]);

/** The smallest tier has no phases. */
export const tier = `---
session_id: "2026-02-10-typo"
created: "2026-02-10T10:00:00Z"
updated: "2026-02-10T10:05:00Z"
status: "completed"
tier: "T1"
task: "Fix the typo"
agent: "coder"
design_document: null
implementation_plan: null

files_created: []
files_modified: ["README.md"]
files_deleted: []

validation:
  command: "npm test"
  result: "pass"

errors: []
---

# Quick Task: Typo

## Agent Output
Fixed it.
`;

/** Written by hand: lists on one line, dependencies under another key. */
export const byHand = `---
session_id: harbour-lights
created: 2026-05-02T08:00:00Z
updated: 2026-05-02T09:00:00Z
status: in_progress
current_phase: 3
total_phases: 4
phases:
  - id: 1
    name: Lamps
    status: completed
    agents: coder, tester
    files_created: src/lamp.ts, src/wick.ts (cotton, thick)
    files_modified: docs/lamps.md
  - id: 2
    name: Lenses
    status: completed
    agent: coder
    depends_on: 1
    files: src/lens.ts, src/grind.ts
  - id: 3
    name: Tower
    status: in_progress
    agents: [coder]
    depends_on: 1, 2 # both
    files: the plans are in the drawer, ask Mara
  - id: 4
    name: Keeper
    status: pending
    agents: []
    depends_on:
      - Phase 3
      - 9
---

# Harbour lights Orchestration Log
`;
