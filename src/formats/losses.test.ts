import { expect, it } from 'vitest';
import { countLost, dropLost, lossWords } from './losses.ts';

const model = () => ({
  run: { title: 'A', goal: '' },
  items: [
    { kind: 'question', status: 'open', alias: 'Q1' },
    { kind: 'question', status: 'resolved' },
    { kind: 'finding', status: 'open', severity: 'must_fix', affects: ['a', 'b'] },
  ],
});

it.each([
  ['items', 3],
  ['items[kind=question]', 2],
  ['items[kind=question][status=open]', 1],
  ['items[severity=]', 2],
  ['items[kind=question].alias', 1],
  ['items.affects', 2],
  ['run.goal', 0],
  ['steps.wave', 0],
])('counts what is lost: %s', (path, count) => {
  expect(countLost(model(), path)).toBe(count);
});

it('removes what is lost and nothing else', () => {
  const left = model();
  for (const path of ['items[kind=question][status=resolved]', 'items[kind=question].alias', 'run.goal'])
    dropLost(left, path);
  expect(left).toEqual({
    run: { title: 'A' },
    items: [{ kind: 'question', status: 'open' }, model().items[2]],
  });
});

it('describes what is lost, by whole entries that the run has', () => {
  const run = { notes: [1, 2], messages: [1], items: [{ kind: 'question' }, { kind: 'error' }], steps: [{ wave: 1 }] };
  expect(lossWords(run, ['notes', 'messages', 'steps.wave', 'items[kind=error]', 'claims'])).toBe(
    'notes (2), message (1) and error (1)',
  );
  expect(lossWords(run, ['steps.wave', 'claims', 'items[kind=question].alias'])).toBeNull();
});
