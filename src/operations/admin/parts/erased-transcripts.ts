import type { Session } from '../../../core/fold/state.ts';
import type { Event } from '../../../core/journal/event.ts';
import type { Context } from '../../context.ts';
import { ofConversation } from '../../session/parts/find-transcript.ts';
import { openTranscripts } from '../../session/parts/transcripts.ts';
import type { ErasedPlace } from './erased-places.ts';

/** The clients' own files of the conversations in which the erased text was recorded. They are never written. */
export async function transcriptPlaces(
  context: Context,
  run: string,
  events: readonly Event[],
): Promise<ErasedPlace[]> {
  const place = 'transcripts of the client';
  const engine = await context.engine();
  const ids = [...new Set(events.flatMap(({ session }) => session ?? []))];
  const rows = ids.length > 0 ? await engine.recall(run, ids) : [];
  const sessions = rows.map((row) => row.doc as Session).filter(({ client }) => client);
  if (sessions.length === 0) return [{ place, state: 'not there' }];
  const clients = await context.clients();
  const transcripts = await openTranscripts();
  return sessions.map((session) => {
    const { name = '', id = '' } = session.client ?? {};
    const found = clients && ofConversation(transcripts, clients, id, session, undefined);
    const note = `${name} keeps its own record of conversation ${id}; delete it there.`;
    return { place, state: 'cannot', ...(found ? { path: found.path } : {}), note };
  });
}
