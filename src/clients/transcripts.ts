import { basename, dirname } from 'node:path';
import { claude } from './claude/transcript.ts';
import { codex, rolloutId } from './codex/transcript.ts';
import type { ClientName } from './conversation.ts';
import { copilot } from './copilot/transcript.ts';
import { STORE_FILE } from './cursor/store.ts';
import { cursor } from './cursor/transcript.ts';
import { gemini } from './gemini/transcript.ts';
import { opencode } from './opencode/transcript.ts';
import { qwen } from './qwen/transcript.ts';
import { createRecovery, type Reconstruction, type TranscriptEntry } from './reconstruction.ts';
import {
  type OpenDatabase,
  type SubagentTranscript,
  type Transcript,
  type TranscriptClient,
  transcriptAt,
  type Wanted,
} from './transcript.ts';
import { fieldIn, readHead } from './transcript-lines.ts';

/** In the order in which a file is asked whose it is: the least particular form comes last. */
const clients = { codex, copilot, opencode, gemini, qwen, cursor, claude } as const satisfies Partial<
  Record<ClientName, TranscriptClient>
>;
export type TranscriptClientName = keyof typeof clients;
export const transcriptClients = Object.keys(clients) as TranscriptClientName[];

/** Where each client keeps what is its own. */
export type ClientHomes = Readonly<Record<TranscriptClientName, string>>;

/** The transcripts that are wanted, the newest first. */
export function findTranscripts(
  homes: ClientHomes,
  names: readonly TranscriptClientName[],
  wanted: Wanted,
  open: OpenDatabase,
): Transcript[] {
  const found = names.flatMap((name) => clients[name].find(homes[name], wanted, open));
  return found.sort((a, b) => b.writtenMs - a.writtenMs);
}

/** A file that somebody names, as the transcript it is; null for what is none. */
export function recogniseTranscript(path: string, name: TranscriptClientName | undefined): Transcript | null {
  const head = readHead(path);
  const client = name ?? transcriptClients.find((one) => clients[one].recognises(path, head));
  if (client === undefined) return null;
  const id = idIn(client, path, head);
  return transcriptAt(client, id, path);
}

function idIn(client: TranscriptClientName, path: string, head: string): string {
  const name = basename(path);
  const named = name.replace(/\.jsonl?(?:\.zst)?$/, '');
  switch (client) {
    case 'opencode':
      return fieldIn(head, 'id') ?? '';
    case 'cursor':
      return name === STORE_FILE ? basename(dirname(path)) : named;
    case 'codex':
      return rolloutId(name) ?? fieldIn(head, 'id') ?? named;
    default:
      return fieldIn(head, 'sessionId') ?? named;
  }
}

/** What the subagents of a conversation left, the oldest first. */
export function findSubagents(transcript: Transcript): SubagentTranscript[] {
  const client: TranscriptClient = clients[transcript.client as TranscriptClientName];
  return (client.subagents?.(transcript) ?? []).sort((a, b) => a.writtenMs - b.writtenMs);
}

export function readTranscript(transcript: Transcript, open: OpenDatabase): Iterable<TranscriptEntry> {
  return clients[transcript.client as TranscriptClientName].read(transcript, open);
}

/** Reads a transcript to its end. */
export function reconstruct(transcript: Transcript, open: OpenDatabase): Reconstruction {
  const recovery = createRecovery();
  for (const entry of readTranscript(transcript, open)) recovery.add(entry);
  return recovery.result();
}
