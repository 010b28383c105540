import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import type { State } from '../../core/fold/state.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { oneLine } from '../../core/text.ts';
import { missingRun } from '../../engine/drop.ts';
import type { Head } from '../../store/journal.ts';
import { forgetRun } from '../../workspace/run-presence.ts';
import { forgetArchive } from '../../workspace/state/archives.ts';
import type { Context } from '../context.ts';
import { label, reason } from '../fields.ts';
import { forgetBase } from '../files/parts/mirror-base.ts';
import { defineOperation, described } from '../operation.ts';
import { removeSnapshots } from '../snapshot/parts/file.ts';
import { removeWorklog } from '../worklog/parts/file.ts';

export const drop = defineOperation({
  name: 'drop',
  summary:
    'Remove a run with everything recorded in it, for good; who did it and why stays (people and programs only).',
  scope: 'maintain',
  by: 'person',
  words: ['run'],
  synonyms: { reason: ['why'] },
  examples: ['holdfast drop login-2 --reason "the customer left"', 'holdfast runs --dropped'],
  input: v.object({
    run: v.optional(described(label, 'Its whole id; a part of it or a title is not enough.')),
    reason,
  }),
  output: v.object({
    run: v.string(),
    /** How many events it had. */
    events: v.number(),
    /** Of its last event. */
    hash: v.string(),
    at: v.string(),
    by: v.string(),
    reason: v.string(),
    /** Files in the working tree that showed it; they stay. */
    mirrors: v.array(v.string()),
  }),
  async run(context, { run: named = context.run, reason: why }) {
    if (named === undefined) throw noneNamed();
    const { actor, evidence } = context.identity;
    // A program owns the store it opened; an agent at a command line does not.
    if (evidence !== 'library') mustBePerson(context.identity, 'drop a run', `holdfast drop ${named} --reason …`);
    const engine = await context.engine();
    const [head] = await engine.heads({ run: named });
    if (!head) throw await missingRun(engine, named, engine.place);
    // A damaged run can be dropped too.
    const state = await engine.load(named).catch(() => null);
    const mirrors = [...(state?.mirrors.values() ?? [])].map(({ path }) => path);
    if (context.ask && !(await context.ask(whatGoes(head, mirrors), 'Drop it?'))) {
      throw new Fault('cancelled', 'Nothing was dropped.', { data: { run: named, recorded: 'no' } });
    }
    const maintenance = await engine.maintenance();
    const by = { actor, evidence };
    const { version: events, hash, at } = await maintenance.drop(named, { at: engine.now(), by, reason: why });
    await tidyUp(context, named, state);
    return {
      data: { run: named, events, hash, at, by: actor.name, reason: why, mirrors },
      changed: [{ path: `run.${named}`, before: events, after: null }],
    };
  },
  say: ({ run, events, mirrors }, pen) =>
    [
      `Dropped ${pen.bold(run)} with ${events} events. \`holdfast runs --dropped\` lists it.`,
      ...mirrors.map((path) => `  ${path} stays as it is and is no longer mirrored.`),
    ].join('\n'),
});

const noneNamed = (): Fault =>
  new Fault('usage', '`drop` needs the id of a run.', { hints: ['`holdfast runs --all` lists them.'] });

function whatGoes({ run, title, version, openedAt, updatedAt }: Head, mirrors: readonly string[]): string {
  return [
    `${quoted(run)}: ${oneLine(title, 100)}`,
    `  ${version} events from ${openedAt} to ${updatedAt}, with all values, snapshots and search entries`,
    ...mirrors.map((path) => `  ${path} stays and is no longer mirrored`),
    '  It cannot be undone. `holdfast journal export` keeps a copy.',
  ].join('\n');
}

/** Removes the files that showed the run. The run is gone: what cannot be removed is a warning. */
async function tidyUp(context: Context, run: string, state: State | null): Promise<void> {
  const workspace = context.workspace();
  if (!workspace) return;
  try {
    forgetRun(workspace.files, run);
    removeSnapshots(workspace, run);
    for (const mirror of state?.mirrors.values() ?? []) forgetBase(workspace, mirror);
    if (state) removeWorklog(workspace, state);
    forgetArchive(workspace, run);
    const { writeResumeFile } = await import('../brief/parts/resume-file.ts');
    await writeResumeFile(context, null, false);
  } catch (thrown) {
    context.warn(`The run was dropped, but files that showed it may be left: ${(thrown as Error).message}.`);
  }
}
