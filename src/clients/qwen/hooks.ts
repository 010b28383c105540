import { readClaudeEvent, specificOutput } from '../claude/hooks.ts';
import type { Dialect, MomentKind } from '../moment.ts';

/**
 * Qwen Code: Claude's events. Its prompt event comes with every request to the model, most often with no prompt in it,
 * which is then no prompt; its stop event tells how full the context is.
 */
export const qwen: Dialect = {
  read: (event, input) => readClaudeEvent(event, input, 'qwen'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  tellsCompacted: true,
  answer: specificOutput,
};
