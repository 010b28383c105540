import { type TranscriptClientName, transcriptClients } from '../../../clients/index.ts';
import type { EntryLine } from '../../../clients/transcript.ts';
import { loadTranscripts } from '../../../clients/transcripts.ts';
import type { Session } from '../../../core/fold/state.ts';
import { redact } from '../../../core/redact/redact.ts';
import { readLinesFrom, sizeOf } from '../../../workspace/file-tail.ts';
import * as files from '../../../workspace/transcript-files.ts';
import type { Context } from '../../context.ts';
import { openForeignDatabase } from '../../session/parts/foreign-database.ts';

/** A transcript may have megabytes; the last words stand at its end. */
const TAIL_BYTES = 256 * 1024;

/**
 * What an agent said last before it was cut off: the end of its client's transcript on this machine, after the last
 * prompt. Null where there is none, or where the transcript is not one of lines.
 */
export async function wordsBeforeCut(context: Context, { client }: Session): Promise<string | null> {
  const name = transcriptClients.find((one): one is TranscriptClientName => one === client?.name);
  if (!client || client.inferred || name === undefined || name === 'opencode') return null;
  const clients = await context.clients();
  if (!clients) return null;
  try {
    const transcripts = await loadTranscripts({ ...files, readEntries: readTail, openDatabase: openForeignDatabase });
    const [found] = transcripts.find(clients.homes, [name], { folder: null, id: client.id });
    if (!found) return null;
    let words: string | null = null;
    for (const entry of transcripts.read(found)) {
      if (entry.kind === 'request') words = null;
      else if (entry.kind === 'message' && entry.text.trim() !== '') words = entry.text.trim();
    }
    return words === null ? null : redact(words).text;
  } catch {
    // A transcript belongs to its client, which may change its form at any time.
    return null;
  }
}

/** The objects among the last lines of a file; the first line may be cut and is left out then. */
function* readTail(path: string, isSkipped: (text: string) => boolean = () => false): Generator<EntryLine> {
  const size = sizeOf(path);
  const piece = readLinesFrom(path, Math.max(0, size - TAIL_BYTES));
  const lines = piece?.text.split('\n') ?? [];
  for (const [index, text] of lines.entries()) {
    if ((index === 0 && size > TAIL_BYTES) || text.trim() === '' || isSkipped(text)) continue;
    try {
      const found: unknown = JSON.parse(text);
      if (typeof found === 'object' && found !== null && !Array.isArray(found))
        yield { line: index + 1, entry: found as Extract<EntryLine, { problem?: never }>['entry'] };
    } catch {
      // A torn line says nothing.
    }
  }
}
