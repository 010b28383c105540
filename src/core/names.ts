/**
 * The names of agents and people are equal without case, spaces and separators: other tools' files write `Codex` and
 * `Claude Code` where a client calls itself `codex` and `claude-code`. Each name is kept as it was written.
 */
export const isSameName = (one: string, other: string): boolean => one === other || plainName(one) === plainName(other);

/** A name to look up or group by. A name of separators alone is itself. */
export const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s._-]+/g, '') || name;

/** The row of a key of a program's state. */
/** Keys of values that are results of effects begin with this. */
export const RESULTS = 'effect/';

export const valueId = (key: string): string => `value:${key}`;

/** The row of a value that was replaced and kept, with the version that set it. */
export const keptId = (key: string, version: number): string => `value@${version}:${key}`;
