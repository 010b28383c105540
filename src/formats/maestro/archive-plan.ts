import type { RunModel } from '../../core/model/run-model.ts';
import { whyNotDeclared } from '../declared-paths.ts';
import type { Files, Found, Tree } from '../format.ts';
import { maestro } from './format.ts';
import { findDocument, isArchived, sessionId, stateDir } from './paths.ts';

/** What archiving a session does to files. This is only the plan: the operation that executes it journals each move. */
export interface ArchivePlan {
  /** First: the session file with its new status and with pointers to where its documents will be. */
  writes: Files;
  /**
   * Then, in this order: design document, implementation plan, session. A move whose source is missing is already done.
   */
  moves: readonly {
    what: 'design document' | 'implementation plan' | 'session state' | 'backup';
    from: string;
    to: string;
  }[];
  /** Documents that the session names and that are not there. */
  missing: readonly { what: 'design document' | 'implementation plan'; path: string }[];
  /** Last: gates of this session, which a session that reuses the id would inherit. */
  removes: readonly string[];
  /** What must hold afterwards: no active session, archived files readable, plans no longer among the active ones. */
  checks: readonly { path: string; is: 'gone' | 'readable' }[];
  /** The run afterwards, and the location of its file. */
  model: RunModel;
  place: Found;
}

/**
 * Maestro's archive protocol, with its open points decided: an unfinished session becomes `failed`, not `completed`;
 * pointers follow the documents; a used name gets a number. Returns null when the session is already archived.
 */
export function archivePlan(
  model: RunModel,
  found: Found,
  files: Files,
  tree: Pick<Tree, 'paths'>,
  now: string,
): ArchivePlan | null {
  const dir = stateDir(found.main);
  if (dir === null || isArchived(found.main)) return null;
  const taken = new Set(tree.paths);
  const moves: ArchivePlan['moves'][number][] = [];
  const move = (what: (typeof moves)[number]['what'], from: string, folder: string, name: string): string => {
    const to = folder + unused(name, (candidate) => taken.has(folder + candidate));
    taken.add(to);
    moves.push({ what, from, to });
    return to;
  };
  const run = { ...model.run, status: 'archived' as const };
  const document = (what: (typeof moves)[number]['what'], pointer: string | undefined): string | undefined => {
    const path = pointer ? findDocument(pointer, dir, taken) : null;
    // Documents elsewhere are not Maestro's to move; those in the archive are already there.
    if (!path?.startsWith(`${dir}plans/`) || path.startsWith(`${dir}plans/archive/`)) return undefined;
    if (whyNotDeclared(maestro.writes, path) !== null) return undefined;
    const there = moves.find((one) => one.from === path);
    return there?.to ?? move(what, path, `${dir}plans/archive/`, path.split('/').at(-1) ?? '');
  };
  const design = document('design document', run.design?.path);
  const plan = document('implementation plan', run.plan);
  if (design) run.design = { ...run.design, path: design };
  if (plan) run.plan = plan;
  const id = sessionId(model, now);
  const to = move('session state', found.main, `${dir}state/archive/`, `${id}.md`);
  const backup = `${found.main}.bak`;
  if (taken.has(backup)) move('backup', backup, `${dir}state/archive/`, `${id}.md.bak`);
  const named = [
    { what: 'design document' as const, path: model.run.design?.path },
    { what: 'implementation plan' as const, path: model.run.plan },
  ];
  const missing = named.flatMap(({ what, path }) =>
    path !== undefined && findDocument(path, dir, new Set(tree.paths)) === null ? [{ what, path }] : [],
  );
  const archived = { ...model, run };
  return {
    writes: maestro.render(archived, found, files, now),
    moves,
    missing,
    removes: [`${dir}state/${id}.design-gate.json`].filter((path) => taken.has(path)),
    checks: moves.flatMap((one) => [
      { path: one.from, is: 'gone' as const },
      { path: one.to, is: 'readable' as const },
    ]),
    model: archived,
    place: { format: 'maestro', main: to, files: [to, ...moves.filter((one) => one.to !== to).map((one) => one.to)] },
  };
}

function unused(name: string, isTaken: (name: string) => boolean): string {
  const dot = name.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let candidate = name;
  for (let count = 2; isTaken(candidate); count++) candidate = `${stem}-${count}${end}`;
  return candidate;
}
