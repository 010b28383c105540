import * as v from 'valibot';
import { Fault, quoted } from '../core/fault.ts';
import type { State, Step } from '../core/fold/state.ts';
import type { Command } from '../core/journal/command.ts';
import type { Change } from '../core/views/change.ts';
import { planView, type StepView } from '../core/views/plan.ts';
import type { Done, Identity } from '../engine/execute.ts';
import { describeRewound } from '../engine/rewound.ts';
import type { Context } from './context.ts';
import { writeFollowing } from './follow-up.ts';
import { shaped } from './operation.ts';
import { withPeople } from './people.ts';
import { withholdSecrets } from './withhold-secrets.ts';

/** Runs a command of the caller on the current run, without the secrets in its text. */
export async function act(context: Context, command: Command): Promise<Done & { run: string }> {
  const run = await currentRun(context);
  return { run, ...(await execute(context, run, withholdSecrets(context, command))) };
}

interface ExecuteOptions {
  identity?: Identity;
  /** False where the operation syncs the mirrors itself. */
  mirrors?: boolean;
}

/** Runs a command on a run and writes the files that show what it recorded. */
export async function execute(
  context: Context,
  run: string,
  command: Command,
  { identity = context.identity, mirrors = true }: ExecuteOptions = {},
): Promise<Done> {
  const engine = await context.engine();
  const done = await engine.execute(run, command, await withPeople(context, command, identity));
  if (context.tally && !done.replayed) context.tally.events += done.events.length;
  for (const rewound of done.rewound) context.warn(describeRewound(rewound));
  if (context.following) context.following(run, done);
  else await writeFollowing(context, run, done, mirrors);
  return done;
}

/** A context whose run was looked up: what follows in the same command does not look it up again. */
export async function inRun(context: Context): Promise<Context & { run: string }> {
  const run = await currentRun(context);
  return { ...context, run, isRunKnown: true };
}

/** Runs one of several commands of an operation, each under a key of its own. */
export function actPart(context: Context, part: string, command: Command): Promise<Done & { run: string }> {
  return act({ ...context, identity: forPart(context.identity, part) }, command);
}

/** The identity of one of several commands of an operation: a key stands for one command. */
export function forPart(identity: Identity, part: string): Identity {
  return { ...identity, key: identity.key === null ? null : `${identity.key}:${part}` };
}

/** The folded state of the current run. */
export async function currentState(context: Context, at?: number): Promise<State> {
  const run = await currentRun(context);
  const engine = await context.engine();
  return engine.load(run, at);
}

/** The run that was named; else that of the session, the one chosen here, or the one last recorded in from here. */
export async function currentRun(context: Context): Promise<string> {
  if (context.isRunKnown && context.run !== undefined) return context.run;
  const { findRun } = await import('./run/parts/current-run.ts');
  return findRun(context);
}

/** A step, with what is derived from the rest of the plan. */
export type StepNow = Step & Pick<StepView, 'interrupted' | 'blocked' | 'stale'>;

/** What every command on a step answers. */
export const StepOutcome = v.object({
  step: shaped<StepNow>({ key: v.string(), title: v.string(), status: v.string() }),
  run: v.string(),
  session: v.nullable(v.string()),
  version: v.number(),
});
export type StepOutcome = v.InferOutput<typeof StepOutcome>;

export function stepOutcome(done: Done & { run: string }, key: string): { data: StepOutcome; changed: Change[] } {
  return { data: { ...stepNow(done.state, done.run, key), session: done.session }, changed: done.changed };
}

/** The same of a step that was only looked at. */
export function stepNow(state: State, run: string, key: string): StepOutcome {
  const view = planView(state).byKey.get(key);
  if (!view) throw new Fault('internal', `Step ${quoted(key)} is gone.`);
  const { step, status, interrupted, blocked, stale } = view;
  return { step: { ...step, status, interrupted, blocked, stale }, run, session: null, version: state.version };
}

/** The step that the recorded events are about: the command may have left it out. */
export function stepInEvents(done: Done, fallback: string | undefined): string {
  for (const event of [...done.events].reverse()) {
    if (event.type.startsWith('step.') && 'step' in event.body) return event.body.step as string;
  }
  if (fallback !== undefined) return fallback;
  throw new Fault('internal', 'No step was changed.');
}

/** The id of what a command created. */
export function idInEvents(done: Done): string | null {
  for (const event of [...done.events].reverse()) if ('id' in event.body) return event.body.id;
  return null;
}
