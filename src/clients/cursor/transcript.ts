import { basename, dirname, join } from 'node:path';
import { type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import type { TranscriptEntry } from '../reconstruction.ts';
import { toolCallOf } from '../tool-call.ts';
import {
  type ClientTranscript,
  isWithin,
  projectFolders,
  projectName,
  readByLine,
  spellingsOf,
  type Transcript,
  type TranscriptFiles,
  transcriptAt,
  transcriptsIn,
} from '../transcript.ts';
import { readCursorStore, STORE_FILE } from './store.ts';

/**
 * Cursor: `projects/FOLDER/agent-transcripts/ID.jsonl`, or `ID/ID.jsonl`. They hold text and tool calls without
 * times, tokens or results: a call written there counts as done, with an unknown outcome. Cursor's command line keeps more
 * of a conversation in `chats/HASH/ID/store.db`, which is preferred where it can be read.
 */
export const transcript: ClientTranscript = {
  home: (_, userHome) => join(userHome, '.cursor'),
  find(home, { folder, id }, files) {
    const stored = storesIn(files, home, id === null ? folder : null).filter(
      (one) => (id === null || one.id === id) && hasMessages(files, one),
    );
    const parents = projectFolders(files, join(home, 'projects'), id === null ? folder : null, folderName);
    const found = parents.flatMap((parent): Transcript[] => {
      const place = join(parent, 'agent-transcripts');
      const folders = [place, ...files.namesIn(place, 'folder').map((name) => join(place, name))];
      return folders.flatMap((one) => transcriptsIn(files, 'cursor', one, '.jsonl'));
    });
    const others = found.filter((one) => !stored.some((other) => other.id === one.id));
    return [...stored, ...(id === null ? others : others.filter((one) => one.id === id))];
  },
  subagents({ path }, files) {
    const found = transcriptsIn(files, 'cursor', join(dirname(path), 'subagents'), '.jsonl');
    return found.map((one) => ({ ...one, subagent: { id: one.id, type: null } }));
  },
  read({ path }, files) {
    return path.endsWith('.db') ? readCursorStore(files, path) : readByLine(files, path, createReader());
  },
  specificity: 2,
  idIn: (path) => (basename(path) === STORE_FILE ? basename(dirname(path)) : null),
  recognises: (path, head) =>
    /[\\/]agent-transcripts[\\/]/.test(path) ||
    (head.startsWith('SQLite format 3') && /CREATE TABLE blobs\b/.test(head)) ||
    /^\s*\{"role":"(?:user|assistant)","message":/.test(head),
};

/** One folder per workspace, named by the hash of its path; a conversation may name its folder too. */
function storesIn(files: TranscriptFiles, home: string, folder: string | null): Transcript[] {
  const chats = join(home, 'chats');
  const hashes = folder === null ? [] : spellingsOf(files, folder).map((path) => files.md5(path));
  return files.namesIn(chats, 'folder').flatMap((hash) =>
    files.namesIn(join(chats, hash), 'folder').flatMap((id) => {
      const place = join(chats, hash, id);
      const named = folder === null ? null : textOf(files.readDocument(join(place, 'meta.json'))?.['cwd']);
      const isWanted = folder === null || hashes.includes(hash) || isWithin(files, folder, named);
      return isWanted ? (transcriptAt(files, 'cursor', id, join(place, STORE_FILE)) ?? []) : [];
    }),
  );
}

function hasMessages(files: TranscriptFiles, { path }: Transcript): boolean {
  for (const { kind } of readCursorStore(files, path)) if (kind === 'request' || kind === 'message') return true;
  return false;
}

const folderName = (path: string): string => projectName(path).replace(/^-+/, '');

function createReader(): (entry: JsonObject) => TranscriptEntry[] {
  let calls = 0;
  let open: string[] = [];
  const finish = (): TranscriptEntry[] => {
    const ended = open.map((call): TranscriptEntry => ({ kind: 'tool-ended', call, result: unknown }));
    open = [];
    return ended;
  };
  return (entry) => {
    if (entry['type'] === 'turn_ended') return [...finish(), { kind: 'turn-ended' }];
    if (entry['role'] !== 'user' && entry['role'] !== 'assistant') return [];
    const content = objectOf(entry['message'])['content'];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
    const entries = finish();
    for (const { type, text, name, input } of blocks as JsonObject[]) {
      const words = textOf(text)?.trim();
      if (type === 'text' && words && entry['role'] === 'user')
        entries.push({ kind: 'request', text: words.replace(/^<user_query>\s*|\s*<\/user_query>$/g, '') });
      if (type === 'text' && words && entry['role'] === 'assistant') entries.push({ kind: 'message', text: words });
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
