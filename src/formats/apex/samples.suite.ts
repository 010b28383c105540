import type { Files, Found } from '../format.ts';

/** State files in the shapes found in real repositories, one project each. */

export const FOLDER = 'agent-output/harbor';
export const MAIN = `${FOLDER}/00-session-state.json`;
export const HANDOFF = `${FOLDER}/00-handoff.md`;

export const place = (...others: string[]): Found => ({ format: 'apex', main: MAIN, files: [MAIN, ...others] });
export const files = (main: string, others: Record<string, string> = {}): Files =>
  new Map([[MAIN, main], ...Object.entries(others)]);

interface StepFields {
  status?: string;
  sub_step?: string | null;
  started?: string | null;
  completed?: string | null;
  artifacts?: unknown;
  [field: string]: unknown;
}

const names: Record<string, [name: string, agent: string]> = {
  '1': ['Requirements', '02-Requirements'],
  '2': ['Architecture', '03-Architect'],
  '3': ['Design', '04-Design'],
  '3.5': ['Governance', '04g-Governance'],
  '3_5': ['Governance', '04g-Governance'],
  '4': ['IaC Plan', ''],
  '5': ['IaC Code', ''],
  '6': ['Deploy', ''],
  '7': ['As-Built', '08-As-Built'],
};

export const step = (key: string, fields: StepFields = {}): [string, Record<string, unknown>] => [
  key,
  {
    name: names[key]?.[0] ?? key,
    agent: names[key]?.[1] ?? '',
    status: 'pending',
    sub_step: null,
    started: null,
    completed: null,
    artifacts: [],
    context_files_used: [],
    ...fields,
  },
];

export const done = (key: string, ...artifacts: string[]): [string, Record<string, unknown>] =>
  step(key, { status: 'complete', started: '2026-04-02T08:11:07Z', completed: '2026-04-02T09:42:31Z', artifacts });

/** As a tool writes it: step keys in order, two spaces, a line end at the end. */
export function state(top: Record<string, unknown>, steps: [string, Record<string, unknown>][]): string {
  const head = JSON.stringify(
    {
      schema_version: '3.0',
      project: 'harbor',
      iac_tool: '',
      region: 'swedencentral',
      branch: 'main',
      updated: '2026-04-02T10:00:00Z',
      current_step: 2,
      decisions,
      open_findings: [],
      decision_log: [],
      ...top,
    },
    null,
    2,
  );
  const body = steps
    .map(([key, fields]) => `    ${JSON.stringify(key)}: ${JSON.stringify(fields, null, 2).replaceAll('\n', '\n    ')}`)
    .join(',\n');
  return `${head.slice(0, -2)},\n  "steps": {\n${body}\n  }\n}\n`;
}

const decisions = {
  region: 'swedencentral',
  compliance: 'GDPR',
  budget: '',
  architecture_pattern: '',
  deployment_strategy: '',
  complexity: 'simple',
};

const eight = (half: string, own: [string, Record<string, unknown>][] = []): [string, Record<string, unknown>][] =>
  ['1', '2', '3', half, '4', '5', '6', '7'].map((key) => own.find(([other]) => other === key) ?? step(key));

export const v3 = state(
  { iac_tool: 'Bicep', review_selections: { '3_5': { path: 'x.json', sha256: 'ab' } } },
  eight('3_5', [
    done('1', `${FOLDER}/01-requirements.md`),
    step('2', {
      status: 'in_progress',
      sub_step: 'phase_2_waf',
      started: '2026-04-02T09:50:12Z',
      artifacts: [`${FOLDER}/02-architecture-assessment.md`],
      context_files_used: ['01-requirements.md'],
      telemetry: { input_tokens: 1200, output_tokens: 90 },
    }),
  ]),
);

export const v1 = state(
  { schema_version: '1.0', current_step: 0 },
  eight('3.5', [
    done('1', '01-requirements.md'),
    done('2', `${FOLDER}/02-architecture-assessment.md`),
    step('3.5', { status: 'in_progress', sub_step: 'phase_1_discovery', started: '2026-04-02T09:50:12Z' }),
  ]),
);

const claim = { owner_id: null, heartbeat: null, attempt_token: null, retry_count: 2, event_log: [] };
export const v2 = state(
  {
    schema_version: '2.0',
    stale_threshold_ms: 300000,
    lock: { owner_id: 'agent-1', heartbeat: null, attempt_token: null, acquired: null },
  },
  eight('3_5', [step('1', { status: 'in_progress', started: '2026-04-02T09:50:12Z', claim })]).map(([key, fields]) => [
    key,
    'claim' in fields ? fields : { ...fields, claim: null },
  ]),
);

const listOf = (entries: unknown, top: Record<string, unknown> = {}): string =>
  state(top, []).replace('"steps": {\n\n  }', `"steps": ${JSON.stringify(entries, null, 2).replaceAll('\n', '\n  ')}`);

/** Steps as a list of objects with the workflow's numbers. */
export const stepList = listOf(
  [done('1', `${FOLDER}/01-requirements.md`), step('2', { status: 'in_progress', sub_step: 'phase_2_waf' }), step('3')]
    .concat([step('3.5'), step('4')])
    .map(([key, fields]) => ({ step: Number(key), ...fields })),
);

/** Steps as a list of objects with custom names and no keys. */
export const ownSteps = listOf(
  [
    { name: 'Collect the tide tables', status: 'complete' },
    { name: 'Draw the quay', status: 'in_progress', owner: 'mara' },
    { title: 'Review', status: 'pending' },
    { title: 'Review', status: 'pending', remark: 'by the harbour master' },
  ],
  { current_step: 2 },
);

/** Steps as a list of names; only `current_step` says which are done. */
export const stepNames = listOf(['Requirements', 'Architecture', 'Design', 'Governance', 'IaC Plan'], {
  current_step: 2,
});

/** Names with check marks, and an entry that is not a step. */
export const markedNames = listOf(['[x] Requirements', '2. Architecture (in progress)', '[ ] Sound the bay', null, 7], {
  current_step: 0,
});

export const noVersion = v1.replace('"schema_version": "1.0"', '"$schema": "session-state-v1"');

/** Log entries in the three shapes, and one that mixes two. */
export const logs = state(
  {
    decisions: {
      ...decisions,
      redis_tier: 'Premium P4',
      waf_scores: { security: 5 },
      subnet_plan: '{"hub":"10.0.0.0/24"}',
    },
    decision_log: [
      {
        id: 'D001',
        step: 1,
        agent: '02-Requirements',
        title: 'Redis size',
        choice: 'Enterprise',
        rationale: 'The request says 128 GB',
        alternatives: ['Premium P4'],
        status: 'superseded',
        superseded_by: 'D002',
        timestamp: '2026-04-02T08:20:00Z',
      },
      {
        id: 'D002',
        step: 3.5,
        agent: '03-Architect',
        title: 'Redis size',
        choice: 'Premium P4',
        rationale: 'Half the price',
        impact: 'cost',
        status: 'confirmed',
        timestamp: '2026-04-02T08:30:00Z',
      },
      { decision: 'Two regions', timestamp: '2026-04-02T08:40:00Z', rationale: 'Fail over', step: '3_5' },
      { step: 2, key: 'redis_tier', value: 'Premium P4', reason: 'Half the price' },
      { timestamp: '2026-04-02T08:00:00Z', step: 0, decision: 'Begin with one review' },
    ],
  },
  eight('3_5', [done('1', '01-requirements.md')]),
);

/** Findings as titles and as the six kinds of objects. */
export const findings = state(
  {
    open_findings: [
      'No backup for the table store',
      'must_fix|open|REQ-7|No retention rule|ask the owner',
      {
        id: 'OF-001',
        description: 'Cache too large',
        impact: 'high',
        status: 'resolved',
        resolved_by: 'D002',
        resolved_at: '2026-04-02T09:00:00Z',
      },
      { id: 'OQ1', description: 'No budget', severity: 'medium', status: 'open' },
      { id: 'F3', category: 'cost', description: 'Spend is unbounded', impact: 'low', resolution: '' },
      {
        type: 'deployment_error',
        step: 6,
        resource: 'cae-harbor',
        error_code: 'Capacity',
        message: 'No capacity',
        recommended_actions: ['Wait', 'Move'],
        timestamp: '2026-04-02T09:30:00Z',
      },
      {
        type: 'runtime_health',
        step: 7,
        resource: 'app-harbor',
        message: 'Answers 503',
        recommended_actions: [],
        timestamp: '2026-04-02T09:31:00Z',
      },
      { id: 'OF-006', description: 'Blocked', impact: 'high', status: 'open' },
    ],
  },
  eight('3_5', [done('1', '01-requirements.md')]),
);

export const gates = `{
  "$schema": "session-state/v2",
  "lz_name": "harbor",
  "iac_tool": "bicep",
  "created": "2026-04-01T00:00:00Z",
  "updated": "2026-04-02T10:00:00Z",
  "current_step": 2,
  "steps": {
    "1": { "name": "requirements", "status": "complete", "artifact": "01-requirements.md" },
    "2": { "name": "architecture", "status": "not_started", "artifact": null },
    "3.5": { "name": "governance", "status": "not_started", "artifact": null },
    "4": { "name": "plan", "status": "not_started", "artifact": null },
    "8": { "name": "monitor", "status": "not_started", "continuous": true }
  },
  "gates": {
    "gate-1": { "status": "approved", "challenger_pass": true, "approved_by": "mara", "approved_at": "2026-04-02T09:00:00Z" },
    "gate-2": { "status": "pending", "challenger_pass": null, "approved_by": null },
    "gate-3": { "status": "pending", "approved_by": null },
    "gate-6": { "status": "pending", "approved_by": null }
  },
  "decisions": {},
  "deployment": { "run_id": null }
}
`;

export const handoff = `# Harbor Works — Handoff (Step 1 complete)

Updated: 2026-04-02T10:00:00Z | IaC: Bicep | Branch: main

## Completed Steps

- [x] Project setup -> ${FOLDER}/00-session-state.json
- [x] Step 1 -> ${FOLDER}/01-requirements.md (pre-seeded)
- [ ] Step 2 -> ${FOLDER}/02-architecture-assessment.md

## Key Decisions

- Region: swedencentral (close to the users)
- Compliance: GDPR
- Persistence: tables

## Open Challenger Findings (must_fix only)

None

## Context for Next Step

The assessment must weigh the table store against a database.
Ask about the budget first.

## Skill Context

- Required tags: Environment, Owner

## Artifacts

- ${FOLDER}/01-requirements.md

## Our own section

Kept as it is.
`;
