import { describe, expect, it } from 'vitest';
import { snap } from './format.ts';

const size = 300_000;
const spaces = ' '.repeat(size);
const times = (text: string): string => text.repeat(Math.ceil(size / text.length));

/** Texts on which a careless pattern takes quadratic time. */
const texts: readonly { name: string; text: string }[] = [
  { name: 'dashes', text: `| a |\n|${'-'.repeat(size)}x` },
  { name: 'spaces behind a field', text: `# M\n\nDate initialized:${spaces}\nNow Working (a):${spaces}\n` },
  {
    name: 'spaces in a card',
    text: `## Active Messages\n\n### MSG-1\n\n**From:** a${spaces}b\n\n**Ack:** a${spaces}b\n**Reply (${spaces}):** x\n`,
  },
  { name: 'fences that never close', text: times('```a\n~~~b\n') },
  { name: 'comments that never close', text: times('text\n<!--\n').slice(0, 60_000) },
  { name: 'line feeds', text: '\n'.repeat(size) },
  { name: 'cards without end', text: times('### MSG-20260101-001\n**From:** a -> b\n') },
  { name: 'rows without end', text: `## Decision Index\n\n| Decision |\n|---|\n${times('| a \\| b ~~ |\n')}` },
  { name: 'sessions without end', text: times('## Session 1 — x\n### a: b\n2026 — a — (b — (c\n') },
  { name: 'brackets', text: `agents: ${'['.repeat(20_000)}` },
  {
    name: 'anchors',
    text: `a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nagents: *c\n${times('d: *c\n')}`.slice(0, 100_000),
  },
  {
    name: 'a key like a prototype',
    text: 'coordination:\n  tasks:\n    __proto__:\n      status: done\n    constructor:\n      status: done\n',
  },
];

describe('hostile files', () => {
  it.each(texts)('are read to their end: $name', ({ text }) => {
    for (const file of ['TURNFILE.yaml', 'MAILBOX.md', 'WORKLOG.md', 'OPEN_QUESTIONS.md', 'chat-a.md']) {
      const found = { format: 'snap' as const, main: `x/${file}`, files: [`x/${file}`] };
      const { model, problems } = snap.parse(found, new Map([[found.main, text]]));
      expect(model !== null || problems.length > 0).toBe(true);
    }
  });
});
