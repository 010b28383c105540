import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { bare, type LineEdit } from '../markdown.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from './clip.ts';
import { type FieldName, setField } from './fields.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import type { StepChanges } from './step-changes.ts';

/** The newer tool's page: milestone, slice and task in separate fields, and one word for the phase of the work. */
export function editSlice(
  reading: Reading,
  path: readonly ModelStep[],
  model: RunModel,
  changes: StepChanges,
  state: StatePage,
): LineEdit[] {
  const step = path.at(-1) as ModelStep;
  const edits: LineEdit[] = [];
  if (changes.position !== reading.steps.position || changes.status.some(({ key }) => key === step.key)) {
    const [milestone, slice, task] = path;
    const named: [FieldName, ModelStep | undefined, ModelStep | undefined][] = [
      ['milestone', milestone, undefined],
      ['slice', slice, milestone],
      ['task', task, slice],
    ];
    for (const [name, one, above] of named) {
      const field = state.anywhere.get(name);
      if (!field) continue;
      const value = one ? placeValue(field.value, idOf(one, above), flat(one.title)) : noneLike(field.value);
      if (value !== field.value) edits.push(setField(state.page, field, value));
    }
    const phase = state.position.get('phase') ?? state.anywhere.get('phase');
    if (phase && stepStatus(phase.value) !== step.status)
      edits.push(setField(state.page, phase, phaseWords[step.status]));
  }
  return [...edits, ...editRegistry(reading, model, state)];
}

/** `M002: Second harvest`, `S08 — Remote worker`: writes another one in the same shape; the same one keeps its text. */
function placeValue(old: string, id: string, title: string): string {
  const [, said, between = ': '] = /^\**([\w.-]+?)\**(\s*[:：]\s*|\s+[—–-]+\s+)/u.exec(old) ?? [];
  return said === id ? old : `${id}${between}${title}`;
}

const noneLike = (old: string): string => (/^\W*(?:none|nenhum|无|없음)/iu.test(old) ? old : 'None');

/** A slice is identified by its milestone's key and its own: `M002.S03`. */
function idOf({ key, alias }: ModelStep, above: ModelStep | undefined): string {
  if (alias !== undefined) return alias;
  return above && key.startsWith(`${above.key}.`) ? key.slice(above.key.length + 1) : key;
}

const phaseWords: Record<ModelStep['status'], string> = {
  pending: 'planning',
  in_progress: 'executing',
  completed: 'complete',
  failed: 'blocked',
  skipped: 'complete',
};

/** `- 🔄 **M002:** …`, `- [ ] M003: …`: updates the sign or the box of a milestone that changed. */
function editRegistry(reading: Reading, model: RunModel, state: StatePage): LineEdit[] {
  const before = new Map(reading.model.steps.map((step) => [step.key, step.status]));
  return model.steps.flatMap((step) => {
    const entry = reading.steps.rows.get(step.key);
    if (entry?.form !== 'bullet' || before.get(step.key) === step.status) return [];
    const line = bare(state.page.lines[entry.from]);
    const done = step.status === 'completed' || step.status === 'skipped';
    const changed =
      entry.checked === null
        ? line.replace(/(?:✅|☑️?|✔️?|✓|🔄|🚧|⏳|🟡|⬜|🔲|☐|📋|❌)/u, signs[step.status])
        : line.replace(/\[[ xX~]\]/, done ? '[x]' : '[ ]');
    return changed === line ? [] : [{ from: entry.from, to: entry.from + 1, lines: [changed] }];
  });
}

const signs: Record<ModelStep['status'], string> = {
  pending: '⬜',
  in_progress: '🔄',
  completed: '✅',
  failed: '❌',
  skipped: '✅',
};
