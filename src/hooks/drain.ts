import { conversationOf } from '../clients/conversation.ts';
import { hooksOf } from '../clients/index.ts';
import type { ClientHooks, Moment, ToolMoment } from '../clients/moment.ts';
import { clientOfHook } from '../clients/recognise.ts';
import { asFault, type FaultCode } from '../core/fault.ts';
import type { Engine } from '../engine/engine.ts';
import type { Context } from '../operations/context.ts';
import { type Following, gatherFollowing } from '../operations/follow-up.ts';
import { findSession, runsOf, sessionIn } from '../operations/session/parts/find-session.ts';
import { formerSession } from '../operations/session/parts/open-session.ts';
import { type SessionContext, sessionContextOf } from '../operations/session/parts/session-context.ts';
import {
  listReports,
  machineOf,
  markDrained,
  noteRefused,
  passOn,
  processOf,
  putAside,
  type Report,
  readReport,
  removeReport,
} from '../workspace/inbox.ts';
import { isRunning } from '../workspace/process.ts';
import { machineId } from '../workspace/state/machine.ts';
import { findWorkspace, type Workspace } from '../workspace/workspace.ts';
import { actorOf } from './actor.ts';
import { firstSession } from './first-session.ts';
import { log } from './log.ts';
import { type HeldMemory, holdMemory, memoryFor } from './memory.ts';
import { recordMoment } from './moments.ts';
import { isBare, type ParsedReport, parseReport } from './report.ts';
import { isToolMoment, keysOf, recordTool, tellsNothing } from './tool-use.ts';
import { markTurn } from './turn-mark.ts';

/** So many reports are decided in memory and recorded in one transaction. */
const PAGE = 200;

/**
 * Records the reports of the hook inbox, in the order in which they were written, each exactly once: the keys of their
 * commands tell which were recorded before, and a file is removed only after its commands are. Says how many are left,
 * because there was no time for them. A fault of the store leaves all of them for the next command.
 */
export async function drainInbox(context: Context, workspace: Workspace, deadlineMs = Infinity): Promise<number> {
  const reports = listReports(workspace.files);
  if (reports.length === 0) return 0;
  if (workspace.config.capture?.off === true) {
    for (const report of reports) removeReport(workspace.files, report);
    return 0;
  }
  const inbox: Inbox = { workspace, machine: machineId(workspace.state), placeOf: rememberPlaces() };
  for (let at = 0; at < reports.length; at += PAGE) {
    if (at > 0 && Date.now() > deadlineMs) return reports.length - at;
    const items: Item[] = [];
    for (const report of reports.slice(at, at + PAGE)) {
      const item = await openItem(inbox, report);
      if (item) items.push(item);
    }
    await takePage(context, workspace, items);
  }
  markDrained(workspace.files);
  return 0;
}

interface Inbox {
  workspace: Workspace;
  machine: string | null;
  /** The workspace around a folder, looked for once. */
  placeOf(dir: string): Workspace | null;
}

function rememberPlaces(): Inbox['placeOf'] {
  const places = new Map<string, Workspace | null>();
  return (dir) => {
    if (!places.has(dir)) places.set(dir, findOrNull(dir));
    return places.get(dir) ?? null;
  };
}

/** A folder that must not be believed, or cannot be read, is not a place for a report. */
function findOrNull(dir: string): Workspace | null {
  try {
    return findWorkspace(dir);
  } catch {
    return null;
  }
}

/** A report that has something to record. */
interface Item {
  report: Report;
  parsed: ParsedReport;
  hooks: ClientHooks;
  moment: Moment;
  /** With the working tree it comes from. */
  workspace: Workspace;
}

/** Null for a report that is done with, or that must wait. */
async function openItem({ workspace, machine, placeOf }: Inbox, report: Report): Promise<Item | null> {
  const { files, root } = workspace;
  const isOfThisMachine = machineOf(report.name) === machine;
  const text = readReport(files, report);
  const parsed = text === null ? null : parseReport(text);
  if (parsed === null) {
    if (mayStillGrow(report, isOfThisMachine)) return null;
    if (text !== null && isBare(text)) removeReport(files, report);
    else {
      putAside(files, report, 'bad');
      log(root, `The hook report ${report.name} cannot be read and was put aside.`);
    }
    return null;
  }
  // The processes of another machine, such as a container, have numbers of their own.
  if (!isOfThisMachine) parsed.owner = undefined;
  const client = await clientOfHook(parsed.client, parsed.input, {});
  const hooks = client === null ? null : await hooksOf(client);
  const named = parsed.input['hook_event_name'];
  const moment = hooks?.read(typeof named === 'string' ? named : parsed.event, parsed.input) ?? null;
  if (hooks === null || moment === null || tellsNothing(moment)) {
    removeReport(files, report);
    return null;
  }
  const there = placeOf(moment.cwd ?? parsed.cwd) ?? workspace;
  if (there.folder === workspace.folder) return { report, parsed, hooks, moment, workspace: there };
  return passOn(files, report, there.files) ? null : { report, parsed, hooks, moment, workspace };
}

const GROWS_MS = 20_000;
const GROWS_ELSEWHERE_MS = 10 * 60_000;

/** Whether the hook may still be writing: a report is written in place. */
function mayStillGrow({ name, atMs }: Report, isOfThisMachine: boolean): boolean {
  const ageMs = Date.now() - atMs;
  if (!isOfThisMachine) return ageMs < GROWS_ELSEWHERE_MS;
  return ageMs < GROWS_MS && isRunning(processOf(name));
}

/** Records the items in one transaction; if others write without pause, in smaller ones. */
async function takePage(context: Context, workspace: Workspace, items: readonly Item[]): Promise<void> {
  if (items.length === 0) return;
  try {
    const { refused, following, memory } = await recordPage(context, workspace, items);
    memory.write();
    for (const { report, hooks, moment } of items) {
      markTurn(workspace.files, hooks, moment);
      if (refused.has(report.name)) putAside(workspace.files, report, 'refused');
      else removeReport(workspace.files, report);
    }
    noteRefused(workspace.files, [...refused.keys()]);
    for (const [name, reason] of refused) log(workspace.root, `The hook report ${name} was refused: ${reason}`);
    // A command that reads leaves the working tree as it is.
    await following.write(context.onlyReads ? { ...context, leavesTree: true } : context);
  } catch (thrown) {
    if (items.length === 1 || asFault(thrown).code !== 'conflict') throw thrown;
    const half = items.length >> 1;
    await takePage(context, workspace, items.slice(0, half));
    await takePage(context, workspace, items.slice(half));
  }
}

interface Taken {
  /** The reasons, by the name of the report. */
  refused: Map<string, string>;
  following: Following;
  /** What hooks remember beside the journal, written once the page is recorded. */
  memory: HeldMemory;
}

/** What keeps the whole store from being written, not one report. */
const storeFaults: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'unavailable',
  'corrupt',
  'conflict',
  'rewound',
  'newer_schema',
  'read_only',
  'untrusted',
]);

async function recordPage(context: Context, workspace: Workspace, items: readonly Item[]): Promise<Taken> {
  const engine = await context.engine();
  const clock = { now: engine.now() };
  // At the time of a report nobody was asked whether a process lives.
  const ofThePast = { now: () => clock.now, probe: () => undefined };
  return engine.together(async (held) => {
    const taken: Taken = { refused: new Map(), following: gatherFollowing(), memory: holdMemory(workspace.files) };
    const sessions = new Map<string, SessionContext>();
    const [last] = await held.heads({ limit: 1 });
    clock.now = last?.updatedAt ?? '';
    for (const item of items) {
      const { report } = item;
      // Not before what was recorded last, and not in the future.
      const at = new Date(Math.min(Math.round(report.atMs), Date.now())).toISOString();
      if (at > clock.now) clock.now = at;
      try {
        const reason = await recordItem(contextOf(context, held, item, taken), item, sessions);
        if (reason !== null) taken.refused.set(report.name, reason);
      } catch (thrown) {
        const fault = asFault(thrown);
        if (storeFaults.has(fault.code)) throw thrown;
        taken.refused.set(report.name, fault.message);
      }
    }
    return taken;
  }, ofThePast);
}

const HANDED_OVER = 'Its work was handed to another session.';

/** Why the report is refused; null once it is recorded. */
async function recordItem(context: Context, item: Item, sessions: Map<string, SessionContext>): Promise<string | null> {
  const { moment, report } = item;
  if (!isToolMoment(moment)) {
    if (!(await wasTaken(context, item))) await recordMoment(context, item.hooks, moment);
    return null;
  }
  const id = `${context.run ?? ''} ${moment.client} ${conversationOf(moment)}`;
  const within = (await knownSession(context, moment, sessions.get(id))) ?? (await findSession(context, moment));
  if (!within && (await wasTaken(context, item))) return null;
  const session = within ?? (await openFirst(context, moment));
  if (session === null) return HANDED_OVER;
  sessions.set(id, session);
  await recordTool(session, moment, report.atMs);
  return null;
}

/**
 * Whether a process recorded the report and was killed before it removed the file. The key of each command tells that too,
 * but by then a session that has ended since would have been opened again.
 */
async function wasTaken(context: Context, { report, moment }: Item): Promise<boolean> {
  const engine = await context.engine();
  const keys = [keyOfReport(report, 0), ...(isToolMoment(moment) ? keysOf(moment) : [])];
  for (const run of await runsOf(context, engine, moment)) {
    for (const key of keys) if (await engine.hasRecorded(run, key)) return true;
    if (moment.kind !== 'subagent-start' && moment.kind !== 'session-start') continue;
    const former = await formerSession(engine, run, moment);
    if (former && Date.parse(former.startedAt) >= Math.floor(report.atMs)) return true;
  }
  return false;
}

/** The key of a command that has none of its own. */
const keyOfReport = ({ name }: Report, index: number): string => `inbox:${name}:${index}`;

/** A report that is older was not seen with the working tree as it is now. */
const LATE_MS = 10_000;

function contextOf(context: Context, held: Engine, item: Item, { following, memory }: Taken): Context {
  const { report, parsed, moment, workspace } = item;
  const { cwd, run, agent, owner } = parsed;
  const { files } = memory;
  let recorded = 0;
  const engine: Engine = {
    ...held,
    async execute(of, command, identity) {
      if (identity.key !== null) return held.execute(of, command, identity);
      const done = await held.execute(of, command, { ...identity, key: keyOfReport(report, recorded) });
      if (done.events.length > 0) recorded++;
      return done;
    },
  };
  return {
    ...context,
    run,
    isRunKnown: false,
    isLate: Date.now() - report.atMs > LATE_MS,
    dir: moment.cwd ?? cwd,
    workspace: () => ({ ...workspace, files }),
    engine: async () => engine,
    now: () => held.now(),
    following: following.add,
    tally: undefined,
    identity: { actor: actorOf(agent, moment), evidence: 'hook', session: null, key: null, owner },
  };
}

/** The session that an earlier report of the page was recorded under, as it is now. */
async function knownSession(
  context: Context,
  moment: ToolMoment,
  known: SessionContext | undefined,
): Promise<SessionContext | null> {
  if (!known) return null;
  const engine = await context.engine();
  const state = await engine.load(known.run);
  const session = sessionIn(state, moment);
  return session && sessionContextOf(context, engine, state, session);
}

async function openFirst(context: Context, moment: ToolMoment): Promise<SessionContext | null> {
  const { memory, remember } = memoryFor(context, moment);
  return firstSession(context, moment, memory, remember);
}
