import * as v from 'valibot';
import type { Handoff, Snapshot, State } from '../../core/fold/state.ts';
import { forkState } from '../../core/fold/state-tables.ts';
import { counted, fixed, joined, line, id as ownId } from '../../core/line.ts';
import type { Conflict } from '../../core/views/conflict.ts';
import { STALE_EVENTS } from '../../core/views/freshness.ts';
import { readAncestry } from '../../workspace/git/status.ts';
import { shownPath } from '../../workspace/workspace.ts';
import { act, inRun } from '../act.ts';
import { beginGitStatus, findEvidence } from '../brief/parts/evidence.ts';
import type { Context } from '../context.ts';
import { reference } from '../fields.ts';
import { defineOperation, shaped } from '../operation.ts';
import { superviseRun } from '../session/parts/supervision.ts';
import { snapshotPath } from '../snapshot/parts/file.ts';

export const handoffAccept = defineOperation({
  name: 'handoff.accept',
  summary: 'Take over what was offered to you; the right to write passes to you with it.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast handoff accept H-2 --agent codex'],
  input: v.object({ id: reference }),
  output: v.object({
    id: v.string(),
    session: v.nullable(v.string()),
    steps: v.array(v.string()),
    snapshot: v.nullable(v.string()),
    /** Relative to the workspace. */
    path: v.nullable(v.string()),
    /** What changed between the offer and now; null if unknown. */
    stale: v.object({ events: v.number(), commits: v.nullable(v.number()) }),
    conflicts: v.array(shaped<Conflict>({ id: v.string(), kind: v.string(), path: v.string() })),
    run: v.string(),
    version: v.number(),
  }),
  async run(given, { id }) {
    const status = beginGitStatus(given);
    const context = await inRun(given);
    const before = await superviseRun(context, status);
    const { run } = context;
    const engine = await context.engine();
    const state = before?.state ?? (await engine.load(run));
    const evidence = await findEvidence(context, asLeft(state, id), { status });
    const version = state.version;
    const done = await act(context, { type: 'handoff.accept', id });
    const accepted = done.events.find((event) => event.type === 'handoff.accepted');
    const handoff = done.state.handoffs.get(accepted?.type === 'handoff.accepted' ? accepted.body.id : id);
    const snapshot = await snapshotOf(context, run, handoff);
    const stale = {
      events: Math.max(0, version - (handoff?.version ?? version)),
      commits: await commitsSince(context, handoff?.head ?? snapshot?.mark?.head),
    };
    if (stale.events > STALE_EVENTS || (stale.commits ?? 0) > 0) context.warn(staleWarning(id, stale));
    if (evidence.open.length > 0)
      context.warn(
        `${evidence.open.length === 1 ? '1 recorded thing has' : `${evidence.open.length} recorded things have`} changed since: check ${evidence.open.length === 1 ? 'it' : 'them'} first.`,
      );
    const workspace = context.workspace();
    const file = snapshot && workspace ? snapshotPath(workspace.folder, run, snapshot) : null;
    return {
      data: {
        id: handoff?.id ?? id,
        session: done.session,
        steps: accepted?.type === 'handoff.accepted' ? accepted.body.claims.map(({ step }) => step) : [],
        snapshot: snapshot?.id ?? null,
        path: file && workspace ? shownPath(workspace, file) : null,
        stale,
        conflicts: [...evidence.open],
        run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, session, steps, path, conflicts, stale }, pen) =>
    joined(
      [
        line`${pen.good(line`✓`)} ${pen.bold(ownId(id))} is yours: ${ownId(session ?? '')} ${steps.length > 0 ? line`holds ${joined(steps.map((key) => pen.quote(key, 'name')))}` : line`continues`}; the sender can no longer write.`,
        ...(path ? [line`Read ${pen.quote(path, 'path')} and the files it lists.`] : []),
        line`Since it was offered: ${counted(stale.events, fixed('event'))}, ${stale.commits === null ? line`commits unknown` : counted(stale.commits, fixed('commit'))}.`,
        ...conflicts.map(
          (conflict) =>
            line`${pen.bad(ownId(conflict.id))} ${pen.quote(conflict.path, 'path')}: ${pen.quote(conflict.kind.replaceAll('_', ' '), 'name')}`,
        ),
      ],
      '\n',
    ),
});

/** The state without the sender, so that its files are compared with what it recorded. */
function asLeft(state: State, id: string): State {
  const handoff = state.handoffs.get(id);
  if (!handoff) return state;
  const left = forkState(state);
  left.sessions.delete(handoff.from);
  for (const step of state.steps.values())
    if (step.holder?.session === handoff.from) left.steps.set(step.key, { ...step, holder: null });
  return left;
}

function staleWarning(id: string, { events, commits }: { events: number; commits: number | null }): string {
  const count = commits === null ? 'an unknown number of commits' : counted(commits, fixed('commit'));
  return `${id} is stale: ${counted(events, fixed('event'))} and ${count} since it was offered. Read the brief, not the snapshot alone: \`holdfast resume\`.`;
}

async function snapshotOf(context: Context, run: string, handoff: Handoff | undefined): Promise<Snapshot | null> {
  if (!handoff?.snapshot) return null;
  const engine = await context.engine();
  const row = (await engine.recall(run, [handoff.snapshot])).find((one) => one.kind === 'snapshot');
  return (row?.doc as Snapshot | undefined) ?? null;
}

async function commitsSince(context: Context, head: string | null | undefined): Promise<number | null> {
  if (!head) return null;
  const relation = await readAncestry(context.workspace()?.tree ?? context.dir, head);
  return relation === undefined || relation === 'missing' ? null : relation.since;
}
