import { basename, resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import type { State } from '../../core/fold/state.ts';
import { emptyState } from '../../core/fold/state-tables.ts';
import type { Command, PlannedStep } from '../../core/journal/command.ts';
import { draftSteps } from '../../core/rules/plan.ts';
import { ActorName, isName, oneLine, Sentence, Text } from '../../core/text.ts';
import { planView, readySteps } from '../../core/views/plan.ts';
import type { PageStep } from '../../formats/plan/plan-page.ts';
import { hashArtifact, recordedPath } from '../../workspace/files.ts';
import { mustReadText } from '../../workspace/read.ts';
import { noWorkspace } from '../../workspace/workspace.ts';
import { execute } from '../act.ts';
import type { Context } from '../context.ts';
import { label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { type PlanSource, readPlan } from '../plan/parts/plan-source.ts';
import { plainStep, restCommands, withReading } from '../plan/parts/record-rest.ts';
import { withholdSecrets } from '../withhold-secrets.ts';
import { chooseForTree } from './parts/choose-run.ts';
import { RecordedRun } from './parts/recorded-run.ts';
import type { TakenOver } from './parts/take-over-old.ts';

const RunId = v.pipe(
  v.string(),
  v.check((text) => text !== 'new', 'must not be `new`, which stands for a new run'),
  v.check(
    (text) => isName(text, '._-', 96),
    'must be letters, digits, dots, dashes or underscores, at most 96 of them',
  ),
);

export const init = defineOperation({
  name: 'init',
  summary: 'Make this folder a workspace and open a run.',
  scope: 'write',
  words: ['title'],
  flags: { approvedBy: 'approved-by', moveOld: 'move-old' },
  local: ['design', 'plan', 'outside', 'moveOld'],
  examples: ['holdfast init "User authentication"', 'holdfast init --title "User authentication" --plan plan.md'],
  input: v.object({
    title: v.optional(described(Sentence, 'What the work is called.')),
    id: v.optional(described(RunId, 'The id of the run; made from the date and the title when left out.')),
    source: v.optional(
      described(
        label,
        'The program that keeps the run, such as `langgraph`. Agents are told of it only while it waits for someone.',
      ),
    ),
    goal: v.optional(described(Text, 'What it is for, in the words of the person who asked.')),
    design: v.optional(described(v.string(), 'The design document.')),
    approvedBy: v.optional(described(ActorName, 'Who approved the design document.')),
    plan: v.optional(
      described(v.string(), 'A plan file (Markdown or YAML), `-` for standard input, or the name of a preset: apex.'),
    ),
    moveOld: v.optional(
      described(v.boolean(), 'Take over the runs that version 0.1 kept in `.holdfast/`; open no other.'),
    ),
    outside: v.optional(described(v.boolean(), 'Keep the data in your state folder, not in the git folder.')),
  }),
  output: v.object({
    /** Null when old runs were taken over instead. */
    run: v.nullable(RecordedRun),
    takenOver: v.optional(
      v.object({
        runs: v.array(v.object({ id: v.string(), title: v.string(), events: v.number() })),
        kept: v.nullable(v.string()),
      }),
    ),
    workspace: v.nullable(v.string()),
    /** The format whose workflow the plan is. */
    preset: v.optional(v.string()),
    steps: v.number(),
    /** Those without steps below them: what is worked on. */
    leaves: v.optional(v.number()),
    /** The first step that can be taken. */
    first: v.optional(v.nullable(v.string())),
    version: v.number(),
  }),
  async run(context, input) {
    if (input.moveOld === true) return moveOld(context);
    const isNamed = [input.title, input.id, input.plan].some((one) => one !== undefined);
    if (!isNamed) await mustBeFirst(context);
    // All input is checked before anything is created: a refused call leaves nothing behind.
    const source = await planOf(context, input);
    const tree = context.workspace()?.tree ?? context.dir;
    const named = async (path: string) => hashArtifact(tree, recordedPath(tree, context.dir, path));
    const steps = source === null ? [] : withReading(source.page.steps, source.page, tree);
    draftSteps(emptyState(), steps.map(plainStep));
    const plan = source?.path == null ? undefined : await named(source.path);
    const design =
      input.design === undefined ? undefined : { path: (await named(input.design)).path, approvedBy: input.approvedBy };
    if (input.design !== undefined) mustBeReadable(context, input.design);
    const workspace = context.createWorkspace(undefined, { outside: input.outside === true });
    const title = input.title ?? source?.page.title ?? input.id ?? workspace?.root.split(/[\\/]/).at(-1) ?? 'work';
    const { run, state } = await openRun(context, input.id, title, {
      ...(input.source === undefined ? {} : { source: input.source, kind: 'ad-hoc' }),
      goal: input.goal ?? source?.page.goal ?? undefined,
      design,
      plan: plan && { path: plan.path, sha256: plan.sha256 },
      workspace: workspace?.id ?? soleWorkspace(context) ?? NO_WORKSPACE,
      ...(steps.length > 0 ? { steps: steps.map(plainStep) } : {}),
    });
    for (const command of source === null ? [] : restOf(source, steps, state))
      await execute(context, run, withholdSecrets(context, command), { identity: { ...context.identity, key: null } });
    if (input.source === undefined) await chooseForTree(context, run);
    return {
      data: {
        run: state.run,
        workspace: workspace?.root ?? null,
        ...(source?.isPreset ? { preset: source.name } : {}),
        steps: state.steps.size,
        leaves: planView(state).leaves.length,
        first: readySteps(planView(state))[0]?.step.key ?? null,
        version: state.version,
      },
      changed: [{ path: `run.${run}`, before: null, after: 'active' }],
    };
  },
  say: ({ run, workspace, preset, leaves: steps = 0, first, takenOver }, pen) => {
    if (run === null) return sayTakenOver(takenOver ?? { runs: [], kept: null });
    return [
      `Opened run ${pen.bold(run.id)}${workspace === null ? '' : ` in ${workspace}`}${steps > 0 ? ` with ${steps} ${steps === 1 ? 'step' : 'steps'}` : ''}.`,
      steps > 0
        ? `Next: ${pen.bold(first ? `holdfast start ${first}` : 'holdfast plan')}`
        : `Next: ${pen.bold('holdfast add "Title"')} adds a step, ${pen.bold('holdfast import FILE')} many.`,
      ...(preset ? [`${pen.bold(`holdfast mirror add ${preset}`)} writes its state file and keeps it in sync.`] : []),
    ].join('\n');
  },
});

/** A run without a title beside another run or another tool's state is probably meant to continue that. */
async function mustBeFirst(context: Context): Promise<void> {
  if (context.environment === undefined) return;
  await mustBeNoRun(context);
  const { foreignHere, mirroringHere } = await import('../files/parts/foreign-here.ts');
  const found = await foreignHere(context);
  if (found.length === 0) return mustBeSound(context);
  const [owner] = await mirroringHere(context);
  const first = owner
    ? [`Continue run ${owner}: \`holdfast resume --run ${owner}\``, `Archive it: \`holdfast archive --run ${owner}\``]
    : ['Continue it: `holdfast adopt --mirror`'];
  throw new Fault('usage', `There is state of another tool here:\n  ${found.join('\n  ')}`, {
    hints: [...first, 'Open another run: `holdfast init --title "…"`'],
    data: { found },
  });
}

async function mustBeNoRun(context: Context): Promise<void> {
  const workspace = context.workspace();
  if (!workspace) return;
  const heads = await (await context.engine()).heads({ workspace: workspace.ids, status: 'active', limit: 8 });
  const [open] = heads.filter(({ position }) => position.facts?.isTrivial !== true);
  if (!open) return;
  throw new Fault('usage', `Run ${quoted(open.run)} is unfinished here: ${oneLine(open.title, 80)}`, {
    hints: [
      `Continue it: \`holdfast resume --run ${open.run}\``,
      `Archive it: \`holdfast archive --run ${open.run}\``,
      'Open another run: `holdfast init --title "…"`',
    ],
    data: { run: open.run },
  });
}

/** Beside a damaged state file the way to go on is to repair it. */
async function mustBeSound(context: Context): Promise<void> {
  const { damagedHere } = await import('../files/parts/foreign-here.ts');
  const damaged = await damagedHere(context);
  if (damaged.length === 0) return;
  throw new Fault('usage', `There is a damaged state file of another tool here: ${damaged.join(', ')}`, {
    hints: [
      ...damaged.map((path) => `Repair it: \`holdfast doctor ${path} --repair\``),
      'Open another run: `holdfast init --title "…"`',
    ],
    data: { damaged },
  });
}

async function moveOld(context: Context) {
  const workspace = context.createWorkspace();
  if (workspace === null) throw noWorkspace();
  const { takeOverOld } = await import('./parts/take-over-old.ts');
  const takenOver = await takeOverOld(context, workspace);
  const changed = takenOver.runs.map(({ id, events }) => ({ path: `run.${id}`, before: null, after: events }));
  return { data: { run: null, takenOver, workspace: workspace.root, steps: 0, version: 0 }, changed };
}

function sayTakenOver({ runs, kept }: TakenOver): string {
  return [
    `Took over ${runs.length} ${runs.length === 1 ? 'run' : 'runs'} of version 0.1:`,
    ...runs.map(({ id, title, events }) => `  ${id} ${oneLine(title, 80)}, ${events} events`),
    kept === null
      ? 'The old folder could not be moved; `.holdfast/` is no longer used and can be deleted.'
      : `The old folder is kept as ${kept}; delete it when you no longer need it.`,
    'Run `holdfast install CLIENT` again for each client: its settings call the program in another way now.',
  ].join('\n');
}

/** The plan that was named. A preset names the files of its project after the run. */
async function planOf(
  context: Context,
  { plan, title, id }: { plan?: string | undefined; title?: string | undefined; id?: string | undefined },
): Promise<PlanSource | null> {
  if (plan === undefined) return null;
  const root = context.workspace()?.root ?? context.dir;
  return readPlan(context, plan, title ?? id ?? basename(root));
}

const restOf = ({ page, name }: PlanSource, steps: PageStep[], state: State): Command[] =>
  restCommands({ ...page, steps }, name, state, new Set(steps.map(({ key }) => key)));

function mustBeReadable(context: Context, path: string): void {
  try {
    mustReadText(resolve(context.dir, path));
  } catch (thrown) {
    throw new Fault('not_found', `The file ${quoted(path)} cannot be read: ${(thrown as Error).message}.`, {
      hints: ['Paths are relative to the current folder, or to `--dir`.'],
    });
  }
}

/** The workspace id of a run that was opened in a store without a folder. */
const NO_WORKSPACE = 'none';

/** A caller from afar whose token reaches one workspace means that one. */
function soleWorkspace({ token }: Context): string | undefined {
  return token && token.workspaces !== '*' && token.workspaces.length === 1 ? token.workspaces[0] : undefined;
}

interface RunDetails {
  workspace: string;
  source?: string;
  kind?: 'ad-hoc';
  goal?: string | undefined;
  design?: { path: string; approvedBy?: string | undefined } | undefined;
  plan?: { path: string; sha256?: string | null | undefined } | undefined;
  steps?: PlannedStep[];
}

/** A given id is used or refused; a generated one gets the first free number. */
async function openRun(
  context: Context,
  id: string | undefined,
  title: string,
  details: RunDetails,
): Promise<{ run: string; state: State }> {
  const { now } = await context.engine();
  const base = id ?? `${now().slice(0, 10)}-${slug(title)}`;
  for (let number = 1; ; number++) {
    const run = number === 1 ? base : `${base}-${number}`;
    try {
      const command = withholdSecrets(context, { type: 'run.open', title, ...details });
      const { state } = await execute(context, run, command);
      return { run, state };
    } catch (thrown) {
      const taken = thrown instanceof Fault && thrown.code === 'illegal' && thrown.data['run'] === run;
      if (!taken || id !== undefined || number > 999) throw thrown;
    }
  }
}

function slug(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return words.slice(0, 48).replace(/-+$/, '') || 'run';
}
