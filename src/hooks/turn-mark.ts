import type { ClientHooks, Moment } from '../clients/moment.ts';
import { setMark } from '../workspace/inbox.ts';
import type { OwnFiles } from '../workspace/own-files.ts';

/**
 * A client that announces every request of a turn as a prompt: once the first was answered, the launcher reports the others.
 * The mark goes with the turn, and with a new start of the client.
 */
export function markTurn(files: OwnFiles, { repeatsPrompts = false }: ClientHooks, moment: Moment): void {
  const { kind, conversation, subagent } = moment;
  if (!repeatsPrompts || conversation === null || subagent !== null || !/^[\w-]{1,100}$/.test(conversation)) return;
  if (kind === 'prompt') setMark(files, `turn-${conversation}`, true);
  else if (endings.has(kind)) setMark(files, `turn-${conversation}`, false);
}

const endings: ReadonlySet<Moment['kind']> = new Set(['session-start', 'turn-end', 'turn-failed', 'session-end']);
