import type { PlannedStep } from '../../core/journal/command.ts';

/** What a plan file says, whatever its style. */
export interface PlanPage {
  title: string | null;
  goal: string | null;
  /** Parents before their children. */
  steps: PageStep[];
  /** What is not a step, by heading or field, in the order of the file. */
  rest: PagePart[];
  /** Fields of a YAML plan that no step has, with how often they occur. */
  ignored: Record<string, number>;
  /** Counted for the answer to a page without steps. */
  seen: { headings: number; paragraphs: number; items: number };
  problems: PageProblem[];
}

export interface PageStep extends PlannedStep {
  line: number;
  /** The key was made from the place in the file; nobody wrote it. */
  isKeyMade: boolean;
  /** What stands below the step and is not a step. */
  detail: string | null;
}

export interface PagePart {
  heading: string;
  /** Left: it stays in the file and is not recorded. */
  as: 'goal' | 'reading' | 'constraint' | 'note' | 'left';
  text: string;
  /** Paths that are named, for a section of files to read. */
  paths: string[];
}

export interface PageProblem {
  line: number;
  message: string;
}

export const emptyPage = (): PlanPage => ({
  title: null,
  goal: null,
  steps: [],
  rest: [],
  ignored: {},
  seen: { headings: 0, paragraphs: 0, items: 0 },
  problems: [],
});
