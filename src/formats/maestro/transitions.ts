import type { ModelStep, RunModel } from '../../core/model/run-model.ts';

export type StepStatus = ModelStep['status'];
export type RunStatus = RunModel['run']['status'];

/** The marks of the log, as fixed characters: upstream names them in words, and people wrote a dozen different ones. */
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

/** What a status word or a mark of the log means; null for none of them. */
export function stepStatus(word: string): StepStatus | null {
  const bare = word
    .trim()
    .toLowerCase()
    .replace(/[\ufe0e\ufe0f]/g, '')
    .replace(/[\s-]+/g, '_');
  return byWord.get(bare) ?? byWord.get(word.trim().replace(/[\ufe0e\ufe0f]/g, '')) ?? null;
}

/**
 * A session's status. Maestro's own words are `in_progress`, `completed` and `failed`; the last is its only word for
 * one that ended unfinished, so it stands for a run that was given up.
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
