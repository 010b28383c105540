import { readClaudeEvent, specificOutput } from '../claude-events.ts';
import { textOf } from '../json-value.ts';
import type { ClientHooks, MomentKind } from '../moment.ts';

/** VS Code's agent mode: Claude's events, without an end of the session, and no text to the model with a prompt. */
export const hooks: ClientHooks = {
  read: (event, input) => readClaudeEvent(event, input, 'vscode'),
  takesContext: new Set<MomentKind>(['session-start', 'tool-after']),
  answer: specificOutput,
  areRunByOthers: true,
  recognises: (input) =>
    /[\\/]GitHub\.copilot-chat[\\/]/.test(textOf(input['transcript_path']) ?? '') ||
    (input['source'] === 'new' && input['session_id'] !== undefined && input['hook_event_name'] !== undefined),
};
