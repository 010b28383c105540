/** Session files as in real repositories, one of each kind of damage. */

/** A model rewrote the file and elided what had not changed. */
export const elided = `---
session_id: "2026-03-12-packaging"
task: "打包"
created: "2026-03-12T19:30:00Z"
updated: "2026-03-12T20:45:00Z"
status: "completed"
current_phase: 3
total_phases: 3

token_usage:
...
  by_agent: {}

phases:
  - id: 1
    name: "配置"
    status: "completed"
...
  - id: 2
    name: "签名"
...
    completed: "2026-03-12T20:15:00Z"
...
  - id: 3
    name: "验证"
    status: "completed"
    agents: ["tester"]
    blocked_by: [2]
    files_created: ["GUIDE.md"]
    errors: []
    retry_count: 0
---

# Packaging Orchestration Log

## Phase 1: 配置 ✅

## Phase 2: 签名 ✅
`;

export const overEscaped = `---
session_id: \\"2026-04-20-validation\\"
task: \\"Validate all of it.\\"
created: \\"2026-04-20T11:20:00Z\\"
updated: \\"2026-04-20T11:20:00Z\\"
status: \\"in_progress\\"
design_document: \\"f:\\\\core\\\\plans\\\\design.md\\"
current_phase: 1
total_phases: 2
phases:
  - id: 1
    name: \\"Readiness\\"
    status: \\"pending\\"
    agents: [\\"debugger\\", \\"coder\\"]
    started: null
    blocked_by: []
  - id: 2
    name: \\"Report\\"
    status: \\"pending\\"
    agents: []
    blocked_by: [1]
---

# Validation Orchestration Log
`;

/** Ids that a server turned into numbers, an unquoted sentence, and a phase below the front matter. */
export const broken = `---
session_id: planner
created: '2026-03-25T08:00:00.000Z'
updated: '2026-03-26T08:00:00.000Z'
status: blocked
current_phase: .nan
total_phases: 2
phases:
  - id: .nan
    name: Import
    status: completed
    agents:
      - coder
    blocked_by: []
    downstream_context:
      warnings:
        - Dates: the import: reads them as UTC
  - id: .nan
    name: "Export
    status: in_progress
    agents:
      - coder
    status: in_progress
---

# Planner Orchestration Log

  - id: 3
    name: Print
    status: pending
    blocked_by: []

## Stage 1: Import [completed]
Read all dates.
`;

export const headless = `# Search Orchestration Log

## Phase 1: Index ✓

Built the index.

## Phase 2: Query ○
`;
