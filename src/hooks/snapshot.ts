import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import { beat } from './tool-use.ts';

/** Takes a snapshot in case the session does not come back, unless nothing happened since the last one. */
export async function leaveSnapshot(within: SessionContext, lastMessage: string | null): Promise<void> {
  const { lastSnapshot, version } = within.state;
  if (lastSnapshot?.session === within.session.id && lastSnapshot.version === version) {
    await beat(within);
    return;
  }
  const why = lastMessage === null ? '' : oneLine(redact(lastMessage).text, 600);
  await execute(within, { type: 'snapshot.take', ...(why ? { why } : {}) }, null);
}
