import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Found } from '../format.ts';
import { gsd } from './format.ts';

const now = '2026-07-01T12:00:00.000Z';
const main = '.planning/STATE.md';
const found: Found = { format: 'gsd', main, files: [main] };
const files = (text: string): Files => new Map([[main, text]]);
const model = (text: string): RunModel => {
  const parsed = gsd.parse(found, files(text));
  if (!parsed.model) throw new Error('There is no run model.');
  return parsed.model;
};
const withNext = (text: string, next?: string): string => {
  const { next: _, ...rest } = model(text);
  return gsd.render(next === undefined ? rest : { ...rest, next }, found, files(text), now).get(main) ?? text;
};

const page = (next: string): string =>
  `# Project State\n\n## Current Position\n\nPhase: 2 of 3 (Ferry)\nStatus: In progress\n\n${next}\n## Blockers\n\nNone.\n`;

const list = page(`## Next Steps

1. ✅ Tar the hull
2. Fit the rudder (needs the **long** bolts)
   - ask Mara before drilling
3. Paint

Not before the tide is out.
`);

describe('the next action', () => {
  it('leaves every line of a longer section and adds the new action on top', () => {
    const after = withNext(list, 'Drill the holes');
    expect(after).toBe(list.replace('1. ✅ Tar', 'Next: Drill the holes\n\n1. ✅ Tar'));
    expect(model(after).next).toBe('Drill the holes');
  });

  it('changes only that line from then on', () => {
    const after = withNext(withNext(list, 'Drill the holes'), 'Fit\nthe rudder');
    expect(after).toBe(list.replace('1. ✅ Tar', 'Next: Fit the rudder\n\n1. ✅ Tar'));
    expect(withNext(after)).toBe(list.replace('1. ✅ Tar', 'Next: None.\n\n1. ✅ Tar'));
    expect(model(withNext(after))).not.toHaveProperty('next');
  });

  it('reads the whole section if it has no such line', () => {
    expect(model(list).next).toContain('ask Mara before drilling');
    expect(model(list).next).toContain('Not before the tide is out.');
  });

  it.each([
    ['## Next Action\nTar the hull\n', '## Next Action\nDrill\n'],
    ['## Operator Next Steps\n\n- Tar the hull with `pitch`\n', '## Operator Next Steps\n\n- Drill\n'],
    ['### What’s Next\n\n**Immediate:** Tar the hull\n', '### What’s Next\n\n**Immediate:** Drill\n'],
    ["### What's Next\n\n- [ ] Tar the hull\n", "### What's Next\n\n- [ ] Drill\n"],
    ['## Next\n\nNone.\n', '## Next\n\nDrill\n'],
    ['## Next\n\n- **Next:** Tar the hull\n- **Then:** Paint\n', '## Next\n\n- **Next:** Drill\n- **Then:** Paint\n'],
    ['## Next\n\n**Next steps:**\n1. Tar\n2. Paint\n', '## Next\n\n**Next steps:** Drill\n1. Tar\n2. Paint\n'],
    ['## Next\n\n> Tar, says Mara\n', '## Next\n\nNext: Drill\n\n> Tar, says Mara\n'],
  ])('keeps the markup around the text: %j', (before, after) => {
    expect(withNext(page(before), 'Drill')).toBe(page(after));
    expect(model(page(after)).next).toBe('Drill');
    expect(withNext(page(after), 'Drill')).toBe(page(after));
  });

  it('reads the list below a label and leaves it', () => {
    const text = page('').replace('Status: In progress\n', 'Status: In progress\n**Next:**\n1. Tar\n2. Paint\n');
    expect(model(text).next).toBe('1. Tar\n2. Paint');
    expect(withNext(text, 'Drill')).toBe(text.replace('**Next:**', '**Next:** Drill'));
  });

  it('removes erased text completely', () => {
    expect(withNext(list, '[erased]')).toBe(page('## Next Steps\n\n[erased]\n'));
  });

  it('writes it into the front matter if it is there', () => {
    const text = `---\ngsd_state_version: 1.0\nnext_action: "Tar the hull"\n---\n\n${page('')}`;
    expect(model(text).next).toBe('Tar the hull');
    expect(withNext(text, 'Drill')).toBe(text.replace('Tar the hull', 'Drill'));
  });

  it('keeps the other text of a section for a new file', () => {
    const read = model(withNext(list, 'Drill the holes'));
    const fresh = gsd.render(read, found, new Map(), now).get(main) ?? '';
    for (const line of ['Tar the hull', 'ask Mara before drilling', 'Not before the tide is out.'])
      expect(fresh).toContain(line);
    expect(model(fresh).next).toBe('Drill the holes');
  });
});
