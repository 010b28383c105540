import { describe, expect, it } from 'vitest';
import { lastWordsAsk, questionIn } from './last-words.ts';

describe('the last words', () => {
  it.each([
    ['All tests pass. Should spoons stay as they are?'],
    ['Two ways are possible.\n\nWhich one do you want?\n\n1. A table\n2. Redirects'],
    ['Which one?\n- the first\n- the second'],
    ['**Should I deploy it?**'],
    ['他の案があります。どちらにしますか？'],
    ['هل أتابع؟'],
    ['Soll ich "weiter" so lassen (wie jetzt)?'],
    ['Should I rename src/a.ts?'],
  ])('ask: %j', (said) => {
    expect(lastWordsAsk(said)).toBe(true);
  });

  it.each([
    ['All tests pass.'],
    ['Why did it fail? The crop ran before the rotation.'],
    ['Should I go on?\n\nI did, and it works.'],
    ['Done. Should I also update the docs?'],
    ['Is there anything else you need?'],
    ['Soll ich sonst noch etwas tun?'],
    ['他に何かありますか？'],
    [''],
  ])('do not ask: %j', (said) => {
    expect(lastWordsAsk(said)).toBe(false);
  });

  it('give the question alone', () => {
    expect(questionIn('The alias table works. What should a deleted page answer, 404 or 410?')).toBe(
      'What should a deleted page answer, 404 or 410?',
    );
  });
});
