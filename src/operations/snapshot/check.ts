import { dirname, join, relative, resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { FilePath } from '../../core/text.ts';
import { type Envelope, envelopesIn } from '../../formats/documents/revision.ts';
import { type FoundSnapshot, type Problem, snapshotsInChat } from '../../formats/documents/snapshot-reading.ts';
import { isFolder, listFolder, pathExists, readDamaged } from '../../workspace/read.ts';
import { currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { defineOperation, described } from '../operation.ts';
import { type Contract, checkSnapshot, type Ruling, type SnapshotState } from './parts/check-rules.ts';
import { contractFolder } from './parts/contract-folder.ts';
import { journalOf, type KnownSnapshot, type SnapshotJournal } from './parts/journal.ts';

const Rule = v.object({
  rule: v.string(),
  result: v.picklist(['pass', 'fail', 'cannot-tell']),
  why: v.string(),
  /** The snapshot it is about. */
  at: v.string(),
});

export const check = defineOperation({
  name: 'check',
  summary: 'Hold snapshots against the files and the journal, rule by rule; exits with 1 when one fails.',
  scope: 'read',
  local: ['file'],
  words: ['file'],
  examples: ['holdfast check', 'holdfast check .holdfast/snapshots/claude-3.md', 'holdfast check working-session'],
  input: v.object({
    file: v.optional(
      described(
        FilePath,
        'A snapshot file, a chat file (its last snapshot), a mailbox (its payloads) or a folder; the newest snapshots of the run and the payloads of its open mail when left out.',
      ),
    ),
    all: v.optional(described(v.boolean(), 'Every snapshot of the run, or of the file, not the newest only.')),
  }),
  output: v.object({
    snapshots: v.array(
      v.object({
        /** In the journal; null where only a file was looked at. */
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
    const look = { context, journal: await journalOf(context), contractOf: folderReader() };
    const found = file === undefined ? await ofRun(look, all) : await ofPath(look, file, all);
    const rules: v.InferOutput<typeof Rule>[] = [];
    for (const one of found) {
      const rulings: Ruling[] = one.snapshot ? await checkSnapshot({ ...one, snapshot: one.snapshot }) : one.rulings;
      rules.push(...rulings.map((ruling) => ({ ...ruling, at: one.at })));
    }
    const payloads = found.flatMap(({ at, payload }) => (payload === undefined ? [] : [{ at, token: payload }]));
    const left = found.filter(({ payload }) => payload === undefined);
    const snapshots = left.map(({ id = null, at, snapshot, standing, problems }) => ({
      id,
      at,
      agent: snapshot?.agent ?? null,
      session: snapshot?.session ?? null,
      token: snapshot?.token ?? null,
      standing: standing.is,
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
    const things = [...snapshots, ...payloads.map(({ at }) => ({ at, standing: 'payload' }))];
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

interface Found {
  id?: string;
  at: string;
  /** The token of a payload, where it is one. */
  payload?: string;
  /** Null where nothing could be read, or it is no snapshot; then `rulings` says why. */
  snapshot: FoundSnapshot | null;
  problems: readonly Problem[];
  text: string;
  standing: { is: SnapshotState; why: string; broken: boolean };
  isLast: boolean;
  recorded: { same: boolean; why: string } | null;
  against: Contract | null;
  rulings: Ruling[];
}

/** What one call looks with. */
interface Look {
  context: Context;
  journal: SnapshotJournal | null;
  contractOf(folder: string): Contract | null;
}

/** Every snapshot in a folder is held against the same files. */
function folderReader(): Look['contractOf'] {
  const read = new Map<string, Contract | null>();
  return (folder) => {
    const contract = read.get(folder) ?? contractFolder(folder);
    read.set(folder, contract);
    return contract;
  };
}

/** What the journal says was left: each file must be there as it was recorded. And what open mail carries. */
async function ofRun(look: Look, all = false): Promise<Found[]> {
  const { context, journal } = look;
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
    else found.push({ id: one.taken.id, ...(await judge(look, { file: one.file, text, index: -1 }, [])) });
  }
  return [...found, ...(await ofMail(context))];
}

async function ofMail(context: Context): Promise<Found[]> {
  const { messages } = await currentState(context);
  return [...messages.values()].flatMap(({ id, body, replies }) => {
    const text = [body, ...replies.map((reply) => reply.body)].join('\n\n');
    return payloadsIn(text, (line) => `${id}:${line}`);
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
        why: `${taken.id} is in the journal and its file is not there: \`holdfast snapshot --again ${taken.id}\` writes it.`,
      },
    ],
  };
}

/** Files in a folder are read in the order of their names; more are no snapshots of one piece of work. */
const FILES_LIMIT = 1000;

async function ofPath(look: Look, path: string, all = false): Promise<Found[]> {
  const { context } = look;
  const target = resolve(context.dir, path);
  if (!pathExists(target)) {
    throw new Fault('not_found', `There is no file ${quoted(path)}.`, {
      hints: ['Name a snapshot file, a chat file or a folder that has some.'],
      data: { path },
    });
  }
  const folder = isFolder(target) ? foldersIn(target).find(hasSnapshots) : undefined;
  const files = folder === undefined ? [target] : textsIn(folder);
  const texts = files.map((file) => ({ file, text: readDamaged(file) ?? '' }));
  const places = texts.flatMap(({ file, text }) =>
    snapshotsInChat(text).map(({ value }, index, { length }) => ({
      file,
      text,
      index,
      value,
      isLast: index === length - 1,
    })),
  );
  const payloads = texts.flatMap(({ file, text }) => payloadsIn(text, (line) => `${shown(context, file)}:${line}`));
  if (places.length + payloads.length === 0) {
    throw new Fault('not_found', `There is no snapshot in ${quoted(path)}.`, {
      hints: ['A snapshot begins with front matter that names session_id, agent and close_reason.'],
      data: { path },
    });
  }
  const siblings = places.map((place) => place.value).filter((value) => value !== null);
  const found: Found[] = [];
  for (const place of places) if (all || place.isLast) found.push(await judge(look, place, siblings));
  return [...found, ...payloads];
}

/** What agents sent each other carries tokens too; those of snapshots are judged with them. */
function payloadsIn(text: string, at: (line: number) => string): Found[] {
  const sent = envelopesIn(text).filter(({ revision }) => !revision?.topic.startsWith('snapshot-'));
  return sent.map(({ line, token, verdict, digits }) => ({
    ...nothingRead,
    at: at(line),
    payload: token,
    rulings: [{ rule: 'payload', ...payloadWords[verdict](token, digits) }],
  }));
}

const nothingRead = {
  snapshot: null,
  problems: [],
  text: '',
  standing: { is: 'unknown', why: '', broken: false },
  isLast: false,
  recorded: null,
  against: null,
} as const;

type Words = (token: string, digits: string | null) => Pick<Ruling, 'result' | 'why'>;

const payloadWords: Readonly<Record<Envelope['verdict'], Words>> = {
  valid: (token) => ({ result: 'pass', why: `${token} is the checksum of the payload.` }),
  changed: (token, digits) => ({ result: 'fail', why: `The payload gives h${digits}, not ${token}.` }),
  placeholder: (token) => ({ result: 'fail', why: `${token} is fake: eight zeros are a placeholder.` }),
  malformed: (token) => ({ result: 'cannot-tell', why: `${token} has no checksum.` }),
  'no-payload': (token) => ({ result: 'cannot-tell', why: `${token} stands without a payload.` }),
};

/** Where snapshots may lie in a folder that was named: itself, or what the tool or a working session keeps in it. */
const foldersIn = (target: string): string[] =>
  ['.', 'snapshots', '.holdfast/snapshots', 'working-session'].map((name) => join(target, name));

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

/** A snapshot in its place, with all there is to hold it against. */
async function judge(
  { context, journal, contractOf }: Look,
  { file, text, index }: { file: string; text: string; index: number },
  siblings: readonly FoundSnapshot[],
): Promise<Found> {
  const all = snapshotsInChat(text);
  const parsed = all.at(index);
  const at = `${shown(context, file)}${all.length > 1 ? `:${parsed?.value?.line ?? 1}` : ''}`;
  const snapshot = parsed?.value ?? null;
  if (!snapshot) {
    const why = 'No snapshot can be read in it: its front matter is gone.';
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
    standing: known ? known.standing : standingAmong(snapshot, siblings),
    isLast: all.findLast(({ value }) => sameAgent(value?.agent, snapshot.agent))?.value === snapshot,
    recorded: known?.recorded ?? null,
    // What was recorded is held against what was so then; the files beside it have gone on.
    against: known?.recorded?.same ? known.against : (folder ?? known?.against ?? null),
    rulings: [],
  };
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

/** Without a journal the other snapshots of the file or the folder say which one is the newest. */
function standingAmong(snapshot: FoundSnapshot, siblings: readonly FoundSnapshot[]): Found['standing'] {
  const { revision, agent, token } = snapshot;
  if (!revision || agent === null)
    return { is: 'unknown', why: 'It has no number to tell its place by.', broken: false };
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
