import { resolve } from 'node:path';
import { type TranscriptClientName, transcriptClients } from '../../../clients/index.ts';
import type { LocatedTranscript, Transcript } from '../../../clients/transcript.ts';
import type { Transcripts } from '../../../clients/transcripts.ts';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Session } from '../../../core/fold/state.ts';
import { isAtRest, isGone } from '../../../core/views/liveness.ts';
import type { Clients, Context } from '../../context.ts';

export interface Asked {
  transcript?: string | undefined;
  client?: TranscriptClientName | undefined;
}

/** A session of the journal with the run it is in. */
export interface KnownSession {
  run: string;
  session: Session;
}

/** The transcript in a file, or of a session, else that of the last session that was cut off here. */
export async function findTranscript(context: Context, transcripts: Transcripts, asked: Asked): Promise<Transcript> {
  if (asked.transcript !== undefined) return await namedFile(context, transcripts, asked.transcript, asked.client);
  const clients = await context.clients();
  if (!clients) {
    throw new Fault('usage', 'The folders of the clients are not known here.', {
      hints: ['Name the file with `--transcript FILE`.'],
    });
  }
  const known = await knownSessions(context);
  const named = context.identity.session;
  const meant = named === null ? undefined : known.find(({ session }) => isCalled(session, named));
  // An active session is that of the agent who asks, not one that was cut off.
  if (named !== null && meant?.session.status !== 'active') {
    const found = ofConversation(
      transcripts,
      clients,
      meant?.session.client?.id ?? named,
      meant?.session,
      asked.client,
    );
    if (found) return found;
    throw noTranscript(`of session ${quoted(named)}`, clients, asked.client);
  }
  for (const { session } of known) {
    if (session.status !== 'crashed' || !session.client || session.parent !== null) continue;
    const found = ofConversation(transcripts, clients, session.client.id, session, asked.client);
    if (found) return found;
  }
  return newestHere(context, transcripts, clients, known, asked.client);
}

async function namedFile(
  context: Context,
  transcripts: Transcripts,
  path: string,
  client: TranscriptClientName | undefined,
): Promise<Transcript> {
  const file = resolve(context.dir, path);
  const found = transcripts.recognise(file, client);
  if (!found) {
    throw new Fault('invalid', `${quoted(path)} is not a transcript of a known client.`, {
      hints: [`Name its client with \`--client\`: ${transcriptClients.join(', ')}.`],
      data: { path },
    });
  }
  const inside = transcripts.conversationsIn(found);
  return inside === null ? found : conversationIn(context, transcripts, path, inside);
}

/** In a file with several conversations: that of the named session, else the last one of this folder, else the only one. */
async function conversationIn(
  context: Context,
  transcripts: Transcripts,
  path: string,
  all: readonly LocatedTranscript[],
): Promise<Transcript> {
  const named = context.identity.session;
  const session =
    named === null ? undefined : (await knownSessions(context)).find((one) => isCalled(one.session, named));
  const isOwn = session?.session.status === 'active';
  const id = isOwn ? null : (session?.session.client?.id ?? named);
  const folder = context.workspace()?.root ?? context.dir;
  const meant = all.filter((one) => (id === null ? transcripts.isWithin(folder, one.folder) : one.id === id));
  const candidates = meant.length > 0 || id !== null || all.length > 1 ? meant : all;
  const [newest] = candidates.toSorted((a, b) => b.writtenMs - a.writtenMs);
  if (newest) return newest;
  const has = all.slice(0, LISTED).map((one) => quoted(one.id));
  throw new Fault('not_found', `${quoted(path)} has no conversation ${id === null ? 'of this folder' : quoted(id)}.`, {
    hints: [
      all.length === 0
        ? 'It has no conversations.'
        : `Name one with \`--session ID\`: ${has.join(', ')}${all.length > LISTED ? ', …' : ''}.`,
    ],
    data: { path, conversations: all.length },
  });
}

const LISTED = 5;

/** The sessions of all runs of the workspace, newest first. */
export async function knownSessions(context: Context): Promise<KnownSession[]> {
  const workspace = context.workspace();
  if (!workspace) return [];
  const engine = await context.engine();
  const heads = await engine.heads({ workspace: workspace.ids, limit: RUNS_LIMIT });
  const known: KnownSession[] = [];
  for (const { run } of heads) {
    const records = await engine.rows(run, { kind: 'session', limit: SESSIONS_LIMIT });
    const state = await engine.load(run);
    const liveness = state.sessions.size > 0 ? await engine.liveness(state) : null;
    for (const record of records) {
      const session = record.doc as Session;
      const active = state.sessions.get(session.id);
      const isCutOff = active && liveness !== null && isGone(active, liveness) && !isAtRest(state, active);
      known.push({ run, session: isCutOff ? { ...session, status: 'crashed' } : session });
    }
  }
  return known.sort((a, b) => (a.session.startedAt < b.session.startedAt ? 1 : -1));
}

const RUNS_LIMIT = 50;
const SESSIONS_LIMIT = 200;

function isCalled(session: Session, name: string): boolean {
  return session.id === name || session.alias === name || session.client?.id === name;
}

/** The transcript of a conversation, by the client's id of it. */
export function ofConversation(
  transcripts: Transcripts,
  { homes }: Clients,
  id: string,
  session: Session | undefined,
  client: TranscriptClientName | undefined,
): Transcript | undefined {
  const ofSession = transcriptClients.find((name) => name === session?.client?.name);
  const names = client ? [client] : ofSession ? [ofSession] : transcriptClients;
  return transcripts.find(homes, names, { folder: null, id })[0];
}

/** A transcript that was written to a moment ago may belong to an active session. */
const QUIET_MS = 60_000;

function newestHere(
  context: Context,
  transcripts: Transcripts,
  clients: Clients,
  known: readonly KnownSession[],
  client: TranscriptClientName | undefined,
): Transcript {
  const folder = context.workspace()?.root ?? context.dir;
  const names = client ? [client] : transcriptClients;
  const all = transcripts.find(clients.homes, names, { folder, id: null });
  const isOpen = ({ id }: Transcript): boolean => {
    const own = known.find(({ session }) => session.client?.id === id);
    return !clients.current.includes(id) && (own === undefined || own.session.status === 'timeout');
  };
  const [newest] = all.filter(isOpen);
  if (!newest) throw noTranscript('of a session that was cut off in this folder', clients, client);
  if (Date.now() - newest.writtenMs < QUIET_MS) {
    throw new Fault('held', `The newest transcript here, ${newest.path}, was written to less than a minute ago.`, {
      hints: [
        'Its session may be active. If it is gone, name it: `holdfast recover --session ID` or `--transcript FILE`.',
      ],
      data: { client: newest.client, conversation: newest.id, path: newest.path },
    });
  }
  return newest;
}

function noTranscript(whose: string, { homes }: Clients, client: TranscriptClientName | undefined): Fault {
  const places = (client ? [client] : transcriptClients).map((name) => homes[name]);
  return new Fault('not_found', `There is no transcript ${whose}.`, {
    hints: [
      `Looked below ${places.join(', ')}.`,
      'Name a file with `--transcript FILE`; `holdfast sessions` lists what is recorded.',
    ],
    data: { places },
  });
}
