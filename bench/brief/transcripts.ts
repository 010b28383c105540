import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from './dialects.ts';

export interface Written {
  id: string;
  folder: string;
  home: string;
  request?: string;
  words?: string;
  compacted?: boolean;
}

/** Writes the end of a conversation as its client does, and returns the path. */
export function writeTranscript(client: Client, written: Written): string {
  const form = forms[client];
  if (form === undefined) throw new Error(`The transcript of ${client} has no form here.`);
  const { path, lines } = form(written, new Date().toISOString());
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

type Form = (written: Written, timestamp: string) => { path: string; lines: object[] };

const forms: Partial<Record<Client, Form>> = {
  claude({ id, folder, home, request, words }, timestamp) {
    const base = { sessionId: id, cwd: folder, timestamp };
    return {
      path: join(home, '.claude/projects', folder.replace(/[^A-Za-z0-9]/g, '-'), `${id}.jsonl`),
      lines: [
        { ...base, type: 'user', message: { role: 'user', content: request } },
        { ...base, type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: words }] } },
      ],
    };
  },
  codex: ({ id, folder, home, request, words }, timestamp) => ({
    path: join(home, '.codex/sessions/2026/01/01', `rollout-2026-01-01T00-00-00-${id}.jsonl`),
    lines: [
      { timestamp, type: 'session_meta', payload: { id, cwd: folder } },
      { timestamp, type: 'event_msg', payload: { type: 'user_message', message: request } },
      { timestamp, type: 'event_msg', payload: { type: 'agent_message', message: words } },
    ],
  }),
  copilot: ({ id, folder, home, request, words }, timestamp) => ({
    path: join(home, '.copilot/session-state', id, 'events.jsonl'),
    lines: [
      { timestamp, type: 'session.start', data: { sessionId: id, context: { cwd: folder } } },
      { timestamp, type: 'user.message', data: { content: request } },
      { timestamp, type: 'assistant.message', data: { content: words } },
    ],
  }),
  // Its transcript shows a compaction as a list of messages that replaces those before.
  gemini: ({ id, home, compacted }) => ({
    path: join(home, '.gemini/tmp/story/chats', `session-${id}.jsonl`),
    lines: compacted ? [{ $set: { messages: [] } }] : [],
  }),
};
