import { readClaudeEvent, specificOutput } from '../claude/hooks.ts';
import type { Dialect, MomentKind } from '../moment.ts';

/** VS Code's agent mode: Claude's events, without an end of the session, and no text to the model with a prompt. */
export const vscode: Dialect = {
  read: (event, input) => readClaudeEvent(event, input, 'vscode'),
  takesContext: new Set<MomentKind>(['session-start', 'tool-after']),
  tellsCompacted: false,
  answer: specificOutput,
};
