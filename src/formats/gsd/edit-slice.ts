import type { ModelStep } from '../../core/model/run-model.ts';
import { stepStatus } from '../step-status.ts';
import { setField } from '../text/field.ts';
import { flat } from '../text/lines.ts';
import { isOver } from './progress.ts';
import type { Draft } from './reading.ts';
import type { Place } from './table.ts';

/** The newer tool's page: milestone, slice and task in separate fields, and one word for the phase of the work. */
export function editSlice(draft: Draft, { step, phase, plan, task }: Place, isMoved: boolean): void {
  const { state, page, edit } = draft;
  const path = [phase, plan, task];
  for (const [depth, name] of (['milestone', 'slice', 'task'] as const).entries()) {
    const field = state.anywhere.get(name);
    const one = path[depth];
    if (!field || !isMoved) continue;
    setField(
      edit,
      page,
      field,
      one ? placeValue(field.value, idOf(one, path[depth - 1]), flat(one.title)) : noneLike(field.value),
    );
  }
  const word = state.position.get('phase') ?? state.anywhere.get('phase');
  if (word && isMoved && stepStatus(word.value) !== step.status) setField(edit, page, word, phaseWords[step.status]);
  editRegistry(draft);
}

/** `M002: Second harvest`, `S08 — Remote worker`: writes another one in the same shape; the same one keeps its text. */
function placeValue(old: string, id: string, title: string): string {
  const [, said, between = ': '] = /^\**([\w.-]+?)\**(\s*[:：]\s*|\s+[—–-]+\s+)/u.exec(old) ?? [];
  return said === id ? old : `${id}${between}${title}`;
}

const noneLike = (old: string): string => (/^\W*(?:none|nenhum|无|없음)/iu.test(old) ? old : 'None');

/** A slice is identified by its milestone's key and its own: `M002.S03`. */
const idOf = ({ key, alias }: ModelStep, above: ModelStep | undefined): string =>
  alias ?? (above && key.startsWith(`${above.key}.`) ? key.slice(above.key.length + 1) : key);

const phaseWords: Record<ModelStep['status'], string> = {
  ...{ pending: 'planning', in_progress: 'executing', completed: 'complete', failed: 'blocked', skipped: 'complete' },
};

const signs: Record<ModelStep['status'], string> = {
  ...{ pending: '⬜', in_progress: '🔄', completed: '✅', failed: '❌', skipped: '✅' },
};

/** `- 🔄 **M002:** …`, `- [ ] M003: …`: updates the sign or the box of a milestone that changed. */
function editRegistry({ reading, model, page, edit }: Draft): void {
  const before = new Map(reading.model.steps.map((step) => [step.key, step.status]));
  for (const step of model.steps) {
    const entry = reading.steps.rows.get(step.key);
    if (entry?.form !== 'bullet' || before.get(step.key) === step.status) continue;
    const [sign, now] =
      entry.checked === null
        ? [/(?:✅|☑️?|✔️?|✓|🔄|🚧|⏳|🟡|⬜|🔲|☐|📋|❌)/u, signs[step.status]]
        : [/\[[ xX~]\]/, isOver(step) ? '[x]' : '[ ]'];
    edit.set(entry.from, page.line(entry.from).replace(sign, now));
  }
}
