import * as v from 'valibot';
import {
  emptyRunModel,
  ModelClaim,
  ModelDecision,
  ModelItem,
  ModelMessage,
  ModelNote,
  ModelSession,
  ModelStep,
  type RunModel,
} from '../../core/model/run-model.ts';
import type { Files, Found, Problem } from '../format.ts';
import { flat } from '../text/lines.ts';
import { type Chat, type ChatFacts, factsIn, readChat, sessionsIn } from './chat.ts';
import { type Folder, folderOf, sortFolder } from './folder.ts';
import { type Mailbox, messagesOf, readMailbox } from './mailbox.ts';
import { checkMailbox } from './mailbox-rules.ts';
import { label, nameKey, sameWords, slug, textOf } from './names.ts';
import { type Report, reporter } from './page.ts';
import { checkQuestions, type Questions, readQuestions } from './questions.ts';
import { readTurnfile, type Turnfile } from './turnfile.ts';
import { modelOfTurnfile } from './turnfile-model.ts';
import { checkTurnfile } from './turnfile-rules.ts';
import { checkWorklog, readWorklog, type Worklog } from './worklog.ts';

/** A folder as read, and its run model, which consists of the same objects as the parsed files. */
export interface ReadFolder {
  folder: Folder;
  turnfile: Turnfile | null;
  mailbox: Mailbox | null;
  mailboxArchive: Mailbox | null;
  worklog: Worklog | null;
  worklogArchive: Worklog | null;
  questions: Questions | null;
  /** By path. */
  chats: ReadonlyMap<string, Chat>;
  model: RunModel | null;
  problems: Problem[];
  /** No file is damaged. */
  sound: boolean;
}

export function readFolder(found: Found, files: Files): ReadFolder {
  const problems: Problem[] = [];
  const folder = sortFolder([...found.files, found.main], folderOf(found.main));
  const read = <T>(path: string | null, reader: (text: string, report: Report) => T, ignored?: string): T | null => {
    const text = path === null ? undefined : files.get(path);
    return path === null || text === undefined ? null : reader(text, reporter(path, problems, ignored));
  };
  const turnfile = read(folder.turnfile, (text, report) => {
    const one = readTurnfile(text, report);
    checkTurnfile(one, report);
    return one;
  });
  const mailbox = read(folder.mailbox, (text, report) => {
    const one = readMailbox(text, report);
    if (text.trim() !== '') checkMailbox(one, text, report);
    return one;
  });
  const mailboxArchive = read(folder.mailboxArchive, readMailbox);
  const people = new Set([...(turnfile?.agents.keys() ?? [])].map(nameKey));
  for (const { message } of mailbox?.cards ?? [])
    for (const name of [message.from, message.to]) people.add(nameKey(name));
  const worklog = read(folder.worklog, (text, report) => {
    const one = readWorklog(text, people, report);
    if (text.trim() !== '') checkWorklog(one, report);
    return one;
  });
  const worklogArchive = read(folder.worklogArchive, (text, report) => readWorklog(text, people, report));
  const questions = read(folder.questions, (text, report) => {
    const one = readQuestions(text, report);
    if (text.trim() !== '') checkQuestions(one, report);
    return one;
  });
  const chats = new Map<string, Chat>();
  for (const path of folder.chats.values()) {
    const agent = /^chat-([\p{L}\p{N}_-]+)/u.exec(path.slice(folder.path.length))?.[1] ?? 'unknown';
    // Chats are prose: a row of dots is not damage.
    const chat = read(path, (text, report) => readChat(agent, text, report), 'elided');
    if (chat) chats.set(path, chat);
  }
  const all = [turnfile, mailbox, mailboxArchive, worklog, worklogArchive, questions, ...chats.values()];
  const parts = { folder, turnfile, mailbox, mailboxArchive, worklog, worklogArchive, questions, chats };
  const model = accountOf(parts, (message) =>
    problems.push({ code: 'invalid_value', level: 'error', path: found.main, line: null, message }),
  );
  if (!model && problems.length === 0)
    problems.push({
      code: 'empty',
      level: 'error',
      path: found.main,
      line: null,
      message: 'Nothing in it can be read.',
    });
  return { ...parts, model, problems, sound: all.every((one) => one === null || one.sound) };
}

type Parts = Omit<ReadFolder, 'model' | 'problems' | 'sound'>;

function accountOf(parts: Parts, refuse: (message: string) => void): RunModel | null {
  const { folder, turnfile, mailbox, mailboxArchive, worklog, worklogArchive, questions, chats } = parts;
  const pages = [mailbox, worklog, questions].some((one) => (one?.page.headings.length ?? 0) > 0);
  const inChats = [...chats.values()].flatMap(sessionsIn);
  if (!turnfile?.root && !pages && inChats.length === 0) return null;
  const turn = turnfile ? modelOfTurnfile(turnfile) : null;
  const facts = [...chats.values()].map(factsIn);
  const items = [...(worklog?.itemRows.keys() ?? [])];
  const explained = new Set(
    items
      .filter((item) => item.kind === 'blocker' && item.status === 'active')
      .flatMap((item) => [item.step, ...(item.affects ?? [])]),
  );
  const blockers = (turn?.blockers ?? []).filter((item) => !explained.has(item.step));
  const listed = new Set(items.map((item) => sameWords(item.text)));
  const commitments = facts.flatMap((one) => one.commitments).filter((item) => !listed.has(sameWords(item.text)));
  const title =
    said(turn?.title) ??
    said(worklog?.title) ??
    said(mailbox?.title) ??
    said(questions?.title) ??
    label(folder.path.replace(/\/$/, '').split('/').at(-1));
  const keep = <T>(schema: v.GenericSchema<unknown, T>, list: readonly T[]): T[] =>
    list.filter((one) => {
      const { success, issues } = v.safeParse(schema, one);
      if (!success) refuse(`A value does not fit the run model: ${issues[0]?.message.slice(0, 200)}.`);
      return success;
    });
  const openedAt = mailbox?.openedAt;
  const next = nextIn(worklog, facts);
  const reasons = new Map(facts.flatMap((one) => [...one.reasons]));
  const indexed = [...(worklog?.decisions.keys() ?? [])].map((one) => withReason(one, reasons));
  const reading = new Map(facts.flatMap(({ reading: one }) => (one ? [[one.step, one.files]] : [])));
  return {
    ...emptyRunModel(title ?? 'Session'),
    run: { title: title ?? 'Session', status: 'active', ...(openedAt === undefined ? {} : { openedAt }) },
    steps: keep(
      ModelStep,
      (turn?.steps ?? []).map((step) => withContext(step, reading.get(step.key))),
    ),
    decisions: keep(ModelDecision, [...indexed, ...facts.flatMap((one) => one.decisions)]),
    items: keep(ModelItem, [...items, ...blockers, ...commitments, ...(questions?.rows.keys() ?? [])]),
    notes: keep(ModelNote, [...(worklogArchive?.notes.keys() ?? []), ...(worklog?.notes.keys() ?? [])]),
    sessions: keep(
      ModelSession,
      mergeSessions([...(worklogArchive?.sessions ?? []), ...(worklog?.sessions ?? [])], inChats, turn?.sessions ?? []),
    ),
    messages: keep(ModelMessage, messagesOf(mailbox, mailboxArchive)),
    claims: keep(ModelClaim, turn?.claims ?? []),
    ...(turn?.position ? { position: turn.position } : {}),
    ...(next === undefined ? {} : { next: flat(next) }),
    kept: { snap: keptOf(parts) },
  };
}

/** The newest claim: a snapshot counts if the worklog has nothing of that day or later. */
function nextIn(worklog: Worklog | null, facts: readonly ChatFacts[]): string | undefined {
  const checkpoint = said(worklog?.checkpoint?.words);
  const logged = [
    ...(worklog?.sections ?? []).map(({ date }) => date),
    ...(worklog?.sessions ?? []).map(({ endedAt }) => endedAt),
  ].map((date) => /\d{4}-\d\d-\d\d/.exec(date ?? '')?.[0] ?? '');
  const day = logged.sort().at(-1) ?? '';
  const snapshot = facts
    .flatMap(({ next }) => next ?? [])
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1);
  const isNewer = snapshot !== undefined && snapshot.at.slice(0, 10) > day;
  return isNewer || checkpoint === undefined ? (said(snapshot?.text) ?? checkpoint) : checkpoint;
}

/** Decisions without a reason get that of a snapshot with the same words. The index itself is not changed by it. */
function withReason(decision: ModelDecision, reasons: ReadonlyMap<string, string>): ModelDecision {
  const reason = decision.reason ?? reasons.get(sameWords(decision.decision));
  if (reason !== undefined) decision.reason = reason;
  return decision;
}

function withContext(step: ModelStep, files: readonly string[] | undefined): ModelStep {
  return files && step.status !== 'completed' ? { ...step, context: [...files] } : step;
}

/** Text with content: not the `none` or the `<what comes next>` of a template. */
function said(words: string | undefined): string | undefined {
  return words === undefined || /^(?:|none|<[^>]*>)$/.test(words) ? undefined : words;
}

/**
 * A session is in up to three files. Sources for its end (worklog, snapshot) have priority over the Turnfile, where an
 * absent agent stays active; a fact in only one file is taken from it. Snapshots of sessions missing in the worklog are
 * older than those it lists.
 */
function mergeSessions(
  logged: readonly ModelSession[],
  inChats: readonly ModelSession[],
  current: readonly ModelSession[],
): ModelSession[] {
  const listed = new Set(logged.map((session) => slug(session.alias)));
  const older = inChats.filter((session) => !listed.has(slug(session.alias)));
  const found = new Map<string, ModelSession>([...older, ...logged].map((session) => [slug(session.alias), session]));
  for (const session of [...inChats, ...current]) {
    const id = slug(session.alias);
    found.set(id, { ...session, ...found.get(id) });
  }
  return [...found.values()];
}

/** What the run model cannot hold: the whole Turnfile, other fields of cards, the maintainer's focus. */
function keptOf({ turnfile, mailbox, worklog }: Parts): Record<string, unknown> {
  const said = new Set(['from', 'date', 'type', 'priority', 'status', 'subject', 'disposition', 'response needed by']);
  const cards = Object.fromEntries(
    (mailbox?.cards ?? []).flatMap(({ id, fields }) => {
      const others = [...fields].filter(([name]) => !said.has(name)).map(([name, { value }]) => [name, value] as const);
      return others.length > 0 ? [[id, Object.fromEntries(others)] as const] : [];
    }),
  );
  return {
    ...(turnfile?.root ? { turnfile: turnfile.value } : {}),
    ...(Object.keys(cards).length > 0 ? { cards } : {}),
    ...(worklog?.focus ? { focus: worklog.focus.words } : {}),
  };
}

/** The version of the Turnfile; the other files have none. */
export function versionOf({ turnfile }: Pick<ReadFolder, 'turnfile'>): string | null {
  return textOf(turnfile?.sections.get('turnfile')?.fields['version']) ?? null;
}
