import { readClaudeEvent, specificOutput } from '../claude/hooks.ts';
import type { Dialect, MomentKind } from '../moment.ts';

/** Codex CLI: Claude's events. It drops an answer with any field it does not know. */
export const codex: Dialect = {
  read: (event, input) => readClaudeEvent(event, input, 'codex'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  tellsCompacted: true,
  answer: specificOutput,
};
