import { isSameName } from '../../../core/names.ts';
import { estimateTokens } from '../../../core/tokens.ts';
import { type MailClass, mailClasses, mailLabels, SNAPSHOT_TOKENS } from '../../../formats/documents/snapshot.ts';
import type { Counted, ListedFile } from '../../../formats/documents/snapshot-body.ts';
import type { FoundSnapshot, Problem } from '../../../formats/documents/snapshot-reading.ts';
import type { GitHistory } from '../../../workspace/git/history.ts';
import {
  type Company,
  checkCommitments,
  checkDecisions,
  checkMoment,
  checkPlacement,
  emptyLie,
  fileLies,
} from './check-claims.ts';
import type { Contract, SnapshotState } from './contract.ts';
import { cannotTell, fail, pass, type Verdict } from './verdict.ts';

type RuleName =
  | 'form'
  | 'identity'
  | 'token'
  | 'standing'
  | 'recorded'
  | 'active-task'
  | 'mailbox'
  | 'files-modified'
  | 'files-to-read'
  | 'questions'
  | 'decisions'
  | 'placement'
  | 'commitments'
  | 'length'
  | 'payload';

export interface Ruling extends Verdict {
  rule: RuleName;
}

export interface Checked {
  snapshot: FoundSnapshot;
  problems: readonly Problem[];
  text: string;
  state: { is: SnapshotState; why: string; broken: boolean };
  /** No later snapshot of its agent follows in the same text. */
  isLast: boolean;
  /** Whether it is as recorded; null if no journal knows the snapshot. */
  recorded: { same: boolean; why: string } | null;
  against: Contract | null;
  /** The journal at its time, also for one that is not as recorded. */
  journal: Contract | null;
  /** The file it was found in. */
  file: string;
  company: Company;
  git: GitHistory | null;
  now: string;
  /** Whether work was recorded after it; false where nothing is known of that. */
  isFollowed: boolean;
  /** Whether a path is one of the contract's own files. */
  isOwn(path: string): boolean;
}

/** Applies every rule. */
export async function checkSnapshot(checked: Checked): Promise<Ruling[]> {
  const { snapshot, against, state, recorded, text } = checked;
  const tokens = estimateTokens(text);
  const isNewest = state.is === 'current' || (state.is === 'unknown' && checked.isLast);
  const fresh = isNewest || against?.name.startsWith('event ');
  const older = state.is === 'unknown' ? 'not the last one here' : state.is;
  const moved = cannotTell(`It is ${older}, and the files beside it have changed since.`);
  return [
    ruling('form', checkForm(checked)),
    ruling('identity', await checkIdentity(checked)),
    ruling('token', checkToken(snapshot)),
    ruling('standing', checkStanding(checked)),
    ruling(
      'recorded',
      recorded ? (recorded.same ? pass(recorded.why) : fail(recorded.why)) : cannotTell('No journal here knows it.'),
    ),
    ruling('active-task', fresh ? unlessFollowed(checked, checkTask(snapshot, against)) : moved),
    ruling('mailbox', fresh ? unlessFollowed(checked, checkMail(snapshot, against)) : moved),
    ruling('files-modified', await checkFiles(snapshot.modified, 'modified', checked)),
    ruling('files-to-read', await checkFiles(snapshot.reading?.filter(isMeasured) ?? null, 'to read', checked)),
    ruling('questions', await checkQuestions(snapshot, against, fresh === true && !isOvertaken(checked))),
    ruling('decisions', checkDecisions(snapshot, against)),
    ruling('placement', checkPlacement(snapshot, checked.file, against)),
    ruling('commitments', fresh ? checkCommitments(snapshot, checked.journal ?? against, checked.company) : moved),
    ruling(
      'length',
      tokens <= SNAPSHOT_TOKENS
        ? pass(`About ${tokens} tokens.`)
        : fail(`About ${tokens} tokens; ${SNAPSHOT_TOKENS} is the limit.`),
    ),
  ];
}

/** Whether the files beside it show later work, so that they need not say what it says; its session may have gone on. */
const isOvertaken = ({ snapshot, against, recorded }: Checked): boolean =>
  (snapshot.sessionOpen && recorded?.same !== false && against?.name.startsWith('event ') === false) ||
  against?.isFollowed(snapshot.agent ?? '', snapshot.session, snapshot.timestamp) === true;

const unlessFollowed = (checked: Checked, verdict: Verdict): Verdict =>
  verdict.result === 'fail' && isOvertaken(checked)
    ? cannotTell(`The files beside it show later work. ${verdict.why}`)
    : verdict;

const ruling = (rule: Ruling['rule'], verdict: Verdict): Ruling => ({ rule, ...verdict });
/** Problems that other rules report. */
const elsewhere = new Set(['no_token', 'placeholder_token', 'bad_token', 'changed', 'missing_key', 'close_reason']);

/** A missing part fails; a part under another name passes. */
function checkForm({ problems, snapshot: { task } }: Checked): Verdict {
  const own = problems.filter((problem) => !elsewhere.has(problem.code));
  const missing = own.filter(({ code }) =>
    /^(?:missing_section|duplicate_section|no_front_matter|duplicate_key)$/.test(code),
  );
  const listed = (list: readonly Problem[]): string =>
    list.map(({ line, message }) => `line ${line}: ${message}`).join(' ');
  if (missing.length > 0) return fail(listed(missing));
  if (task && task.status !== 'complete' && !task.next)
    return fail('The task is not complete, and no next action is given.');
  return own.length > 0 ? pass(`Read leniently. ${listed(own)}`) : pass('All parts are there under their own names.');
}

async function checkIdentity({ snapshot, company, git, now, against }: Checked): Promise<Verdict> {
  const { session, agent, timestamp, closeReason, sessionOpen, revision } = snapshot;
  const missing = [
    ...(session === null ? ['session_id'] : []),
    ...(agent === null ? ['agent'] : []),
    ...(timestamp === null ? ['timestamp'] : []),
    ...(closeReason === null && !sessionOpen ? ['close_reason'] : []),
  ];
  if (missing.length > 0) return fail(`Missing: ${missing.join(', ')}.`);
  if (closeReason !== null && !/^(completed|context-exhausted|timeout|maintainer-directed)$/.test(closeReason))
    return fail(`The close reason "${closeReason.slice(0, 80)}" is not one of the four.`);
  const date = timestamp?.slice(0, 10).replaceAll('-', '');
  if (revision && revision.date !== date) return fail(`The token is of ${revision.date}, the snapshot of ${date}.`);
  const sessions = agent === null ? null : (against?.sessions(agent) ?? null);
  if (sessions && session !== null && !sessions.has(session) && /^S-\d+$/.test(session))
    return fail(`The files beside it know no session ${session} of ${agent}.`);
  const wrong = await checkMoment(snapshot, company, git, now);
  if (wrong) return fail(wrong);
  if (snapshot.head && !git)
    return cannotTell(`Without the whole history of git, commit ${snapshot.head.slice(0, 12)} is unknown.`);
  return pass(sessionOpen ? 'Taken in the middle of a session.' : `${agent}, ${session}, ${closeReason}.`);
}

function checkStanding({ state, company: { ahead }, snapshot, isFollowed }: Checked): Verdict {
  if (state.broken) return fail(state.why);
  if (ahead)
    return fail(`Its number ${snapshot.revision?.sequence} follows number ${ahead.revision?.sequence}: numbers go up.`);
  if (state.is === 'unknown') return cannotTell(state.why);
  const isTold = state.why.startsWith('Stale');
  return pass(
    isFollowed && state.is === 'current' && !isTold ? `${state.why} It is followed by later work.` : state.why,
  );
}

function checkToken({ tokenVerdict, token, digits, agent }: FoundSnapshot): Verdict {
  switch (tokenVerdict) {
    case 'valid':
      return pass(`${token} is the checksum of the text.`);
    case 'changed':
      return fail(`The text gives h${digits}, not ${token}: the text was changed, or the token was invented.`);
    case 'placeholder':
      return fail(`${token} is fake: eight zeros are a placeholder, not a checksum.`);
    case 'malformed':
      return fail(
        `${token} is not a snapshot token of ${agent ?? 'any agent'}: REV-YYYYMMDD-snapshot-AGENT-N-h and eight hex digits.`,
      );
    case 'missing':
      return fail('It has no token, so a change would not be noticed.');
    default:
      return tokenVerdict satisfies never;
  }
}

function checkTask({ task, agent }: FoundSnapshot, against: Contract | null): Verdict {
  if (!task) return fail('It has no active task.');
  const sources = agent === null ? [] : (against?.tasks(agent) ?? []);
  if (sources.length === 0) return cannotTell('There is no task of this agent to compare with.');
  const agreed: string[] = [];
  for (const { source, status, keys, text } of sources) {
    const isNamed = task.step !== null && (keys.includes(task.step) || hasWord(text, task.step));
    const mentions = keys.some((key) => hasWord(task.text, key));
    if (status === null) {
      if (isNamed) agreed.push(source);
      else if (keys.length > 0 && task.status !== 'complete')
        return fail(`By ${source} the task is ${keys.join(', ')}; it names ${task.step ?? 'none'}.`);
      continue;
    }
    if (task.status !== null && task.status !== status)
      return fail(`It says ${task.status}; by ${source} it is ${status} (${text}).`);
    if (keys.length > 0 && !isNamed && !(mentions && task.step === null))
      return fail(`By ${source} the task is ${keys.join(', ')}; it names ${task.step ?? 'none'}.`);
    if (keys.length === 0 && task.step !== null && status === 'complete' && task.status !== 'complete')
      return fail(`It names ${task.step}; by ${source} there is no task.`);
    agreed.push(source);
  }
  if (task.status === null) return cannotTell('Its status is not complete, partial or blocked.');
  return agreed.length > 0
    ? pass(`${task.status}, as by ${agreed.join(' and ')}.`)
    : cannotTell('There is only free text to compare with.');
}

/** Whether a text has an id as a whole: `t1` is not in `t10`. */
const hasWord = (text: string, id: string): boolean =>
  text.split(/[^\p{L}\p{N}\p{M}._-]+/u).some((word) => word === id || word.replace(/[._-]+$/, '') === id);

function checkMail({ mail, agent, keys }: FoundSnapshot, against: Contract | null): Verdict {
  if (!mail) return fail('It has no mailbox state.');
  const actual = agent === null ? null : (against?.mail(agent) ?? null);
  if (!actual) return cannotTell('There is no mailbox here to compare with.');
  const wrong: string[] = [];
  let compared = 0;
  for (const name of mailClasses) {
    const said = mail[name];
    if (!said) continue;
    compared++;
    // A snapshot that does not split unanswered mail counts both.
    const there =
      name === 'unansweredUnread' && !mail.awaitingClose ? [...actual[name], ...actual.awaitingClose] : actual[name];
    wrong.push(...differences(name, said, there), ...wrongNames(said, name, against as Contract));
  }
  for (const [key, count] of [
    ['unread', actual.unread.length],
    ['pending_acks', actual.pendingAcks.length],
    ['unanswered', actual.unansweredUnread.length + actual.awaitingClose.length],
  ] as const) {
    const said = keys.get(`mailbox.${key}`);
    if (said !== undefined && said !== String(count))
      wrong.push(`mailbox.${key} is ${said.slice(0, 20)}, the cards give ${count}`);
  }
  const counted = agent === null ? null : (against?.inbox(agent) ?? null);
  if (counted !== null && counted !== String(actual.unread.length))
    wrong.push(`the inbox table counts ${counted.slice(0, 20)} unread, the cards give ${actual.unread.length}`);
  if (wrong.length > 0) return fail(`${wrong.join('; ')}.`);
  return compared > 0 ? pass(`As the cards of ${against?.name} say.`) : cannotTell('It gives no numbers.');
}

function differences(
  name: MailClass,
  { count, ids, left = 0, isOwnForm = false }: Counted,
  actual: readonly string[],
): string[] {
  const label = mailLabels[name].toLowerCase();
  const there = actual.length > 0 ? ` (${actual.slice(0, 5).join(', ')})` : '';
  const unknown = ids.filter((id) => !actual.some((one) => isSameMessage(one, id)));
  return [
    ...(count !== null && count !== actual.length
      ? [`${label}: it says ${count}, the cards give ${actual.length}${there}`]
      : []),
    ...(unknown.length > 0 ? [`${label}: ${unknown.map(shownId).join(', ')} is not among them`] : []),
    ...(isOwnForm && count !== null && count !== ids.length + left
      ? [`${label}: it says ${count} and lists ${ids.length + left}`]
      : []),
  ];
}

const shownId = (id: string): string => id.split('|')[0] ?? id;

/** The sender or receiver that an entry names must be that of the message. */
function wrongNames({ entries = [] }: Counted, name: MailClass, against: Contract): string[] {
  const side = name === 'unread' || name === 'pendingAcks' ? 'from' : 'to';
  return entries.flatMap(({ id, who }) => {
    const actual =
      who === null
        ? null
        : id
            .split('|')
            .map((one) => against.sides(one))
            .find((one) => one !== null);
    if (!actual || who === null || isSameName(actual[side], who)) return [];
    return [`${shownId(id)} is ${side} ${actual[side]}, not ${who}`];
  });
}

/** An id may come with its alias, and people shorten `MSG-20260208-044` to `MSG-044`. */
function isSameMessage(actual: string, said: string): boolean {
  if (said.includes('|')) return said.split('|').some((one) => isSameMessage(actual, one));
  if (actual === said || actual.startsWith(`${said} (`) || actual.endsWith(`(${said})`)) return true;
  const short = /^MSG-(\d{3,6})$/.exec(said)?.[1];
  return short !== undefined && actual.endsWith(`-${short}`);
}

const isMeasured = ({ tokens, lines }: ListedFile): boolean => tokens !== null || lines !== null;

async function checkFiles(
  files: readonly ListedFile[] | null,
  what: 'modified' | 'to read',
  { snapshot, state, against, git, company, isFollowed, isOwn }: Checked,
): Promise<Verdict> {
  if (files === null) return cannotTell(`It has no list of files ${what}.`);
  if (!against) return cannotTell('There is no folder to look for them in.');
  const looked = files.filter((file) => !file.mayBeGone).map((file) => ({ ...file, is: against.file(file.path) }));
  const absent = looked.filter((file) => file.is === 'absent');
  const unknown = looked.filter((file) => file.is === 'unknown');
  const paths = absent
    .slice(0, 10)
    .map(({ path, line }) => `${path} (line ${line})`)
    .join(', ');
  if (absent.length > 0 && state.is === 'superseded')
    return cannotTell(`Missing now: ${paths}. It is superseded; they may have been removed since.`);
  if (absent.length > 0) return fail(`Missing: ${paths}.`);
  const lies = await fileLies(files, against, git, state.is, state.is === 'current' && !isFollowed);
  if (lies.length > 0) return fail(`${lies.slice(0, 5).join('; ')}.`);
  const empty = what === 'modified' ? await emptyLie(snapshot, company, git, isOwn) : null;
  if (empty) return fail(empty);
  const gone = files.find(
    (file) => file.mayBeGone && against.file(file.path) === 'absent' && !against.knows(file.path),
  );
  if (!git && what === 'modified' && (gone || (files.length === 0 && company.predecessor?.head)))
    return cannotTell(
      `Without the whole history of git, ${gone ? `${gone.path} may never have been there` : 'an empty list proves nothing'}.`,
    );
  if (unknown.length > 0) return cannotTell(`${unknown.length} of ${files.length} were in another working tree.`);
  return pass(
    files.length === 0
      ? 'It lists none.'
      : looked.length === 1
        ? 'It is there.'
        : `All ${looked.length} that should be there are.`,
  );
}

async function checkQuestions(
  { questions, questionStates }: FoundSnapshot,
  against: Contract | null,
  isFresh: boolean,
): Promise<Verdict> {
  if (questions === null) return cannotTell('It has no section on questions.');
  if (questions.length === 0) return pass('It names none.');
  const known = (await against?.questions(questions.flatMap((id) => id.split('|')))) ?? null;
  if (!known) return cannotTell('There is no list of questions here.');
  const stateOf = (id: string): string | null | undefined =>
    id.split('|').flatMap((one) => (known.has(one) ? [known.get(one)] : []))[0];
  const unknown = questions.filter((id) => !id.split('|').some((one) => known.has(one)));
  if (unknown.length > 0) return fail(`Unknown: ${unknown.slice(0, 20).map(shownId).join(', ')}.`);
  for (const id of isFresh ? questions : []) {
    const [said, is] = [questionStates.get(id), stateOf(id)];
    if (said && is && said !== is) return fail(`${shownId(id)} is ${is}, not ${said}.`);
  }
  return pass(questions.length === 1 ? 'It is known.' : `All ${questions.length} are known.`);
}
