import { unknownLines } from '../../../src/core/brief/grammar.suite.ts';
import type { ClientName } from './clients.ts';
import type { Turn } from './model.ts';
import {
  briefsIn,
  endedWell,
  isWritten,
  killDuring,
  killThinking,
  type Ready,
  type Scene,
  type Talk,
  turnsIn,
} from './scene.ts';
import { endById } from './start.ts';

/** Stories of work that is cut off, moved and continued, each played with real clients. */
export interface AcceptanceStory {
  name: string;
  play(stage: Stage): Promise<void>;
}

export interface Stage {
  scene: Scene;
  by(name: ClientName): Ready;
  /** What a session must and must not read; `must` null for nothing at all. */
  reads(talk: Talk, must: readonly RegExp[] | null, not?: readonly RegExp[], wasKilled?: boolean): Promise<void>;
  holds(what: string, isTrue: boolean): void;
}

/** Reads what the model of a session was given; `miss` learns what is missing or wrong. */
export function stageOn(scene: Scene, ready: readonly Ready[], miss: (what: string) => void): Stage {
  return {
    scene,
    by(name) {
      const found = ready.find(({ client }) => client.name === name);
      if (!found) throw new Error(`${name} is not installed.`);
      return found;
    },
    async reads(talk, must, not = [], wasKilled = scene.model.isHanging()) {
      const failed = endedWell(await talk.ended);
      if (failed !== null && !wasKilled) miss(failed);
      const briefs = briefsIn(turnsIn(talk.requests()));
      const text = briefs.join('\n');
      if (process.env['HOLDFAST_TEST_SHOW']) console.log(`\n${text || '(nothing)'}\n`);
      if (must === null && text !== '') miss('a brief where nothing is unfinished');
      const missing = (must ?? []).filter((fact) => !fact.test(text));
      const wrong = [...not.filter((one) => one.test(text)).map(String), ...briefs.flatMap(unknownLines)];
      for (const fact of missing) miss(`missing: ${fact}`);
      for (const one of wrong) miss(`wrong: ${one}`);
      if (missing.length + wrong.length > 0) miss(text || 'no brief');
    },
    holds: (what, isTrue) => void (isTrue || miss(what)),
  };
}

const START = /^Holdfast record of \S+ \S+ UTC: unfinished work in this folder\./;
const JOINED = /^Holdfast record of \S+ \S+ UTC: the work this session continues\./;
const RETURNED = /^Holdfast record of \S+ \S+ UTC: news since the last turn of this conversation\./m;
const CUT_OFF = /was cut off in the middle of a turn at .*; the client's process is gone\./;
const ADVICE = /make a plan|everything is done|begin again|fresh/i;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const waits = (name: string): string => `echo $$ > ~/${name}.pid\necho ${name}\nsleep 300`;
export const run = (command: string): Turn => ({ want: { do: 'command', command } });
export const write = (path: string, text: string): Turn => ({ want: { do: 'write', path, text } });
export const todo = (...entries: [text: string, status: 'pending' | 'in_progress' | 'completed'][]): Turn => ({
  want: { do: 'todo', entries: entries.map(([text, status]) => ({ text, status })) },
});

export const acceptanceStories: readonly AcceptanceStory[] = [
  {
    name: '1: killed during a command, with a list; Codex starts',
    async play({ scene, by, reads }) {
      scene.git('checkout', '-b', 'invoice-rounding');
      scene.script('scripts/preview.sh', waits('preview'));
      scene.script('~/bin/pytest', 'exit 0');
      scene.git('add', '-A');
      scene.git('commit', '-m', 'Preview');
      const talk = scene.talk(by('claude'), 'Round invoice totals half to even. Then run scripts/preview.sh.', [
        write('src-round.ts', 'a\nb\nc\n'),
        run('pytest -q'),
        todo(
          ['Write the rounding function', 'completed'],
          ['Use it per line', 'completed'],
          ['Test the half cases', 'completed'],
          ['Upload a preview', 'in_progress'],
          ['Note it in the release notes', 'pending'],
        ),
        { say: 'All 214 tests pass. Uploading the preview now.', ...run('scripts/preview.sh --env demo') },
      ]);
      await isWritten(scene, '.claude', 'All 214 tests pass');
      await killDuring(talk, scene, 'preview');
      await reads(
        scene.talk(by('codex'), 'hello', [{ say: 'Hello.' }]),
        [
          START,
          CUT_OFF,
          /Branch "invoice-rounding", as now\./,
          /^Asked \(.*\): "Round invoice totals half to even\. Then run scripts\/preview\.sh\."$/m,
          /^Uncertain: X-\d+ "scripts\/preview\.sh --env demo" began .* The client is gone; no process of it was found on this machine now\./m,
          /^Commands: "pytest -q" passed.* at .*; no file was changed after it\.$/m,
          /^Changed, not committed: "src-round\.ts" new, 3 lines\./m,
          /^Said before it was cut off: "All 214 tests pass\. Uploading the preview now\."$/m,
          // Its tools for single entries run at the same time.
          /^To-do: 3 of 5 done: ".*"; in progress: "Upload a preview"; left: "Note it in the release notes"\.$/m,
          /^Next: find out whether X-\d+ took effect; "Upload a preview" was in progress\.$/m,
        ],
        [ADVICE, /start it again/i],
      );
    },
  },
  {
    name: '2: killed while it thinks, after a failed command; Claude starts',
    async play({ scene, by, reads }) {
      scene.script('~/bin/cargo', 'echo "orientation 6 fails"\nexit 101');
      const talk = scene.talk(by('codex'), 'Thumbnails of portrait photos come out rotated. cargo test must pass.', [
        write('exif.rs', 'x\n'),
        run('cargo test'),
        write('thumb.rs', 'y\nz\n'),
        { hangs: true },
      ]);
      await killThinking(talk, scene);
      await reads(
        scene.talk(by('claude'), 'hello', [{ say: 'Hello.' }]),
        [
          START,
          CUT_OFF,
          /^Failed: "cargo test" exit 101 at .*; not run again\. 1 file changed after it\.$/m,
          /^Changed, not committed: "thumb\.rs" new, 2 lines; "exif\.rs" new, 1 line\./m,
          /^Next: "cargo test" failed last; the request is not known to be finished\.$/m,
        ],
        [ADVICE, /no work/i, /^To-do/m],
      );
    },
  },
  {
    name: '3: the command outlives its client; Gemini continues; later Qwen starts',
    async play({ scene, by, reads, holds }) {
      // In a session of its own it is not killed with the client's group.
      scene.script('import-catalogue.sh', `[ "$2" ] || exec setsid --wait "$0" full apart\n${waits('import')}`);
      scene.git('add', '-A');
      scene.git('commit', '-m', 'Import');
      const talk = scene.talk(by('copilot'), 'Load the spring catalogue into the demo shop. Prices in cents.', [
        { say: 'Starting the full import, about 20 minutes.', ...run('./import-catalogue.sh full') },
      ]);
      await isWritten(scene, '.copilot', 'Starting the full import');
      const pid = await killDuring(talk, scene, 'import', false);
      const uncertain = /^Uncertain: X-\d+ "\.\/import-catalogue\.sh full" began .*, no end was recorded\./m;
      holds('the import began and lives', pid !== null && isAlive(pid));
      await reads(
        scene.talk(by('gemini'), 'weiter', [{ say: 'I see.' }]),
        [
          JOINED,
          uncertain,
          /A process of it still runs on this machine \(pid \d+, since .*\)\. Starting it again would run it twice at once\./,
          /^Said before it was cut off: "Starting the full import, about 20 minutes\."$/m,
          /^Next: X-\d+ is still running/m,
        ],
        [/no process of it was found/],
      );
      endById(pid ?? 0);
      await reads(
        scene.talk(by('qwen'), 'hello', [{ say: 'Hello.' }]),
        [START, uncertain, /no process of it was found on this machine now\./],
        [/still runs/],
      );
    },
  },
  {
    name: '8: killed during a deploy; Gemini works; Codex resumes its own conversation',
    async play({ scene, by, reads, holds }) {
      scene.script('~/bin/flyctl', waits('fly'));
      const talk = scene.talk(by('codex'), 'Send loan reminders after three weeks, then deploy.', [
        write('reminder.ts', 'a\n'),
        run('flyctl deploy --app lending-test'),
      ]);
      await killDuring(talk, scene, 'fly');
      await scene.talk(by('gemini'), 'Go on, but make the reminder text friendlier first.', [
        write('reminder.txt', 'Dear reader\n'),
        run('git add -A && git commit -qm "Friendlier reminder"'),
        { say: 'Text changed and committed. I did not deploy.' },
      ]).ended;
      await reads(
        scene.talk(by('codex'), 'What happened?', [{ say: 'I see.' }], { continues: true }),
        [
          RETURNED,
          /^Meanwhile gemini \(S-2\) was asked \(.*\): "Go on, but make the reminder text friendlier first\."$/m,
          /^Uncertain: X-\d+ \(irreversible kind\) "flyctl deploy --app lending-test" began .* no process of it was found/m,
          /^Committed in 1 commit: (?=.*"reminder\.txt")(?=.*"reminder\.ts")/m,
          /^Meanwhile gemini \(S-2\) said at the end of its turn \(.*\): "Text changed and committed\. I did not deploy\."$/m,
        ],
        [/^Asked .*loan reminders/m],
      );
      holds('all of it is one run', (scene.holdfast('runs')['runs'] as unknown[]).length === 1);
    },
  },
  {
    name: '9: one request is finished, another is cut off; the third session reads of that alone',
    async play({ scene, by, reads }) {
      const labels = scene.talk(by('opencode'), 'Print price labels for the bakery.', [
        todo(['Design the label', 'completed'], ['Print the sheet', 'completed']),
        write('labels.txt', 'rye 3.20\n'),
        run('git add -A && git commit -qm Labels'),
        { say: 'The labels are done.' },
      ]);
      await reads(labels, null);
      const hours = scene.talk(by('qwen'), 'Show the opening hours of each branch.', [
        write('hours.txt', 'mon 8-18\n'),
        { hangs: true },
      ]);
      await killThinking(hours, scene);
      await reads(hours, null);
      await reads(
        scene.talk(by('copilot'), 'continue', [{ say: 'I see.' }]),
        [JOINED, CUT_OFF, /^Asked \(.*\): "Show the opening hours of each branch\."$/m, /"hours\.txt" new, 1 line/],
        [/label|bakery/i, ADVICE],
      );
    },
  },
  {
    name: '12: a session that began apart moves itself into the run it belongs to',
    async play({ scene, by, reads, holds }) {
      const first = scene.talk(by('gemini'), 'Write the attendance lists as PDF.', [
        write('lists.ts', 'a\n'),
        { hangs: true },
      ]);
      await killThinking(first, scene);
      const { runs } = scene.holdfast('runs') as { runs: { short: string }[] };
      const move = `holdfast resume ${runs[0]?.short}`;
      const second = scene.talk(by('claude'), 'The margins of the PDF are too narrow.', [
        write('margins.ts', 'b\n'),
        run(move),
        run(move),
        { hangs: true },
      ]);
      await killThinking(second, scene);
      await reads(
        scene.talk(by('codex'), 'continue', [{ say: 'I see.' }]),
        [/attendance lists as PDF/, /margins of the PDF are too narrow/, /"lists\.ts" new/, /"margins\.ts" new/],
        [/^Also here/m],
      );
      const left = scene.holdfast('runs')['runs'] as unknown[];
      holds(`there are ${left.length} runs`, left.length === 1);
    },
  },
  {
    name: '20: stopped by a rate limit; Codex picks it up',
    async play({ scene, by, reads, holds }) {
      await scene.talk(by('claude'), 'Export the members as CSV.', [
        write('export.ts', 'a\n'),
        { refuses: 'rate limit' },
      ]).ended;
      await reads(
        scene.talk(by('codex'), 'Pick up where Claude left off and keep the field names.', [{ say: 'I see.' }]),
        [/claude \(S-1\) was stopped at .*, by a rate limit\./, /^Asked \(.*\): "Export the members as CSV\."$/m],
        [/cut off/, /crashed/],
      );
      const asked = scene.journal().filter(({ type, text }) => type === 'turn.began' && text.includes('field names'));
      holds('the field names are recorded as a request', asked.length === 1);
    },
  },
];
