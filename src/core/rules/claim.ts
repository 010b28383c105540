import { Fault, notFound, quoted } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { Claim, State } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { covers, pathsOverlap, withoutSlash } from '../path-pattern.ts';
import { isGone, type Liveness, leaseEnd } from '../views/liveness.ts';
import { draft, isMaintainer, mustBeActive, mustHaveSession, type RuleContext } from './rule-context.ts';

export function takeClaim(context: RuleContext, { files, reason }: CommandOf<'claim.take'>): Draft[] {
  mustBeActive(context);
  const session = mustHaveSession(context);
  const other = claimOn(context, files, session.id);
  if (other) throw claimedBy(other);
  const mine = [...context.state.claims.values()].filter((claim) => claim.session === session.id);
  const covered = mine.find(
    (claim) => claim.files.length === files.length && files.every((file) => claim.files.includes(file)),
  );
  if (covered) return [];
  return [draft('claim.taken', { id: nextId(context.state, 'L'), session: session.id, files, reason })];
}

export function releaseClaim(context: RuleContext, { id }: CommandOf<'claim.release'>): Draft[] {
  const claim = context.state.claims.get(id) ?? [...context.state.claims.values()].find((one) => one.alias === id);
  if (!claim) {
    if (context.recall('claim', id)) return [];
    throw notFound('claim', id, context.state.claims.keys(), 'See what is held with `holdfast status`.');
  }
  if (claim.session !== context.session?.id && !isMaintainer(context)) {
    throw new Fault('held', `${claim.id} is held by ${claim.agent} (${claim.session}).`, {
      hints: ['Only its holder or a person releases a claim.'],
      data: { claim: claim.id, session: claim.session },
    });
  }
  return [draft('claim.released', { id: claim.id })];
}

/** A claim of another live session, and the file that it covers. */
export interface Held {
  claim: Claim;
  file: string;
  until: string;
}

export function claimOn(
  context: Liveness & { state: State },
  files: readonly string[],
  mine: string | null,
  overlap = pathsOverlap,
): Held | null {
  for (const claim of context.state.claims.values()) {
    const holder = context.state.sessions.get(claim.session);
    if (!holder || holder.id === mine || isGone(holder, context)) continue;
    const file = files.find((wanted) => claim.files.some((held) => overlap(held, wanted)));
    if (file !== undefined) return { claim, file, until: leaseEnd(holder, context) };
  }
  return null;
}

export function claimedBy({ claim, file, until }: Held): Fault {
  const { id, agent, session } = claim;
  return new Fault('held', `${quoted(file)} is claimed by ${agent} (${session}) until ${until}: ${id}.`, {
    hints: [`Wait for it with \`holdfast wait --for ${id}\`, or work on other files.`],
    data: { claim: id, session, agent, until, file },
  });
}

/**
 * Returns null if a session may write a file, else the fault. A file under a claim is written by its holder only, and a
 * session that has ended writes nothing.
 */
export function writableBy(state: State, liveness: Liveness, session: string | null, path: string): Fault | null {
  if (session !== null && !state.sessions.has(session)) {
    return new Fault(
      'fenced',
      `Session ${session} has ended and cannot record anything: ${quoted(path)} was not changed.`,
      {
        hints: ['Start another with `holdfast session start --agent NAME`.'],
        data: { session, file: path },
      },
    );
  }
  const held = claimOn({ ...liveness, state }, [path], session, (claimed, file) => covers(withoutSlash(claimed), file));
  return held ? claimedBy(held) : null;
}
