import { lutimesSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnFiles } from './own-files.ts';

/**
 * The hook inbox in the data folder: reports of hooks that need no answer, one file each, written by a shell and never
 * changed. Every command takes them in first.
 */
export const INBOX = 'inbox';

/** A report that waits. */
export interface Report {
  name: string;
  /** When it was written. */
  atMs: number;
}

const ENDING = '.in';
const DRAINED = 'drained';
const MOST_BYTES = 32 * 1024 * 1024;
const PUT_ASIDE = { most: 50, ms: 14 * 24 * 3600 * 1000 };
/** A report that is written so long after a drain starts another one. */
const DRAIN_EVERY_MS = 5 * 60 * 1000;

/** Makes the folder, which tells the launcher that reports are wanted here. */
export function openInbox(files: OwnFiles): void {
  if (files.list(INBOX).includes(DRAINED)) return;
  files.folder(INBOX);
  markDrained(files);
}

/** The waiting reports in the order in which they were written. */
export function listReports(files: OwnFiles): Report[] {
  const names = files.list(INBOX).filter((name) => name.endsWith(ENDING));
  const reports = names.map((name) => ({ name, atMs: files.modifiedMs(`${INBOX}/${name}`) }));
  // Several may have the same time: the clock of files has coarse steps. Numbers of processes count up.
  return reports
    .filter(({ atMs }) => atMs > 0)
    .sort((a, b) => a.atMs - b.atMs || processOf(a.name) - processOf(b.name) || (a.name < b.name ? -1 : 1));
}

/** `m-0123456789ab-4711-99`: the machine, the process of the hook, and when the agent's began. */
export const processOf = (name: string): number => Number(/^m-[0-9a-f]+-(\d+)/.exec(name)?.[1] ?? 0);
export const machineOf = (name: string): string => /^m-[0-9a-f]+/.exec(name)?.[0] ?? '';

export const readReport = (files: OwnFiles, { name }: Report): string | null =>
  files.read(`${INBOX}/${name}`, MOST_BYTES);

/** False when another process was faster. */
export const removeReport = (files: OwnFiles, { name }: Report): boolean => files.remove(`${INBOX}/${name}`);

/** Keeps a report that cannot be read, or that the rules refuse, so that the reason can be found. */
export function putAside(files: OwnFiles, report: Report, where: 'bad' | 'refused'): void {
  const folder = `${INBOX}/${where}`;
  files.createOnce(`${folder}/${report.name}`, readReport(files, report) ?? '');
  removeReport(files, report);
  const kept = files.list(folder).map((name) => ({ name, ms: files.modifiedMs(`${folder}/${name}`) }));
  kept.sort((a, b) => b.ms - a.ms);
  for (const [index, { name, ms }] of kept.entries()) {
    if (index >= PUT_ASIDE.most || Date.now() - ms > PUT_ASIDE.ms) files.remove(`${folder}/${name}`);
  }
}

/** Gives a report to the workspace it is about. False when that takes none. */
export function passOn(files: OwnFiles, report: Report, to: OwnFiles): boolean {
  const text = readReport(files, report);
  if (text === null || !to.list('').includes(INBOX)) return false;
  to.createOnce(`${INBOX}/${report.name}`, text);
  return removeReport(files, report);
}

/** Marks that the inbox was emptied; the time of the mark is when a report would be late. */
export function markDrained(files: OwnFiles): void {
  try {
    files.createOnce(`${INBOX}/${DRAINED}`, '');
    const late = new Date(Date.now() + DRAIN_EVERY_MS);
    lutimesSync(join(files.root, INBOX, DRAINED), late, late);
  } catch {
    // Then the next report starts another drain.
  }
}

/** `off`: hooks write nothing. `ask`: an answer is due, so tool hooks run the program. */
export function setMark(files: OwnFiles, mark: 'off' | 'ask', isSet: boolean): void {
  try {
    if (!isSet) files.remove(`${INBOX}/${mark}`);
    else if (files.list('').includes(INBOX)) files.createOnce(`${INBOX}/${mark}`, '');
  } catch {
    // The marks only save work.
  }
}
