import type { Moment, Pressure } from '../clients/moment.ts';
import { id, type Line, line } from '../core/line.ts';
import type { SessionContext } from '../operations/session/parts/session-context.ts';
import { memoryFor } from './memory.ts';
import { leaveSnapshot } from './snapshot.ts';

const THRESHOLDS = [90, 75] as const;

/** Reports once per threshold that the context is nearly full, and takes a snapshot of a planned run. */
export async function reportPressure(
  within: SessionContext,
  moment: Moment,
  pressure: Pressure | null,
): Promise<boolean> {
  const { memory, remember } = memoryFor(within.context, moment);
  const threshold = THRESHOLDS.find((one) => pressure !== null && pressure.percent >= one);
  if (threshold === undefined || threshold <= (memory.reportedPercent ?? 0)) return false;
  const hintPercent = Math.round(pressure?.percent ?? threshold);
  const lastMessage = moment.kind === 'turn-end' ? moment.lastMessage : null;
  if (within.state.run?.kind === 'planned')
    await leaveSnapshot(within, lastMessage ?? `${hintPercent} % of the context is used.`);
  remember({ ...memory, reportedPercent: threshold, hintPercent });
  return true;
}

export function pressureHint({ session, state }: SessionContext, percent: number | undefined): Line | null {
  if (typeof percent !== 'number') return null;
  const taken = state.run?.kind === 'planned' ? line` A snapshot of session ${id(session.id)} was taken.` : '';
  return line`Holdfast: about ${percent} % of the context is used.${taken} What only this conversation knows (decisions, what comes next) is kept by \`holdfast decide\` and \`holdfast checkpoint NAME --next TEXT\`.`;
}
