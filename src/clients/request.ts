import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';

/** The goal and title that a run takes from its first request; null for a command to the client. */
export function requestWords(request: string): { goal: string; title: string } | null {
  const text = redact(request).text.trim();
  if (text === '' || /^\/[a-z][\w:-]*(?:\s|$)/.test(text)) return null;
  const goal = text.length > GOAL_CHARS ? `${text.slice(0, GOAL_CHARS - 1)}…` : text;
  return { goal, title: oneLine(text.split('\n').find((line) => line.trim() !== '') ?? text, 80) };
}

const GOAL_CHARS = 4000;

/** OpenCode's command line puts quotes around a request of several words. */
export function withoutShellQuotes(request: string): string {
  const inside = /^"((?:[^"]|(?<=\\)")*)"$/.exec(request)?.[1];
  return inside === undefined ? request : inside.replaceAll('\\"', '"').trim();
}
