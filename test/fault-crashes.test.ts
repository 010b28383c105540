import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sampleFaults } from './fault-sample.ts';
import { crash } from './long/faults/crash.ts';
import { crashActions } from './long/faults/crash-actions.ts';
import { callsOf, canInject, withFault } from './long/faults/place.ts';
import { postgres } from './long/faults/postgres.ts';

sampleFaults([crash, postgres]);

describe.skipIf(!canInject)('an installation that is killed when its files are in place', () => {
  it('is known to uninstall, which restores every file byte for byte', async () => {
    const install = crashActions.find(({ name }) => name === 'install');
    if (!install) throw new Error('There is no such action.');
    const origin = await install.prepare();
    const whole = origin.copy();
    const { calls } = await callsOf(whole, (env) => whole.start(install.words, { env }));
    const inPlace = calls.findIndex((call) => /^rename \S*CLAUDE\.md/.test(call));
    expect(inPlace).toBeGreaterThan(0);
    const place = origin.copy();
    const settings = (): string => readFileSync(place.file('.claude/settings.json'), 'utf8');
    const before = settings();
    const env = withFault(place, { at: inPlace + 2, action: 'kill' });
    expect((await place.start(install.words, { env })).code).toBe(null);
    expect(settings()).toContain('holdfast');
    place.data('uninstall', 'claude', '--project');
    expect(settings()).toBe(before);
    for (const made of ['.mcp.json', '.claude/skills', 'CLAUDE.md']) expect(existsSync(place.file(made))).toBe(false);
    for (const one of [origin, whole, place]) one.remove();
  });
});
