import { Fault, quoted } from '../core/fault.ts';
import type { Command, CommandType } from '../core/journal/command.ts';
import type { Event, EventType } from '../core/journal/event.ts';
import { ERASED } from '../core/text.ts';

/**
 * An idempotency key stands for one command. The events recorded under it must be of the kind this command records, and
 * have its text; otherwise the second of two different commands would be lost silently.
 */
export function mustBeSame(command: Command, events: readonly Event[], key: string): void {
  const kinds = recordedAs[command.type];
  const own = events.find((event) => kinds.includes(event.type));
  const differs = own
    ? Object.entries(textOf(command)).find(([name, value]) => contradicts(own, name, value))?.[0]
    : undefined;
  if (own && differs === undefined) return;
  const before = events.map((event) => event.type).join(', ');
  const what = differs ? `with another ${quoted(differs)}` : `for something else (${before})`;
  throw new Fault('usage', `The idempotency key ${quoted(key)} was used before, ${what}; nothing was recorded.`, {
    hints: ['A key stands for one command and its repetitions: use another key, or none.'],
    data: { key, recorded: events.map(({ type, version }) => ({ type, version })), differs: differs ?? null },
  });
}

/** A deferred message keeps its state, so `to` is not recorded. */
const textOf = (command: Command): object =>
  command.type === 'message.move' && command.disposition === 'deferred' ? { ...command, to: undefined } : command;

/** Fields that are not compared: references, which may be aliases, and `type`, which is the command's own. */
const references = new Set([
  'type',
  'id',
  'step',
  'from',
  'supersedes',
  'continues',
  'parent',
  'session',
  'version',
  'agent',
]);

/** Only text is compared; other values may differ between two tries. */
function contradicts({ body }: Event, name: string, value: unknown): boolean {
  if (references.has(name) || typeof value !== 'string') return false;
  const recorded = (body as Record<string, unknown>)[name];
  return typeof recorded === 'string' && recorded !== ERASED && recorded !== value;
}

const recordedAs: Readonly<Record<CommandType, readonly EventType[]>> = {
  'run.open': ['run.opened'],
  'run.amend': ['run.amended'],
  'run.abort': ['run.abandoned'],
  'run.archive': ['run.archived'],
  'run.unarchive': ['run.reopened'],
  'run.supervise': ['session.ended'],
  'plan.add': ['step.added'],
  'plan.change': ['step.changed'],
  'plan.remove': ['step.removed'],
  'step.start': ['step.started'],
  'step.checkpoint': ['step.checkpointed'],
  'step.complete': ['step.completed'],
  'step.fail': ['step.failed'],
  'step.retry': ['step.retried'],
  'step.skip': ['step.skipped'],
  'step.reopen': ['step.reopened'],
  'step.confirm': ['step.confirmed'],
  'step.release': ['step.released'],
  'step.verify': ['step.verified'],
  'gate.set': ['gate.opened', 'gate.closed'],
  'session.start': ['session.started'],
  'session.recover': ['session.ended'],
  'session.move': ['session.moved'],
  'session.end': ['session.ended'],
  'turn.begin': ['turn.began'],
  'turn.end': ['turn.ended'],
  'claim.take': ['claim.taken'],
  'claim.release': ['claim.released'],
  'decision.make': ['decision.made'],
  'decision.retract': ['decision.retracted'],
  'item.raise': ['item.raised'],
  'item.settle': ['item.settled', 'item.reopened'],
  'note.add': ['note.added'],
  'note.approve': ['note.approved'],
  'usage.add': ['usage.added'],
  'effect.begin': ['effect.began'],
  'effect.end': ['effect.ended'],
  'files.see': ['files.seen'],
  'value.put': ['value.put'],
  'value.remove': ['value.removed'],
  'message.send': ['message.sent'],
  'message.move': ['message.moved', 'message.heard'],
  'message.reply': ['message.replied'],
  'message.escalate': ['message.escalated'],
  'worklog.compact': ['worklog.compacted'],
  'snapshot.take': ['snapshot.taken'],
  'handoff.offer': ['handoff.offered'],
  'handoff.accept': ['handoff.accepted'],
  'handoff.clarify': ['handoff.clarified'],
  'handoff.decline': ['handoff.declined'],
  'handoff.withdraw': ['handoff.withdrawn'],
  'handoff.finish': ['handoff.finished'],
  'conflict.accept': ['conflict.accepted'],
  'mirror.add': ['mirror.added'],
  'mirror.remove': ['mirror.removed'],
  'account.read': ['account.read'],
  'recovery.make': ['recovery.made'],
  'text.erase': ['text.erased'],
};
