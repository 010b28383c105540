import { Fault, notFound, quoted } from '../fault.ts';
import { nextId } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { claimedBy, claimOn } from './claim.ts';
import { draft, isMaintainer, mustAllow, mustBeActive, mustHaveSession, type RuleContext } from './rule-context.ts';

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

export function beginEffect(
  context: RuleContext,
  { name, class: effectClass, key, once, owner }: CommandOf<'effect.begin'>,
): Draft[] {
  mustBeActive(context);
  const open = key ? [...context.state.effects.values()].find((effect) => effect.key === key) : undefined;
  if (open) {
    throw new Fault(
      'illegal',
      `${open.id} with the key ${quoted(key ?? '')} began at ${open.at} and has no recorded end.`,
      {
        hints: [
          'Look at what it did before you repeat it.',
          `Then record it: \`holdfast effect end ${open.id} --outcome succeeded|failed|cancelled|unknown\`.`,
        ],
        data: { effect: open.id, key, began: open.at, class: open.class },
      },
    );
  }
  const done = once && key ? context.recall('effect', key) : null;
  if (done && done.class !== 'read') {
    throw new Fault('illegal', `${done.id} with the key ${quoted(key ?? '')} succeeded at ${done.endedAt}.`, {
      hints: ['It is done: go on with what comes after it.', 'To do it once more on purpose, give it another key.'],
      data: { effect: done.id, key, began: done.at, endedAt: done.endedAt, class: done.class },
    });
  }
  const held = [...context.state.steps.values()].filter(
    (step) => context.session && step.holder?.session === context.session.id,
  );
  const step = held.length === 1 ? held[0]?.key : undefined;
  return [draft('effect.began', { id: nextId(context.state, 'X'), name, class: effectClass, key, step, owner })];
}

export function endEffect(
  context: RuleContext,
  { id, outcome, exitCode, note, seen }: CommandOf<'effect.end'>,
): Draft[] {
  mustBeActive(context);
  const { effects } = context.state;
  const open = effects.get(id) ?? [...effects.values()].find((effect) => effect.key === id);
  const effect = open ?? context.recall('effect', id);
  if (!effect) throw notFound('effect', id, effects.keys(), 'See what has no recorded end with `holdfast resume`.');
  if (effect.status === 'ended' && effect.outcome === outcome) return [];
  mustAllow('effect', `Effect ${effect.id}`, effect.status, 'end');
  return [draft('effect.ended', { id: effect.id, outcome, exitCode, note }, seen ? 'verified' : 'declared')];
}

export function seeFiles(context: RuleContext, { artifacts, read }: CommandOf<'files.see'>): Draft[] {
  mustBeActive(context);
  const held = [...context.state.steps.values()].filter(
    (step) => context.session && step.holder?.session === context.session.id,
  );
  const step = held.length === 1 ? held[0]?.key : undefined;
  return artifacts.length === 0 ? [] : [draft('files.seen', { artifacts, step, read }, 'verified')];
}
