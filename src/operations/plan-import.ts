import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import type { PlannedStep } from '../core/command.ts';
import { Fault, quoted } from '../core/fault.ts';
import { parsePlanFile } from '../formats/plan-file.ts';
import { act } from './act.ts';
import type { Context } from './context.ts';
import { defineOperation, described } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const planImport = defineOperation({
  name: 'plan.import',
  summary: 'Add the steps of a plan file (YAML or Markdown).',
  scope: 'write',
  words: ['file'],
  examples: ['holdfast plan import plan.md'],
  input: v.object({ file: described(v.string(), 'The plan file.') }),
  output: v.object({ run: v.string(), added: v.number(), steps: v.number(), version: v.number() }),
  async run(context, { file }) {
    const steps = await readPlanFile(context, file);
    const done = await act(context, { type: 'plan.add', steps });
    if (done.events.length > 0) await writeResumeFile(context, done.state);
    const added = done.events.filter((event) => event.type === 'step.added').length;
    return {
      data: { run: done.run, added, steps: done.state.steps.size, version: done.state.version },
      changed: done.changed,
    };
  },
  say: ({ added, steps }) => `Added ${added} steps; the plan has ${steps}.`,
});

/** The steps a file names; a file that cannot be understood is refused with the line. */
export async function readPlanFile(context: Context, file: string): Promise<PlannedStep[]> {
  let text: string;
  try {
    text = readFileSync(resolve(context.dir, file), 'utf8');
  } catch (thrown) {
    throw new Fault('not_found', `The plan ${quoted(file)} cannot be read: ${(thrown as Error).message}.`, {
      hints: [
        'A plan is a YAML file (`steps: [{ key, title }]`) or a Markdown file (headings are phases, check-list lines are tasks).',
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
