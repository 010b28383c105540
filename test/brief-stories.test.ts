import { describe, expect, it } from 'vitest';
import { playStory } from '../bench/brief/measure.ts';
import { stories } from '../bench/brief/stories.ts';

/** `npm run bench brief` plays all of them. */
const played = new Set(['1', '3', '4', '6', '15', '23']);

describe('the next session', () => {
  it.each(stories.filter(({ name }) => played.has(name)))('$about (story $name)', async (story) => {
    for (const { missing, wrong, tokens } of await playStory(story, 'plain')) {
      expect({ missing, wrong }).toEqual({ missing: [], wrong: [] });
      expect(tokens).toBeLessThanOrEqual(600);
    }
  });
});
