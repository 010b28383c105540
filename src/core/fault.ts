import { printable } from './text.ts';

/**
 * Every refusal is a `Fault` with a code of this closed table. The message says what is wrong. The hints say what is
 * allowed and which command helps; they never contain a destructive command ready to paste.
 */

export const faultExits = {
  not_found: 1,
  illegal: 1,
  blocked: 1,
  held: 1,
  fenced: 1,
  not_allowed: 1,
  cancelled: 1,
  gone: 1,
  uncertain: 1,
  usage: 2,
  invalid: 2,
  conflict: 3,
  unavailable: 3,
  corrupt: 4,
  newer_schema: 4,
  rewound: 4,
  untrusted: 5,
  read_only: 6,
  internal: 70,
} as const;

export type FaultCode = keyof typeof faultExits;

export class Fault extends Error {
  readonly code: FaultCode;
  readonly hints: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.hints = options.hints ?? [];
    this.data = options.data ?? {};
  }
}

interface FaultOptions {
  hints?: readonly string[];
  data?: Readonly<Record<string, unknown>>;
  cause?: unknown;
}

/** Anything thrown, as a fault. What is not a fault already is a bug in Holdfast. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Fault('internal', `Unexpected: ${message}`, {
    hints: ['This is a bug in Holdfast. `holdfast log` shows what was recorded.'],
    cause: thrown,
  });
}

/** Why something failed, as a part of a sentence: without a full stop. */
export const reasonOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\.$/, '');

/** Reports that something was not found, with the nearest known names. */
export function notFound(noun: string, name: string, known: Iterable<string>, hint: string): Fault {
  const near = nearest(name, known);
  const hints =
    near.length > 0 ? [`Did you mean ${near.map((candidate) => `\`${candidate}\``).join(', ')}?`, hint] : [hint];
  return new Fault('not_found', `There is no ${noun} ${quoted(name)}.`, { hints, data: { noun, name, near } });
}

/** A name in backticks, safe to show whatever it contains. */
export function quoted(name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 79)}…` : name;
  return `\`${printable(shown).replace(/[`\n\t]/g, '\ufffd')}\``;
}

/** Up to three known names that could have been meant. */
export function nearest(name: string, known: Iterable<string>): string[] {
  const wanted = name.slice(0, 64).toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { candidate: string; distance: number }[] = [];
  for (const candidate of known) {
    const lowered = candidate.slice(0, 64).toLowerCase();
    const distance = lowered.startsWith(wanted) && wanted.length > 1 ? 0 : editDistance(wanted, lowered);
    if (distance <= limit) scored.push({ candidate, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, 3).map((entry) => entry.candidate);
}

/** Optimal string alignment: insert, delete, replace, swap neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
