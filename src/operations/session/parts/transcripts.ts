import { loadTranscripts, type Transcripts } from '../../../clients/transcripts.ts';
import * as files from '../../../workspace/transcript-files.ts';
import { openForeignDatabase } from './foreign-database.ts';

/** The transcripts on this machine. */
export function openTranscripts(): Promise<Transcripts> {
  return loadTranscripts({ ...files, openDatabase: openForeignDatabase });
}
