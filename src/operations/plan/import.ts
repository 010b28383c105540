import { resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import type { PlannedStep } from '../../core/journal/command.ts';
import { joined, line } from '../../core/line.ts';
import { parsePlanFile } from '../../formats/plan-file.ts';
import { hashArtifact, recordedPath } from '../../workspace/files.ts';
import { mustReadText, pathExists } from '../../workspace/read.ts';
import { act, actPart, currentState, inRun } from '../act.ts';
import type { Context } from '../context.ts';
import { defineOperation, described } from '../operation.ts';

export const planImport = defineOperation({
  name: 'plan.import',
  summary: 'Import a plan file (YAML or Markdown) or a preset: adds new steps and updates changed ones.',
  scope: 'write',
  local: true,
  words: ['file'],
  examples: ['holdfast plan import plan.md', 'holdfast plan import apex'],
  input: v.object({ file: described(v.string(), 'The plan file, or the name of a preset: apex.') }),
  output: v.object({
    run: v.string(),
    added: v.number(),
    changedSteps: v.number(),
    /** Steps of the run that the file does not name; they stay. */
    missing: v.array(v.string()),
    steps: v.number(),
    version: v.number(),
  }),
  async run(given, { file }) {
    const preset = isPreset(given, file);
    const read = preset ? null : await readPlanFile(given, file);
    const context = await inRun(given);
    const { run, steps: known } = await currentState(context);
    const steps = read ?? (await presetSteps(file, run?.title ?? 'project'));
    let changedSteps = 0;
    for (const { key, done: _, alias: _a, ...patch } of steps.filter((step) => known.has(step.key))) {
      const { events } = await actPart(context, key, { type: 'plan.change', step: key, patch });
      if (events.length > 0) changedSteps += 1;
    }
    const added = await act(context, { type: 'plan.add', steps: steps.filter((step) => !known.has(step.key)) });
    const done = preset ? added : await rememberPlan(context, added, file);
    const count = added.events.filter((event) => event.type === 'step.added').length;
    return {
      data: {
        run: done.run,
        added: count,
        changedSteps,
        missing: preset ? [] : [...known.keys()].filter((key) => !steps.some((step) => step.key === key)),
        steps: done.state.steps.size,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ added, changedSteps, missing, steps }, pen) =>
    joined(
      [
        line`Added ${added} steps, changed ${changedSteps}; the plan has ${steps}.`,
        ...(missing.length > 0
          ? [
              pen.dim(
                line`The file does not name ${joined(missing.slice(0, 10).map((key) => pen.quote(key, 'name')))}; \`holdfast plan remove KEY\` removes one.`,
              ),
            ]
          : []),
      ],
      '\n',
    ),
});

/** A file with the name of a preset takes precedence. */
export function isPreset(context: Context, name: string): boolean {
  return Object.hasOwn(presets, name) && !pathExists(resolve(context.dir, name));
}

/** The steps of a preset, with the files its format uses for work of that title. */
export async function presetSteps(name: string, title: string): Promise<PlannedStep[]> {
  return (await presets[name]?.(title)) ?? [];
}

const presets: Readonly<Record<string, (title: string) => Promise<PlannedStep[]>>> = {
  async apex(title) {
    const { apexPlan, projectName } = await import('../../formats/apex/preset.ts');
    return apexPlan(projectName(title));
  },
};

/** Records the plan file and its digest. A file at another path does not replace it. */
async function rememberPlan(context: Context, done: Imported, file: string): Promise<Imported> {
  const tree = context.workspace()?.tree ?? context.dir;
  const path = recordedPathOrNull(tree, context.dir, file);
  const known = done.state.run?.plan ?? null;
  if (path === null || (known !== null && known.path !== path)) return done;
  const { sha256 } = await hashArtifact(tree, path);
  const identity = { ...context.identity, key: null };
  const amended = await act({ ...context, identity }, { type: 'run.amend', plan: { path, sha256 } });
  return { ...amended, events: [...done.events, ...amended.events], changed: [...done.changed, ...amended.changed] };
}

type Imported = Awaited<ReturnType<typeof act>>;

/** Returns null for a plan outside the workspace, which is not checked again. */
function recordedPathOrNull(tree: string, dir: string, file: string): string | null {
  try {
    return recordedPath(tree, dir, file);
  } catch {
    return null;
  }
}

/** The steps a file names; a file that cannot be understood is refused with the line. */
export async function readPlanFile(context: Context, file: string): Promise<PlannedStep[]> {
  let text: string;
  try {
    text = mustReadText(resolve(context.dir, file));
  } catch (thrown) {
    throw new Fault('not_found', `The plan ${quoted(file)} cannot be read: ${(thrown as Error).message}.`, {
      hints: [
        'A plan is a YAML file (`steps: [{ key, title }]`) or a Markdown file (headings are phases, check-list lines are tasks).',
        `A preset is named without a path: ${Object.keys(presets).join(', ')}.`,
      ],
    });
  }
  const { value, problems } = await parsePlanFile(file, text);
  const [first] = problems;
  if (first || value.length === 0) {
    throw new Fault(
      'invalid',
      first
        ? `The plan ${quoted(file)}, line ${first.line}: ${first.message}`
        : `The plan ${quoted(file)} names no steps.`,
      {
        hints: [
          'YAML: `steps: [{ key: p1, title: Schema, steps: [{ key: t1, title: Tables }] }]`.',
          'Markdown: a heading is a phase, `- [ ] text` below it a task, `- [x]` one that is done.',
        ],
        data: { problems },
      },
    );
  }
  return value;
}
