import * as v from 'valibot';
import type { State } from '../../core/fold/state.ts';
import { counted, fixed, joined, type Line, line, id as ownId, type Part, word } from '../../core/line.ts';
import { isUncertain } from '../../core/views/left.ts';
import { isGone, type Liveness } from '../../core/views/liveness.ts';
import { waitsForPerson } from '../../core/views/needs-you.ts';
import { type PlanView, planView, type StepView } from '../../core/views/plan.ts';
import { stateOfRun } from '../../core/views/run-state.ts';
import { currentState } from '../act.ts';
import { defineOperation, type Pen } from '../operation.ts';
import { takeable } from '../step/parts/find-step.ts';
import { labelled, whyShown } from './parts/labelled.ts';

const Ready = v.object({ key: v.string(), title: v.string(), interrupted: v.boolean() });

const Next = v.object({
  run: v.string(),
  title: v.string(),
  /** The state as people read it. */
  state: v.string(),
  why: v.string(),
  done: v.number(),
  total: v.number(),
  /** What the last session wrote as its next action. */
  said: v.nullable(v.string()),
  uncertain: v.array(v.object({ id: v.string(), name: v.string() })),
  /** How many things need a person. */
  waiting: v.number(),
  /** The first of them. */
  needs: v.array(v.object({ kind: v.string(), id: v.string(), text: v.string() })),
  ready: v.array(Ready),
  version: v.number(),
});
type Next = v.InferOutput<typeof Next>;

export const next = defineOperation({
  name: 'next',
  summary: 'Show the next action and the steps that are ready.',
  scope: 'read',
  input: v.object({}),
  output: Next,
  async run(context) {
    const state = await currentState(context);
    const engine = await context.engine();
    const plan = planView(state);
    const waits = waitsForPerson(state);
    const liveness = await engine.liveness(state);
    const { state: standing, label, why } = labelled(stateOfRun(state, liveness));
    const data = {
      run: state.run?.id ?? '',
      title: state.run?.title ?? '',
      state: label,
      why,
      done: plan.progress.done,
      total: plan.progress.total,
      said: state.next?.text ?? null,
      uncertain: standing === 'working' ? [] : uncertainIn(state),
      waiting: waits.length,
      needs: waits.slice(0, NEEDS_SHOWN),
      ready: [
        ...leftBehind(state, plan, liveness).map((view) => ({ ...view, interrupted: true })),
        ...takeable(plan),
      ].map(({ step: { key, title }, interrupted }) => ({ key, title, interrupted })),
      version: state.version,
    };
    return { data };
  },
  say: sayNext,
});

/** Steps whose session is gone: the next one that starts a step records that, and can take them. */
const leftBehind = (state: State, plan: PlanView, liveness: Liveness): StepView[] =>
  plan.leaves.filter(({ step: { holder } }) => {
    const session = holder && state.sessions.get(holder.session);
    return session ? isGone(session, liveness) : false;
  });

const uncertainIn = (state: State): Next['uncertain'] =>
  [...state.effects.values()].filter(isUncertain).map(({ id, name }) => ({ id, name }));

/** The command that helps most now. */
function commandFor({ run, state, uncertain, ready, needs, total }: Next, pen: Pen): Line {
  const [effect] = uncertain;
  const [step] = ready;
  const [need] = needs;
  if (effect) return line`holdfast settle ${ownId(effect.id)} succeeded`;
  const answer = need ? answerTo(need, pen) : null;
  if (answer) return answer;
  if (step) return line`holdfast start ${pen.quote(step.key, 'name')}`;
  if (state === 'finished') return line`holdfast init --title "…"`;
  if (total === 0) return state === 'not started' ? line`holdfast add "Title"` : line`holdfast resume`;
  return line`holdfast status --run ${pen.quote(run, 'name')}`;
}

/** The command that a person answers with; null where it takes more than one. */
function answerTo({ kind, id }: Next['needs'][number], pen: Pen): Line | null {
  if (kind === 'question') return line`holdfast answer ${ownId(id)} "…"`;
  if (kind === 'gate') return line`holdfast gate ${pen.quote(id, 'name')} open`;
  if (kind === 'mail') return line`holdfast mail show ${ownId(id)}`;
  return null;
}

const NEEDS_SHOWN = 3;
const SHOWN = 6;

function sayNext(data: Next, pen: Pen): Line {
  const { title, run, state, why, done, total, said, uncertain, waiting, needs, ready } = data;
  const steps: Part = total > 0 ? line`; ${done} of ${counted(total, fixed('step'))} done` : '';
  const lines: Line[] = [
    line`${pen.bold(pen.quote(title, 'title', 80))} ${pen.dim(line`(${pen.quote(run, 'name')})`)}`,
    line`  ${word(state)}${total > 0 && state === 'open' ? '' : whyShown(state, why, pen)}${steps}`,
  ];
  for (const { id, name } of uncertain.slice(0, 3))
    lines.push(line`  ${pen.warn(line`Outcome unknown:`)} ${ownId(id)} ${pen.quote(name, 'title', 80)}`);
  for (const need of needs) {
    const answer = answerTo(need, pen);
    const how = answer === null ? '' : line`  ${pen.dim(answer)}`;
    lines.push(
      line`  ${pen.warn(line`Needs you:`)} ${word(need.kind)} ${pen.quote(need.id, 'name')} ${pen.quote(need.text, 'title', 80)}${how}`,
    );
  }
  if (waiting > needs.length) lines.push(pen.dim(line`  and ${waiting - needs.length} more: \`holdfast status\``));
  if (said !== null) lines.push(line`  Next, as recorded: ${pen.quote(said, 'text', 120)}`);
  for (const step of ready.slice(0, SHOWN)) {
    const mark = step.interrupted ? line` ${pen.dim(line`(interrupted)`)}` : '';
    lines.push(line`  □ ${pen.bold(pen.quote(step.key, 'name'))} ${pen.fit(step.title, step.key.length + 19)}${mark}`);
  }
  if (ready.length > SHOWN) lines.push(pen.dim(line`  and ${ready.length - SHOWN} more that are ready`));
  return joined([...lines, line`Next: ${pen.bold(commandFor(data, pen))}`], '\n');
}
