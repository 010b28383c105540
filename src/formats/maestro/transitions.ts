import type { ModelStep, RunModel } from '../../core/model/run-model.ts';

export type StepStatus = ModelStep['status'];
export type RunStatus = RunModel['run']['status'];

/** The marks of the log as fixed characters: Maestro only describes them, and people use a dozen different ones. */
export const glyphs: Readonly<Record<StepStatus, string>> = {
  completed: '✓',
  in_progress: '○',
  failed: '✗',
  pending: '□',
  skipped: '–',
};

const words: Readonly<Record<StepStatus, readonly string[]>> = {
  completed: [
    'completed',
    'complete',
    'done',
    'finished',
    'closed',
    'passed',
    'success',
    'checkmark',
    '✓',
    '✔',
    '✅',
    '☑',
  ],
  in_progress: [
    'in_progress',
    'active',
    'started',
    'running',
    'ongoing',
    'wip',
    'circle',
    '○',
    '⭕',
    '🔄',
    '⏳',
    '🚧',
    '▶',
  ],
  failed: ['failed', 'fail', 'error', 'cross', '✗', '✘', '❌', '✖'],
  pending: ['pending', 'todo', 'not_started', 'planned', 'open', 'queued', 'blocked', 'square', '□', '⬜', '☐', '◻'],
  skipped: ['skipped', 'skip', 'cancelled', 'canceled', 'dash', '–', '—', '⏭', '⏹', '➖'],
};

const byWord = new Map<string, StepStatus>(
  Object.entries(words).flatMap(([status, all]) => all.map((word) => [word, status as StepStatus] as const)),
);

/** The meaning of a status word or a mark of the log; null if unknown. */
export function stepStatus(word: string): StepStatus | null {
  const bare = word
    .trim()
    .toLowerCase()
    .replace(/[\ufe0e\ufe0f]/g, '')
    .replace(/[\s-]+/g, '_');
  return byWord.get(bare) ?? byWord.get(word.trim().replace(/[\ufe0e\ufe0f]/g, '')) ?? null;
}

/**
 * A session's status. Maestro has `in_progress`, `completed` and `failed`; the last is its only word for an unfinished
 * end, so it is used for an abandoned run.
 */
export function runStatus(word: string): RunStatus | null {
  const bare = word
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  if (bare === 'archived') return 'archived';
  if (bare === 'abandoned' || bare === 'aborted' || bare === 'cancelled') return 'abandoned';
  const status = stepStatus(bare);
  if (status === 'completed') return 'completed';
  if (status === 'failed' || status === 'skipped') return 'abandoned';
  return status === null ? null : 'active';
}

export function sessionWord(model: RunModel): string {
  const { status } = model.run;
  switch (status) {
    case 'active':
      return 'in_progress';
    case 'completed':
      return 'completed';
    case 'abandoned':
      return 'failed';
    case 'archived':
      return isFinished(model) ? 'completed' : 'failed';
    default:
      return status satisfies never;
  }
}

export function isFinished(model: RunModel): boolean {
  return model.steps.every((step) => step.status === 'completed' || step.status === 'skipped');
}
