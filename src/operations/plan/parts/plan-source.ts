import { join, resolve } from 'node:path';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Note, State } from '../../../core/fold/state.ts';
import type { PlannedStep } from '../../../core/journal/command.ts';
import { parsePlan } from '../../../formats/plan/parse-plan.ts';
import { emptyPage, type PlanPage } from '../../../formats/plan/plan-page.ts';
import { listFolder, mustReadText, pathExists, readStandardInput, readText } from '../../../workspace/read.ts';
import { currentRun } from '../../act.ts';
import type { Context } from '../../context.ts';

/** A plan that was read, and where it came from. */
export interface PlanSource {
  page: PlanPage;
  /** As people know it: a path, `standard input`, `N-3`. */
  name: string;
  /** Set for a file. */
  path: string | null;
  isPreset: boolean;
}

/** Reads a plan from a preset, standard input (`-`), a note (`N-3`) or a file. Refuses one without steps. */
export async function readPlan(
  context: Context,
  source: string,
  title: string,
  before: State | null = null,
): Promise<PlanSource> {
  if (isPreset(context, source)) {
    const steps = (await presets[source]?.(title, context, before)) ?? [];
    const page = { ...emptyPage(), steps: steps.map((step) => ({ ...step, line: 0, isKeyMade: false, detail: null })) };
    return { page, name: source, path: null, isPreset: true };
  }
  const { text, ...read } = await readSource(context, source);
  const page = await parsePlan(text, read.path ?? '');
  mustHaveSteps(read.name, page);
  return { page, ...read, isPreset: false };
}

async function readSource(
  context: Context,
  source: string,
): Promise<{ text: string; name: string; path: string | null }> {
  if (source === '-') return { text: readStandardInput(), name: 'standard input', path: null };
  const path = resolve(context.dir, source);
  if (/^N-\d+$/.test(source) && !pathExists(path))
    return { text: await noteText(context, source), name: source, path: null };
  try {
    return { text: mustReadText(path), name: source, path: source };
  } catch (thrown) {
    const near = plansIn(context.dir);
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'does not exist' : `cannot be read: ${(thrown as Error).message}`;
    throw new Fault('not_found', `The plan ${quoted(source)} ${why}.`, {
      hints: [
        ...(near.length > 0 ? [`Files with check-lists here: ${near.map(quoted).join(', ')}.`] : []),
        `A plan is a Markdown or YAML file, \`-\` for standard input, the id of a plan that was shown (\`N-3\`), or a preset: ${Object.keys(presets).join(', ')}.`,
      ],
    });
  }
}

async function noteText(context: Context, id: string): Promise<string> {
  const engine = await context.engine();
  const [row] = await engine.recall(await currentRun(context), [id]);
  const note = row?.kind === 'note' ? (row.doc as unknown as Note) : null;
  if (note === null) {
    throw new Fault('not_found', `There is no note ${quoted(id)} in this run.`, {
      hints: ['`holdfast log` shows the plans that a client showed, with their ids.'],
    });
  }
  return note.text;
}

function mustHaveSteps(name: string, { steps, problems, seen }: PlanPage): void {
  const [first] = problems;
  if (first) {
    throw new Fault('invalid', `The plan ${quoted(name)}, line ${first.line}: ${first.message}`, {
      hints: ['Example: `steps: [{ key: p1, title: Schema, steps: [{ key: t1, title: Tables }] }]`.'],
      data: { problems },
    });
  }
  if (steps.length > 0) return;
  const counts = [
    counted(seen.headings, 'heading'),
    counted(seen.paragraphs, 'paragraph'),
    ...(seen.items > 0 ? [`${counted(seen.items, 'list item')}, but no check-list and no list of steps`] : ['no list']),
  ];
  throw new Fault('invalid', `The plan ${quoted(name)} names no steps: saw ${counts.join(', ')}.`, {
    hints: ['Mark steps with `- [ ] text`, or put a numbered list under the heading `## Steps`.'],
    data: { seen },
  });
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const LOOKED_AT = 40;

/** Files of a folder that have a check-list. */
function plansIn(dir: string): string[] {
  return listFolder(dir)
    .filter((name) => /\.(?:md|markdown)$/i.test(name))
    .slice(0, LOOKED_AT)
    .filter((name) => /^\s*(?:[-*+]|\d+[.)])\s+\[[ xX-]\]\s/m.test(readText(join(dir, name)) ?? ''))
    .slice(0, 5);
}

/** A file with the name of a preset takes precedence. */
function isPreset(context: Context, name: string): boolean {
  return Object.hasOwn(presets, name) && !pathExists(resolve(context.dir, name));
}

/** The steps of a preset, with the files its format uses for work of that title. */
const presets: Readonly<
  Record<string, (title: string, context: Context, before: State | null) => Promise<PlannedStep[]>>
> = {
  async apex(title, context, before) {
    const { apexPlan, apexRest, projectName } = await import('../../../formats/apex/preset.ts');
    const project = projectName(title);
    if (before === null || before.steps.size === 0) return apexPlan(project);
    const folder = join(context.workspace()?.tree ?? context.dir, 'agent-output', project);
    return apexRest(project, [...before.steps.values()], listFolder(folder));
  },
};
