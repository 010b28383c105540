import { conversation } from './stories/conversation.ts';
import { cutOff } from './stories/cut-off.ts';
import { places } from './stories/places.ts';
import { planned } from './stories/planned.ts';
import { whichRun } from './stories/which-run.ts';
import type { Story } from './story.ts';

/** All of them, in the order of their numbers. */
export const stories: readonly Story[] = [...conversation, ...cutOff, ...places, ...planned, ...whichRun].sort(
  (a, b) => Number(a.name) - Number(b.name),
);
