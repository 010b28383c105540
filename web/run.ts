import type { Output } from './api.ts';

export type Status = Output<'status'>;
export type StepLine = Status['steps'][number];

/** A run, now or as it was after an event. */
export interface RunAt {
  run: string;
  at: number | null;
}

export const moment = (at: number | null): { at?: number } => (at === null ? {} : { at });
