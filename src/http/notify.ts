import type { Event } from '../core/journal/event.ts';
import { id, joined, type Line, line, quote, shortened, word } from '../core/line.ts';
import { type Waiting, waitsForPerson } from '../core/views/needs-you.ts';
import type { Engine } from '../engine/engine.ts';
import { postJson } from '../workspace/connection.ts';
import { feedProgram } from '../workspace/program.ts';
import { noticeSecret } from '../workspace/state/notice-secret.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Log } from './log.ts';
import { SIGNATURE_HEADER, signNotice } from './notice-signature.ts';

export interface Notification {
  run: string;
  title: string;
  waiting: Waiting[];
}

export type Send = (notification: Notification) => Promise<void>;

const PAGE_EVENTS = 500;
const LOOK_EVERY_MS = 2000;
/** The pause after an error. */
const PAUSE_MS = 5000;
const KNOWN_AT_FIRST = 100;
const REMEMBERED_RUNS = 1000;
const SEND_MS = 10_000;
const TRIES = 3;
/** More than this at once are dropped and logged: a receiver that hangs must not fill memory. */
const AT_ONCE = 8;

/**
 * Sends one notification for each thing that needs a person from now on. It follows the feed, so it sees what any process
 * records, and delays no command.
 */
export async function watchForPeople(
  engine: Engine,
  workspaces: readonly string[],
  send: Send,
  { log, stopped }: { log: Log; stopped: AbortSignal },
): Promise<void> {
  const known = new Map<string, Set<string>>();
  let cursor: string | null = null;
  let sending = 0;

  async function look(run: string, events: readonly Event[]): Promise<void> {
    const state = await engine.load(run);
    if (!state.run || !workspaces.includes(state.run.workspace)) return;
    const waiting = waitsForPerson(state);
    const before = known.get(run);
    known.delete(run);
    known.set(run, new Set(waiting.map(nameOf)));
    if (known.size > REMEMBERED_RUNS) known.delete(known.keys().next().value as string);
    // When a run is seen for the first time, only what these events name is new; the rest may be old.
    const words = before ? '' : JSON.stringify(events.map((event) => event.body));
    const fresh = waiting.filter((one) => (before ? !before.has(nameOf(one)) : words.includes(JSON.stringify(one.id))));
    if (fresh.length > 0) notify({ run, title: state.run.title, waiting: fresh });
  }

  /** The cursor to start at; what needs a person already is not reported. */
  async function begin(): Promise<string> {
    const { cursor: now } = await engine.feed('now', 1);
    for (const { run } of await engine.heads({ workspace: workspaces, status: 'active', limit: KNOWN_AT_FIRST })) {
      known.set(run, new Set(waitsForPerson(await engine.load(run)).map(nameOf)));
    }
    return now;
  }

  function notify(notification: Notification): void {
    if (sending >= AT_ONCE) {
      log('warn', 'notification dropped', { run: notification.run });
      return;
    }
    sending += 1;
    trySend(send, notification, stopped)
      .then(
        () => log('info', 'notification sent', { run: notification.run, waiting: notification.waiting.map(nameOf) }),
        (thrown: Error) => log('warn', 'notification failed', { run: notification.run, error: thrown.message }),
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
      log('warn', 'cannot look for what needs a person', { error: (thrown as Error).message });
      await pause(PAUSE_MS, stopped);
    }
  }
}

const nameOf = ({ kind, id }: Waiting): string => `${kind} ${id}`;

async function trySend(send: Send, notification: Notification, stopped: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await send(notification);
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

/** Sends to the address or program in the user's settings; null when there is none. */
export function senderOf({ state, root, config }: Workspace, now: () => string): Send | null {
  const { notify } = config;
  if (notify === undefined || state === null) return null;
  if (typeof notify !== 'string') return (notification) => run(notify, root, notification);
  const secret = noticeSecret(state);
  return (notification) => post(notify, notification, (body) => signNotice(secret, body, now()));
}

function post(address: string, notification: Notification, sign: (body: string) => string): Promise<void> {
  const body = JSON.stringify({ ...notification, text: textOf(notification) });
  return postJson(address, { body, headers: { [SIGNATURE_HEADER]: sign(body) }, timeoutMs: SEND_MS });
}

/** Passes the notification as JSON on standard input; text from others never becomes part of the command. */
function run(words: readonly string[], root: string, notification: Notification): Promise<void> {
  return feedProgram(words, {
    cwd: root,
    outside: root,
    input: JSON.stringify(notification),
    variables: { HOLDFAST_RUN: notification.run, HOLDFAST_NOTICE: textOf(notification) },
    timeoutMs: SEND_MS,
  });
}

function textOf({ title, waiting }: Notification): Line {
  const what = waiting.map((one) => {
    const which = one.kind === 'gate' || one.kind === 'escalation' ? quote(one.id, 'name') : id(one.id);
    return line`${word(one.kind)} ${which}: ${quote(one.text, 'title')}`;
  });
  return line`${quote(title, 'title', 80)} needs you: ${shortened(joined(what, '; '), 500)}`;
}
