import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skeletonOf } from '../../src/core/injections.suite.ts';
import type { Stage } from './stage.ts';

/** The claims of a brief that the world contradicts at this moment: line counts, exit statuses, processes, times. */
export function contradictions(stage: Stage, text: string): string[] {
  if (text === '') return [];
  const isThere = /files named below are there/.test(text);
  return [
    ...(isThere ? [] : wrongCounts(stage, text)),
    ...wrongExits(stage, text),
    ...deadProcesses(text),
    ...wrongTimes(stage, text),
  ];
}

function wrongCounts(stage: Stage, text: string): string[] {
  const found: string[] = [];
  for (const [claim, path = '', added, deleted] of text.matchAll(/"([^"\n]+)" \+(\d+) -(\d+)/g)) {
    const [now = ''] = stage.git('diff', '--numstat', '-z', 'HEAD', '--', stage.files.get(path) ?? path).split('\0');
    if (!now.startsWith(`${added}\t${deleted}\t`)) found.push(`${claim}: git says ${JSON.stringify(now)}`);
  }
  for (const [claim, path = '', lines] of text.matchAll(/"([^"\n]+)" new, (\d+) lines?/g)) {
    const now = readFileSync(join(stage.folder, stage.files.get(path) ?? path), 'utf8').split('\n').length - 1;
    if (now !== Number(lines)) found.push(`${claim}: it has ${now}`);
  }
  return found;
}

function wrongExits({ exits }: Stage, text: string): string[] {
  const found: string[] = [];
  for (const [claim, command = ''] of text.matchAll(/"([^"\n]+)" passed/g))
    if (exits.get(command) !== 0) found.push(`${claim}: it ended with ${exits.get(command)}`);
  for (const [claim, command = '', code] of text.matchAll(/Failed: "([^"\n]+)" exit (\d+)/g))
    if (exits.get(command) !== Number(code)) found.push(`${claim}: it ended with ${exits.get(command)}`);
  return found;
}

function deadProcesses(text: string): string[] {
  return [...text.matchAll(/still runs on this machine \(pid (\d+)/g)].flatMap(([claim, pid]) => {
    try {
      process.kill(Number(pid), 0);
      return [];
    } catch {
      return [`${claim}: there is no such process`];
    }
  });
}

const MINUTE_MS = 60_000;

/** A story takes seconds: every time in its briefs lies between its beginning and now, by a minute. */
function wrongTimes({ beganMs }: Stage, text: string): string[] {
  const times = [...skeletonOf(text).matchAll(/\b(\d\d):(\d\d)\b/g)];
  return times.flatMap(([claim, hours, minutes]) => {
    const at = new Date().setUTCHours(Number(hours), Number(minutes), 0, 0);
    const isWithin = at >= beganMs - 2 * MINUTE_MS && at <= Date.now() + MINUTE_MS;
    return isWithin || isNearMidnight() ? [] : [`the time ${claim}`];
  });
}

const isNearMidnight = (): boolean => new Date().getUTCHours() === 0;
