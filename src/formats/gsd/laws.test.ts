import fc from 'fast-check';
import { expect, it } from 'vitest';
import { editLaws } from '../edit-laws.suite.ts';
import { gsd } from './format.ts';
import { samples } from './samples.suite.ts';

editLaws(gsd, {
  samples,
  unknown: (name, words) => `\n## ${name}\n\n${words}\n`,
  reopens: false,
  stamp: /last_updated|last updated|updated/i,
});

it('M4: of three sources the newest says where the work is, on one day STATE.md first', () => {
  const time = fc.record({ day: fc.integer({ min: 1, max: 3 }), hour: fc.integer({ min: 0, max: 23 }) });
  const at = ({ day, hour }: { day: number; hour: number }): string =>
    `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`;
  fc.assert(
    fc.property(time, time, time, (state, handoff, here) => {
      const main = '.planning/STATE.md';
      const files = new Map([
        [
          main,
          `---\nstatus: executing\nlast_updated: "${at(state)}"\n---\n\n# Project State\n\n## Current Position\n\nPhase: 7 (relays)\n\n## Next Action\n\nSolder\n`,
        ],
        ['.planning/HANDOFF.json', JSON.stringify({ timestamp: at(handoff), phase: '08', next_action: 'Pull' })],
        [
          '.planning/phases/09-b/.continue-here.md',
          `---\nphase: 09-b\nlast_updated: ${at(here)}\n---\n\n<next_action>\nRing\n</next_action>\n`,
        ],
      ]);
      const { model } = gsd.parse({ format: 'gsd', main, files: [...files.keys()] }, files);
      const newest = [
        { when: at(state), next: 'Solder', phase: '7' },
        { when: at(handoff), next: 'Pull', phase: '8' },
        { when: at(here), next: 'Ring', phase: '9' },
      ].reduce((best, one) => (one.when > best.when ? one : best));
      expect([model?.next, model?.position?.step]).toEqual([newest.next, newest.phase]);
    }),
    { numRuns: 200 },
  );
});
