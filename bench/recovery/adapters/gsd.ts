import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Adapter, AdapterOptions, ReportedState, Tool } from '../adapter.ts';
import { unitsOf } from '../adapter.ts';
import type { Step } from '../scenario.ts';
import { runProgram } from './program.ts';

/** The two packages of GSD: the old one and its successor. */
export const gsd: Tool = {
  ...{ id: 'gsd', name: 'GSD, get-shit-done-cc 1.32.0', packages: ['get-shit-done-cc@1.32.0'] },
  ...{ durability: 'Markdown files, no fsync', isProcess: true },
  open: (options) => openGsd(options, 'get-shit-done-cc/get-shit-done/bin/gsd-tools.cjs'),
};
export const gsdCore: Tool = {
  ...{ id: 'gsd-core', name: 'GSD, @opengsd/gsd-core 1.14.0', packages: ['@opengsd/gsd-core@1.14.0'] },
  ...{ durability: 'Markdown files, no fsync', isProcess: true },
  open: (options) => openGsd(options, '.bin/gsd-tools'),
};

/**
 * GSD by its workflows: a step is a phase, a unit is a plan that is done when its summary exists, which the agent writes
 * itself like the plans; position, session, decisions and blockers go through its program. It has no concept of
 * effects: they are written among the decisions.
 */
function openGsd({ folder, installed }: AdapterOptions, program: string): Adapter {
  const planning = join(folder, '.planning');
  const call = (...words: string[]): Promise<string> =>
    runProgram(folder, process.execPath, [join(installed, 'node_modules', program), ...words]);
  const read = (name: string): string => {
    const path = join(planning, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const numberOf = (step: string): string =>
    new RegExp(`### Phase ([\\d.]+): ${step}`).exec(read('ROADMAP.md'))?.[1] ?? '';
  const note = async (step: string, summary: string, rationale?: string): Promise<void> => {
    const why = rationale === undefined ? [] : ['--rationale', rationale];
    await call('state', 'add-decision', '--phase', numberOf(step), '--summary', summary, ...why);
  };
  return {
    async begin({ goal, steps }) {
      mkdirSync(join(planning, 'phases'), { recursive: true });
      writeFileSync(join(planning, 'config.json'), '{}\n');
      writeFileSync(join(planning, 'PROJECT.md'), `# Project\n\n## What This Is\n\n${goal}\n`);
      writeFileSync(join(planning, 'ROADMAP.md'), roadmapOf(goal, steps));
      for (const [index, step] of steps.entries()) writePlans(planning, index + 1, step);
      writeFileSync(join(planning, 'STATE.md'), stateFile(goal, steps));
    },
    async start(step) {
      const number = numberOf(step);
      const plans = filesOf(planning, number).filter((name) => name.endsWith('-PLAN.md')).length;
      await call('state', 'begin-phase', '--phase', number, '--name', step, '--plans', String(plans));
    },
    async checkpoint({ step, unit, file, next }) {
      const number = numberOf(step);
      const plan = filesOf(planning, number).find(
        (name) => name.endsWith('-PLAN.md') && read(`phases/${name}`).includes(unit),
      );
      const summary = `# Summary\n\n${unit} is done, in ${file}.\n`;
      if (plan) writeFileSync(join(planning, 'phases', plan.replace('-PLAN.md', '-SUMMARY.md')), summary);
      await call('state', 'record-session', '--stopped-at', `Completed ${unit} of ${step}, ${file}. ${next}`);
      await call('roadmap', 'update-plan-progress', number);
    },
    async beginEffect({ step, effect }) {
      await note(step, `Effect ${effect} began`);
      return 'go';
    },
    endEffect: ({ step, effect }) => note(step, `Effect ${effect} ended`),
    decide: ({ step, decision, reason }) => note(step, decision, reason),
    block: async ({ step, text }) => void (await call('state', 'add-blocker', '--text', `${step}: ${text}`)),
    async changePlan({ drop, add }) {
      await call('phase', 'remove', numberOf(drop), '--force');
      await call('phase', 'add', `${add.key} ${add.title}`);
      writePlans(planning, Number(numberOf(add.key)), add);
    },
    async complete(step) {
      const number = numberOf(step);
      const [first] = filesOf(planning, number);
      const report = `${first?.split('/')[0]}/${number.padStart(2, '0')}-VERIFICATION.md`;
      if (first) writeFileSync(join(planning, 'phases', report), VERIFIED);
      await call('phase', 'complete', number);
    },
    async resume() {
      if (read('STATE.md') === '') return { text: '', calls: 1, state: stateOf('', []) };
      const init = await call('init', 'resume');
      const roadmap = await call('roadmap', 'analyze');
      const { phases } = JSON.parse(roadmap) as { phases: Phase[] };
      const state = read('STATE.md');
      return {
        text: [init, state, read('PROJECT.md'), roadmap].join('\n'),
        calls: 4,
        state: stateOf(state, phases),
      };
    },
    async close() {},
  };
}

interface Phase {
  name: string;
  roadmap_complete: boolean;
  disk_status: string;
}

/** The files of a phase, as `folder/file`. */
function filesOf(planning: string, number: string): string[] {
  const phases = join(planning, 'phases');
  const folder = readdirSync(phases).find((name) => Number.parseFloat(name) === Number(number));
  return folder === undefined ? [] : readdirSync(join(phases, folder)).map((name) => `${folder}/${name}`);
}

/** What its planning agent writes, one plan for each unit. */
function writePlans(planning: string, number: number, step: Step): void {
  const phase = String(number).padStart(2, '0');
  const existing = filesOf(planning, String(number))[0]?.split('/')[0];
  const folder = join(planning, 'phases', existing ?? `${phase}-${step.key}`);
  mkdirSync(folder, { recursive: true });
  for (const [index, { unit, file }] of unitsOf(step).entries()) {
    const plan = String(index + 1).padStart(2, '0');
    const head = `---\nphase: ${phase}-${step.key}\nplan: ${plan}\ntype: execute\nwave: 1\n---\n`;
    writeFileSync(join(folder, `${phase}-${plan}-PLAN.md`), `${head}\n# ${unit}\n\nWrite ${file}.\n`);
  }
}

const VERIFIED = '---\nstatus: passed\nscore: 1/1 must-haves verified\n---\n\n# Verification\n\nAll of it holds.\n';

function roadmapOf(goal: string, steps: readonly Step[]): string {
  const details = steps.flatMap((step, index) => {
    const units = unitsOf(step).map(({ unit }, at) => `- [ ] 0${index + 1}-0${at + 1}-PLAN.md — ${unit}`);
    const head = [
      `### Phase ${index + 1}: ${step.key}`,
      '',
      `**Goal**: ${step.title}`,
      `**Plans**: ${units.length} plans`,
    ];
    return [...head, '', 'Plans:', '', ...units, ''];
  });
  return [
    ...['# Roadmap: Work', '', '## Overview', '', goal, '', '## Phases', ''],
    ...steps.map(({ key, title }, index) => `- [ ] **Phase ${index + 1}: ${key}** - ${title}`),
    ...['', '## Phase Details', '', ...details],
    ...['## Progress', '', '| Phase | Plans Complete | Status | Completed |', '| --- | --- | --- | --- |'],
    ...steps.map((step, index) => `| ${index + 1}. ${step.key} | 0/${unitsOf(step).length} | Not started | - |`),
    '',
  ].join('\n');
}

function stateFile(goal: string, steps: readonly Step[]): string {
  return `# Project State

## Project Reference

See: .planning/PROJECT.md (updated 2026-01-01)

**Core value:** ${goal}
**Current focus:** Phase 1

## Current Position

Phase: 1 of ${steps.length} (${steps[0]?.key})
Plan: 0 of ${steps[0] ? unitsOf(steps[0]).length : 0} in current phase
Status: Ready to execute
Last activity: 2026-01-01 — Planned

Progress: [░░░░░░░░░░] 0%

## Accumulated Context

### Decisions

None yet.

### Pending Todos

None yet.

### Blockers/Concerns

None yet.

## Session Continuity

Last session: 2026-01-01
Stopped at: Planned
Resume file: None
`;
}

function isDone({ roadmap_complete: isTicked, disk_status: status }: Phase): boolean {
  return isTicked || status === 'complete';
}

function stateOf(state: string, phases: readonly Phase[]): ReportedState {
  const stopped = /^Stopped at: Completed (\S+) of ([^\s,]+)/m.exec(state);
  const steps = phases.filter((phase) => !isDone(phase)).map(({ name }) => name.split(' ')[0] ?? '');
  const effects = new Map<string, boolean>();
  for (const [, effect = '', word] of state.matchAll(/Effect (\S+) (began|ended)/g))
    effects.set(effect, word === 'ended');
  const blockers = state.split('### Blockers/Concerns')[1]?.split('\n## ')[0] ?? '';
  return {
    open: steps.map((step) => ({ step, reached: stopped?.[2] === step ? (stopped[1] ?? null) : null })),
    effects: [...effects].map(([effect, ended]) => ({ effect, ended })),
    blocked: [...blockers.matchAll(/^- ([^\s:]+):/gm)].map(([, step = '']) => step),
    changed: [],
  };
}
