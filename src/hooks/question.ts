import { callKey } from '../clients/conversation.ts';
import type { ToolMoment } from '../clients/moment.ts';
import { type ToolCall, tookEffect } from '../clients/tool-call.ts';
import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import { keyOf } from './moment-key.ts';

const QUESTION_CHARS = 1000;
const PLAN_CHARS = 16_000;

/**
 * A tool shows the user a question or a plan: until it ends, the run waits for the user. A plan is kept as a note, and is
 * approved if the tool succeeds.
 */
export async function recordQuestion(
  within: SessionContext,
  moment: ToolMoment,
  { kind, text }: NonNullable<ToolCall['asks']>,
): Promise<void> {
  const key = callKey(moment, moment.id ?? text);
  const said = redact(text).text;
  if (moment.kind === 'tool-before') {
    const name = oneLine(said, QUESTION_CHARS);
    if (kind === 'plan') await notePlan(within, moment, said);
    await execute(within, { type: 'effect.begin', name, class: 'read', key, asks: kind }, keyOf(moment));
    return;
  }
  const isAnswered = tookEffect(moment.result);
  const open = [...within.state.effects.values()].find((effect) => effect.key === key);
  if (open) {
    const outcome = isAnswered ? 'succeeded' : 'cancelled';
    await execute(within, { type: 'effect.end', id: open.id, outcome, seen: true }, keyOf(moment));
  }
  if (kind !== 'plan' || !isAnswered) return;
  // Not every client reports that it is about to show a plan.
  if (within.state.plan?.session !== within.session.id || within.state.plan.approvedAt !== null)
    await notePlan(within, moment, said);
  const { plan } = within.state;
  if (plan) await execute(within, { type: 'note.approve', id: plan.note }, keyOf(moment, 'approved'));
}

async function notePlan(within: SessionContext, moment: ToolMoment, said: string): Promise<void> {
  const text = said.length > PLAN_CHARS ? `${said.slice(0, PLAN_CHARS - 1)}…` : said;
  await execute(within, { type: 'note.add', kind: 'plan', text }, keyOf({ ...moment, kind: 'tool-before' }, 'plan'));
}
