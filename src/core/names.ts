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
