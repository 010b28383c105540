import { describe, expect, it } from 'vitest';
import { expandQuestionIds } from './question-ids.ts';

describe('ids of questions', () => {
  it.each([
    ['OQ-029–031', ['OQ-029', 'OQ-030', 'OQ-031']],
    ['OQ-045..047', ['OQ-045', 'OQ-046', 'OQ-047']],
    ['OQ-029 through OQ-031: resolved', ['OQ-029', 'OQ-030', 'OQ-031']],
    ['OQ-041/042/043', ['OQ-041', 'OQ-042', 'OQ-043']],
    ['OQ-041-043 + 003', ['OQ-041', 'OQ-042', 'OQ-043', 'OQ-003']],
    ['OQ-010, OQ-011, OQ-012: resolved earlier', ['OQ-010', 'OQ-011', 'OQ-012']],
    ['OQ-045-1 of the paper', ['OQ-045-1']],
    ['OQ-D01 and OQ-R02', ['OQ-D01', 'OQ-R02']],
    ['Q-4 (OQ-031) open: "2026-11-16"', ['Q-4', 'OQ-031']],
    ['none were touched', []],
  ])('reads %s', (text, ids) => {
    expect(expandQuestionIds(text)).toEqual(ids);
  });

  it('ignores an endless range', () => {
    expect(expandQuestionIds('OQ-000001–999999')).toEqual(['OQ-000001']);
    expect(expandQuestionIds('OQ-0001–0502')).toEqual(['OQ-0001']);
    expect(expandQuestionIds('OQ-0001–0501')).toHaveLength(501);
    expect(expandQuestionIds('OQ-9–1')).toEqual(['OQ-9']);
  });
});
