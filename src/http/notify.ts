import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Event } from '../core/journal/event.ts';
import { oneLine } from '../core/text.ts';
import { type Waiting, waitsForPerson } from '../core/views/needs-person.ts';
import type { Engine } from '../engine/engine.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Log } from './log.ts';

export interface Notice {
  run: string;
  title: string;
  waiting: Waiting[];
}

export type Send = (notice: Notice) => Promise<void>;

const PAGE_EVENTS = 500;
const LOOK_EVERY_MS = 2000;
/** After something went wrong. */
const PAUSE_MS = 5000;
const KNOWN_AT_FIRST = 100;
const REMEMBERED_RUNS = 1000;
const SEND_MS = 10_000;
const TRIES = 3;
/** More than this at once are dropped, and the log says so: a receiver that hangs must not fill memory. */
const AT_ONCE = 8;

/**
 * Tells once, from now on, when a run begins to wait for a person. It follows the feed, so it hears of what any process
 * records; nothing waits for it.
 */
export async function watchForPeople(
  engine: Engine,
  workspace: string,
  send: Send,
  { log, stopped }: { log: Log; stopped: AbortSignal },
): Promise<void> {
  const known = new Map<string, Set<string>>();
  let cursor: string | null = null;
  let sending = 0;

  async function look(run: string, events: readonly Event[]): Promise<void> {
    const state = await engine.load(run);
    if (state.run?.workspace !== workspace) return;
    const waiting = waitsForPerson(state);
    const before = known.get(run);
    known.delete(run);
    known.set(run, new Set(waiting.map(nameOf)));
    if (known.size > REMEMBERED_RUNS) known.delete(known.keys().next().value as string);
    // Of a run that is seen for the first time, what these events speak of is new; the rest may have waited for long.
    const words = before ? '' : JSON.stringify(events.map((event) => event.body));
    const fresh = waiting.filter((one) => (before ? !before.has(nameOf(one)) : words.includes(JSON.stringify(one.id))));
    if (fresh.length > 0) tell({ run, title: state.run.title, waiting: fresh });
  }

  /** Where it begins: whatever waits already was there to be seen. */
  async function begin(): Promise<string> {
    const { cursor: now } = await engine.feed('now', 1);
    for (const { run } of await engine.heads({ workspace, status: 'active', limit: KNOWN_AT_FIRST })) {
      known.set(run, new Set(waitsForPerson(await engine.load(run)).map(nameOf)));
    }
    return now;
  }

  function tell(notice: Notice): void {
    if (sending >= AT_ONCE) {
      log('warn', 'notice dropped', { run: notice.run });
      return;
    }
    sending += 1;
    trySend(send, notice, stopped)
      .then(
        () => log('info', 'notice sent', { run: notice.run, waiting: notice.waiting.map(nameOf) }),
        (thrown: Error) => log('warn', 'notice failed', { run: notice.run, error: thrown.message }),
      )
      .finally(() => {
        sending -= 1;
      });
  }

  for (let seen: number | undefined; !stopped.aborted; ) {
    try {
      cursor ??= await begin();
      const page = await engine.feed(cursor, PAGE_EVENTS);
      for (const run of new Set(page.events.map((event) => event.run))) {
        await look(
          run,
          page.events.filter((event) => event.run === run),
        );
      }
      cursor = page.cursor;
      if (page.events.length === 0) seen = await engine.waitForEvents(LOOK_EVERY_MS, seen);
    } catch (thrown) {
      log('warn', 'cannot look for what waits', { error: (thrown as Error).message });
      await pause(PAUSE_MS, stopped);
    }
  }
}

const nameOf = ({ kind, id }: Waiting): string => `${kind} ${id}`;

async function trySend(send: Send, notice: Notice, stopped: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await send(notice);
    } catch (thrown) {
      if (tries >= TRIES || stopped.aborted) throw thrown;
      await pause(1000 * tries, stopped);
    }
  }
}

function pause(ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stopped.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The way that the settings name; null, with a warning, where it must not be taken. */
export function senderOf({ folder, root, config }: Workspace, warn: (message: string) => void): Send | null {
  const { notify } = config;
  if (notify === undefined) return null;
  if (/^https?:\/\//i.test(notify)) return (notice) => post(notify, notice);
  // Settings that came with a clone were written by somebody else: what they say is not run.
  if (isInGit(root, join(folder, 'config.json'))) {
    warn(
      'The command in `notify` is not run: .holdfast/config.json is in git, and whoever can change it could run anything here.',
    );
    return null;
  }
  return (notice) => run(notify, root, notice);
}

function isInGit(root: string, file: string): boolean {
  return spawnSync('git', ['ls-files', '--error-unmatch', file], { cwd: root, stdio: 'ignore' }).status === 0;
}

/** To this address and no other: a redirection is a failure. */
async function post(address: string, notice: Notice): Promise<void> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...notice, text: textOf(notice) }),
    redirect: 'error',
    signal: AbortSignal.timeout(SEND_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`it answered ${response.status}`);
}

/** The notice on its standard input as JSON; words of others never become part of the command. */
function run(command: string, cwd: string, notice: Notice): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      cwd,
      env: { ...process.env, HOLDFAST_RUN: notice.run, HOLDFAST_NOTICE: textOf(notice) },
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: SEND_MS,
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))));
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(notice));
  });
}

function textOf({ title, waiting }: Notice): string {
  const what = waiting.map(({ kind, id, text }) => `${kind} ${id}: ${oneLine(text, 120)}`).join('; ');
  return `${oneLine(title, 80)} waits for a person: ${oneLine(what, 500)}`;
}
