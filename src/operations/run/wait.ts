import * as v from 'valibot';
import { Fault, notFound, quoted } from '../../core/fault.ts';
import type { State } from '../../core/fold/state.ts';
import { oneLine } from '../../core/text.ts';
import { isAnswered, type Mail, mailOf } from '../../core/views/mail.ts';
import { isDone, planView } from '../../core/views/plan.ts';
import { currentRun, currentState } from '../act.ts';
import { label } from '../fields.ts';
import { readerOf } from '../mail/parts/message.ts';
import { defineOperation, described } from '../operation.ts';

export const wait = defineOperation({
  name: 'wait',
  summary: 'Wait until something is settled, finished or free, or until there is mail.',
  scope: 'read',
  words: ['for'],
  examples: ['holdfast wait B-3 --timeout 600', 'holdfast wait t4', 'holdfast wait mail --agent codex'],
  suggest: async (context) => waitable(await currentState(context)),
  input: v.object({
    for: described(label, 'An item, message, claim or effect by its id, a step by its key, or mail.'),
    timeout: v.optional(
      described(v.pipe(v.number(), v.minValue(0), v.maxValue(86_400)), 'Seconds to wait (default 600).'),
    ),
  }),
  output: v.object({ for: v.string(), state: v.string(), run: v.string(), version: v.number() }),
  async run(context, { for: target, timeout = 600 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const deadline = Date.parse(engine.now()) + timeout * 1000;
    for (let seen: number | undefined; ; ) {
      const state = await engine.load(run);
      const known = await engine.recall(run, [target]);
      const reached =
        target === 'mail'
          ? mailReached(mailOf(state, await readerOf(context, state), engine.now()))
          : reachedState(state, target, known[0]?.status ?? null);
      if (reached !== null) return { data: { for: target, state: reached, run, version: state.version } };
      const left = deadline - Date.parse(engine.now());
      if (left <= 0) {
        throw new Fault('unavailable', `${quoted(target)} did not happen within ${timeout} seconds.`, {
          hints: ['Wait again, longer with `--timeout SECONDS`, or check with `holdfast status`.'],
          data: { for: target, timeout },
        });
      }
      // A lease runs out without anything being recorded.
      seen = await context.news(Math.min(LOOK_EVERY_MS, left), seen);
    }
  },
  say: ({ for: target, state }, pen) => `${pen.bold(target)}: ${state}.`,
});

/** What can be waited for now, each as a command. */
function waitable(state: State): string[] {
  const held = planView(state).leaves.filter(({ status }) => status === 'in_progress');
  const lines = [
    ...held.map(({ step }) => `\`holdfast wait ${step.key}\`  ${oneLine(step.title, 60)}`),
    ...[...state.items.values()].map(({ id, text }) => `\`holdfast wait ${id}\`  ${oneLine(text, 60)}`),
    ...[...state.claims.values()].map(({ id, agent }) => `\`holdfast wait ${id}\`  files of ${agent}`),
  ];
  return [...lines.slice(0, 8), '`holdfast wait mail`  until there is mail for you'];
}

const LOOK_EVERY_MS = 1000;

/** Messages sent to the reader, and replies to messages of the reader. */
function mailReached({ unread, replies }: Mail): string | null {
  const parts = [
    ...(unread.length > 0 ? [`${unread.length} unread`] : []),
    ...(replies.length > 0 ? [`${replies.length} answered`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : null;
}

/** The state that was waited for; null until it is reached. */
function reachedState(state: State, target: string, recorded: string | null): string | null {
  const view = planView(state).byKey.get(target);
  if (view) {
    if (isDone(view.status) || view.status === 'failed') return view.status;
    return view.status === 'pending' && view.obstacles.length === 0 ? 'ready' : view.interrupted ? 'interrupted' : null;
  }
  const item = state.items.get(target) ?? [...state.items.values()].find((one) => one.alias === target);
  if (item) return item.status === 'bypassed' ? 'bypassed' : null;
  if (state.sessions.has(target)) return null;
  const message = state.messages.get(target) ?? [...state.messages.values()].find((one) => one.alias === target);
  if (message) return isAnswered(message) ? (message.status === 'unread' ? 'answered' : message.status) : null;
  if (state.claims.has(target) || state.effects.has(target) || state.handoffs.has(target)) return null;
  if (recorded !== null) return recorded;
  throw notFound(
    'step or id',
    target,
    [...state.steps.keys(), ...state.items.keys()],
    'See what there is with `holdfast status`.',
  );
}
