import { evidenceInWords } from '../../../core/evidence.ts';
import type { Act } from '../../../core/fold/state.ts';
import { line, type Part } from '../../../core/line.ts';
import type { Pen } from '../../operation.ts';

/** ` by ada (at a terminal)`, ` (imported claim by ada)`. */
export function actWords(act: Act | null, pen: Pen): Part {
  if (act?.isClaim) return line` (imported claim by ${pen.quote(act.by, 'name')})`;
  return act ? line` by ${pen.quote(act.by, 'name')} (${evidenceInWords(act.evidence)})` : '';
}
