import { describe, expect, it } from 'vitest';
import { ada, note, scenario, start } from './scenario.suite.ts';

describe('a note', () => {
  it('belongs to the step that is held, or the one named', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'));
    expect(run.when(ada, note('x')).body('note.added')).toMatchObject({ id: 'N-1', step: 'p1' });
    expect(run.when(ada, { ...note('x'), step: 'p2' }).body('note.added').step).toBe('p2');
    expect(run.refusal(ada, { ...note('x'), step: 'p9' }).code).toBe('not_found');
    expect(run.state.notes.size).toBe(0);
    run.given(
      ada,
      { type: 'note.add', kind: 'constraint', text: 'No cloud.' },
      { type: 'note.add', kind: 'dead-end', text: 'Not X.' },
    );
    expect([...run.state.notes.keys()]).toEqual(['N-3', 'N-4']);
  });
});
