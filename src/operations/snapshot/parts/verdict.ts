/** What a rule finds. */
export interface Verdict {
  result: 'pass' | 'fail' | 'cannot-tell';
  why: string;
}

export const pass = (why: string): Verdict => ({ result: 'pass', why });
export const fail = (why: string): Verdict => ({ result: 'fail', why });
export const cannotTell = (why: string): Verdict => ({ result: 'cannot-tell', why });
