import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Transcript } from '../src/clients/transcript.ts';
import { findTranscripts, readTranscript, recogniseTranscript, reconstruct } from '../src/clients/transcripts.ts';
import { openForeignDatabase } from '../src/operations/session/parts/foreign-database.ts';

// Reads whatever transcripts lie below a folder and prints what was found in them.
const folder = process.env['TRANSCRIPTS_FOLDER'];

it.skipIf(!folder)('reads every transcript of a folder', () => {
  let unrecognised = 0;
  for (const path of filesBelow(folder ?? '')) {
    const transcripts = transcriptsAt(path);
    if (transcripts.length === 0) {
      unrecognised += 1;
      console.log(`-          ${path.slice((folder ?? '').length)}`);
    }
    for (const transcript of transcripts) {
      const kinds: Record<string, number> = {};
      for (const entry of readTranscript(transcript, openForeignDatabase))
        kinds[entry.kind] = (kinds[entry.kind] ?? 0) + 1;
      const found = reconstruct(transcript, openForeignDatabase);
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
  const found = recogniseTranscript(path, undefined);
  if (found?.client !== 'opencode' || !path.endsWith('.db')) return found ? [found] : [];
  const homes = { opencode: join(path, '..') } as never;
  return findTranscripts(homes, ['opencode'], { folder: null, id: null }, openForeignDatabase);
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
