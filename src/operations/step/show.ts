import * as v from 'valibot';
import { notFound } from '../../core/fault.ts';
import type { Decision, Item, Note, Session } from '../../core/fold/state.ts';
import { joined, line, id as ownId, type Part, time, word } from '../../core/line.ts';
import { type SessionLabel, sessionLabel } from '../../core/views/labels.ts';
import { ancestorsOf, planView } from '../../core/views/plan.ts';
import { sessionWordOf } from '../../core/views/run-state.ts';
import { currentState, inRun } from '../act.ts';
import { stepKey } from '../fields.ts';
import { type ActivityEntry, hostOf, readActivity } from '../history/parts/activity.ts';
import { defineOperation, shaped } from '../operation.ts';
import { lineOf, StepLine } from '../plan/show.ts';
import { findStep } from './parts/find-step.ts';
import { readStepHistory } from './parts/step-history.ts';

export interface StepSession {
  id: string;
  agent: string;
  label: SessionLabel;
  host: string | null;
  startedAt: string;
  endedAt: string | null;
}

const ENTRIES = 50;
const ABOUT = 20;

export const stepShow = defineOperation({
  name: 'step.show',
  summary: 'Show a step with its checkpoints, files, commands, sessions, decisions and notes.',
  scope: 'read',
  words: ['key'],
  examples: ['holdfast step show p3.7'],
  input: v.object({ key: stepKey }),
  output: v.object({
    run: v.string(),
    step: StepLine,
    /** The steps it is part of, the nearest first. */
    parents: v.array(v.object({ key: v.string(), title: v.string() })),
    /** The whole summary of what was done. */
    summary: v.nullable(v.string()),
    checkpoints: v.array(v.object({ name: v.string(), at: v.string(), next: v.nullable(v.string()) })),
    activity: v.array(shaped<ActivityEntry>({ kind: v.string(), at: v.string() })),
    hosts: v.array(v.string()),
    sessions: v.array(shaped<StepSession>({ id: v.string(), agent: v.string(), label: v.string() })),
    decisions: v.array(shaped<Decision>({ id: v.string(), decision: v.string() })),
    items: v.array(shaped<Item>({ id: v.string(), kind: v.string(), text: v.string() })),
    notes: v.array(shaped<Note>({ id: v.string(), kind: v.string(), text: v.string() })),
  }),
  async run(given, { key: name }) {
    const context = await inRun(given);
    const engine = await context.engine();
    const state = await currentState(context);
    const key = await findStep(context, name);
    const view = planView(state).byKey.get(key);
    if (!view) throw notFound('step', name, state.steps.keys(), 'See the plan with `holdfast plan show`.');
    const { run } = context;
    const about = (kind: string) => engine.rows(run, { kind, tag: `affects:${key}`, limit: ABOUT });
    const [history, found, decisions, items, results, liveness] = await Promise.all([
      readStepHistory(engine, run, view.step),
      readActivity(context, state, { step: key }, ENTRIES),
      about('decision'),
      about('item'),
      engine.recall(run, [key]),
      engine.liveness(state),
    ]);
    const rows = history.sessions.length > 0 ? await engine.recall(run, history.sessions) : [];
    const sessions = rows
      .filter(({ kind }) => kind === 'session')
      .map(({ doc }): StepSession => {
        const { id, agent, status, startedAt, endedAt } = doc as Session;
        const present = state.sessions.get(id);
        const label = sessionLabel(present ? sessionWordOf(state, present, liveness) : status);
        return { id, agent, label, host: hostOf(doc as Session), startedAt, endedAt };
      });
    const result = results.find(({ kind }) => kind === 'result')?.doc as { summary: string | null } | undefined;
    return {
      data: {
        run,
        step: lineOf(view, state, liveness),
        parents: ancestorsOf(state, view.step).map(({ key: above, title }) => ({ key: above, title })),
        summary: result?.summary ?? view.step.summary,
        checkpoints: history.checkpoints,
        activity: found.entries,
        hosts: found.hosts,
        sessions: sessions.sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)),
        decisions: decisions.map((row) => row.doc as Decision),
        items: items.map((row) => row.doc as Item),
        notes: history.notes,
      },
    };
  },
  say: ({ step, checkpoints, activity, sessions }, pen) => {
    const rows: readonly Part[] = [
      line`${pen.bold(pen.quote(step.key, 'name'))} ${pen.quote(step.title, 'title')}: ${word(step.label)}`,
      ...checkpoints.map(
        ({ name, at }) => line`  checkpoint ${pen.quote(name, 'name')} ${time(`${at.slice(0, 16)}Z`)}`,
      ),
      ...activity.map((entry) =>
        entry.kind === 'file'
          ? line`  changed ${pen.quote(entry.path, 'path')}`
          : entry.kind === 'command'
            ? line`  ran ${pen.quote(entry.name, 'title', 100)}: ${word(entry.outcome)}`
            : line`  asked ${pen.quote(entry.text, 'title', 100)}`,
      ),
      ...sessions.map(({ id, agent, label }) => line`  ${ownId(id)} ${pen.quote(agent, 'name')} ${word(label)}`),
    ];
    return joined(rows, '\n');
  },
});
