/** A file worth reading on resume, and why. */
export interface FileAdvice {
  path: string;
  /** Null if the file could not be read. */
  tokens: number | null;
  /** Null also for a file that is too large to count. */
  lines: number | null;
  advice: 'read' | 'scan' | 'skip';
  why: 'context' | 'plan' | 'summary' | 'artifact';
}

/** How many files a step should load at most. */
export const CONTEXT_LIMIT = 3;

/**
 * Advises what to do with each file, in order, within a budget as large as the brief's. Read while the sum fits, scan what
 * would fit alone, and skip the rest, unreadable files, and context files beyond the limit.
 */
export function adviseReading(files: readonly Omit<FileAdvice, 'advice'>[], budgetTokens: number): FileAdvice[] {
  let spent = 0;
  let context = 0;
  return files.map((file) => {
    const { tokens } = file;
    if (file.why === 'context') context += 1;
    const tooMany = file.why === 'context' && context > CONTEXT_LIMIT;
    if (tokens === null || tokens > budgetTokens || tooMany) return { ...file, advice: 'skip' };
    if (spent + tokens > budgetTokens) return { ...file, advice: 'scan' };
    spent += tokens;
    return { ...file, advice: 'read' };
  });
}

/**
 * The possible names of a position's plan file (`02-03-PLAN.md`, `2-3-PLAN.md`) and of the summaries before it, the newest
 * first.
 */
export function planFileNames({ phase, plan }: PositionNumbers): { plans: string[]; summaries: string[][] } {
  if (!phase) return { plans: [], summaries: [] };
  const names = (number: number, kind: string): string[] => {
    // `09.1-02-PLAN.md`: an inserted phase is padded before its point.
    const padded = (value: number | string): string =>
      String(value).replace(/^\d+/, (digits) => digits.padStart(2, '0'));
    return [`${padded(phase.number)}-${padded(number)}-${kind}.md`, `${phase.number}-${number}-${kind}.md`];
  };
  const current = plan ? Number(plan.number) : null;
  if (current === null) return { plans: [`${phase.number}-PLAN.md`], summaries: [] };
  const earlier = Array.from({ length: Math.min(current, PLANS_LIMIT) - 1 }, (_, index) => current - 1 - index);
  return { plans: names(current, 'PLAN'), summaries: earlier.map((number) => names(number, 'SUMMARY')) };
}

/** A key may contain any number. */
const PLANS_LIMIT = 100;

interface PositionNumbers {
  phase: { number: string } | null;
  plan: { number: string } | null;
}
