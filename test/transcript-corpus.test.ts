import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Transcript } from '../src/clients/transcript.ts';
import { openTranscripts } from '../src/operations/session/parts/transcripts.ts';

const transcripts = await openTranscripts();

// Reads all transcripts below a folder and prints what it finds in them.
const folder = process.env['TRANSCRIPTS_FOLDER'];

it.skipIf(!folder)('reads every transcript of a folder', () => {
  let unrecognised = 0;
  for (const path of filesBelow(folder ?? '')) {
    const inside = transcriptsAt(path);
    if (inside.length === 0) {
      unrecognised += 1;
      console.log(`-          ${path.slice((folder ?? '').length)}`);
    }
    for (const transcript of inside) {
      const kinds: Record<string, number> = {};
      for (const { kind } of transcripts.read(transcript)) kinds[kind] = (kinds[kind] ?? 0) + 1;
      const found = transcripts.reconstruct(transcript);
      console.log(
        `${transcript.client.padEnd(10)} ${path.slice((folder ?? '').length)}\n  ${JSON.stringify(kinds)}\n  ${JSON.stringify(
          {
            goal: found.goal?.slice(0, 60),
            last: found.lastMessage?.slice(0, 60),
            files: [...found.files].map(([name, file]) => `${file.change ?? 'read'} ${basename(name)}`).slice(0, 6),
            commands: found.commands
              .map((one) => `${one.command.slice(0, 30)}=${one.result?.exitCode ?? '?'}`)
              .slice(0, 4),
            running: found.running.map((one) => one.toolCall.command ?? one.toolCall.tool),
            todos: found.todos?.entries.map((one) => `${one.status}:${one.text}`),
            spent: found.spent,
            closed: found.isClosed,
            midTurn: found.isMidTurn,
            summary: found.summary?.slice(0, 40),
            problems: found.problems,
          },
        )}`,
      );
    }
  }
  expect(unrecognised).toBe(0);
});

function transcriptsAt(path: string): Transcript[] {
  const found = transcripts.recognise(path, undefined);
  return found ? (transcripts.conversationsIn(found) ?? [found]) : [];
}

function filesBelow(place: string): string[] {
  return readdirSync(place)
    .sort()
    .flatMap((name) => {
      const path = join(place, name);
      if (statSync(path).isDirectory()) return filesBelow(path);
      const isOther =
        /^(?:hooks|mcp|run|meta|projects|\d+)\.jsonl?$|dump\.json$|session\.db$|\.md$|\.yaml$|\.meta\.json$|project_root$/.test(
          name,
        ) || /hook-payloads|storage_[^/]*\/(?:message|part)/.test(path);
      return isOther ? [] : [path];
    });
}
