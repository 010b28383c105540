import { join } from 'node:path';
import { deedOf } from '../../core/deed.ts';
import { listOf, objectOf, type Payload, textOf } from '../../core/payload.ts';
import type { TranscriptEntry } from '../../core/recovery.ts';
import { projectName } from './claude.ts';
import { readRecords } from './lines.ts';
import { namesIn, projectFolders, type Transcript, type TranscriptClient, transcriptsIn } from './transcript.ts';

/**
 * Cursor: `projects/FOLDER/agent-transcripts/ID.jsonl`, or `ID/ID.jsonl`. They hold words and tool calls, and neither
 * times nor tokens nor what became of a call: what is written there counts as done, with an outcome nobody knows.
 */
export const cursor: TranscriptClient = {
  find(home, { folder, id }) {
    const parents = projectFolders(join(home, 'projects'), id === null ? folder : null, folderName);
    const found = parents.flatMap((parent): Transcript[] => {
      const place = join(parent, 'agent-transcripts');
      const inside = namesIn(place, 'folder').flatMap((name) => transcriptsIn('cursor', join(place, name), '.jsonl'));
      return [...transcriptsIn('cursor', place, '.jsonl'), ...inside];
    });
    return id === null ? found : found.filter((one) => one.id === id);
  },
  *read({ path }) {
    const entriesOf = createReader();
    for (const { line, record, problem } of readRecords(path)) {
      if (record) yield* entriesOf(record);
      else yield { kind: 'problem', line, message: problem };
    }
  },
  recognises: (path, head) =>
    /[\\/]agent-transcripts[\\/]/.test(path) || /^\s*\{"role":"(?:user|assistant)","message":/.test(head),
};

const folderName = (path: string): string => projectName(path).replace(/^-+/, '');

function createReader(): (record: Payload) => TranscriptEntry[] {
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
    for (const { type, text, name, input } of blocks as Payload[]) {
      const words = textOf(text)?.trim();
      if (type === 'text' && words && record['role'] === 'user')
        entries.push({ kind: 'request', text: words.replace(/^<user_query>\s*|\s*<\/user_query>$/g, '') });
      if (type === 'text' && words && record['role'] === 'assistant') entries.push({ kind: 'message', text: words });
      if (type !== 'tool_use' && type !== 'tool_call') continue;
      calls += 1;
      const call = `call-${calls}`;
      open.push(call);
      entries.push({ kind: 'tool-began', call, deed: deedOf(textOf(name) ?? '', objectOf(input), null) });
    }
    return entries;
  };
}

const unknown = { isFailure: false, isCancelled: false, exitCode: null };
