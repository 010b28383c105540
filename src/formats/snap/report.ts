import type { Problem } from '../format.ts';

/** Reports a problem of one file. */
export type Report = (code: string, level: Problem['level'], line: number | null, message: string) => void;

/** A limit for files in which every line is wrong. */
const PROBLEMS_PER_FILE = 500;

export function reporter(path: string, problems: Problem[]): Report {
  let count = 0;
  return (code, level, line, message) => {
    if (count++ < PROBLEMS_PER_FILE) problems.push({ code, level, path, line, message });
  };
}
