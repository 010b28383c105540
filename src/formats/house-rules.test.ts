import { describe, expect, it } from 'vitest';
import { formats } from './index.ts';

const MAIN = '.planning/STATE.md';
const found = { format: 'gsd', main: MAIN, files: [MAIN] } as const;
const page = `# Project State

> Tracking moved to the new folder; this page is frozen.

## Current Position

Phase: 2 of 3 (Wires)

## Working Agreement

- Schema changes are one transaction, never drop memory_nodes
- The relay was never tested with rain
- [x] Must be soldered by hand, it is done now
- Plain words about the weather

\`\`\`js
const must = never(1); // never do this in the code
\`\`\`
`;

const rules = (notes: readonly { kind: string; text: string }[] = []) =>
  notes.filter(({ kind }) => kind === 'constraint').map(({ text }) => text);

describe('rules of the house', () => {
  it('are read from any section, and nothing else is', async () => {
    const gsd = await formats.gsd();
    expect(rules(gsd.parse(found, new Map([[MAIN, page]])).model?.notes)).toEqual([
      'Note: Tracking moved to the new folder; this page is frozen.',
      'Schema changes are one transaction, never drop memory_nodes',
    ]);
  });

  it('stay where they are when the file is written', async () => {
    const gsd = await formats.gsd();
    const files = new Map([[MAIN, page]]);
    const { model } = gsd.parse(found, files);
    if (!model) throw new Error('not read');
    expect([...gsd.render(model, found, files, '2026-03-04T05:06:07.000Z')]).toEqual([]);
    const more = { ...model, next: 'Pull the wire' };
    const written = gsd.render(more, found, files, '2026-03-04T05:06:07.000Z').get(MAIN) ?? '';
    expect(written.match(/never drop memory_nodes/g)).toHaveLength(1);
  });
});
