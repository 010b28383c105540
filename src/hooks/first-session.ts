import type { ToolMoment } from '../clients/moment.ts';
import { redact } from '../core/redact/redact.ts';
import type { Context } from '../operations/context.ts';
import { openSession } from '../operations/session/parts/open-session.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import type { Memory } from './memory.ts';

/** Opens the session of a conversation whose first report is a tool call. */
export async function firstSession(
  context: Context,
  moment: ToolMoment,
  memory: Memory,
  remember: (memory: Memory) => void,
): Promise<SessionContext | null> {
  const { owner, command = null } = memory.arrival ?? {};
  const here = owner ? { ...context, identity: { ...context.identity, owner } } : context;
  const within = await openSession(here, moment, { source: null, request: null, parent: null, command });
  if (within && command !== null && within.session.parent === null) {
    await execute(within, { type: 'turn.begin', kind: 'command', request: redact(command).text }, null);
    remember({ ...memory, arrival: undefined });
  }
  return within;
}
