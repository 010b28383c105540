import { formatSuite } from '../format.suite.ts';
import type { Files, Found } from '../format.ts';
import { fixture, rich, samples } from './fixture.suite.ts';
import { snap } from './format.ts';

formatSuite(snap, {
  models: [{ name: 'everything', model: rich() }],
  samples: [...samples, { name: 'duplicate', ...fixture('duplicate'), readOnly: true }],
  long: (bytes) => longFolder(bytes),
});

/** A tenth in the Turnfile, the rest in the mailbox and the worklog, in entries as long as real ones. */
function longFolder(bytes: number): { found: Found; files: Files } {
  const { files, found } = fixture('pilot');
  const words = 'Words, words, words.\n'.repeat(60);
  const fill = (line: (index: number) => string, size: number): string => {
    const parts: string[] = [];
    for (let index = 0, length = 0; length < size; index++) {
      const text = line(index);
      parts.push(text);
      length += text.length;
    }
    return parts.join('');
  };
  const at = (path: string): string => files.get(path) ?? '';
  const turnfile = at('working-session/TURNFILE.yaml').replace(
    '    tide-writer:',
    `${fill((index) => `    more-${index}:\n      description: "One more"\n      owner: "bo"\n      status: "done"\n      priority: "P1"\n      depends_on: ["tide-model"]\n      created_by: "ada"\n      created_rev: 1\n      claim_rev: 2\n      completed_rev: 6\n      notes: "Words, words, words"\n\n`, bytes * 0.1)}    tide-writer:`,
  );
  const mailbox = at('working-session/MAILBOX.md').replace(
    '### MSG-20260203-003',
    `${fill(
      (index) =>
        `### MSG-20260203-1${index}\n\n**From:** Ada -> Bo\n**Date:** 2026-02-03\n**Type:** notify\n**Priority:** P2\n**Status:** actioned\n**Subject:** More\n\n\`\`\`text\n${words}\`\`\`\n\n---\n\n`,
      bytes * 0.45,
    )}### MSG-20260203-003`,
  );
  const worklog =
    at('working-session/WORKLOG.md') + fill((index) => `\n### Bo: Entry ${index}\n\n${words}`, bytes * 0.45);
  const long = new Map(files)
    .set('working-session/TURNFILE.yaml', turnfile)
    .set('working-session/MAILBOX.md', mailbox)
    .set('working-session/WORKLOG.md', worklog);
  return { found, files: long };
}
