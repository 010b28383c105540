import { Fault, notFound, quoted } from '../fault.ts';
import { type Item, itemPrefixes, nextId } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft, EventBody } from '../journal/event.ts';
import { planView } from '../views/plan.ts';
import { moveBetween, movesFrom } from './lifecycle.ts';
import { draft, mustAllow, mustBeActive, mustBePerson, type Scene, stepOf, stepsHeld } from './rule-context.ts';

export function makeDecision(scene: Scene, { type: _, decisionType, ...body }: CommandOf<'decision.make'>): Draft[] {
  mustBeActive(scene);
  const supersedes = body.supersedes ? decisionOf(scene, body.supersedes) : null;
  if (supersedes) {
    mustAllow('decision', `Decision ${supersedes.id}`, supersedes.status, 'supersede', [
      supersedes.supersededBy
        ? `It was superseded by ${supersedes.supersededBy}; supersede that one.`
        : 'See `holdfast decisions`.',
    ]);
  }
  if (body.step) stepOf(scene, body.step);
  // It is of the step in hand, where there is one.
  const [held, ...others] = stepsHeld(scene);
  const step = body.step ?? (others.length === 0 ? held?.key : undefined);
  return [
    draft('decision.made', {
      ...body,
      ...(step === undefined ? {} : { step }),
      id: nextId(scene.state, 'D'),
      ...(decisionType ? { type: decisionType } : {}),
      ...(supersedes ? { supersedes: supersedes.id } : {}),
    }),
  ];
}

export function retractDecision(scene: Scene, { id, reason }: CommandOf<'decision.retract'>): Draft[] {
  mustBeActive(scene);
  const decision = decisionOf(scene, id);
  if (decision.status === 'retracted') return [];
  return [draft('decision.retracted', { id: decision.id, reason, was: decision.status })];
}

function decisionOf(scene: Scene, reference: string) {
  const found = scene.recall('decision', reference);
  if (found) return found;
  throw notFound('decision', reference, ids('D', scene), 'See them with `holdfast decisions`.');
}

/** The ids of a prefix that were given out last, to be near ones. */
function ids(prefix: string, scene: Scene): string[] {
  const last = scene.state.counters[prefix] ?? 0;
  return Array.from({ length: Math.min(last, 200) }, (_, index) => `${prefix}-${last - index}`);
}

export function raiseItem(scene: Scene, { type: _, kind, errorType, ...body }: CommandOf<'item.raise'>): Draft[] {
  mustBeActive(scene);
  if (body.step) stepOf(scene, body.step);
  for (const key of body.followUp ?? []) stepOf(scene, key);
  const defaults: Partial<EventBody<'item.raised'>> =
    kind === 'finding'
      ? { severity: body.severity ?? 'should_fix' }
      : kind === 'error'
        ? { type: errorType ?? 'runtime' }
        : {};
  return [draft('item.raised', { ...body, id: nextId(scene.state, itemPrefixes[kind]), kind, ...defaults })];
}

/** Settling a blocker says which steps it freed, and tells whoever held them last. */
export function settleItem(scene: Scene, { id, as, note, followUp }: CommandOf<'item.settle'>): Draft[] {
  mustBeActive(scene);
  const item = itemOf(scene, id);
  const blocker = item.kind === 'blocker';
  const target = as === 'active' && !blocker ? 'open' : as;
  if (item.status === target) return [];
  if (!moveBetween(blocker ? 'blocker' : 'item', item.status, target)) throw cannotSettle(item, as);
  for (const key of followUp ?? []) stepOf(scene, key);
  if (as === 'active') {
    const { status: _, raisedAt, session: _s, settledAt: _a, resolution: _r, basis: _b, ...body } = item;
    return [draft('item.reopened', { item: body, raisedAt, note })];
  }
  const freed = blocker && item.status === 'active' ? freedBy(scene, item) : [];
  const settled = draft('item.settled', {
    id: item.id,
    as,
    note,
    ...(freed.length > 0 ? { freed } : {}),
    ...(followUp ? { followUp } : {}),
  });
  return [settled, ...tellFreed(scene, item, as, freed)];
}

function itemOf(scene: Scene, reference: string): Item {
  const { items } = scene.state;
  const found =
    items.get(reference) ??
    [...items.values()].find((item) => item.alias === reference) ??
    scene.recall('item', reference);
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
function freedBy(scene: Scene, item: Item): string[] {
  const without = forkState(scene.state);
  without.items.delete(item.id);
  const after = planView(without);
  return scene.plan.leaves
    .filter((leaf) => leaf.obstacles.length > 0 && after.byKey.get(leaf.step.key)?.obstacles.length === 0)
    .map((leaf) => leaf.step.key);
}

function tellFreed(scene: Scene, item: Item, as: string, freed: readonly string[]): Draft[] {
  const lastHolders = new Map<string, string[]>();
  for (const key of freed) {
    const agent = scene.state.steps.get(key)?.lastAgent;
    if (agent && agent !== scene.actor.name) lastHolders.set(agent, [...(lastHolders.get(agent) ?? []), key]);
  }
  return [...lastHolders].map(([to, keys], index) =>
    draft('message.sent', {
      id: nextId(scene.state, 'M', index),
      from: scene.actor.name,
      to,
      type: 'notify',
      priority: 'P1',
      subject: `${item.id} is ${as}: ${keys.join(', ')} can go on`,
      body: item.text,
      about: item.id,
    }),
  );
}

export function addNote(scene: Scene, { text, kind, step, asked }: CommandOf<'note.add'>): Draft[] {
  mustBeActive(scene);
  const held = scene.session
    ? [...scene.state.steps.values()].filter((one) => one.holder?.session === scene.session?.id)
    : [];
  const about = step ? stepOf(scene, step).step.key : held.length === 1 ? held[0]?.key : undefined;
  const id = nextId(scene.state, 'N');
  return [draft('note.added', { id, text, kind, step: about, ...(asked ? { asked } : {}) })];
}

export function addUsage(scene: Scene, { input, output, cached, of, step }: CommandOf<'usage.add'>): Draft[] {
  mustBeActive(scene);
  if (step) stepOf(scene, step);
  if (input + output + (cached ?? 0) === 0) return [];
  return [draft('usage.added', { agent: of ?? scene.actor.name, input, output, cached, step })];
}

export function addMirror(scene: Scene, { format, path }: CommandOf<'mirror.add'>): Draft[] {
  return scene.state.mirrors.has(`${format}:${path}`) ? [] : [draft('mirror.added', { format, path })];
}

export function removeMirror(scene: Scene, { format, path }: CommandOf<'mirror.remove'>): Draft[] {
  if (scene.state.mirrors.has(`${format}:${path}`)) return [draft('mirror.removed', { format, path })];
  const known = [...scene.state.mirrors.values()].map((mirror) => mirror.path);
  throw notFound('mirror', path, known, 'See them with `holdfast mirror list`.');
}

export function acceptConflict(scene: Scene, { id, note }: CommandOf<'conflict.accept'>): Draft[] {
  return scene.state.acceptedConflicts.has(id) ? [] : [draft('conflict.accepted', { id, note })];
}

/** Where what is recorded with it was put together from, and how sure it is. */
export function makeRecovery(_scene: Scene, { from, findings }: CommandOf<'recovery.make'>): Draft[] {
  return [draft('recovery.made', { from, findings }, 'verified')];
}

/** The words are taken out by the engine, in the same transaction; here stands who may and that it happened. */
export function eraseText(scene: Scene, { versions, reason }: CommandOf<'text.erase'>): Draft[] {
  mustBePerson(scene, 'erase what was recorded', 'holdfast erase ID --reason …');
  return versions.length === 0 ? [] : [draft('text.erased', { versions, reason })];
}
