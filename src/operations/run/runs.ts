import * as v from 'valibot';
import type { KnownRun } from '../../core/choice/candidate.ts';
import { agoShown, COPIED, joined, type Line, line, runId, time, word } from '../../core/line.ts';
import { shortName } from '../../core/prompt/run-id.ts';
import { msBetween } from '../../core/time.ts';
import type { Tombstone } from '../../store/journal.ts';
import { defineOperation, described, type Pen } from '../operation.ts';
import { knownRun } from './parts/known-runs.ts';
import { LabelledState, labelled } from './parts/labelled.ts';

const Row = v.object({
  id: v.string(),
  /** The digits that name it in a command. */
  short: v.string(),
  title: v.string(),
  kind: v.picklist(['ad-hoc', 'planned']),
  /** The program that keeps it. */
  source: v.optional(v.string()),
  status: v.string(),
  standing: LabelledState,
  version: v.number(),
  openedAt: v.string(),
  updatedAt: v.string(),
  agent: v.nullable(v.string()),
  machine: v.nullable(v.string()),
  tree: v.nullable(v.string()),
  branch: v.nullable(v.string()),
  uncertain: v.number(),
  /** It came from an import, and nothing was recorded in it here since. */
  isImported: v.boolean(),
  /** It came with a copied folder, from someone else. */
  isCopied: v.optional(v.boolean()),
});
type Row = v.InferOutput<typeof Row>;

const DroppedRun = v.object({
  run: v.string(),
  /** How many events it had. */
  events: v.number(),
  /** Of its last event. */
  hash: v.string(),
  at: v.string(),
  by: v.string(),
  reason: v.string(),
});
type DroppedRun = v.InferOutput<typeof DroppedRun>;

export const runs = defineOperation({
  name: 'runs',
  summary: 'List the runs of this workspace with their states, the last changed first.',
  scope: 'read',
  input: v.object({
    all: v.optional(described(v.boolean(), 'Also runs with hardly any work, moved ones and those finished long ago.')),
    dropped: v.optional(described(v.boolean(), 'Those that were dropped, with who did it and why.')),
  }),
  output: v.object({ runs: v.array(Row), dropped: v.optional(v.array(DroppedRun)), now: v.string() }),
  async run(context, { all, dropped }) {
    const engine = await context.engine();
    const workspace = context.workspace()?.ids;
    if (dropped) {
      const tombstones = await engine.dropped(workspace === undefined ? {} : { workspaces: workspace });
      return { data: { runs: [], dropped: tombstones.map(droppedRun), now: engine.now() } };
    }
    const heads = await engine.heads(workspace === undefined ? {} : { workspace });
    const found: Row[] = [];
    for (const head of heads) {
      const known = await knownRun(engine, head);
      if (all || !isHidden(known, engine.now())) found.push(rowOf(known, head));
    }
    return { data: { runs: found, now: engine.now() } };
  },
  say: ({ runs: found, dropped, now }, pen) => {
    if (dropped?.length === 0) return line`No run was dropped here.`;
    if (dropped)
      return joined(
        dropped.map((one) => sayDropped(one, pen)),
        '\n',
      );
    if (found.length === 0)
      return line`There are no runs yet: \`holdfast install claude\` records them, \`holdfast init\` starts one by hand.`;
    return joined(
      found.map((run) => sayRun(run, now, pen)),
      '\n',
    );
  },
});

/** A dropped run as it is listed. */
const droppedRun = ({ run, version, hash, at, by, reason }: Tombstone): DroppedRun => ({
  ...{ run, events: version, hash, at, by: by.actor.name, reason },
});

function sayDropped({ run, events, at, by, reason }: DroppedRun, pen: Pen): Line {
  const when = line`${events} events, ${time(`${at.slice(0, 16)}Z`)} by ${pen.quote(by, 'name')}`;
  return line`${pen.bold(pen.quote(run, 'name'))} ${pen.dim(when)} ${pen.quote(reason)}`;
}

const OLD_MS = 90 * 24 * 3600 * 1000;

function isHidden({ facts, state, updatedAt }: KnownRun, now: string): boolean {
  if (state.state === 'moved' || (facts.isTrivial && state.state !== 'working')) return true;
  return facts.kind === 'ad-hoc' && state.state === 'finished' && msBetween(updatedAt, now) > OLD_MS;
}

function rowOf(
  { run, facts, state, ...rest }: KnownRun,
  { status, version }: { status: string; version: number },
): Row {
  const { machine, tree, branch } = facts.place;
  return {
    id: run,
    short: shortName(run),
    title: rest.title,
    kind: facts.kind,
    ...(facts.source === undefined ? {} : { source: facts.source }),
    status,
    standing: labelled(state),
    version,
    openedAt: rest.openedAt,
    updatedAt: rest.updatedAt,
    agent: facts.last?.agent ?? null,
    machine,
    tree,
    branch,
    uncertain: facts.uncertain.length,
    isImported: rest.isImported,
    ...(rest.isCopied ? { isCopied: true } : {}),
  };
}

function sayRun({ id, kind, title, standing, updatedAt, isImported, isCopied }: Row, now: string, pen: Pen): Line {
  const name = kind === 'planned' ? pen.quote(id, 'title') : runId(id);
  const state = line`${word(standing.label)}${isImported && !isCopied ? line`, imported` : ''}, ${agoShown(updatedAt, now)}`;
  return line`${pen.bold(name)} ${pen.dim(state)} ${pen.fit(title, id.length + state.length + 2)}${isCopied ? line` ${COPIED}` : ''}`;
}
