import { join } from 'node:path';
import { RULE_FILE } from '../clients/cursor/rule.ts';
import type { State } from '../core/fold/state.ts';
import type { Event, EventBody } from '../core/journal/event.ts';
import type { Done } from '../engine/execute.ts';
import { pathExists } from '../workspace/read.ts';
import type { Context } from './context.ts';

type EventType = Event['type'];
type Noun = EventType extends `${infer N}.${string}` ? N : never;
type Kept = 'snapshots' | 'resume' | 'worklog' | 'erased';

/**
 * The files that are written after an event, by its type or by the noun in it. An event that is missing here shows in none
 * of them, or comes with every tool call: RESUME.md shows such an event once the next one from this table is recorded.
 */
const filesAfter: Partial<Record<EventType | Noun, readonly Kept[]>> = {
  run: ['resume'],
  step: ['resume'],
  gate: ['resume'],
  decision: ['resume'],
  item: ['resume'],
  message: ['resume'],
  handoff: ['resume'],
  conflict: ['resume'],
  account: ['resume'],
  recovery: ['resume'],
  'session.ended': ['resume', 'worklog'],
  'session.moved': ['resume'],
  'turn.ended': ['resume'],
  // The worklog is not written while another session has a claim on it.
  'claim.released': ['worklog'],
  snapshot: ['snapshots', 'resume'],
  text: ['resume', 'erased'],
};

/** What commands that are recorded together leave to be written once they are. */
export interface Following {
  add(run: string, done: Done): void;
  /** Each run is shown as it is after its last command. */
  write(context: Context): Promise<void>;
}

export function gatherFollowing(): Following {
  const runs = new Map<string, Pick<Done, 'events' | 'state'>>();
  return {
    add(run, { events, state }) {
      runs.set(run, { events: [...(runs.get(run)?.events ?? []), ...events], state });
    },
    async write(context) {
      for (const [run, done] of runs) await writeFollowing(context, run, done, true);
    },
  };
}

/**
 * Writes the files that show what was recorded: snapshots, mirrors, RESUME.md, the worklog. A command that is repeated
 * under its key writes them again, in case the first one was cut off. A failed write is a warning: the journal has all.
 */
export async function writeFollowing(
  context: Context,
  run: string,
  { events, state }: Pick<Done, 'events' | 'state'>,
  mirrors: boolean,
): Promise<void> {
  if (events.length === 0 || !context.workspace()) return;
  const following = new Set(events.flatMap(filesFor));
  // Each part is loaded when it is needed: the hook of a tool call writes none of these files.
  if (following.has('snapshots')) {
    const { saveSnapshots } = await import('./snapshot/parts/file.ts');
    saveSnapshots(context, events);
  }
  const isLoss = following.size > 0 && (await remember(context, state, events));
  let current = state;
  if (mirrors && !context.leavesTree && state.mirrors.size > 0) {
    const { keepMirrors } = await import('./files/parts/mirrors.ts');
    await keepMirrors(context, state);
    // An edit of a mirrored file may have become events.
    current = await (await context.engine()).load(run);
  }
  if (following.has('resume')) {
    const about = await writeResume(context, current, isLoss ? 0 : state.version, events);
    if (mirrors && !context.leavesTree) await copyResume(context, current, about);
    if (about !== undefined && !context.leavesTree) await keepCursorRule(context);
  }
  if (following.has('worklog')) {
    const { writeWorklogFile } = await import('./worklog/parts/file.ts');
    await writeWorklogFile(context, current);
  }
  if (following.has('erased')) await rewriteErased(context, run, current, events);
}

/** Whatever is written for an event, its run has a new head to remember. */
async function remember(context: Context, state: State, events: readonly Event[]): Promise<boolean> {
  const { rememberHead } = await import('./journal/parts/known-heads.ts');
  return rememberHead(context, state, events);
}

/** After checkpoints alone the page is changed (undefined); after anything else it is composed, for the run returned. */
async function writeResume(
  context: Context,
  state: State,
  version: number,
  events: readonly Event[],
): Promise<State | null | undefined> {
  const shown = events.filter((event) => filesFor(event).includes('resume'));
  if (state.version === version && shown.every((event) => event.type === 'step.checkpointed')) {
    const { saveCheckpoint } = await import('./brief/parts/save-resume.ts');
    if (saveCheckpoint(context, state, new Set(shown.map((event) => event.body.step)))) return undefined;
  }
  const { writeResumeFile } = await import('./brief/parts/resume-file.ts');
  const isAccepted = events.some((event) => event.type === 'conflict.accepted');
  return writeResumeFile(context, state, isAccepted);
}

/** A copy of the page belongs to the run that was recorded in, or to the one that the page is about. */
async function copyResume(context: Context, recorded: State, about: State | null | undefined): Promise<void> {
  for (const state of new Set([recorded, about ?? recorded])) {
    if (state.mirrors.size === 0) continue;
    const { keepResumeCopies } = await import('./files/parts/resume-copy.ts');
    await keepResumeCopies(context, state);
  }
}

/** Where Cursor's rule file is, it has the same brief in a few lines. */
async function keepCursorRule(context: Context): Promise<void> {
  if (!pathExists(join(context.workspace()?.root ?? '', RULE_FILE))) return;
  const { keepRule } = await import('./install/parts/rule-file.ts');
  const { shortBrief } = await import('./brief/parts/resume-file.ts');
  await keepRule(context, () => shortBrief(context));
}

function filesFor(event: Event): readonly Kept[] {
  if (event.type === 'note.added') return filesAfterNote(event.body);
  return filesAfter[event.type] ?? filesAfter[event.type.split('.')[0] as Noun] ?? [];
}

/** A request comes with every prompt, and a person waits for the hook: no file is written for it alone. */
function filesAfterNote({ kind, asked }: EventBody<'note.added'>): readonly Kept[] {
  if (asked) return [];
  return kind === 'constraint' || kind === 'dead-end' ? ['resume', 'worklog'] : ['worklog'];
}

/** Takes erased text out of the files too, whatever claims there are on them. */
async function rewriteErased(context: Context, run: string, state: State, events: readonly Event[]): Promise<void> {
  const engine = await context.engine();
  const { saveSnapshots } = await import('./snapshot/parts/file.ts');
  const { writeArchive, writeWorklogFile } = await import('./worklog/parts/file.ts');
  await writeWorklogFile(context, state, true);
  for (const archive of state.worklog.archives) {
    await writeArchive(context, state, archive).catch((thrown: Error) =>
      context.warn(`An archive of the worklog may still contain the erased text. ${thrown.message}`),
    );
  }
  const versions = events.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : []));
  for (const version of versions) {
    const event = await engine.event(run, version);
    if (event) saveSnapshots(context, [event]);
  }
}
