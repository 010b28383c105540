import { sha256 } from '../sha256.ts';

const DIGITS = 6;

/**
 * The id of an ad hoc run. It follows from the conversation and from how many runs that conversation opened before, so that
 * two hooks at the same moment open one run. `more` digits follow where another conversation has the same id.
 */
export function adHocRunId(
  opening: { client: string; conversation: string; before: number; at: string },
  more = 0,
): string {
  const { client, conversation, before, at } = opening;
  const digits = sha256(JSON.stringify([client, conversation, before])).slice(0, DIGITS + 2 * more);
  return `${at.slice(0, 10)}-${digits}`;
}

/** The six digits that name a run in a command: the end of its id, or those of an alias if the id holds words. */
export function shortName(run: string): string {
  const digits = /^\d{4}-\d\d-\d\d-([0-9a-f]{6,})$/.exec(run)?.[1];
  return digits ?? sha256(run).slice(0, DIGITS);
}
