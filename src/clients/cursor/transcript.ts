import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { projectName } from '../claude/transcript.ts';
import { type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { toolCallOf } from '../tool-call.ts';
import {
  isWithin,
  namesIn,
  type OpenDatabase,
  projectFolders,
  spellingsOf,
  type Transcript,
  type TranscriptClient,
  transcriptAt,
  transcriptsIn,
} from '../transcript.ts';
import { readDocument, readRecords } from '../transcript-lines.ts';
import { readCursorStore, STORE_FILE } from './store.ts';

/**
 * Cursor: `projects/FOLDER/agent-transcripts/ID.jsonl`, or `ID/ID.jsonl`. They hold words and tool calls, and neither
 * times nor tokens nor what became of a call: what is written there counts as done, with an outcome nobody knows. The
 * command line keeps more of a conversation in `chats/HASH/ID/store.db`; where that can be read it is taken instead.
 */
export const cursor: TranscriptClient = {
  find(home, { folder, id }, open) {
    const stored = storesIn(home, id === null ? folder : null).filter(
      (one) => (id === null || one.id === id) && hasMessages(one, open),
    );
    const parents = projectFolders(join(home, 'projects'), id === null ? folder : null, folderName);
    const found = parents.flatMap((parent): Transcript[] => {
      const place = join(parent, 'agent-transcripts');
      const inside = namesIn(place, 'folder').flatMap((name) => transcriptsIn('cursor', join(place, name), '.jsonl'));
      return [...transcriptsIn('cursor', place, '.jsonl'), ...inside];
    });
    const told = found.filter((one) => !stored.some((other) => other.id === one.id));
    return [...stored, ...(id === null ? told : told.filter((one) => one.id === id))];
  },
  subagents({ path }) {
    const found = transcriptsIn('cursor', join(dirname(path), 'subagents'), '.jsonl');
    return found.map((one) => ({ ...one, subagent: { id: one.id, type: null } }));
  },
  *read({ path }, open) {
    if (path.endsWith('.db')) {
      yield* readCursorStore(path, open);
      return;
    }
    const entriesOf = createReader();
    for (const { line, record, problem } of readRecords(path)) {
      if (record) yield* entriesOf(record);
      else yield { kind: 'problem', line, message: problem };
    }
  },
  recognises: (path, head) =>
    /[\\/]agent-transcripts[\\/]/.test(path) ||
    (head.startsWith('SQLite format 3') && /CREATE TABLE blobs\b/.test(head)) ||
    /^\s*\{"role":"(?:user|assistant)","message":/.test(head),
};

/** A folder for each workspace, named by the hash of its path; where the conversation says its folder, that counts. */
function storesIn(home: string, folder: string | null): Transcript[] {
  const chats = join(home, 'chats');
  const hashes = folder === null ? [] : spellingsOf(folder).map((path) => createHash('md5').update(path).digest('hex'));
  return namesIn(chats, 'folder').flatMap((hash) =>
    namesIn(join(chats, hash), 'folder').flatMap((id) => {
      const place = join(chats, hash, id);
      const said = folder === null ? null : textOf(readDocument(join(place, 'meta.json'))?.['cwd']);
      const isWanted = folder === null || hashes.includes(hash) || isWithin(folder, said);
      return isWanted ? (transcriptAt('cursor', id, join(place, STORE_FILE)) ?? []) : [];
    }),
  );
}

function hasMessages({ path }: Transcript, open: OpenDatabase): boolean {
  for (const { kind } of readCursorStore(path, open)) if (kind === 'request' || kind === 'message') return true;
  return false;
}

const folderName = (path: string): string => projectName(path).replace(/^-+/, '');

function createReader(): (record: JsonObject) => TranscriptEntry[] {
  let calls = 0;
  let open: string[] = [];
  const finish = (): TranscriptEntry[] => {
    const ended = open.map((call): TranscriptEntry => ({ kind: 'tool-ended', call, result: unknown }));
    open = [];
    return ended;
  };
  return (record) => {
    if (record['type'] === 'turn_ended') return [...finish(), { kind: 'turn-ended' }];
    if (record['role'] !== 'user' && record['role'] !== 'assistant') return [];
    const content = objectOf(record['message'])['content'];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
    const entries = finish();
    for (const { type, text, name, input } of blocks as JsonObject[]) {
      const words = textOf(text)?.trim();
      if (type === 'text' && words && record['role'] === 'user')
        entries.push({ kind: 'request', text: words.replace(/^<user_query>\s*|\s*<\/user_query>$/g, '') });
      if (type === 'text' && words && record['role'] === 'assistant') entries.push({ kind: 'message', text: words });
      if (type !== 'tool_use' && type !== 'tool_call') continue;
      calls += 1;
      const call = `call-${calls}`;
      open.push(call);
      entries.push({ kind: 'tool-began', call, toolCall: toolCallOf(textOf(name) ?? '', objectOf(input), null) });
    }
    return entries;
  };
}

const unknown = { isFailure: false, isCancelled: false, exitCode: null };
