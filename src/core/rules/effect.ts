import { Fault, notFound, quoted } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustAllow, mustBeActive, onlyStepHeld, type RuleContext } from './rule-context.ts';

export function beginEffect(context: RuleContext, command: CommandOf<'effect.begin'>): Draft[] {
  const { name, class: effectClass, key, once, owner, background, asks, replaces, input, attempt, leaseMs } = command;
  mustBeActive(context);
  const open = key ? [...context.state.effects.values()].find((effect) => effect.key === key) : undefined;
  if (replaces !== undefined && open?.id !== replaces) {
    throw new Fault('conflict', `${replaces} has ended meanwhile; nothing was recorded.`, {
      data: { effect: replaces },
    });
  }
  if (open && replaces === undefined) {
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
      hints: ['It is done: continue with what comes next.', 'To repeat it on purpose, give it another key.'],
      data: { effect: done.id, key, began: done.at, endedAt: done.endedAt, class: done.class },
    });
  }
  const step = onlyStepHeld(context);
  const id = nextId(context.state, 'X');
  const program = { ...(input ? { input } : {}), ...(attempt ? { attempt } : {}), ...(leaseMs ? { leaseMs } : {}) };
  const rest = { ...(background ? { background } : {}), ...(asks ? { asks } : {}), ...program };
  const given = replaces === undefined ? [] : [draft('effect.ended', { id: replaces, outcome: 'unknown' })];
  return [...given, draft('effect.began', { id, name, class: effectClass, key, step, owner, ...rest })];
}

export function endEffect(
  context: RuleContext,
  { id, outcome, exitCode, note, seen, result, entry }: CommandOf<'effect.end'>,
): Draft[] {
  mustBeActive(context);
  const { effects } = context.state;
  const open = effects.get(id) ?? [...effects.values()].find((effect) => effect.key === id);
  const effect = open ?? context.recall('effect', id);
  if (!effect) throw notFound('effect', id, effects.keys(), 'See what has no recorded end with `holdfast resume`.');
  if (effect.status === 'ended' && effect.outcome === outcome) return [];
  mustAllow('effect', `Effect ${effect.id}`, effect.status, 'end');
  const body = { id: effect.id, outcome, exitCode, note, ...(result ? { result } : {}) };
  return [
    ...(entry ? [draft('value.put', { entries: [entry] })] : []),
    draft('effect.ended', body, seen ? 'verified' : 'declared'),
  ];
}
