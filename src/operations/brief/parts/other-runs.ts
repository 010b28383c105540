import type { OtherRun, OtherRuns } from '../../../core/brief/facts.ts';
import { type Candidate, type Field, namedRuns } from '../../../core/choice/candidate.ts';
import type { FileRow } from '../../../core/fold/state.ts';
import type { Engine } from '../../../engine/engine.ts';

/** The other runs that a brief names, in addition to the one that it shows in full. */
export async function otherRuns(engine: Engine, field: Field, except: string | null): Promise<OtherRuns> {
  const { runs, more } = namedRuns(field, except);
  const lines: OtherRun[] = [];
  for (const run of runs) lines.push((await atWork(engine, run)) ?? unfinished(run));
  return { lines, more };
}

const CHANGED = 2;

/** Two sessions must not edit the same file, so what a working one changed last is named. */
async function atWork(engine: Engine, { run, title, state, facts, updatedAt }: Candidate): Promise<OtherRun | null> {
  if (state.state !== 'working' || !facts.last) return null;
  const files = await engine.rows(run, { kind: 'file', tag: 'written', limit: CHANGED });
  const changed = files.map((row) => (row.doc as FileRow).path);
  return { is: 'working', who: facts.last, title, seenAt: updatedAt, changed };
}

function unfinished({ run, title, state, facts, updatedAt, place }: Candidate): OtherRun {
  return {
    is: 'unfinished',
    id: run,
    isPlanned: facts.kind === 'planned',
    title,
    state:
      state.state === 'cut off' || state.state === 'waiting' || state.state === 'not started' ? state.state : 'open',
    at: updatedAt,
    agent: facts.last?.agent ?? null,
    tree: place === 'other worktree' ? facts.place.tree || 'main' : null,
    // Behind the name there is the number space of its processes.
    host: place === 'elsewhere' ? (facts.place.machine?.split(' ')[0] ?? null) : null,
    uncertain: facts.uncertain,
  };
}
