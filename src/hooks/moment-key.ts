import type { HookSource, MomentKind } from '../clients/moment.ts';
import type { ToolCall } from '../clients/tool-call.ts';
import { sha256 } from '../core/sha256.ts';

/** Some clients send no id of a tool call or a turn, only its time. */
export function isTime(id: string | null): boolean {
  return id !== null && /^\d{4}-\d\d-\d\dT|^\d{13}$/.test(id);
}

/** The idempotency key of a moment, which is the same in every hook that reports the same occurrence. */
export function keyOf(moment: HookSource & { kind: MomentKind; call?: ToolCall }, part = ''): string {
  const { conversation, subagent, kind, call } = moment;
  // Two hook files of one client report one prompt with two times.
  const id = kind === 'prompt' && isTime(moment.id) ? null : moment.id;
  const tool = call ? [call.command, call.files, call.todos] : null;
  return `hook:${sha256(JSON.stringify([conversation, subagent?.id ?? null, kind, id, tool, part])).slice(0, 32)}`;
}
