import * as v from 'valibot';
import type { Note, State } from '../../core/fold/state.ts';
import type { Command, PlannedStep } from '../../core/journal/command.ts';
import type { Engine } from '../../engine/engine.ts';
import type { PageStep } from '../../formats/plan/plan-page.ts';
import { hashArtifact, recordedPath } from '../../workspace/files.ts';
import { act, actPart, currentState, inRun } from '../act.ts';
import type { Context } from '../context.ts';
import { gatherFollowing } from '../follow-up.ts';
import { defineOperation, described } from '../operation.ts';
import { Imported, type PlanLine, sayImported } from './parts/imported.ts';
import { matchSteps } from './parts/match-steps.ts';
import { type PlanSource, readPlan } from './parts/plan-source.ts';
import { filesToRead, plainStep, restCommands, withReading } from './parts/record-rest.ts';

/** Compared with the notes of a plan that is imported again. */
const NOTES = 500;

export const planImport = defineOperation({
  name: 'plan.import',
  summary: 'Import a plan: adds new steps and updates changed ones.',
  scope: 'write',
  local: true,
  words: ['file'],
  flags: { dryRun: 'dry-run' },
  examples: ['holdfast plan import plan.md', 'holdfast plan import TODO.md --dry-run', 'holdfast plan import apex'],
  input: v.object({
    file: described(
      v.string(),
      'A Markdown or YAML file, `-` for standard input, a plan that was shown (`N-3`), or a preset: apex.',
    ),
    dryRun: v.optional(described(v.boolean(), 'Show what would be imported and record nothing.')),
  }),
  output: Imported,
  async run(given, { file, dryRun = false }) {
    const context = await inRun(given);
    const before = await currentState(context);
    const source = await readPlan(context, file, before.run?.title ?? 'project', before);
    const { page } = source;
    const steps = planned(context, source, before);
    const isKnown = (step: PageStep): boolean => before.steps.has(step.key);
    const done = dryRun ? null : await record(context, source, steps, before);
    const state = done?.state ?? before;
    return {
      data: {
        run: context.run,
        added: steps.filter((step) => !isKnown(step)).length,
        addedLeaves: leavesOf(steps).filter((step) => !isKnown(step)).length,
        leaves: leavesOf([...state.steps.values()]).length,
        changedSteps: done?.changedSteps ?? 0,
        missing: source.isPreset
          ? []
          : [...before.steps.keys()].filter((key) => !steps.some((step) => step.key === key)),
        ticked: steps.filter((step) => step.done === true && isOpenStep(before, step.key)).map(({ key }) => key),
        steps: state.steps.size,
        version: state.version,
        dryRun,
        plan: steps.map(planLine),
        notSteps: page.rest.map(({ heading, as }) => ({
          heading,
          as,
          files: as === 'reading' ? filesToRead(page, treeOf(context)).length : 0,
        })),
        ignored: page.ignored,
      },
      changed: done?.changed ?? [],
    };
  },
  say: sayImported,
});

/** Those without steps below them: what is worked on, and what progress counts. */
function leavesOf<Step extends { key: string; parent?: string | null | undefined }>(steps: readonly Step[]): Step[] {
  const parents = new Set(steps.map(({ parent }) => parent));
  return steps.filter(({ key }) => !parents.has(key));
}

const treeOf = (context: Context): string => context.workspace()?.tree ?? context.dir;

/** The steps of a page under the keys of the plan, with the files they should load. */
function planned(context: Context, { page }: PlanSource, state: State): PageStep[] {
  return withReading(matchSteps(page.steps, state.steps), page, treeOf(context));
}

const isOpenStep = ({ steps }: State, key: string): boolean => {
  const status = steps.get(key)?.status;
  return status !== undefined && status !== 'completed' && status !== 'skipped';
};

/** Records all of it or nothing. */
async function record(context: Context & { run: string }, source: PlanSource, steps: PageStep[], before: State) {
  const engine = await context.engine();
  const plan = await planFile(context, source, before);
  const done = await engine.together(async (held) => {
    const following = gatherFollowing();
    const within: Context = { ...context, engine: async () => held, following: following.add };
    const changed = [];
    let changedSteps = 0;
    const fresh = steps.filter(({ key }) => !before.steps.has(key));
    const added = await act(within, { type: 'plan.add', steps: fresh.map((step) => inPlace(step, steps, before)) });
    changed.push(...added.changed);
    for (const step of steps.filter(({ key }) => before.steps.has(key))) {
      const { key, done: _, skipped: _s, alias: _a, line: _l, isKeyMade: _k, detail: _d, ...patch } = step;
      const { events, changed: part } = await actPart(within, key, { type: 'plan.change', step: key, patch });
      if (events.length > 0) changedSteps += 1;
      changed.push(...part);
    }
    const commands = restCommands({ ...source.page, steps }, source.name, before, new Set(fresh.map(({ key }) => key)));
    const isRecorded = await recordedNotes(held, context.run);
    let { state } = added;
    const rest = commands.filter((one) => !isRecorded(one));
    for (const [index, command] of [...rest, ...(plan ? [{ type: 'run.amend' as const, plan }] : [])].entries()) {
      const part = await actPart(within, `rest-${index}`, command);
      changed.push(...part.changed);
      state = part.state;
    }
    return { state, changed, changedSteps, following };
  });
  await done.following.write(context);
  return done;
}

/** A new step goes in front of the next one of its file that the plan has beside it. */
function inPlace(step: PageStep, steps: readonly PageStep[], { steps: known }: State): PlannedStep {
  const later = steps.slice(steps.indexOf(step) + 1);
  const next = later.find(({ key }) => known.has(key) && known.get(key)?.parent === (step.parent ?? null));
  return next ? { ...plainStep(step), before: next.key } : plainStep(step);
}

/** Whether a note with the same text is there already: a plan can be imported again. */
async function recordedNotes(engine: Engine, run: string): Promise<(command: Command) => boolean> {
  const rows = await engine.rows(run, { kind: 'note', limit: NOTES });
  const texts = new Set(rows.map(({ doc }) => (doc as unknown as Note).text));
  return (command) => command.type === 'note.add' && texts.has(command.text);
}

/** The plan file and its digest; null for a plan outside the workspace, or beside a plan at another path. */
async function planFile(context: Context, { path }: PlanSource, { run }: State) {
  if (path === null) return null;
  const tree = treeOf(context);
  let inside: string;
  try {
    inside = recordedPath(tree, context.dir, path);
  } catch {
    return null;
  }
  if (run?.plan && run.plan.path !== inside) return null;
  return { path: inside, sha256: (await hashArtifact(tree, inside)).sha256 };
}

const planLine = ({ key, title, parent, after, done, skipped }: PageStep): PlanLine => ({
  key,
  title,
  parent: parent ?? null,
  after: after ?? [],
  state: done ? 'done' : skipped ? 'skipped' : 'open',
});
