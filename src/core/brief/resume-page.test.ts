import { describe, expect, it } from 'vitest';
import { goldens } from './goldens.suite.ts';
import { emptyPage, isSamePage } from './resume-page.ts';
import { writeBrief } from './write.ts';

const BUDGET = { softTokens: 2000, hardTokens: 2000 };

describe('RESUME.md', () => {
  it('is the same page at another time', () => {
    const facts = goldens['G9'];
    if (!facts) throw new Error('there is no planned run');
    const page = writeBrief(facts, BUDGET).text;
    const later = writeBrief({ ...facts, now: '2026-11-16T16:50:00.000Z' }, BUDGET).text;
    expect(later).not.toBe(page);
    expect(isSamePage(page, later)).toBe(true);
    expect(isSamePage(page, page.replace('wire the router', 'test it'))).toBe(false);
  });

  it('says that nothing is unfinished', () => {
    const last = { title: 'Login', at: '2026-11-16T10:41:00.000Z', as: 'finished' as const };
    expect(emptyPage(last, '2026-11-17T09:00:00.000Z')).toBe(
      'Nothing is unfinished here. Last finished: "Login", 16 Nov 10:41.\n',
    );
    expect(emptyPage(null, last.at)).toBe('Nothing is unfinished here.\n');
  });
});
