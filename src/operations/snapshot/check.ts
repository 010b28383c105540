import { dirname, join, relative, resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { FilePath } from '../../core/text.ts';
import { type Envelope, envelopesIn } from '../../formats/documents/envelope.ts';
import { type FoundSnapshot, snapshotsInChat } from '../../formats/documents/snapshot-reading.ts';
import { historyOf } from '../../workspace/git/history.ts';
import { isFolder, listFolder, pathExists, readDamaged } from '../../workspace/read.ts';
import { findWorkspace } from '../../workspace/workspace.ts';
import { currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { defineOperation, described } from '../operation.ts';
import type { Company } from './parts/check-claims.ts';
import { type Checked, checkSnapshot, type Ruling } from './parts/check-rules.ts';
import type { Contract } from './parts/contract.ts';
import { contractFolder } from './parts/contract-folder.ts';
import { journalOf, type KnownSnapshot, type SnapshotJournal } from './parts/journal.ts';

const Rule = v.object({
  rule: v.string(),
  result: v.picklist(['pass', 'fail', 'cannot-tell']),
  why: v.string(),
  /** Where the snapshot or attachment is. */
  at: v.string(),
});

export const check = defineOperation({
  name: 'check',
  summary: 'Check snapshots against files and journal, rule by rule; exits with 1 if a rule fails.',
  scope: 'read',
  local: ['file'],
  words: ['file'],
  examples: ['holdfast check', 'holdfast check .git/holdfast/snapshots/claude-3.md', 'holdfast check working-session'],
  input: v.object({
    file: v.optional(
      described(
        FilePath,
        'A snapshot file, a chat file (its last snapshot), a mailbox (its attachments) or a folder; without it, the newest snapshots of the run and the attachments of its open mail.',
      ),
    ),
    all: v.optional(described(v.boolean(), 'Every snapshot of the run or file, not only the newest.')),
  }),
  output: v.object({
    snapshots: v.array(
      v.object({
        /** Null if the journal does not know the snapshot. */
        id: v.nullable(v.string()),
        at: v.string(),
        agent: v.nullable(v.string()),
        session: v.nullable(v.string()),
        token: v.nullable(v.string()),
        standing: v.string(),
        problems: v.array(v.object({ code: v.string(), line: v.number(), message: v.string() })),
      }),
    ),
    payloads: v.array(v.object({ at: v.string(), token: v.string() })),
    rules: v.array(Rule),
    failed: v.number(),
  }),
  async run(context, { file, all }) {
    const checking = { context, journal: await journalOf(context), contractOf: folderReader() };
    const found = file === undefined ? await checkRun(checking, all) : await checkPath(checking, file, all);
    const rules: v.InferOutput<typeof Rule>[] = [];
    for (const one of found) {
      const rulings: Ruling[] = one.snapshot ? await checkSnapshot({ ...one, snapshot: one.snapshot }) : one.rulings;
      rules.push(...rulings.map((ruling) => ({ ...ruling, at: one.at })));
    }
    const payloads = found.flatMap(({ at, attachment }) =>
      attachment === undefined ? [] : [{ at, token: attachment }],
    );
    const taken = found.filter(({ attachment }) => attachment === undefined);
    const snapshots = taken.map(({ id = null, at, snapshot, state, problems }) => ({
      id,
      at,
      agent: snapshot?.agent ?? null,
      session: snapshot?.session ?? null,
      token: snapshot?.token ?? null,
      standing: state.is,
      problems: [...problems],
    }));
    return { data: { snapshots, payloads, rules, failed: rules.filter((rule) => rule.result === 'fail').length } };
  },
  say: ({ snapshots, payloads, rules, failed }, pen) => {
    const marks = {
      pass: pen.good('pass       '),
      fail: pen.bad('fail       '),
      'cannot-tell': pen.warn('cannot tell'),
    };
    const things = [...snapshots, ...payloads.map(({ at }) => ({ at, standing: 'attachment' }))];
    const blocks = things.map(({ at, standing }) =>
      [
        `${pen.bold(at)} (${standing})`,
        ...rules.filter((one) => one.at === at).map(({ rule, result, why }) => `  ${marks[result]} ${rule}: ${why}`),
      ].join('\n'),
    );
    const end =
      failed > 0
        ? pen.bad(failed === 1 ? 'One rule failed.' : `${failed} rules failed.`)
        : things.length > 0
          ? pen.good('No rule failed.')
          : 'There is no snapshot yet.';
    return [...blocks, end].join('\n');
  },
  verdict: ({ failed }) => (failed > 0 ? 1 : 0),
});

interface Found extends Omit<Checked, 'snapshot'> {
  id?: string;
  at: string;
  /** The token, if this is an attachment. */
  attachment?: string;
  /** Null for an attachment, and if no snapshot could be read; then `rulings` has the reason. */
  snapshot: FoundSnapshot | null;
  rulings: Ruling[];
}

interface Check {
  context: Context;
  journal: SnapshotJournal | null;
  contractOf(folder: string): Contract | null;
}

/** Reads each folder once: all snapshots in it are checked against the same files. */
function folderReader(): Check['contractOf'] {
  const read = new Map<string, Contract | null>();
  return (folder) => {
    const contract = read.get(folder) ?? contractFolder(folder);
    read.set(folder, contract);
    return contract;
  };
}

/** Checks the recorded snapshots, whose files must be as recorded, and the attachments of open mail. */
async function checkRun(checking: Check, all = false): Promise<Found[]> {
  const { context, journal } = checking;
  if (!journal) {
    throw new Fault('not_found', 'There is no workspace here whose snapshots could be checked.', {
      hints: ['Name a file or a folder: `holdfast check working-session`.'],
    });
  }
  const known = await journal.list();
  const wanted = all ? known : known.filter((one) => one.taken.sequence === newest(known, one.taken.agent));
  const found: Found[] = [];
  for (const one of wanted) {
    const text = readDamaged(one.file);
    if (text === null) found.push({ id: one.taken.id, ...missing(context, one) });
    else found.push({ id: one.taken.id, ...(await judge(checking, { file: one.file, text, index: -1 }, [])) });
  }
  return [...found, ...(await mailAttachments(context))];
}

async function mailAttachments(context: Context): Promise<Found[]> {
  const { messages } = await currentState(context);
  return [...messages.values()].flatMap(({ id, body, replies }) => {
    const text = [body, ...replies.map((reply) => reply.body)].join('\n\n');
    return attachmentsIn(text, (line) => `${id}:${line}`);
  });
}

const newest = (known: readonly KnownSnapshot[], agent: string): number =>
  Math.max(...known.filter((one) => one.taken.agent === agent).map((one) => one.taken.sequence));

function missing(context: Context, { file, taken }: KnownSnapshot): Found {
  return {
    ...nothingRead,
    at: shown(context, file),
    rulings: [
      {
        rule: 'recorded',
        result: 'fail',
        why: `${taken.id} is in the journal but its file is missing: \`holdfast snapshot --again ${taken.id}\` writes it.`,
      },
    ],
  };
}

/** The files of a folder are read by name, up to this many. */
const FILES_LIMIT = 1000;

async function checkPath(checking: Check, path: string, all = false): Promise<Found[]> {
  const { context } = checking;
  const target = resolve(context.dir, path);
  if (!pathExists(target)) {
    throw new Fault('not_found', `There is no file ${quoted(path)}.`, {
      hints: ['Name a snapshot file, a chat file or a folder that has some.'],
      data: { path },
    });
  }
  const folder = isFolder(target) ? foldersIn(target, findWorkspace(target)?.folder).find(hasSnapshots) : undefined;
  const files = folder === undefined ? [target] : textsIn(folder);
  const texts = files.map((file) => ({ file, text: readDamaged(file) ?? '' }));
  const snapshots = texts.flatMap(({ file, text }) =>
    snapshotsInChat(text).map(({ value }, index, { length }) => ({
      file,
      text,
      index,
      value,
      isLast: index === length - 1,
    })),
  );
  const attachments = texts.flatMap(({ file, text }) =>
    attachmentsIn(text, (line) => `${shown(context, file)}:${line}`),
  );
  if (snapshots.length + attachments.length === 0) {
    throw new Fault('not_found', `There is no snapshot in ${quoted(path)}.`, {
      hints: ['A snapshot begins with front matter that names session_id, agent and close_reason.'],
      data: { path },
    });
  }
  const siblings = snapshots.map((one) => one.value).filter((value) => value !== null);
  const found: Found[] = [];
  for (const one of snapshots) if (all || one.isLast) found.push(await judge(checking, one, siblings));
  return [...found, ...attachments];
}

/** Leaves out tokens of snapshots, which are checked with their snapshot. */
function attachmentsIn(text: string, at: (line: number) => string): Found[] {
  const sent = envelopesIn(text).filter(({ revision }) => !revision?.topic.startsWith('snapshot-'));
  return sent.map(({ line, token, verdict, digits }) => ({
    ...nothingRead,
    at: at(line),
    attachment: token,
    rulings: [{ rule: 'payload', ...attachmentVerdicts[verdict](token, digits) }],
  }));
}

const nothingRead = {
  snapshot: null,
  problems: [],
  text: '',
  state: { is: 'unknown', why: '', broken: false },
  isLast: false,
  recorded: null,
  against: null,
  journal: null,
  file: '',
  company: { predecessor: null, ahead: null },
  git: null,
  now: '',
  isFollowed: false,
  isOwn: () => false,
} as const;

type Words = (token: string, digits: string | null) => Pick<Ruling, 'result' | 'why'>;

const attachmentVerdicts: Readonly<Record<Envelope['verdict'], Words>> = {
  valid: (token) => ({ result: 'pass', why: `${token} is the checksum of the attachment.` }),
  changed: (token, digits) => ({ result: 'fail', why: `The attachment gives h${digits}, not ${token}.` }),
  placeholder: (token) => ({ result: 'fail', why: `${token} is fake: eight zeros are a placeholder.` }),
  malformed: (token) => ({ result: 'cannot-tell', why: `${token} has no checksum.` }),
  'no-payload': (token) => ({ result: 'cannot-tell', why: `${token} has no attachment.` }),
};

/** Where snapshots may be in a given folder; those of a workspace are in its data folder. */
const foldersIn = (target: string, dataFolder: string | undefined): string[] => [
  ...['.', 'snapshots', 'working-session'].map((name) => join(target, name)),
  ...(dataFolder === undefined ? [] : [join(dataFolder, 'snapshots')]),
];

const hasSnapshots = (folder: string): boolean =>
  textsIn(folder).some((file) => {
    const text = readDamaged(file) ?? '';
    return snapshotsInChat(text).length + envelopesIn(text).length > 0;
  });

function textsIn(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .slice(0, FILES_LIMIT)
    .map((name) => join(folder, name));
}

/** Collects what a snapshot is checked against. */
async function judge(
  { context, journal, contractOf }: Check,
  { file, text, index }: { file: string; text: string; index: number },
  siblings: readonly FoundSnapshot[],
): Promise<Found> {
  const all = snapshotsInChat(text);
  const parsed = all.at(index);
  const at = `${shown(context, file)}${all.length > 1 ? `:${parsed?.value?.line ?? 1}` : ''}`;
  const snapshot = parsed?.value ?? null;
  if (!snapshot) {
    const why = 'It has no readable snapshot: the front matter is missing.';
    return { ...nothingRead, at, rulings: [{ rule: 'form', result: 'fail', why }] };
  }
  const known = await journal?.find(snapshot, file);
  const own = all.length === 1 ? text : `${[...snapshot.keys].join('\n')}\n${partOf(text, all, snapshot)}`;
  const folder = contractOf(dirname(file));
  return {
    at,
    snapshot,
    problems: parsed?.problems ?? [],
    text: own,
    state: known ? known.state : stateAmong(snapshot, siblings),
    isLast: all.findLast(({ value }) => sameAgent(value?.agent, snapshot.agent))?.value === snapshot,
    recorded: known?.recorded ?? null,
    // The files beside it where there are some, so that a clone without the journal gives the same verdicts.
    against: folder ?? known?.against ?? null,
    journal: known?.against ?? null,
    file,
    company: companyOf(snapshot, all, siblings),
    git: historyOf(dirname(file)),
    now: context.now(),
    isFollowed:
      (known?.eventsSince ?? 0) > 0 ||
      folder?.isFollowed(snapshot.agent ?? '', snapshot.session, snapshot.timestamp) === true,
    isOwn: (path) => path.startsWith(`${ownFolder(file)}/`),
    rulings: [],
  };
}

/** The folder of a working session, as git names its files. */
const ownFolder = (file: string): string => dirname(file).split(/[\\/]/).at(-1) ?? '';

function companyOf(
  snapshot: FoundSnapshot,
  all: readonly { value: FoundSnapshot | null }[],
  siblings: readonly FoundSnapshot[],
): Company {
  const number = (one: FoundSnapshot): number => one.revision?.sequence ?? 0;
  const here = all.flatMap(({ value }) => (value && sameAgent(value.agent, snapshot.agent) ? [value] : []));
  const own = [...here, ...siblings.filter((one) => sameAgent(one.agent, snapshot.agent))];
  const earlier = own.filter((one) => one.revision !== null && number(one) < number(snapshot));
  const predecessor = earlier.reduce<FoundSnapshot | null>(
    (best, one) => (best === null || number(one) > number(best) ? one : best),
    null,
  );
  const ahead = here.find((one) => one.line < snapshot.line && one.revision && number(one) > number(snapshot)) ?? null;
  return { predecessor, ahead };
}

/** The lines of one snapshot among several. */
function partOf(text: string, all: readonly { value: FoundSnapshot | null }[], snapshot: FoundSnapshot): string {
  const starts = all.flatMap(({ value }) => (value ? [value.line] : []));
  const end = starts.find((line) => line > snapshot.line);
  return text
    .split('\n')
    .slice(snapshot.line - 1, end === undefined ? undefined : end - 1)
    .join('\n');
}

function shown(context: Context, file: string): string {
  const path = relative(context.dir, file);
  return path === '' || path.startsWith('..') ? file : path.replaceAll('\\', '/');
}

const sameAgent = (one: string | null | undefined, other: string | null): boolean =>
  (one ?? '').toLowerCase() === (other ?? '').toLowerCase();

/** Without a journal, the other snapshots of the file or folder show which one is the newest. */
function stateAmong(snapshot: FoundSnapshot, siblings: readonly FoundSnapshot[]): Found['state'] {
  const { revision, agent, token } = snapshot;
  if (!revision || agent === null) return { is: 'unknown', why: 'It has no number to compare.', broken: false };
  const same = siblings.filter((one) => sameAgent(one.agent, agent) && one.revision !== null);
  const number = (one: FoundSnapshot): number => one.revision?.sequence ?? 0;
  const twin = same.find((one) => one !== snapshot && one.line !== snapshot.line && number(one) === revision.sequence);
  if (twin && twin.token !== token)
    return { is: 'duplicate', why: `Two different snapshots have number ${revision.sequence}.`, broken: true };
  const last = Math.max(...same.map(number), revision.sequence);
  if (last > revision.sequence)
    return { is: 'superseded', why: `Superseded: ${agent} has left number ${last} since.`, broken: false };
  if (twin) return { is: 'duplicate', why: `A duplicate of the one at line ${twin.line}.`, broken: false };
  return { is: 'current', why: `Fresh: the newest of ${agent} here.`, broken: false };
}
