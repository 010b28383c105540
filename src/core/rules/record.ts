import { Fault, notFound, quoted } from '../fault.ts';
import { type Item, itemPrefixes, nextId } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft, EventBody } from '../journal/event.ts';
import { planView } from '../views/plan.ts';
import { moveBetween, movesFrom } from './lifecycle.ts';
import { draft, mustAllow, mustBeActive, mustBePerson, type RuleContext, stepOf, stepsHeld } from './rule-context.ts';

export function makeDecision(
  context: RuleContext,
  { type: _, decisionType, ...body }: CommandOf<'decision.make'>,
): Draft[] {
  mustBeActive(context);
  const supersedes = body.supersedes ? decisionOf(context, body.supersedes) : null;
  if (supersedes) {
    mustAllow('decision', `Decision ${supersedes.id}`, supersedes.status, 'supersede', [
      supersedes.supersededBy
        ? `It was superseded by ${supersedes.supersededBy}; supersede that one.`
        : 'See `holdfast decisions`.',
    ]);
  }
  if (body.step) stepOf(context, body.step);
  // It is of the step in hand, where there is one.
  const [held, ...others] = stepsHeld(context);
  const step = body.step ?? (others.length === 0 ? held?.key : undefined);
  return [
    draft('decision.made', {
      ...body,
      ...(step === undefined ? {} : { step }),
      id: nextId(context.state, 'D'),
      ...(decisionType ? { type: decisionType } : {}),
      ...(supersedes ? { supersedes: supersedes.id } : {}),
    }),
  ];
}

export function retractDecision(context: RuleContext, { id, reason }: CommandOf<'decision.retract'>): Draft[] {
  mustBeActive(context);
  const decision = decisionOf(context, id);
  if (decision.status === 'retracted') return [];
  return [draft('decision.retracted', { id: decision.id, reason, was: decision.status })];
}

function decisionOf(context: RuleContext, reference: string) {
  const found = context.recall('decision', reference);
  if (found) return found;
  throw notFound('decision', reference, ids('D', context), 'See them with `holdfast decisions`.');
}

/** The ids of a prefix that were given out last, to be near ones. */
function ids(prefix: string, context: RuleContext): string[] {
  const last = context.state.counters[prefix] ?? 0;
  return Array.from({ length: Math.min(last, 200) }, (_, index) => `${prefix}-${last - index}`);
}

export function raiseItem(
  context: RuleContext,
  { type: _, kind, errorType, ...body }: CommandOf<'item.raise'>,
): Draft[] {
  mustBeActive(context);
  if (body.step) stepOf(context, body.step);
  for (const key of body.followUp ?? []) stepOf(context, key);
  const defaults: Partial<EventBody<'item.raised'>> =
    kind === 'finding'
      ? { severity: body.severity ?? 'should_fix' }
      : kind === 'error'
        ? { type: errorType ?? 'runtime' }
        : {};
  return [draft('item.raised', { ...body, id: nextId(context.state, itemPrefixes[kind]), kind, ...defaults })];
}

/** Settling a blocker says which steps it freed, and tells whoever held them last. */
export function settleItem(context: RuleContext, { id, as, note, followUp }: CommandOf<'item.settle'>): Draft[] {
  mustBeActive(context);
  const item = itemOf(context, id);
  const blocker = item.kind === 'blocker';
  const target = as === 'active' && !blocker ? 'open' : as;
  if (item.status === target) return [];
  if (!moveBetween(blocker ? 'blocker' : 'item', item.status, target)) throw cannotSettle(item, as);
  for (const key of followUp ?? []) stepOf(context, key);
  if (as === 'active') {
    const { status: _, raisedAt, session: _s, settledAt: _a, resolution: _r, basis: _b, ...body } = item;
    return [draft('item.reopened', { item: body, raisedAt, note })];
  }
  const freed = blocker && item.status === 'active' ? freedBy(context, item) : [];
  const settled = draft('item.settled', {
    id: item.id,
    as,
    note,
    ...(freed.length > 0 ? { freed } : {}),
    ...(followUp ? { followUp } : {}),
  });
  return [settled, ...tellFreed(context, item, as, freed)];
}

function itemOf(context: RuleContext, reference: string): Item {
  const { items } = context.state;
  const found =
    items.get(reference) ??
    [...items.values()].find((item) => item.alias === reference) ??
    context.recall('item', reference);
  if (found) return found;
  throw notFound('item', reference, items.keys(), 'See what is open with `holdfast items`.');
}

function cannotSettle(item: Item, as: string): Fault {
  const table = item.kind === 'blocker' ? 'blocker' : 'item';
  const moves = movesFrom(table, item.status);
  const wordOf: Record<string, string> = {
    bypass: 'bypassed',
    resolve: 'resolved',
    reactivate: 'active',
    reopen: 'active',
    defer: 'deferred',
    withdraw: 'withdrawn',
  };
  const allowed = moves.map((name) => wordOf[name] ?? name);
  return new Fault('illegal', `${item.id} is a ${item.status} ${item.kind}: it cannot become ${quoted(as)}.`, {
    hints: [
      allowed.length > 0
        ? `Possible: ${allowed.map((word) => `\`--as ${word}\``).join(', ')}.`
        : `It is settled for good; raise a new one with \`holdfast raise ${item.kind} …\`.`,
    ],
    data: { id: item.id, from: item.status, to: as, legal: allowed },
  });
}

/** Steps that could not be started because of this blocker alone. */
function freedBy(context: RuleContext, item: Item): string[] {
  const without = forkState(context.state);
  without.items.delete(item.id);
  const after = planView(without);
  return context.plan.leaves
    .filter((leaf) => leaf.obstacles.length > 0 && after.byKey.get(leaf.step.key)?.obstacles.length === 0)
    .map((leaf) => leaf.step.key);
}

function tellFreed(context: RuleContext, item: Item, as: string, freed: readonly string[]): Draft[] {
  const lastHolders = new Map<string, string[]>();
  for (const key of freed) {
    const agent = context.state.steps.get(key)?.lastAgent;
    if (agent && agent !== context.actor.name) lastHolders.set(agent, [...(lastHolders.get(agent) ?? []), key]);
  }
  return [...lastHolders].map(([to, keys], index) =>
    draft('message.sent', {
      id: nextId(context.state, 'M', index),
      from: context.actor.name,
      to,
      type: 'notify',
      priority: 'P1',
      subject: `${item.id} is ${as}: ${keys.join(', ')} can go on`,
      body: item.text,
      about: item.id,
    }),
  );
}

export function addNote(context: RuleContext, { text, kind, step, asked }: CommandOf<'note.add'>): Draft[] {
  mustBeActive(context);
  const held = context.session
    ? [...context.state.steps.values()].filter((one) => one.holder?.session === context.session?.id)
    : [];
  const about = step ? stepOf(context, step).step.key : held.length === 1 ? held[0]?.key : undefined;
  const id = nextId(context.state, 'N');
  return [draft('note.added', { id, text, kind, step: about, ...(asked ? { asked } : {}) })];
}

export function addUsage(context: RuleContext, { input, output, cached, of, step }: CommandOf<'usage.add'>): Draft[] {
  mustBeActive(context);
  if (step) stepOf(context, step);
  if (input + output + (cached ?? 0) === 0) return [];
  return [draft('usage.added', { agent: of ?? context.actor.name, input, output, cached, step })];
}

export function addMirror(context: RuleContext, { format, path }: CommandOf<'mirror.add'>): Draft[] {
  return context.state.mirrors.has(`${format}:${path}`) ? [] : [draft('mirror.added', { format, path })];
}

export function removeMirror(context: RuleContext, { format, path }: CommandOf<'mirror.remove'>): Draft[] {
  if (context.state.mirrors.has(`${format}:${path}`)) return [draft('mirror.removed', { format, path })];
  const known = [...context.state.mirrors.values()].map((mirror) => mirror.path);
  throw notFound('mirror', path, known, 'See them with `holdfast mirror list`.');
}

export function acceptConflict(context: RuleContext, { id, note }: CommandOf<'conflict.accept'>): Draft[] {
  return context.state.acceptedConflicts.has(id) ? [] : [draft('conflict.accepted', { id, note })];
}

/** Where what is recorded with it was put together from, and how sure it is. */
export function makeRecovery(_scene: RuleContext, { from, findings }: CommandOf<'recovery.make'>): Draft[] {
  return [draft('recovery.made', { from, findings }, 'verified')];
}

/** The words are taken out by the engine, in the same transaction; here stands who may and that it happened. */
export function eraseText(context: RuleContext, { versions, reason }: CommandOf<'text.erase'>): Draft[] {
  mustBePerson(context, 'erase what was recorded', 'holdfast erase ID --reason …');
  return versions.length === 0 ? [] : [draft('text.erased', { versions, reason })];
}
