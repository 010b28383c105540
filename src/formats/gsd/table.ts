import type { ModelDecision, ModelItem, ModelNote, ModelStep } from '../../core/model/run-model.ts';
import { stepStatus } from '../step-status.ts';
import { flat } from '../text/lines.ts';
import type { Row, Value } from '../text/rows.ts';
import { asCount, asLabel, text } from '../text/values.ts';
import { type Counts, isOver, moveBar, progressBar } from './progress.ts';
import { clip } from './words/clip.ts';
import type { SectionKind } from './words/headings.ts';
import { isNone } from './words/none.ts';
import { isStepKey, padded, readCount, readPhase, readPlanId } from './words/numbers.ts';

/** The tables of this format; docs/formats/gsd.md shows them. */

type Texts = 'title' | 'goal' | 'alias' | 'name' | 'updatedAt' | 'endedAt' | 'stoppedAt' | 'resume' | 'next';

/** What STATE.md says outside its lists; `name` is that of the milestone, `bar` a percentage. */
export type Said = { [K in Texts]?: string | undefined } & {
  isOver?: boolean;
  place?: Place | undefined;
  counts?: Partial<Counts> | undefined;
  bar?: number | undefined;
};

/** Where the work is, as key lines say it. */
export interface Place {
  step: ModelStep;
  phase: ModelStep;
  plan: ModelStep | undefined;
  task: ModelStep | undefined;
  /** The number of the phase as files write it. */
  number: string;
  /** The number of the plan in a new file. */
  planNumber: string | undefined;
  siblings: readonly ModelStep[];
  phases: number;
}

/** Whether the position is another one, or its step has another status. */
export interface Moved {
  moved: boolean;
}

type PageRow = Row<Said, Moved>;

const words: Value = {
  read: (raw) => (typeof raw !== 'string' || isNone(raw) || raw === 'null' ? undefined : clip(raw)),
  write: (value: string) => flat(value),
};
/** A value that is computed, in the shape of the one that is there. */
const shaped = <T>(write: (value: T, like: string) => unknown): Value => ({
  read: (raw) => raw,
  write: (value: never, like) => write(value, typeof like === 'string' ? like : ''),
});
const here = ({ place }: Said, { moved }: Moved): Place | undefined => (moved ? place : undefined);
const computed = { is: '=', value: here } as const;
const foreign = { isForeign: true } as const;
const readOnly = { isForeign: true, isFixed: true } as const;
const none = (): string => 'None';
const title = shaped<Place>(({ phase }) => flat(phase.title));
const counter = (at: keyof Counts, says: string): PageRow => ({
  ...{ at: `---.progress.${at}`, is: '=', value: ({ counts }) => counts?.[at], says },
  as: shaped<number>(String),
});

/** `---.x` is a key of the front matter, `# ` the title of the page, any other name the label of a line. */
export const pageRows: readonly PageRow[] = [
  { at: '---.gsd_state_version', is: '=', as: words, fresh: '1.0', isFixed: true, says: '2 and newer is not written.' },
  { at: 'milestone', is: 'alias', as: { ...words, read: firstWord }, ...readOnly, says: 'Where no key has it.' },
  { at: '---.milestone', is: 'alias', as: words, says: 'Its version: `v1.2`.' },
  { at: '---.milestone_name', is: 'name', as: words, isFixed: true, says: 'The title of the run if nothing else is.' },
  {
    ...{ at: '---.current_phase', ...computed, says: 'The number of the phase, with its zero.' },
    as: shaped<Place>(({ phase, number }, like) => {
      if (readPhase(like)?.key === phase.key) return like;
      return /^0\d/.test(like) ? padded(number) : number;
    }),
  },
  { at: '---.current_phase_name', ...computed, as: title, says: 'Its name.' },
  {
    ...{ at: '---.current_plan', ...foreign, ...computed, says: 'The plan: `07-02`.' },
    as: shaped<Place>(({ plan }, like) => plan?.key ?? like),
  },
  {
    ...{ at: '---.status', is: '=', as: shaped<string>(String) },
    value: ({ isOver, place }, { moved }, was) => {
      if (was ? isOver !== was.isOver : isOver) return isOver ? 'completed' : 'executing';
      if (moved && place?.step.status === 'in_progress') return 'executing';
      return was ? undefined : 'planning';
    },
    says: '`completed` is a run that is over; every other word one in progress.',
  },
  { at: 'last updated', is: 'updatedAt', as: words, ...readOnly, says: 'Where no key has it.' },
  { at: '---.last_updated', is: 'updatedAt', as: words, says: 'With every change.' },
  counter('total_phases', 'Phases of the plan, and what the file counts beyond it.'),
  counter('completed_phases', 'Those that are done or skipped.'),
  counter('total_plans', 'The same of plans.'),
  counter('completed_plans', 'At most as many as there are.'),
  counter('percent', 'What it counted before: plans or phases, at most 100.'),
  {
    ...{ at: '# ', is: 'title', as: words, value: ({ title: now }) => now?.trim() || undefined },
    says: 'The words beside "Project State".',
  },
  { at: 'core value', is: 'goal', as: words, says: 'What the project is for.' },
  { at: 'phase', ...computed, as: shaped(phaseValue), says: '`3 of 5 (Auth)`, `07`, `5 (polish) — EXECUTING`.' },
  { at: 'phase name', ...foreign, ...computed, as: title, says: 'Its name alone.' },
  { at: 'plan', ...computed, as: shaped(planValue), says: '`2 of 3`, `07-02`, `Not started`.' },
  {
    ...{ at: 'total plans', ...foreign, ...computed, says: 'Plans of the phase.' },
    as: shaped<Place>(({ siblings }) => String(siblings.length)),
  },
  {
    ...{ at: 'task', is: '=', as: words, isFixed: true, says: 'The title of a step below the plan.' },
    value: ({ place }) => place?.task?.title,
  },
  { at: 'status', ...computed, as: shaped(statusValue), says: 'The status of that step, in the words of any tool.' },
  {
    ...{ at: 'progress', is: '=', value: ({ bar }) => bar, says: 'A bar of any width and glyphs.' },
    as: shaped<number>((percent, like) => (like === '' ? progressBar(percent) : moveBar(like, percent))),
  },
  { at: '---.stopped_at', is: 'stoppedAt', as: words, ...foreign, says: 'The last session.' },
  { at: 'last session', is: 'endedAt', as: words, fresh: 'None', says: 'When the last session ended.' },
  { at: 'stopped at', is: 'stoppedAt', as: words, fresh: 'None', says: 'What it worked on, else what it completed.' },
  { at: 'resume file', is: 'resume', as: words, fresh: 'None', isFixed: true, says: 'A note of that session.' },
  {
    at: '---.next_action',
    is: 'next',
    as: words,
    ...foreign,
    clears: none,
    says: 'The next action.',
  },
  { at: 'next', is: 'next', as: words, clears: none, says: 'The section on it, or a line of the position.' },
];

function firstWord(raw: unknown): string | undefined {
  return asLabel(String(raw).split(/\s/)[0]);
}

/** `3 of 5 (Auth)`, `07`, `05 (polish) — EXECUTING`: writes the next phase in the same shape. */
function phaseValue({ phase, number, phases, siblings }: Place, old: string): string {
  const before = readPhase(old);
  const over = siblings.length > 0 ? siblings.every(isOver) : isOver(phase);
  const word = over ? 'COMPLETE' : 'EXECUTING';
  const shouted = /(\s[—–-]+\s)(?:EXECUTING|IN PROGRESS|COMPLETED?|READY|PLANNING|VERIFYING)\b/;
  if (before && (before.key === phase.key || before.key === readPhase(number)?.key)) {
    const same = stepStatus(shouted.exec(old)?.[0] ?? '') === (over ? 'completed' : 'in_progress');
    return same ? old : old.replace(shouted, (_, dash: string) => dash + word);
  }
  const spelled = before && /^0\d/.test(before.spelled) ? padded(number) : number;
  if (before && /^\W*\d+[A-Za-z]?(?:\.\d+)*\W*$/.test(old)) return spelled;
  const of = before?.total ? ` of ${Math.max(before.total, phases)}` : before ? '' : ` of ${phases}`;
  const suffix = / — [A-Z]{4,}\b/.test(old) ? ` — ${word}` : '';
  return `${spelled}${of} (${flat(phase.title)})${suffix}`;
}

function planValue({ plan, planNumber, siblings }: Place, old: string): string {
  if (!plan) return readCount(old) || readPlanId(old) ? 'Not started' : old || 'Not started';
  if (planNumber !== undefined) return planNumber;
  const at = siblings.indexOf(plan) + 1;
  const id = readPlanId(old);
  if (id) return id.key === plan.key ? old : plan.key;
  const count = readCount(old);
  const rest = /^\s*\d+\s*(?:of|\/)\s*\d+( in current phase)?/.exec(old)?.[1] ?? '';
  if (count?.at === at && (count.total === null || count.total === siblings.length)) return old;
  return `${at} of ${siblings.length}${rest}`;
}

function statusValue({ step, plan }: Place, old: string): string {
  if (stepStatus(old) === step.status) return old;
  const named: Record<ModelStep['status'], string> = {
    ...statusNames,
    pending: plan ? 'Ready to execute' : 'Ready to plan',
    completed: plan ? 'Plan complete' : 'Phase complete',
  };
  return named[step.status];
}

/** A status in a table of phases. */
export const statusNames: Record<ModelStep['status'], string> = {
  ...{ pending: 'Not started', in_progress: 'In progress', completed: 'Complete' },
  ...{ failed: 'Failed', skipped: 'Skipped' },
};

/** What the comment behind a step of ROADMAP.md says where its number does not: `<!-- key: p1; after: p0 -->`. */
export const stepRows: readonly Row<ModelStep>[] = [
  { at: 'key', is: 'key', as: text, says: 'The key of a step whose number is another one.' },
  {
    ...{ at: 'kind', is: 'kind', says: 'Where it is not what its place says: phase, plan, task.' },
    as: {
      read: (raw) => (/^(?:phase|plan|task|step)$/.test(String(raw)) ? raw : undefined),
      write: (value: string) => value,
    },
  },
  { at: 'parent', is: 'parent', as: text, says: 'The step it is below.' },
  {
    ...{ at: 'after', is: 'after', says: 'The steps before it; also `**Depends on**: Phase 1`.' },
    as: {
      read: (raw) => String(raw).split(/,\s*/).filter(isStepKey),
      write: (value: readonly string[]) => value.join(', '),
    },
  },
  {
    at: 'wave',
    is: 'wave',
    as: { read: asCount, write: String },
    says: 'Its wave; also in the front matter of a plan.',
  },
];

/** A column of a table of records, by the words of its heading. */
export interface Column<E> extends Row<E> {
  named: RegExp;
}
const cell = <E>(at: string, is: keyof E & string, named: RegExp, says: string, more = {}): Column<E> => ({
  ...{ at, is, named, says, as: words, ...more },
});

/** Decisions: a row of a table by its columns, a bullet by its parts. */
export const decisionColumns: readonly Column<ModelDecision>[] = [
  cell('Id', 'alias', /^(?:#|id|no\.?|d#)$/, '`D-7`; also at the beginning of a bullet.', foreign),
  cell(
    'Decision',
    'decision',
    /decision|summary|choice|chosen|decisão|decisión|what|决策|决定|결정/,
    'What was decided; the text of a bullet without its tag and its reason.',
  ),
  cell(
    'Rationale',
    'reason',
    /rational|reason|why|motivo|razão|justif|razón|理由|原因|이유|근거/,
    'Why; in a bullet what follows the first `—`, or "because".',
  ),
  cell('Phase', 'step', /^(?:phase|fase|plan|阶段|단계)/, 'The step; in a bullet the tag `[Phase 3]`.'),
  cell('Date', 'at', /date|when|data|fecha|日期|날짜/, 'When; in a bullet a date at its beginning.', foreign),
  cell(
    'Context',
    'context',
    /context|area|topic|contexto|背景|맥락/,
    'What it is about; in a bullet another tag, or its group.',
  ),
  cell(
    'Status',
    'status',
    /status|outcome|state|estado|状态|상태/,
    '`~~struck~~ SUPERSEDED` or `RETRACTED`; any other word is kept.',
  ),
];

export const itemColumns: readonly Column<ModelItem>[] = [
  cell('Id', 'alias', /^(?:#|id)$/, 'The first column; in a bullet `B-1`, `Q-2` at its beginning.', foreign),
  cell(
    'Item',
    'text',
    /blocker|issue|concern|description|item|problem|question|todo|task|risk|action|bloqueio|descri|事项|问题|阻塞|항목|내용/,
    'What it is; other columns are added in brackets.',
  ),
  cell(
    'Status',
    'status',
    /status|estado|状态|상태/,
    'Struck through, ticked or RESOLVED: settled. `[BYPASSED]`, `[DEFERRED]`.',
  ),
  cell('Date', 'raisedAt', /date|since|at$|data/, 'The first date of the row or bullet.', foreign),
  cell('Phase', 'step', /(?!)/, 'The tag `[Phase 3]` of a bullet.'),
  cell('Workaround', 'workaround', /(?!)/, 'What follows `— Workaround:`.'),
  cell('Resolution', 'resolution', /(?!)/, 'What follows `RESOLVED: `.'),
];

export type ListKind = Exclude<SectionKind, 'position' | 'session' | 'next' | 'reference' | 'metrics' | 'files'>;

/** The lists of the page: the heading of a new one, and what its entries are. New entries go to the first of their kind. */
export const lists: Record<
  ListKind,
  { title: string; item?: ModelItem['kind']; note?: ModelNote['kind']; none?: string }
> = {
  decisions: { title: 'Decisions', none: 'None yet.' },
  todos: { title: 'Pending Todos', item: 'commitment', none: 'None yet.' },
  blockers: { title: 'Blockers/Concerns', item: 'blocker', none: 'None yet.' },
  questions: { title: 'Open Questions', item: 'question' },
  issues: { title: 'Known Issues', item: 'finding' },
  errors: { title: 'Errors', item: 'error' },
  constraints: { title: 'Constraints', note: 'constraint' },
  'dead-ends': { title: 'Dead Ends', note: 'dead-end' },
  human: { title: 'Pending Human Actions', item: 'commitment' },
  deferred: { title: 'Deferred Items', item: 'commitment' },
  phases: { title: 'Phase Progress' },
};

export const listOfItem = (kind: ModelItem['kind']): ListKind => kindsOf((one) => one.item === kind);
export const listOfNote = (kind: ModelNote['kind']): ListKind => kindsOf((one) => one.note === kind);
const kindsOf = (is: (one: (typeof lists)[ListKind]) => boolean): ListKind =>
  (Object.keys(lists) as ListKind[]).find((kind) => is(lists[kind])) ?? 'constraints';

/** HANDOFF.json: its keys, and those of its entries. A text alone is its `text`. */
export type NoteFields = Partial<
  Record<'timestamp' | 'phase' | 'phaseName' | 'plan' | 'task' | 'status' | 'next', string>
>;
export type NoteEntry = Partial<
  Record<'text' | 'name' | 'id' | 'status' | 'reason' | 'context' | 'workaround' | 'progress' | 'commit', string>
>;

const said: Value = {
  read: (raw) => {
    const told = saidIn(raw);
    return told && clip(told);
  },
  write: (value: string) => value,
};
const key = <E>(at: string, is: keyof E & string, says: string): Row<E> => ({ at, is, as: said, says, ...readOnly });

export const noteRows: readonly Row<NoteFields>[] = [
  key('timestamp|last_updated|paused_at', 'timestamp', 'When the session paused; the newest note or page leads.'),
  key('phase', 'phase', 'The phase; else the name of `phase_dir`.'),
  key('phase_name', 'phaseName', 'Its name.'),
  key('plan', 'plan', 'The plan: a number or `07-02`.'),
  key('task', 'task', 'The task.'),
  key('status', 'status', 'Shown as it is written.'),
  key('next_action', 'next', 'The next action.'),
];

export const noteEntryRows: readonly Row<NoteEntry>[] = [
  key('decision|summary|description|blocker|action|path|file|name|title', 'text', 'What it says.'),
  key('name|title|description', 'name', 'The title of a task.'),
  key('id', 'id', 'The number of a task.'),
  key('status', 'status', 'Whether a task is in progress.'),
  key('rationale|reason', 'reason', 'Why it was decided.'),
  key('phase|context', 'context', 'What it belongs to.'),
  key('workaround', 'workaround', 'How work continues.'),
  key('progress', 'progress', 'How far a task is.'),
  key('commit', 'commit', 'The commit of a task.'),
];

export function saidIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
