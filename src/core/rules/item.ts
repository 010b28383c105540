import { Fault, notFound, quoted } from '../fault.ts';
import { itemPrefixes, nextId } from '../fold/ids.ts';
import type { Item } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft, EventBody } from '../journal/event.ts';
import { planView } from '../views/plan.ts';
import { moveBetween, movesFrom } from './lifecycle.ts';
import { draft, mustBeActive, type RuleContext, stepOf } from './rule-context.ts';

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

/** Settling a blocker records which steps it freed, and notifies the agents that held them last. */
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
  return [settled, ...notifyFreed(context, item, as, freed)];
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

/** Steps for which this blocker was the only obstacle. */
function freedBy(context: RuleContext, item: Item): string[] {
  const without = forkState(context.state);
  without.items.delete(item.id);
  const after = planView(without);
  return context.plan.leaves
    .filter((leaf) => leaf.obstacles.length > 0 && after.byKey.get(leaf.step.key)?.obstacles.length === 0)
    .map((leaf) => leaf.step.key);
}

function notifyFreed(context: RuleContext, item: Item, as: string, freed: readonly string[]): Draft[] {
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
      subject: `${item.id} is ${as}: ${keys.join(', ')} can continue`,
      body: item.text,
      about: item.id,
    }),
  );
}
