import type { GoneRule } from '../../core/model/merge.ts';
import { emptyRunModel, type RunModel } from '../../core/model/run-model.ts';
import type { Files, Format, Found, Parsed } from '../format.ts';
import { isObject } from '../is-object.ts';
import { aliasMaker } from './alias.ts';
import { type Changes, changesBetween } from './changes.ts';
import { addSnapshots, type GivenSnapshot, headingOf, newChat, sessionsIn } from './chat.ts';
import { detect, fileNames, filesOf, folderOf, sortFolder } from './folder.ts';
import { isMessageId, readMailbox } from './mailbox.ts';
import { renderMailboxJson } from './mailbox-json.ts';
import { changeMailbox, type KeptCards, newMailbox, newMailboxArchive } from './mailbox-write.ts';
import { nameKey, slug } from './names.ts';
import { unreported } from './page.ts';
import { changeQuestions, newQuestions } from './questions.ts';
import { type ReadFolder, readFolder, versionOf } from './read.ts';
import { repairFolder } from './repair.ts';
import { loses } from './table.ts';
import { changeTurnfile, newTurnfile } from './turnfile-write.ts';
import { unknownIn } from './unknown.ts';
import { changeWorklog, newWorklog, newWorklogArchive, type Pointers } from './worklog-write.ts';

/** Messages and questions are archived by taking them out of their page. */
const gone: GoneRule = (list) => (list === 'steps' ? 'ask' : 'hidden');

/** SNAP: the files with which agents coordinate in one folder. See `docs/formats/snap.md`. */
export const snap: Format = {
  name: 'snap',
  detect,
  parse,
  render,
  home: () => {
    const paths = (['turnfile', 'mailbox', 'worklog', 'questions'] as const).map((kind) => HOME + fileNames[kind]);
    return { format: 'snap', main: HOME + fileNames.turnfile, files: paths };
  },
  loses,
  writes: [
    '**/*TURNFILE*.{yaml,yml}',
    '**/*MAILBOX*.{md,json}',
    '**/*WORKLOG*.md',
    '**/*OPEN_QUESTIONS*.md',
    '**/chat-*.md',
  ],
  gone,
  repair: repairFolder,
};

const HOME = 'working-session/';
/** The newest Turnfile version that can be written. */
const MAJOR = 1;

function parse(found: Found, files: Files): Parsed {
  const read = readFolder(found, files);
  const version = versionOf(read);
  const isNewer = Number(/^(\d+)/.exec(version ?? '')?.[1] ?? 0) > MAJOR;
  const problems = [...read.problems];
  if (isNewer)
    problems.push({
      code: 'newer_version',
      level: 'error',
      path: found.main,
      line: null,
      message: `Turnfile ${version?.slice(0, 40)} is newer than this program; it is read and not written.`,
    });
  return {
    model: read.model,
    version,
    writable: read.model !== null && read.sound && !isNewer,
    problems,
    unknown: unknownIn(read),
  };
}

function render(model: RunModel, place: Found, previous: Files, now: string): Files {
  const path = folderOf(place.main);
  const there = sortFolder([...previous.keys()], path);
  const isNew = filesOf(there).length === 0;
  const kept = isObject(model.kept?.['snap']) ? model.kept['snap'] : {};
  const start = new Map([...previous].filter(([one]) => folderOf(one) === path));
  const made = new Set<string>();
  const make = (
    kind: 'turnfile' | 'mailbox' | 'mailboxArchive' | 'worklog' | 'worklogArchive' | 'questions',
    text: () => string,
  ): string => {
    const existing = there[kind];
    if (existing !== null) return existing;
    const fresh = kind === 'turnfile' && isNew ? place.main : path + fileNames[kind];
    start.set(fresh, text());
    made.add(fresh);
    return fresh;
  };
  const paths = {
    turnfile: make('turnfile', () => newTurnfile(model, path === '' ? './' : path, kept['turnfile'])),
    mailbox: make('mailbox', () => newMailbox(model, path)),
    archive: make('mailboxArchive', () => newMailboxArchive(model)),
    worklog: make('worklog', () => newWorklog(model, typeof kept['focus'] === 'string' ? kept['focus'] : undefined)),
    worklogArchive: make('worklogArchive', () => newWorklogArchive(model)),
    questions: make('questions', () => newQuestions(model)),
  };
  const read = readFolder({ ...place, main: place.main, files: [...start.keys()] }, start);
  const before = read.model ?? emptyRunModel(model.run.title);
  const changes = changesBetween(before, withAliases(model, changesBetween(before, model), start, now));
  const out = new Map<string, string>();
  const put = (one: string, text: string | null): void => {
    const isArchive = one === paths.archive || one === paths.worklogArchive;
    const whole = text ?? (isNew && !isArchive ? start.get(one) : undefined);
    if (whole !== undefined && whole !== previous.get(one)) out.set(one, whole);
  };
  const snapshots = snapshotsOf(model);
  const cards = { ...(kept['cards'] as KeptCards | undefined) };
  const places = handoffPlaces(read, model, snapshots);
  for (const { id, alias } of places.size > 0 ? changes.after.messages : []) {
    const place = places.get(id ?? '');
    if (place !== undefined && alias !== undefined) cards[alias] = { ...cards[alias], snapshot: place };
  }
  const mail = renderMail(read, changes, cards);
  put(paths.mailbox, mail.mailbox);
  put(paths.archive, mail.archive);
  const written = out.get(paths.mailbox);
  if (there.mailboxJson !== null && written !== undefined) {
    const places = { mailbox: paths.mailbox, json: there.mailboxJson };
    put(there.mailboxJson, renderMailboxJson(written, places, previous.get(there.mailboxJson) ?? '', now));
  }
  const inChats = new Set([...read.chats.values()].flatMap(sessionsIn).map((session) => slug(session.alias)));
  for (const [one, text] of renderChats(read, snapshots)) put(one, text);
  if (read.worklog && read.worklogArchive) {
    const pointers = pointersOf(read, snapshots);
    const log = changeWorklog(read.worklog, read.worklogArchive, changes, pointers, inChats);
    put(paths.worklog, log.worklog);
    put(paths.worklogArchive, log.archive);
  }
  put(paths.questions, read.questions ? changeQuestions(read.questions, changes, now) : null);
  const hasTurnfile = !made.has(paths.turnfile);
  if (read.turnfile)
    put(paths.turnfile, changeTurnfile(read.turnfile, changes, isNew || (hasTurnfile && out.size > 0)));
  return out;
}

/** Messages and questions get their id in the file, or a new one, before anything names them. */
function withAliases(model: RunModel, { messages, items }: Changes, files: Files, now: string): RunModel {
  const taken = [...model.messages, ...model.items].flatMap((one) => one.alias ?? []);
  const aliases = aliasMaker(files, taken);
  const named = new Map<object, string>();
  for (const { before, after } of [...messages.kept, ...items.kept])
    if (after.alias === undefined && before.alias !== undefined) named.set(after, before.alias);
  for (const one of messages.added)
    if (one.alias === undefined || !isMessageId(one.alias)) named.set(one, aliases('message', dayOf(one.at, now)));
  for (const one of items.added)
    if (one.kind === 'question' && one.alias === undefined) named.set(one, aliases('question', now));
  if (named.size === 0) return model;
  const withName = <T extends object>(one: T): T => (named.has(one) ? { ...one, alias: named.get(one) } : one);
  return { ...model, messages: model.messages.map(withName), items: model.items.map(withName) };
}

function renderMail(read: ReadFolder, changes: Changes, kept: KeptCards = {}): ReturnType<typeof changeMailbox> {
  const { mailbox, mailboxArchive } = read;
  if (!mailbox) return { mailbox: null, archive: null };
  return changeMailbox({ mailbox, archive: mailboxArchive ?? readMailbox('', unreported) }, changes, kept);
}

const dayOf = (at: string | undefined, now: string): string =>
  /^\d{4}-\d{2}-\d{2}/.test(at ?? '') ? (at as string) : now;

/** Where the snapshot of each handoff message is, by our id of the message. */
function handoffPlaces(read: ReadFolder, { kept }: RunModel, snapshots: readonly GivenSnapshot[]): Map<string, string> {
  const offers = kept?.['handoffs'];
  return new Map(
    (Array.isArray(offers) ? offers : []).filter(isObject).flatMap(({ message, snapshot }): [string, string][] => {
      const found = snapshots.find((one) => one.id === snapshot);
      if (!found) return [];
      return [[String(message), `${chatPath(read, found.agent)} § ${headingOf(found)}, ${found.token ?? 'no token'}`]];
    }),
  );
}

/** The snapshots that the operations added to the run model. */
function snapshotsOf({ kept }: RunModel): GivenSnapshot[] {
  const given = kept?.['snapshots'];
  return (Array.isArray(given) ? given : []).filter(
    (one): one is GivenSnapshot =>
      isObject(one) &&
      typeof one['id'] === 'string' &&
      typeof one['agent'] === 'string' &&
      typeof one['session'] === 'string' &&
      typeof one['sessionNumber'] === 'number' &&
      nameKey(one['agent']) !== '',
  );
}

function chatPath({ folder }: ReadFolder, agent: string): string {
  return folder.chats.get(nameKey(agent)) ?? `${folder.path}chat-${slug(agent)}.md`;
}

function renderChats(read: ReadFolder, snapshots: readonly GivenSnapshot[]): [string, string][] {
  const byPath = new Map<string, GivenSnapshot[]>();
  for (const snapshot of snapshots) {
    const path = chatPath(read, snapshot.agent);
    byPath.set(path, [...(byPath.get(path) ?? []), snapshot]);
  }
  return [...byPath].flatMap(([path, own]): [string, string][] => {
    const chat = read.chats.get(path);
    if (chat && !chat.sound) return [];
    const text = addSnapshots(chat?.text ?? newChat(own[0]?.agent ?? ''), own);
    return text === null ? [] : [[path, text]];
  });
}

function pointersOf(read: ReadFolder, snapshots: readonly GivenSnapshot[]): Pointers {
  const closing = snapshots.filter((one) => one.isClosing);
  return new Map(closing.map((one) => [one.session, { path: chatPath(read, one.agent), number: one.sessionNumber }]));
}
