import type { JsonObject } from '../clients/json-value.ts';
import type { Owner } from '../core/journal/event.ts';
import { ownerWith } from '../workspace/process.ts';

/** A report from the hook inbox: four lines of the launcher, then the hook input as the client sent it. */
export interface ParsedReport {
  client: string;
  event: string;
  /** The agent's process, where the launcher could see it. */
  owner: Owner | undefined;
  cwd: string;
  run: string | undefined;
  agent: string | undefined;
  input: JsonObject;
}

const HEADER = /^holdfast-inbox 1 ([a-z]{1,20}) ([A-Za-z.]{1,60}) \d+ \d+ (-|\d+:\d+) (-|[0-9a-f-]{8,40})$/;

/** Null for a report that is not whole: an object that was cut short is never one. */
export function parseReport(text: string): ParsedReport | null {
  const [first = '', cwd = '', run = '', agent = ''] = text.split('\n', 4);
  const [, client, event, agentProcess = '-', boot = '-'] = HEADER.exec(first) ?? [];
  if (client === undefined || event === undefined) return null;
  const body = text.slice(first.length + cwd.length + run.length + agent.length + 4);
  try {
    const input: unknown = JSON.parse(body.replace(/^\ufeff/, ''));
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
    return {
      ...{ client, event, owner: ownerOf(agentProcess, boot), cwd },
      ...{ run: run || undefined, agent: agent || undefined, input: input as JsonObject },
    };
  } catch {
    return null;
  }
}

/** A header without anything behind it: the hook ended before its client sent the input. */
export const isBare = (text: string): boolean =>
  HEADER.test(text.split('\n', 1)[0] ?? '') && /^(?:.*\n){4}$/.test(text);

function ownerOf(agentProcess: string, boot: string): Owner | undefined {
  const [pid, ticks] = agentProcess.split(':');
  return ticks === undefined || boot === '-' ? undefined : ownerWith(Number(pid), boot, ticks);
}
