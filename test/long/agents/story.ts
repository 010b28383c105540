import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding } from './check.ts';
import type { Client } from './clients.ts';
import { type Model, openModel, type Request, type Turn } from './model.ts';
import { type Ended, endById, type Started, start, until } from './start.ts';

interface Ready {
  client: Client;
  /** The program and its first arguments. */
  start: readonly [string, ...string[]];
}

interface Story {
  folder: string;
  first: Ready;
  /** The client that continues the work of the first. */
  next: Ready;
  note(finding: Omit<Finding, 'client'>): void;
}

/** Time limits for one conversation and for all of them together. */
const LIMIT_MS = 180_000;
const STORY_LIMIT_MS = 900_000;

const program = join(process.cwd(), 'dist/bin/holdfast.cjs');

const DECISION = 'Greet the harbour, not the world';
const DOING = 'Write the greeting';
const TODO = 'Ring the bell';
/** Writes its process id, so that it can be ended after its client was killed. */
const CUT_OFF = 'echo $$ > bell.pid; echo ringing; sleep 300';

/** Returns the other hosts that were requested, and refused. */
export async function playStory({ folder, first, next, note }: Story): Promise<ReadonlySet<string>> {
  const end = Date.now() + STORY_LIMIT_MS;
  const project = makeProject(folder);
  const check = (step: string, why: string | null): boolean => {
    note({ step, result: why === null ? 'pass' : 'FAIL', ...(why === null ? {} : { why }) });
    return why === null;
  };
  const stage = await enter(first, folder, project, end);
  let session: string | null = null;
  try {
    if (!check('holdfast install', stage.problem)) return stage.model.refused;
    await work(stage, check, note);
    await compact(stage, check, note);
    session = await cutOff(stage, check);
  } finally {
    stage.model.close();
  }
  const after = await enter(next, folder, project, end);
  try {
    if (!check(`holdfast install ${next.client.name} beside it`, after.problem)) return stage.model.refused;
    await goOn(stage, after, session, check);
  } finally {
    after.model.close();
  }
  return stage.model.refused;
}

type Check = (step: string, why: string | null) => boolean;

/** A client in the project, with its own home folder. */
interface Setup {
  ready: Ready;
  project: string;
  model: Model;
  /** Why it could not be installed. */
  problem: string | null;
  talk(prompt: string, turns: readonly Turn[], goesOn?: boolean): Started;
}

async function enter(ready: Ready, folder: string, project: string, end: number): Promise<Setup> {
  const { client } = ready;
  const home = join(folder, `home-${client.name}`);
  mkdirSync(join(home, 'tmp'), { recursive: true });
  const model = await openModel(project, join(folder, `model-${client.name}.jsonl`));
  const environment = plainEnvironment(home);
  const ran = spawnSync(process.execPath, [program, 'install', client.name], {
    cwd: project,
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const problem = ran.status === 0 ? null : `exit ${ran.status}: ${ran.stderr || ran.stdout}`;
  const stage = { home, project, url: model.url };
  if (problem === null) client.settle(stage);
  // Requests to other hosts end at the model, which refuses them.
  const outside = { HTTP_PROXY: model.url, HTTPS_PROXY: model.url, NO_PROXY: '127.0.0.1,localhost' };
  const own = { ...environment, ...outside, ...client.environment(stage) };
  return {
    ready,
    project,
    model,
    problem,
    talk(prompt, turns, goesOn = false) {
      model.play(turns);
      const limitMs = Math.max(1000, Math.min(LIMIT_MS, end - Date.now()));
      return start([...ready.start, ...client.words(prompt, goesOn)] as [string, ...string[]], project, own, limitMs);
    },
  };
}

/** Edits, a command, a to-do list and a decision; the first three are recorded by hooks alone. */
async function work({ project, model, talk }: Setup, check: Check, note: Story['note']): Promise<void> {
  const decide = `holdfast decide --context Greeting --decision "${DECISION}" --reason "Ships read it"`;
  const ended = await talk('Let there be a friendly greeting in greeting.txt.', [
    {
      want: {
        do: 'todo',
        entries: [
          { text: DOING, status: 'in_progress' },
          { text: TODO, status: 'pending' },
        ],
      },
    },
    { want: { do: 'write', path: 'greeting.txt', text: 'hello\nworld\n' } },
    { want: { do: 'edit', path: 'greeting.txt', from: 'world', to: 'harbour' } },
    { want: { do: 'command', command: 'cat greeting.txt' } },
    { want: { do: 'command', command: decide } },
    { say: 'The greeting is written.' },
  ]).ended;
  check('answers without a user', endedWell(ended));
  const hasBrief = requestHas(turnsOf(model), ['Holdfast record of']) === null;
  check('nothing is said where nothing is unfinished', hasBrief ? 'a request has a brief' : null);
  // Some clients first send only the instructions of a server, and its tools after a search.
  const offered = turnsOf(model).some(({ text }) => /holdfast[_-]{1,2}checkpoint|- holdfast: Call `resume`/.test(text));
  check('MCP server reaches the model', offered ? null : 'no request names its tools or has its instructions');
  const events = journal(project);
  check('edits are in the journal', recorded(events, 'files.seen', ['greeting.txt']));
  check('commands are in the journal', recorded(events, 'effect.ended', [], ['effect.began', 'cat greeting.txt']));
  const withoutTodos = 'it has no to-do list without a user';
  if (model.skipped.has('todo')) note({ step: 'to-do list is the plan', result: 'not driven', why: withoutTodos });
  else check('to-do list is the plan', recorded(events, 'step.added', [DOING]));
  check('decision from its shell is of its session', recorded(events, 'decision.made', [DECISION, '"session":"S-1"']));
  check('the request begins a turn', recorded(events, 'turn.began', ['friendly greeting', '"request"']));
  check('its end is recorded', recorded(events, 'turn.ended', ['"done"']));
}

async function compact(setup: Setup, check: Check, note: Story['note']): Promise<void> {
  const { compaction } = setup.ready.client;
  const { model, talk } = setup;
  const from = model.requests.length;
  if ('command' in compaction) await talk(compaction.command, [{ say: 'It is shorter now.' }], true).ended;
  else {
    await talk(
      'Look at it once more.',
      [
        { want: { do: 'command', command: 'cat README.md' }, inputTokens: compaction.fullTokens },
        { say: 'It is as it should be.' },
      ],
      true,
    ).ended;
  }
  const made = model.requests.slice(from);
  const at = made.findIndex(({ kind }) => kind === 'summary');
  if (at < 0) {
    note({ step: 'compaction re-injects', result: 'not driven', why: 'it did not ask for a summary' });
    return;
  }
  await talk('And now?', [{ say: 'Nothing more.' }], true).ended;
  const later = model.requests.slice(from + at);
  const since = made[at]?.at ?? '';
  const how = later.some(({ kind, text }) => kind === 'turn' && hasBriefSince(text, since, true))
    ? 'a continuation in the next request'
    : later.some(({ kind, text }) => kind === 'turn' && hasBriefSince(text, since, false))
      ? 'the brief with the next prompt'
      : // OpenCode takes it for the summary itself, just before that is asked for.
        made.some(({ kind, text }) => kind === 'summary' && text.includes('the work of this session, after compaction'))
        ? 'a continuation in the request for the summary'
        : null;
  if (how === null) check('compaction re-injects', `no brief since ${since} is in the requests after it`);
  else note({ step: 'compaction re-injects', result: 'pass', why: how });
}

/** The session that was cut off; null if the command never began. */
async function cutOff({ project, talk }: Setup, check: Check): Promise<string | null> {
  const started = talk('Ring the bell.', [{ want: { do: 'command', command: CUT_OFF } }, { say: 'It rang.' }], true);
  const pidFile = join(project, 'bell.pid');
  const pid = await until(() => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')), LIMIT_MS - 10_000);
  started.kill();
  await started.ended;
  if (pid) endById(pid);
  if (!check('kill -9 in the middle of a command', pid ? null : 'the command never began')) return null;
  // Nothing ran since: the next client is the one that detects the crash.
  const events = journal(project);
  const effect = events.findLast(({ type, text }) => type === 'effect.began' && text.includes('bell.pid'));
  check('the command that began is in the journal', effect ? null : 'there is no effect.began with bell.pid');
  return effect?.session ?? null;
}

async function goOn(
  before: Setup,
  { ready, project, model, talk }: Setup,
  session: string | null,
  check: Check,
): Promise<void> {
  const ended = await talk('Go on, please.', [{ say: 'I see where it stands.' }]).ended;
  const { name } = ready.client;
  check(`${name} answers in its place`, endedWell(ended));
  const events = journal(project);
  check('its session is marked as crashed', recorded(events, 'session.ended', ['"crashed"', `"id":"${session}"`]));
  // Not every client reports the end of a session; one whose turn was over still counts as ended.
  const crashed = events.filter(({ type, text }) => type === 'session.ended' && text.includes('"crashed"'));
  check('no other session is', crashed.length <= 1 ? null : crashed.map(({ text }) => text).join(' '));
  const snapshot = ['"reconstructed":true', `"session":"${session}"`];
  check('its snapshot is reconstructed', recorded(events, 'snapshot.taken', snapshot));
  const open = uncertain(project);
  check('its command is UNCERTAIN', open.some((one) => one.includes('bell.pid')) ? null : `it is ${open.join('; ')}`);
  const turns = turnsOf(model);
  const isPlanned = !before.model.skipped.has('todo');
  check(
    `${name} gets the position`,
    requestHas(turns, ['Holdfast record of', isPlanned ? DOING : 'friendly greeting']),
  );
  check(`${name} gets the decision`, requestHas(turns, [DECISION]));
  check(`${name} gets what is uncertain`, requestHas(turns, ['Uncertain: X-', 'bell.pid']));
  const runs = holdfast(project, 'runs')['runs'] as unknown[] | undefined;
  check('it is the same run', runs?.length === 1 ? null : `there are ${runs?.length} runs`);
}

function makeProject(folder: string): string {
  const project = join(folder, 'harbour');
  mkdirSync(project);
  writeFileSync(join(project, 'README.md'), '# Harbour\n');
  const env = plainEnvironment(folder);
  const git = (...words: string[]): void => {
    const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    execFileSync('git', [...who, ...words], { cwd: project, env, stdio: 'ignore' });
  };
  git('init', '-b', 'main');
  git('add', '-A');
  git('commit', '-m', 'Begin');
  return project;
}

/** Nothing of this environment; the program is on the search path, in login shells too. */
function plainEnvironment(home: string): Record<string, string> {
  const bin = join(home, 'bin');
  const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  if (!existsSync(bin)) {
    mkdirSync(bin, { recursive: true });
    symlinkSync(program, join(bin, 'holdfast'));
    writeFileSync(join(home, '.profile'), `PATH=${path}\n`);
  }
  return {
    PATH: path,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TERM: 'dumb',
    CI: '1',
    NO_COLOR: '1',
  };
}

interface Recorded {
  type: string;
  session: string | null;
  text: string;
}

function holdfast(project: string, ...words: string[]): Record<string, unknown> {
  const ran = spawnSync(process.execPath, [program, ...words, '--json'], {
    cwd: project,
    env: plainEnvironment(dirname(project)),
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { ok, data } = JSON.parse(ran.stdout || '{}') as { ok?: boolean; data?: Record<string, unknown> };
  if (ok !== true || !data) throw new Error(`holdfast ${words.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return data;
}

function journal(project: string): Recorded[] {
  const { events } = holdfast(project, 'log', '--limit', '1000') as { events: Omit<Recorded, 'text'>[] };
  return events.map((event) => ({ type: event.type, session: event.session, text: JSON.stringify(event) }));
}

function uncertain(project: string): string[] {
  const { uncertain: effects } = holdfast(project, 'resume') as { uncertain: { name: string }[] };
  return effects.map(({ name }) => name);
}

function endedWell({ code, isLate, output }: Ended): string | null {
  if (isLate) return `its time was over; its last output: ${oneLine(output)}`;
  return code === 0 ? null : `exit ${code}: ${oneLine(output)}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(-300);

const turnsOf = ({ requests }: Model): Request[] => requests.filter(({ kind }) => kind === 'turn');

/** A brief has its time, because a request may contain older ones. */
function hasBriefSince(text: string, since: string, isContinuation: boolean): boolean {
  const heads = isContinuation
    ? text.matchAll(/Holdfast record of (\S+(?: \d\d:\d\d)?) UTC: the work of this session, after compaction/g)
    : text.matchAll(/Holdfast record of (\S+(?: \d\d:\d\d)?) UTC/g);
  // Either form of a time, to the minute.
  return [...heads].some(([, at = '']) => at.replace(' ', 'T').slice(0, 16) >= since.slice(0, 16));
}

/** Null when one of the requests has all of the words. */
function requestHas(requests: readonly Request[], words: readonly string[]): string | null {
  if (requests.some(({ text }) => words.every((word) => text.includes(word)))) return null;
  const missing = words.filter((word) => !requests.some(({ text }) => text.includes(word)));
  return `none of ${requests.length} requests has ${(missing.length > 0 ? missing : words).join(' and ')}`;
}

/** Null when an event of the type has all of the words; `other` is another event that must be there. */
function recorded(
  events: readonly Recorded[],
  type: string,
  words: readonly string[],
  other?: readonly [string, string],
): string | null {
  const has = (wanted: string, all: readonly string[]): boolean =>
    events.some((event) => event.type === wanted && all.every((word) => event.text.includes(word)));
  if (!has(type, words)) return `there is no ${[type, ...words].join(' with ')}`;
  return other === undefined || has(other[0], [other[1]]) ? null : `there is no ${other.join(' with ')}`;
}
