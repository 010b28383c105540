import * as v from 'valibot';
import { Fault, quoted } from '../../../core/fault.ts';
import { addMs, instantOf } from '../../../core/time.ts';
import { Actor, Scope } from '../../../core/words.ts';
import type { Maker, Token } from '../../../store/presence.ts';
import type { Context } from '../../context.ts';

const Made = v.object({ actor: Actor, evidence: v.string() });

/** A token as it is shown: all of it but its hash. */
export const TokenShown = v.object({
  name: v.string(),
  actor: Actor,
  scope: Scope,
  workspaces: v.union([v.literal('*'), v.array(v.string())]),
  runs: v.nullable(v.array(v.string())),
  madeAt: v.string(),
  madeBy: v.nullable(Made),
  expiresAt: v.nullable(v.string()),
  usedAt: v.nullable(v.string()),
  revoked: v.nullable(v.object({ ...Made.entries, at: v.string() })),
});
export type TokenShown = v.InferOutput<typeof TokenShown>;

export function shownToken({ hash: _, ...token }: Token): TokenShown {
  const { workspaces, runs } = token;
  return { ...token, workspaces: workspaces === '*' ? '*' : [...workspaces], runs: runs && [...runs] };
}

/** Who calls, and what proves it. */
export function makerOf({ identity: { actor, evidence } }: Context): Maker {
  return { actor, evidence };
}

/** The workspaces that are named; without any the one the caller is in, or else what the caller's own token reaches. */
export function workspacesFor(context: Context, named: readonly string[] | undefined): Token['workspaces'] {
  if (named?.includes('*')) return '*';
  if (named && named.length > 0) return [...new Set(named)];
  const here = context.workspace()?.ids;
  if (here !== undefined) return [...here];
  if (context.token && context.token.workspaces !== '*') return context.token.workspaces;
  throw new Fault('usage', 'There is no workspace here, so a token must say which ones it reaches.', {
    hints: ['Name them with `--workspace ID`, as often as needed, or all with `--workspace "*"`.'],
  });
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;
const MOST_DAYS = 3650;
const units = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const;

/** `12h`, `30d`, `8w` or a date; 90 days when it is left out. */
export function expiryFrom(words: string | undefined, now: string): string {
  if (words === undefined) return addMs(now, DEFAULT_DAYS * DAY_MS);
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(words.trim()) ?? [];
  const at = count === undefined ? instantOf(words) : addMs(now, Number(count) * units[unit as keyof typeof units]);
  if (at !== null && at > now && at <= addMs(now, MOST_DAYS * DAY_MS)) return at;
  throw new Fault('invalid', `A token cannot expire at ${quoted(words)}.`, {
    hints: [
      'Use a time from now such as `12h`, `30d` or `8w`, or a date such as `2030-01-31`, at most ten years ahead.',
    ],
    data: { expires: words },
  });
}

/** `the workspace w-1a2b, run shop`. */
export function reachInWords({ workspaces, runs }: Pick<TokenShown, 'workspaces' | 'runs'>): string {
  const places =
    workspaces === '*'
      ? 'all workspaces'
      : `the workspace${workspaces.length === 1 ? '' : 's'} ${workspaces.join(', ')}`;
  return runs === null ? places : `${places}, run${runs.length === 1 ? '' : 's'} ${runs.join(', ')}`;
}

export function expiryInWords({ expiresAt }: Pick<TokenShown, 'expiresAt'>): string {
  return expiresAt === null ? 'does not expire' : `expires ${expiresAt.slice(0, 16)}Z`;
}
