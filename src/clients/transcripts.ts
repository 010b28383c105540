import { basename } from 'node:path';
import { type TranscriptClientName, transcriptClients, transcriptOf } from './index.ts';
import { createRecovery, type Reconstruction, type TranscriptEntry } from './reconstruction.ts';
import {
  type ClientTranscript,
  fieldIn,
  isWithin,
  type LocatedTranscript,
  type SubagentTranscript,
  type Transcript,
  type TranscriptFiles,
  transcriptAt,
  type Wanted,
} from './transcript.ts';

/** The folder in which each client keeps its own files. */
export type ClientHomes = Readonly<Record<TranscriptClientName, string>>;

/** The transcripts of all clients. */
export interface Transcripts {
  /** Newest first. */
  find(homes: Partial<ClientHomes>, names: readonly TranscriptClientName[], wanted: Wanted): Transcript[];
  /** A file that a user names, as a transcript; null if it is not one. */
  recognise(path: string, name: TranscriptClientName | undefined): Transcript | null;
  /** The conversations in a file that holds several; null for one that does not. */
  conversationsIn(transcript: Transcript): LocatedTranscript[] | null;
  /** Whether a folder that a client names is the workspace or inside it. */
  isWithin(folder: string, path: string | null): boolean;
  /** Oldest first. */
  subagents(transcript: Transcript): SubagentTranscript[];
  read(transcript: Transcript): Iterable<TranscriptEntry>;
  reconstruct(transcript: Transcript): Reconstruction;
}

export async function loadTranscripts(files: TranscriptFiles): Promise<Transcripts> {
  const parts = new Map<string, ClientTranscript>();
  for (const name of transcriptClients) parts.set(name, await transcriptOf(name));
  const partOf = ({ client }: Transcript): ClientTranscript => {
    const part = parts.get(client);
    if (!part) throw new Error(`${client} has no transcripts.`);
    return part;
  };
  const bySpecificity = [...parts].sort(([, a], [, b]) => b.specificity - a.specificity);
  const read = (transcript: Transcript) => partOf(transcript).read(transcript, files);
  return {
    find(homes, names, wanted) {
      const found = names.flatMap((name) => parts.get(name)?.find(homes[name] ?? '', wanted, files) ?? []);
      return found.sort((a, b) => b.writtenMs - a.writtenMs);
    },
    recognise(path, name) {
      const head = files.readHead(path);
      const client = name ?? bySpecificity.find(([, part]) => part.recognises(path, head))?.[0];
      if (client === undefined) return null;
      const part = parts.get(client);
      const id = part?.idIn ? part.idIn(path, head) : fieldIn(head, 'sessionId');
      return transcriptAt(files, client, id ?? basename(path).replace(/\.jsonl?(?:\.zst)?$/, ''), path);
    },
    conversationsIn: (transcript) => partOf(transcript).conversationsIn?.(transcript.path, files) ?? null,
    isWithin: (folder, path) => isWithin(files, folder, path),
    subagents(transcript) {
      const found = partOf(transcript).subagents?.(transcript, files) ?? [];
      return found.sort((a, b) => a.writtenMs - b.writtenMs);
    },
    read,
    reconstruct(transcript) {
      const recovery = createRecovery();
      for (const entry of read(transcript)) recovery.add(entry);
      return recovery.result();
    },
  };
}

/** The homes of all clients in an environment. */
export async function findHomes(
  environment: Readonly<Record<string, string | undefined>>,
  userHome: string,
): Promise<ClientHomes> {
  const homes = transcriptClients.map(async (name) => [name, (await transcriptOf(name)).home(environment, userHome)]);
  return Object.fromEntries(await Promise.all(homes)) as ClientHomes;
}
