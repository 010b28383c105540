import type { ModelStep } from '../../core/model/run-model.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from '../text/lines.ts';
import type { Draft } from './draft.ts';

/** The newer tool's page: milestone, slice and task in separate fields, and one word for the phase of the work. */
export function editSlice(draft: Draft, path: readonly ModelStep[]): void {
  const { reading, changes, state, setField } = draft;
  const step = path.at(-1) as ModelStep;
  if (changes.position !== reading.steps.position || changes.status.some(({ key }) => key === step.key)) {
    for (const [depth, name] of (['milestone', 'slice', 'task'] as const).entries()) {
      const field = state.anywhere.get(name);
      const one = path[depth];
      if (!field) continue;
      const id = one && idOf(one, depth === 0 ? undefined : path[depth - 1]);
      setField(field, one && id ? placeValue(field.value, id, flat(one.title)) : noneLike(field.value));
    }
    const phase = state.position.get('phase') ?? state.anywhere.get('phase');
    if (phase && stepStatus(phase.value) !== step.status) setField(phase, phaseWords[step.status]);
  }
  editRegistry(draft);
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
function editRegistry({ reading, model, page, edit }: Draft): void {
  const before = new Map(reading.model.steps.map((step) => [step.key, step.status]));
  for (const step of model.steps) {
    const entry = reading.steps.rows.get(step.key);
    if (entry?.form !== 'bullet' || before.get(step.key) === step.status) continue;
    const line = page.line(entry.from);
    const done = step.status === 'completed' || step.status === 'skipped';
    edit.set(
      entry.from,
      entry.checked === null
        ? line.replace(/(?:✅|☑️?|✔️?|✓|🔄|🚧|⏳|🟡|⬜|🔲|☐|📋|❌)/u, signs[step.status])
        : line.replace(/\[[ xX~]\]/, done ? '[x]' : '[ ]'),
    );
  }
}

const signs: Record<ModelStep['status'], string> = {
  pending: '⬜',
  in_progress: '🔄',
  completed: '✅',
  failed: '❌',
  skipped: '✅',
};
