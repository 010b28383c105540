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

/** While so many wait, hooks drop their reports. */
export const MOST_REPORTS = 5000;

const ENDING = '.in';
const DRAINED = 'drained';
const MOST_BYTES = 32 * 1024 * 1024;
const PUT_ASIDE = { most: 50, ms: 14 * 24 * 3600 * 1000, chars: 1024 * 1024 };
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
    .sort((a, b) => a.atMs - b.atMs || processOf(a.name) - processOf(b.name) || countIn(a.name) - countIn(b.name));
}

/**
 * `m-0123456789ab-4711-99-2`: the machine, the process of the hook, when the agent's began, and a count where one process
 * writes several.
 */
const countIn = (name: string): number => Number(/^m-[0-9a-f]+-\d+-\d*-(\d+)/.exec(name)?.[1] ?? 0);
export const processOf = (name: string): number => Number(/^m-[0-9a-f]+-(\d+)/.exec(name)?.[1] ?? 0);
export const machineOf = (name: string): string => /^m-[0-9a-f]+/.exec(name)?.[0] ?? '';

export const readReport = (files: OwnFiles, { name }: Report): string | null =>
  files.read(`${INBOX}/${name}`, MOST_BYTES);

/** False when another process was faster. */
export const removeReport = (files: OwnFiles, { name }: Report): boolean => files.remove(`${INBOX}/${name}`);

/** Keeps a report that cannot be read, that the rules refuse, or that came with a copied folder, so that it can be looked at. */
export function putAside(files: OwnFiles, report: Report, where: 'bad' | 'refused' | 'copied'): void {
  const folder = `${INBOX}/${where}`;
  files.createOnce(`${folder}/${report.name}`, (readReport(files, report) ?? '').slice(0, PUT_ASIDE.chars));
  removeReport(files, report);
  const kept = files.list(folder).map((name) => ({ name, ms: files.modifiedMs(`${folder}/${name}`) }));
  kept.sort((a, b) => b.ms - a.ms);
  for (const [index, { name, ms }] of kept.entries()) {
    if (index >= PUT_ASIDE.most || Date.now() - ms > PUT_ASIDE.ms) files.remove(`${folder}/${name}`);
  }
}

/** What reports told that is not in the record, for those who read the record next. */
export interface Unrecorded {
  /** The names of refused reports. */
  refused: string[];
  /** Reports were dropped, because too many waited. */
  wasFull: boolean;
}

const REFUSED = 'refused.txt';
/** The launcher makes it when it drops a report. */
const FULL = 'full';

export function noteRefused(files: OwnFiles, names: readonly string[]): void {
  if (names.length > 0) files.append(`${INBOX}/${REFUSED}`, names.map((name) => `${name}\n`).join(''));
}

/** Tells it once. */
export function takeUnrecorded(files: OwnFiles): Unrecorded | null {
  try {
    const names = files.list(INBOX);
    if (!names.includes(REFUSED) && !names.includes(FULL)) return null;
    const text = files.read(`${INBOX}/${REFUSED}`) ?? '';
    const refused = text.split('\n').filter((name) => /^[\w.-]{1,80}$/.test(name));
    files.remove(`${INBOX}/${REFUSED}`);
    return { refused, wasFull: files.remove(`${INBOX}/${FULL}`) };
  } catch {
    return null;
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

/**
 * `off`: hooks write nothing. `ask`: an answer is due, so tool hooks run the program. `turn-…`: the prompt of this turn of a
 * conversation was answered.
 */
export function setMark(files: OwnFiles, mark: 'off' | 'ask' | `turn-${string}`, isSet: boolean): void {
  try {
    if (!isSet) files.remove(`${INBOX}/${mark}`);
    else if (files.list('').includes(INBOX)) files.createOnce(`${INBOX}/${mark}`, '');
  } catch {
    // The marks only save work.
  }
}
