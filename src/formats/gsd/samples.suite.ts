import type { Sample } from '../format.suite.ts';
import type { Found } from '../format.ts';
import { pages } from './pages.suite.ts';

const place = (main: string, ...others: string[]): Found => ({ format: 'gsd', main, files: [main, ...others] });

export const folder: Sample = {
  name: 'a folder with everything',
  found: place(
    'app/.planning/STATE.md',
    'app/.planning/HANDOFF.json',
    'app/.planning/ROADMAP.md',
    'app/.planning/phases/02-quiet-hours/.continue-here.md',
    'app/.planning/phases/02-quiet-hours/02-01-PLAN.md',
    'app/.planning/phases/02-quiet-hours/02-01-SUMMARY.md',
    'app/.planning/phases/02-quiet-hours/02-02-PLAN.md',
  ),
  files: new Map([
    ['app/.planning/STATE.md', pages['G2'] as string],
    [
      'app/.planning/ROADMAP.md',
      `# Roadmap: Bells

## Phases

- [x] **Phase 1: Clock** - it runs
- [ ] **Phase 2: Quiet hours** - no bells at night
- [ ] **Phase 3: Chimes**

## Phase Details

### Phase 2: Quiet hours

**Depends on**: Phase 1
**Plans**: 3 plans

Plans:
- [ ] 02-01-PLAN.md — Read the calendar
- [ ] 02-02-PLAN.md — Mute the bells
- [ ] 02-03-PLAN.md — Show the hours

## Progress

| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Clock | 2/2 | Complete | 2026-02-20 |
| 2. Quiet hours | 1/3 | In Progress | - |
| 3. Chimes | 0/1 | Not started | - |
`,
    ],
    [
      'app/.planning/HANDOFF.json',
      `{
  "version": "1.0",
  "timestamp": "2026-03-01T09:00:00Z",
  "phase": "02",
  "phase_name": "quiet-hours",
  "plan": 2,
  "task": 1,
  "total_tasks": 2,
  "status": "paused",
  "completed_tasks": [{ "id": 1, "name": "Find the relay", "status": "done", "commit": "abc1234" }],
  "remaining_tasks": [{ "id": 2, "name": "Cut the power", "status": "not_started" }],
  "blockers": [{ "description": "No key to the tower", "type": "human_action", "workaround": "Ask the sexton" }],
  "human_actions_pending": [{ "action": "Fetch the key", "context": "Opens at nine", "blocking": true }],
  "decisions": [{ "decision": "Mute by relay", "rationale": "The bells stay hung", "phase": "02" }],
  "uncommitted_files": ["src/relay.ts"],
  "next_action": "Cut the power",
  "context_notes": "The relay is old."
}
`,
    ],
    [
      'app/.planning/phases/02-quiet-hours/.continue-here.md',
      `---
phase: 02-quiet-hours
task: 1
total_tasks: 2
status: in_progress
last_updated: 2026-03-01T08:00:00Z
---

# BLOCKING CONSTRAINTS

- [ ] Do not ring before eight

<current_state>
Half of the bells are mute.
</current_state>

<decisions_made>
- Mute by relay
- Start with the small bell, because it is loud
</decisions_made>

<blockers>
- None
</blockers>

<next_action>
Start with: cut the power
</next_action>
`,
    ],
    [
      'app/.planning/phases/02-quiet-hours/02-01-PLAN.md',
      '---\nphase: 02\nplan: 01\nwave: 1\n---\n\n<objective>\nRead the calendar\n</objective>\n',
    ],
    ['app/.planning/phases/02-quiet-hours/02-01-SUMMARY.md', '---\nphase: 02\nplan: 01\n---\n\n# Done\n'],
    [
      'app/.planning/phases/02-quiet-hours/02-02-PLAN.md',
      '---\nphase: 02\nplan: 02\nwave: 2\n---\n\n<objective>\nMute the bells\n</objective>\n',
    ],
  ]),
};

export const samples: readonly Sample[] = [
  ...Object.entries(pages).map(([name, text]) => {
    const main = name === 'gsd-2' ? '.gsd/STATE.md' : '.planning/STATE.md';
    return { name, found: place(main), files: new Map([[main, text]]) };
  }),
  folder,
  {
    name: 'a version from the future',
    readOnly: true,
    found: place('.planning/STATE.md'),
    files: new Map([
      ['.planning/STATE.md', (pages['G2'] as string).replace('gsd_state_version: 1.0', 'gsd_state_version: 2.0')],
    ]),
  },
];
