import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unquotable } from '../../src/core/line.ts';
import { type Holdfast, openHoldfast } from '../../src/holdfast.ts';
import { type Act, type Client, dialects, type Place, type Todo, textIn } from './dialects.ts';
import { type Padding, paddingFor, type Variant } from './padding.ts';
import { writeTranscript } from './transcripts.ts';

/** A repository in which stories are played through the input of hooks, each in a process of its own. */

const program = fileURLToPath(new URL('../../dist/bin/holdfast.cjs', import.meta.url));

/** A conversation of a client whose process can be killed. */
export interface Speaker {
  client: Client;
  start(source?: 'startup' | 'resume' | 'clear'): string;
  /** A request in the words of a user. */
  ask(request: string): string;
  /** A prompt as it is: an answer, or a word such as "continue". */
  say(prompt: string): string;
  write(paths: string | readonly string[], text: string): void;
  run(command: string, exitCode: number): void;
  /** A command that is never reported to have ended. */
  begin(command: string, how?: { verbatim?: boolean }): void;
  /** A command in the background: started, and not reported to have ended. */
  background(command: string): void;
  todos(list: readonly Todo[]): void;
  /** A tool shows the user something; the function reports the answer. */
  show(tool: string, input: object): () => void;
  /** A subagent that works for this conversation. */
  subagent(type: string): Speaker;
  stop(words: string, how?: { running?: number }): void;
  fail(error: string, message: string): void;
  /** Compacts the context; the text that the model gets at once, or else with the next prompt. */
  compact(): string;
  end(reason?: string): void;
  /** Another conversation of the same process, after a clear. */
  clear(id: string): Speaker;
  /** What the client's own transcript ends with. */
  said(request: string, words: string): void;
  /** `holdfast` in a shell of this conversation. */
  holdfast(...words: string[]): string;
  kill(): Promise<void>;
}

export interface Stage {
  folder: string;
  padding: Padding;
  /** Entries that a variant puts in front of every to-do list, all of them done. */
  extraTodos: number;
  /** The files that were written, by the form in which a brief quotes their names. */
  files: ReadonlyMap<string, string>;
  /** The exit status with which a command was run last. */
  exits: ReadonlyMap<string, number>;
  beganMs: number;
  git(...words: string[]): string;
  speaker(client: Client, id: string, where?: { folder?: string; host?: string }): Speaker;
  /** `holdfast` as a person calls it. */
  person(...words: string[]): string;
  /** The library, as a person uses it. */
  library(use: (hf: Holdfast) => Promise<void>): Promise<void>;
  /** The conversations of each run, those of a run together. */
  runs(): string[][];
  /** Changes a file as a person or a command does, without a hook. */
  change(path: string, text: string): void;
  close(): Promise<void>;
}

export interface StageOptions {
  branch?: string;
  variant?: Variant;
}

const EXTRA_TODOS = 8;
const EXTRA_FILES = 20;

export function openStage({ branch = 'main', variant = 'plain' }: StageOptions): Stage {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-story-')));
  const state = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-story-state-')));
  const env = { PATH: process.env['PATH'] ?? '', HOME: state, HOLDFAST_STATE_HOME: state };
  const padding = paddingFor(variant);
  const speakers: Speaker[] = [];
  const exits = new Map<string, number>();
  const files = new Map<string, string>();
  const fileOf = (given: string): string => {
    const path = padding.path(given);
    files.set(unquotable(given, 1000), path);
    return path;
  };
  const git = (...words: string[]): string => run('git', words, folder, env);
  git('init', '--quiet', '--initial-branch', padding.branch(branch));
  git('config', 'user.name', 'story');
  git('config', 'user.email', 'story@localhost');
  writeFileSync(join(folder, 'README.md'), 'A story.\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  const person = (...words: string[]): string =>
    run(process.execPath, [program, ...words], folder, { ...env, HOLDFAST_PERSON: 'ada' });
  const stage: Stage = {
    folder,
    padding,
    extraTodos: variant === 'full' ? EXTRA_TODOS : 0,
    exits,
    files,
    beganMs: Date.now(),
    git,
    person,
    speaker(client, id, { folder: cwd = folder, host } = {}) {
      const isFirst = speakers.length === 0;
      const cast = {
        stage,
        state,
        fileOf,
        env: host === undefined ? env : { ...env, ...hostNamed(state, host) },
        exits,
      };
      const made = openSpeaker(cast, client, { id, folder: cwd }, spawn('sleep', ['600'], { stdio: 'ignore' }));
      speakers.push(made);
      return isFirst && variant === 'full' ? overfull(made) : made;
    },
    async library(use) {
      // The place that gives authority is taken from the environment alone.
      process.env['HOLDFAST_STATE_HOME'] = state;
      const hf = await openHoldfast({ dir: folder, person: 'ada', evidence: 'terminal' });
      try {
        await use(hf);
      } finally {
        delete process.env['HOLDFAST_STATE_HOME'];
        await hf.close();
      }
    },
    runs: () => conversationsOf(person),
    change(path, text) {
      const file = join(folder, fileOf(path));
      mkdirSync(dirname(file), { recursive: true });
      appendFileSync(file, text);
      // The clock of a file system may be some milliseconds behind: the change would seem older than the command before it.
      utimesSync(file, new Date(), new Date());
    },
    async close() {
      for (const one of speakers) await one.kill();
      for (const path of [folder, state]) rmSync(path, { recursive: true, force: true });
    },
  };
  return stage;
}

function run(command: string, words: readonly string[], cwd: string, env: Record<string, string>): string {
  const ran = spawnSync(command, words, { cwd, env, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${words.join(' ')}: ${ran.stderr}${ran.stdout}`);
  return ran.stdout;
}

/** Processes of another machine, as far as they know. */
function hostNamed(state: string, host: string): Record<string, string> {
  const file = join(state, `${host}.cjs`);
  const name = JSON.stringify(`${host}\n`);
  const kernel = "'/proc/sys/kernel/hostname'";
  writeFileSync(
    file,
    `require('node:os').hostname = () => ${name}.trim();
const fs = require('node:fs');
const read = fs.readFileSync;
fs.readFileSync = (path, ...how) => (path === ${kernel} ? ${name} : read(path, ...how));
`,
  );
  return { NODE_OPTIONS: `--require ${file}` };
}

interface Listed {
  type: string;
  body: {
    id?: string;
    session?: string;
    client?: { id: string } | null;
    parent?: string | null;
  };
}

function conversationsOf(person: Stage['person']): string[][] {
  const data = (...words: string[]): unknown => JSON.parse(person(...words, '--json'));
  const { runs } = (data('runs', '--all') as { data: { runs: { id: string; status: string }[] } }).data;
  const groups = runs
    .filter(({ status }) => status !== 'moved')
    .map(({ id }) => {
      const { events } = (data('log', '--run', id, '--limit', '1000') as { data: { events: Listed[] } }).data;
      const moved = new Set(events.flatMap(({ type, body }) => (type === 'session.moved' ? [body.session] : [])));
      const ids = events
        .filter(({ type, body }) => type === 'session.started' && !body.parent && !moved.has(body.id))
        .map(({ body }) => body.client?.id ?? '')
        .filter((one) => one !== '');
      return [...new Set(ids)].sort();
    });
  return groups.filter((group) => group.length > 0).sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

interface Cast {
  stage: Stage;
  state: string;
  env: Record<string, string>;
  exits: Map<string, number>;
  /** Where a file of the story is. */
  fileOf(path: string): string;
}

/** A conversation, or a subagent in it. */
interface Role extends Pick<Place, 'id' | 'folder'> {
  subagent?: Place['subagent'];
}

function openSpeaker(cast: Cast, client: Client, at: Role, agent: ChildProcess): Speaker & { begins(): void } {
  const { stage, state, exits } = cast;
  const { padding } = stage;
  const { env, shell, tell } = dialects[client];
  // Gemini's shows its compactions.
  const transcript = client === 'gemini' ? writeTranscript(client, { ...at, home: state }) : null;
  const place: Place = { pid: agent.pid ?? 0, call: at.subagent ? 1000 : 0, transcript, subagent: null, ...at };
  const act = (what: Act, more: Partial<Place> = {}): string => {
    const told = tell(what, { ...place, ...more });
    if (told === null) return '';
    const ran = spawnSync(process.execPath, [program, 'hook', client, told.event], {
      cwd: at.folder,
      env: { ...cast.env, ...env, HOLDFAST_PID: String(agent.pid) },
      input: JSON.stringify(told.input),
      encoding: 'utf8',
    });
    if (ran.status !== 0 || ran.stderr !== '') throw new Error(`${client} ${told.event}: ${ran.stderr}`);
    return textIn(ran.stdout);
  };
  const next = (what: Act): string => {
    place.call += 1;
    return act(what);
  };
  const start = (command: string, background: boolean): void => {
    next({ is: 'began', command, background });
  };
  return {
    client,
    begins: () => void next({ is: 'subagent' }),
    start: (source = 'startup') => next({ is: 'start', source }),
    ask: (request) => next({ is: 'prompt', text: padding.behind(request) }),
    say: (text) => next({ is: 'prompt', text }),
    write(given, text) {
      const paths = [given].flat().map(cast.fileOf);
      for (const path of paths) {
        mkdirSync(dirname(join(at.folder, path)), { recursive: true });
        writeFileSync(join(at.folder, path), text);
      }
      next({ is: 'written', paths });
    },
    run(given, exitCode) {
      const command = padding.behind(given);
      exits.set(given, exitCode);
      start(command, false);
      act({ is: 'ran', command, background: false, exitCode });
    },
    begin: (command, { verbatim = false } = {}) => start(verbatim ? command : padding.behind(command), false),
    background(given) {
      const command = padding.behind(given);
      start(command, true);
      act({ is: 'ran', command, background: true, exitCode: 0 });
    },
    todos(list) {
      const extra = Array.from({ length: stage.extraTodos }, (_, index) => ({
        content: `Earlier entry ${index + 1}`,
        status: 'completed' as const,
      }));
      const own = list.map(({ content, status }) => ({ content: padding.title(content), status }));
      next({ is: 'listed', todos: [...extra, ...own] });
    },
    show(tool, input) {
      next({ is: 'shows', tool, input });
      const { call } = place;
      return () => void act({ is: 'answered', tool, input }, { call });
    },
    subagent(type) {
      const made = openSpeaker(cast, client, { ...at, subagent: { id: `${at.id}-agent`, type } }, agent);
      made.begins();
      return made;
    },
    stop: (words, { running = 0 } = {}) => void next({ is: 'stop', words: padding.before(words), running }),
    fail: (error, message) => void next({ is: 'failed', error, message }),
    compact() {
      const before = next({ is: 'compacts' });
      if (client === 'gemini') writeTranscript(client, { ...at, home: state, compacted: true });
      return before || next({ is: 'start', source: 'compact' });
    },
    end: (reason = 'other') => void next({ is: 'end', reason }),
    clear(id) {
      next({ is: 'end', reason: 'clear' });
      const other = openSpeaker(cast, client, { ...at, id }, agent);
      other.start('clear');
      return other;
    },
    said(request, words) {
      writeTranscript(client, { ...at, home: state, request, words: padding.before(words) });
    },
    holdfast: (...words) =>
      run(process.execPath, [program, ...words], at.folder, {
        ...cast.env,
        ...env,
        ...(shell === null ? {} : { [shell]: at.id }),
        HOLDFAST_PID: String(agent.pid),
      }),
    async kill() {
      if (agent.exitCode !== null || agent.signalCode !== null) return;
      const gone = once(agent, 'exit');
      agent.kill('SIGKILL');
      await gone;
    },
  };
}

/** The first conversation of a story also changes many files and declares much, before it does what the story says. */
function overfull(speaker: Speaker): Speaker {
  let isFull = false;
  return {
    ...speaker,
    ask(request) {
      const answer = speaker.ask(request);
      if (isFull) return answer;
      isFull = true;
      speaker.write(
        Array.from({ length: EXTRA_FILES }, (_, index) => `earlier/file-${index}.txt`),
        'x\n',
      );
      if (dialects[speaker.client].shell === null) return answer;
      for (const number of [1, 2, 3]) {
        const text = `number ${number}: ${'long words '.repeat(5)}`;
        speaker.holdfast('note', `A rule, ${text}`, '--kind', 'constraint');
        speaker.holdfast('note', `It failed, ${text}`, '--kind', 'dead-end');
        speaker.holdfast('decide', '--context', 'A choice', '--decision', text, '--reason', text);
      }
      return answer;
    },
  };
}
