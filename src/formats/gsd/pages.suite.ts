import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Found } from '../format.ts';
import { gsd } from './format.ts';

/** One page of each variant, as in real repositories. */
export const pages: Record<string, string> = {
  G0: `# Project State

## Project Summary

**Building:** A relay for small harbours
**Core value:** A skipper sees the free berths at once.

## Current Position

Phase: 2 of 4 (Tide tables)
Plan: 1 of 2 in current phase
Status: In progress
Last activity: 2025-12-20 — Parsed the first table

Progress: [███░░░░░░░] 25%

## Accumulated Context

### Decisions Made

| Phase | Decision | Rationale |
|-------|----------|-----------|
| 1 | Store berths as rows, not as \\| joined text | Queries stay simple |
| 2 | ~~Poll every minute~~ SUPERSEDED | Too many requests |

### Deferred Issues

None yet.

### Blockers/Concerns Carried Forward

- The harbour office sends PDF only

## Project Alignment

Last checked: 2025-12-19

## Session Continuity

Last session: 2025-12-20 18:30
Stopped at: Second table
Resume file: None
`,
  G1: `# Project State

## Project Reference

See: .planning/PROJECT.md (updated 2026-01-05)

**Core value:** Letters arrive in order.
**Current focus:** Phase 3 — Delivery

## Current Position

Phase: 3 of 5 (Delivery)
Plan: 2 of 3 in current phase
Status: In progress
Last activity: 2026-01-06 — Plan 1 done

Progress: [████░░░░░░] 40%

## Performance Metrics

**By Phase:**

| Phase | Plans | Total | Avg/Plan |
|-------|-------|-------|----------|
| 1 | 2 | 20 min | 10 min |

## Accumulated Context

### Decisions

Decisions are logged in PROJECT.md Key Decisions table.
Recent decisions affecting current work:

- [Phase 1]: Queue in SQLite — one file, no server
- [Phase 2]: Retry with backoff
  - first after a second
  - then doubling
* **Ordering:** by sender, not by time
- [Roadmap] Ship without attachments
1. Sign letters with Ed25519

### Pending Todos

- [ ] Write the runbook
- [x] Rotate the key

### Blockers/Concerns

- ~~No test mailbox~~ RESOLVED: got one
- [Phase 4]: Nonexistent index makes none of the retries work

## Session Continuity

Last session: 2026-01-06T09:12:00Z
Stopped at: Completed 03-01-PLAN.md
Resume file: .planning/phases/03-delivery/03-02-PLAN.md
`,
  G2: `---
gsd_state_version: 1.0
milestone: v1.1
milestone_name: Quiet hours
status: executing
stopped_at: "Plan 2: half of the tests"
last_updated: "2026-03-02T10:00:00.000Z"
last_activity: 2026-03-02
progress:
  total_phases: 3 # without the backlog
  completed_phases: 1
  total_plans: 6
  completed_plans: 3
  percent: 50
---

# Project State

## Current Position

Phase: 02 (quiet-hours) — EXECUTING
Plan: 2 of 3
Status: Executing Phase 02
Last activity: 2026-03-02 -- Phase 02 started

Progress: [█████░░░░░] 50%

## Accumulated Context

### Decisions

None yet.

### Blockers/Concerns

- None.

## Session Continuity

Last session: 2026-03-02T10:00:00.000Z
Stopped at: Plan 2: half of the tests
Resume file: None
`,
  G3: `---
gsd_state_version: 1.0
milestone: v2.0
milestone_name: Harvest
status: ready
last_updated: "2026-05-01T08:00:00.000Z"
progress:
  total_phases: 2
  completed_phases: 2
  total_plans: 3
  completed_plans: 4
  percent: 88
---

# Project State: Orchard

## Current Position

| Field | Value |
|-------|-------|
| Phase | 5 |
| Status | Phase complete |
| Progress | 100% |

### Phase Progress

| Phase | Name | Status | Plans |
|-------|------|--------|-------|
| 4 | Picking | Complete | 2 |
| 5 | Sorting | In progress | 1 |
| 5.1 | Washing (INSERTED) | Not started | 1 |

## Accumulated Context

### Decisions

- **Bins by weight (2026-04-20)**: scales are exact — cameras are not

### Roadmap Evolution

- Phase 5.1 inserted after Phase 5: washing

### Blockers/Concerns

(none)

## Deferred Items

| Category | Item | Status | Deferred At |
|----------|------|--------|-------------|
| UI | Dark mode | v2 | 2026-04-30 |

## Operator Next Steps

- Run the press for an hour
- Then sort
`,
  G4: `---
gsd_state_version: 1.0
milestone: v3.0
milestone_name: Lanterns
current_phase: 08
current_phase_name: wicks
status: executing
stopped_at: Phase 8 context gathered
last_updated: "2026-06-27T20:17:00.190Z"
last_activity: 2026-06-27
last_activity_desc: Phase 08 begun
state_head: 0a1b2c3d
next_phases: ["9", "10"]
progress:
  total_phases: 3
  completed_phases: 2
  total_plans: 5
  completed_plans: 4
  percent: 80
---

# Project State

## Current Position

Phase: 08 (wicks) — EXECUTING
Plan: 1 of 1
Status: In progress

## Decisions

- D-07: Braided cotton, not glass fibre

## Blockers

- [ ] Supplier is closed until 2026-07-01

## Open Questions

- Who tests the oil?

## Session

**Last Date:** 2026-06-27T20:17:00.190Z
**Stopped At:** Phase 8 context gathered
**Resume File:** None

## Rebuild Log

- 2026-06-27 nothing changed
`,
  legacy: `# Project State

**Project:** Kiln
**Current Phase:** 2
**Current Phase Name:** Glazes
**Total Phases:** 4
**Current Plan:** 3
**Total Plans in Phase:** 5
**Status:** In progress
**Progress:** 35%
**Last Activity:** 2026-02-02
**Last Activity Description:** Mixed the first batch

## Decisions Made

- [Phase 1]: Cone 6

## Blockers

None

## Session

**Last Date:** 2026-02-02
**Stopped At:** Batch three
**Resume File:** None
`,
  'gsd-2': `# GSD State

**Active Milestone:** M002: Second harvest
**Active Slice:** S03: Baskets
**Active Task:** T01: Weave
**Phase:** executing
**Last Updated:** 2026-04-01

## Milestone Registry
- ✅ **M001:** First harvest
- 🔄 **M002:** Second harvest

## Recent Decisions
- Willow, not plastic

## Blockers
- None

## Next Action
Execute T01: Weave the first basket.
`,
  Portuguese: `# STATE — Farol

## Estado Atual

**Fase Atual:** 2 de 3 (Lâmpada)
**Status:** Em andamento
**Progresso Geral:** 40%

## Decisões Tomadas

- Usar LED em vez de halogénio

## Bloqueios

*Nenhum bloqueio identificado.*

## Próximos Passos

1. Montar a lâmpada
`,
  Chinese: `# 项目状态

## 当前位置

阶段: 3
状态: 进行中

## 关键决策

- 使用 SQLite 存储

## 阻塞项

- 暂无

## 下一步

编写测试
`,
  Korean: `# 프로젝트 상태

## 현재 위치

단계: 2
상태: 진행 중

## 결정 사항

- 로그는 파일에 남긴다

## 블로커

- 테스트 서버 권한 없음
`,
};

export const now = '2026-07-01T12:00:00.000Z';
export const main = '.planning/STATE.md';
export const found: Found = { format: 'gsd', main, files: [main] };
export const files = (text: string): Files => new Map([[main, text]]);
export const parse = (text: string) => gsd.parse(found, files(text));
export const model = (text: string): RunModel => {
  const parsed = parse(text);
  if (!parsed.model) throw new Error('There is no run model.');
  return parsed.model;
};
export const page = (name: string): string => pages[name] as string;
