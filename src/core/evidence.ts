import { type Fixed, fixed, type Line, line, quote } from './line.ts';

/**
 * On what evidence an event names its actor. It is part of the hashed envelope. Events of version 0.1 have none.
 *
 * - `token:NAME`: a server checked the token of that name.
 * - `terminal`: standard input and error are a terminal, no variable of an agent is set, and no known client is among the
 *   parent processes. Any program of the user can arrange that, so on a command line it is a convention, not a proof.
 * - `agent-shell`: the call comes from the shell or a process of an agent's client.
 * - `hook`, `library`, `file`, `import`: a client's hook, a program, a mirrored or adopted file, an imported run.
 * - `stated`: the caller said who it is, by a flag, a variable or a session, and nothing else supports it.
 * - `none`: nothing says who called.
 */
export type Evidence = (typeof plainEvidence)[number] | `token:${string}`;

const plainEvidence = ['terminal', 'agent-shell', 'hook', 'library', 'file', 'import', 'stated', 'none'] as const;

export function isEvidence(text: string): text is Evidence {
  return plainEvidence.some((one) => one === text) || /^token:.{1,64}$/su.test(text);
}

/** The name of a caller that nothing is known of. It counts as an agent: a person's acts need evidence of a person. */
export const UNKNOWN = 'unknown';

/** Whether the evidence is enough for what only a person may do. */
export function suffices(evidence: Evidence): boolean {
  return evidence === 'terminal' || evidence.startsWith('token:');
}

/** `at a terminal`, to stand after a name. */
export function evidenceInWords(evidence: Evidence | null): Line {
  if (evidence === null) return line`recorded by version 0.1`;
  if (evidence.startsWith('token:')) return line`with the token ${quote(evidence.slice('token:'.length), 'name')}`;
  return line`${words[evidence as keyof typeof words]}`;
}

const words = {
  terminal: fixed('at a terminal'),
  'agent-shell': fixed("in an agent's shell"),
  hook: fixed('by a hook'),
  library: fixed('by a program'),
  file: fixed('in a file'),
  import: fixed('by an import'),
  stated: fixed('not proven'),
  none: fixed('caller unknown'),
} as const satisfies Record<(typeof plainEvidence)[number], Fixed>;
