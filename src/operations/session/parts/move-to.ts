import { Fault, quoted } from '../../../core/fault.ts';
import type { Session } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';
import { namedRun } from '../../run/parts/current-run.ts';
import { openRun } from '../../run/parts/open-run.ts';
import { type Moved, moveSession } from './move-session.ts';
import type { OwnSession } from './own-session.ts';

/** Moves a session to the run of this name; `new` opens one for it. A session that is there already stays as it is. */
export async function moveTo(context: Context, { run, session }: OwnSession, name: string): Promise<Moved> {
  const target = name === 'new' ? await newRun(context, run, session) : (await namedRun(context, name)).run;
  if (target === run) return { run, session, facts: 0, notes: 0 };
  return moveSession(context, run, session, target);
}

/** A session that is alone in a run that it opened has one of its own already. */
async function newRun(context: Context, run: string, session: string): Promise<string> {
  const engine = await context.engine();
  const state = await engine.load(run);
  const found = (await engine.recall(run, [session])).find(({ kind }) => kind === 'session')?.doc as
    | Session
    | undefined;
  if (!found) throw new Fault('not_found', `There is no session ${quoted(session)} in run ${quoted(run)}.`);
  if (state.run?.kind === 'ad-hoc' && state.tally.sessions === 1) return run;
  const { latest } = state.requests;
  const conversation = {
    client: found.client?.name ?? found.agent,
    conversation: found.client?.id ?? `${run} ${session}`,
  };
  const request = latest?.session === session && latest.kind === 'request' ? latest.text : null;
  const identity = { ...context.identity, session: null, key: null };
  const opened = await openRun({ ...context, identity }, engine, { ...conversation, subagent: null }, { request });
  return opened.run;
}
