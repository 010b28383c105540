import { describe, expect, it } from 'vitest';
import type { FileRow, Session } from '../fold/state.ts';
import { emptyState } from '../fold/state-tables.ts';
import { commitsSince, fileFacts, type Work } from './work.ts';

const file = { path: 'reminder.txt', tree: null, at: '2026-11-16T18:25:00.000Z', version: 9 } as FileRow;

/** Codex was cut off at 17:40, Gemini worked until 18:31, and a commit was made at the given time. */
const work = (committedAt: string): Work => ({
  state: emptyState(),
  rows: { sessions: [], commands: [], files: [file], results: [], decisions: [] },
  earlier: new Set(),
  observed: {
    host: 'here',
    changes: {
      dirty: new Map(),
      lines: new Map(),
      modifiedAt: new Map(),
      commits: [{ at: committedAt, paths: ['reminder.txt'] }],
    },
  },
  turn: {
    session: { id: 'S-1', seenAt: '2026-11-16T17:40:00.000Z' } as Session,
    isOpen: true,
    beganAt: '2026-11-16T17:20:00.000Z',
    endedAt: '2026-11-16T17:40:00.000Z',
    endedFirst: false,
    asks: null,
    failure: null,
    said: null,
  },
  seenAt: '2026-11-16T18:31:00.000Z',
  isAlive: () => false,
  isHere: true,
  now: '2026-11-17T09:00:00.000Z',
});

describe('a commit', () => {
  it('is of the run if any of its sessions was still at work', () => {
    const during = work('2026-11-16T18:30:00.000Z');
    expect(fileFacts(during)).toMatchObject({ commits: 1, files: [{ path: 'reminder.txt', is: 'committed' }] });
    expect(commitsSince(during)).toBe(0);
  });

  it('that was made after the last sign of all of them is counted apart', () => {
    const later = work('2026-11-16T19:00:00.000Z');
    expect(fileFacts(later)).toMatchObject({ commits: 0, files: [] });
    expect(commitsSince(later)).toBe(1);
  });
});
