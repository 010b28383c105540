import { conversationOf } from '../clients/conversation.ts';
import { hooksOf } from '../clients/index.ts';
import type { ToolMoment } from '../clients/moment.ts';
import { clientOfHook } from '../clients/recognise.ts';
import { asFault, type FaultCode } from '../core/fault.ts';
import type { Engine } from '../engine/engine.ts';
import type { Context } from '../operations/context.ts';
import { type Following, gatherFollowing } from '../operations/follow-up.ts';
import { findSession, sessionIn } from '../operations/session/parts/find-session.ts';
import { type SessionContext, sessionContextOf } from '../operations/session/parts/session-context.ts';
import {
  listReports,
  machineOf,
  markDrained,
  passOn,
  processOf,
  putAside,
  type Report,
  readReport,
  removeReport,
} from '../workspace/inbox.ts';
import { isRunning } from '../workspace/process.ts';
import { findWorkspace, type Workspace } from '../workspace/workspace.ts';
import { actorOf } from './actor.ts';
import { firstSession } from './first-session.ts';
import { log } from './log.ts';
import { memoryFor } from './memory.ts';
import { isBare, type ParsedReport, parseReport } from './report.ts';
import { recordTool } from './tool-use.ts';

/** So many reports are decided in memory and recorded in one transaction. */
const PAGE = 200;

/**
 * Takes in the reports of the hook inbox, in the order in which they were written, each exactly once: the keys of their
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
  const places = new Map<string, Workspace | null>();
  const placeOf = (dir: string): Workspace | null => {
    if (!places.has(dir)) places.set(dir, findWorkspace(dir));
    return places.get(dir) ?? null;
  };
  for (let at = 0; at < reports.length; at += PAGE) {
    if (at > 0 && Date.now() > deadlineMs) return reports.length - at;
    const items: Item[] = [];
    for (const report of reports.slice(at, at + PAGE)) {
      const item = await openItem(workspace, report, placeOf);
      if (item) items.push(item);
    }
    await takePage(context, workspace, items);
  }
  markDrained(workspace.files);
  return 0;
}

/** A report that has something to record. */
interface Item {
  report: Report;
  parsed: ParsedReport;
  moment: ToolMoment;
  /** With the working tree it comes from. */
  workspace: Workspace;
}

/** Null for a report that is done with, or that must wait. */
async function openItem(
  workspace: Workspace,
  report: Report,
  placeOf: (dir: string) => Workspace | null,
): Promise<Item | null> {
  const { files, root } = workspace;
  const text = readReport(files, report);
  const parsed = text === null ? null : parseReport(text);
  if (parsed === null) {
    if (mayStillGrow(workspace, report)) return null;
    if (text !== null && isBare(text)) removeReport(files, report);
    else {
      putAside(files, report, 'bad');
      log(root, `The hook report ${report.name} cannot be read and was put aside.`);
    }
    return null;
  }
  const client = await clientOfHook(parsed.client, parsed.input, {});
  const named = parsed.input['hook_event_name'];
  const moment =
    client === null
      ? null
      : (await hooksOf(client)).read(typeof named === 'string' ? named : parsed.event, parsed.input);
  const isTool = moment?.kind === 'tool-after' || (moment?.kind === 'tool-before' && moment.call.command !== null);
  if (moment === null || !isTool) {
    removeReport(files, report);
    return null;
  }
  const there = placeOf(moment.cwd ?? parsed.cwd) ?? workspace;
  if (there.folder === workspace.folder) return { report, parsed, moment, workspace: there };
  return passOn(files, report, there.files) ? null : { report, parsed, moment, workspace };
}

const GROWS_MS = 20_000;
const GROWS_ELSEWHERE_MS = 10 * 60_000;

/** Whether the hook may still be writing: a report is written in place. */
function mayStillGrow({ clone }: Workspace, { name, atMs }: Report): boolean {
  const ageMs = Date.now() - atMs;
  if (machineOf(name) !== clone.machine) return ageMs < GROWS_ELSEWHERE_MS;
  return ageMs < GROWS_MS && isRunning(processOf(name));
}

/** Records the items in one transaction; if others write without pause, in smaller ones. */
async function takePage(context: Context, workspace: Workspace, items: readonly Item[]): Promise<void> {
  if (items.length === 0) return;
  try {
    const { refused, following, remembered } = await recordPage(context, items);
    for (const remember of remembered) remember();
    for (const { report } of items) {
      if (refused.has(report.name)) putAside(workspace.files, report, 'refused');
      else removeReport(workspace.files, report);
    }
    for (const [name, reason] of refused) log(workspace.root, `The hook report ${name} was refused: ${reason}`);
    await following.write(context);
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
  remembered: (() => void)[];
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

async function recordPage(context: Context, items: readonly Item[]): Promise<Taken> {
  const engine = await context.engine();
  const clock = { now: engine.now() };
  // At the time of a report nobody was asked whether a process lives.
  const ofThePast = { now: () => clock.now, probe: () => undefined };
  return engine.together(async (held) => {
    const taken: Taken = { refused: new Map(), following: gatherFollowing(), remembered: [] };
    const sessions = new Map<string, SessionContext>();
    const [last] = await held.heads({ limit: 1 });
    clock.now = last?.updatedAt ?? '';
    for (const item of items) {
      const { report, moment } = item;
      // Not before what was recorded last, and not in the future.
      const at = new Date(Math.min(Math.round(report.atMs), Date.now())).toISOString();
      if (at > clock.now) clock.now = at;
      try {
        const within = await sessionOf(contextOf(context, held, item, taken), held, moment, sessions, taken);
        if (within) await recordTool(within, moment, report.atMs);
        else taken.refused.set(report.name, 'Its work was handed to another session.');
      } catch (thrown) {
        const fault = asFault(thrown);
        if (storeFaults.has(fault.code)) throw thrown;
        taken.refused.set(report.name, fault.message);
      }
    }
    return taken;
  }, ofThePast);
}

function contextOf(context: Context, held: Engine, { parsed, moment, workspace }: Item, { following }: Taken): Context {
  const { cwd, run, agent, owner } = parsed;
  return {
    ...context,
    run,
    isRunKnown: false,
    dir: moment.cwd ?? cwd,
    workspace: () => workspace,
    engine: async () => held,
    now: () => held.now(),
    following: following.add,
    tally: undefined,
    identity: { actor: actorOf(agent, moment), evidence: 'hook', session: null, key: null, owner },
  };
}

/** The session of the conversation; looked up once in a page, and opened if the first report is a tool call. */
async function sessionOf(
  context: Context,
  held: Engine,
  moment: ToolMoment,
  sessions: Map<string, SessionContext>,
  { remembered }: Taken,
): Promise<SessionContext | null> {
  const open = () => {
    const { memory, remember } = memoryFor(context, moment);
    return firstSession(context, moment, memory, (next) => remembered.push(() => remember(next)));
  };
  const id = `${context.run ?? ''} ${moment.client} ${conversationOf(moment)}`;
  const known = sessions.get(id);
  const state = known && (await held.load(known.run));
  const session = state && sessionIn(state, moment);
  const within =
    state && session
      ? sessionContextOf(context, held, state, session)
      : ((await findSession(context, moment)) ?? (await open()));
  if (within) sessions.set(id, within);
  return within;
}
