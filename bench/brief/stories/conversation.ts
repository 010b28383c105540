import type { Client, Todo } from '../dialects.ts';
import { ADVICE, COMPACTED, done, heard, JOINED, RETURNED, type Reading, START, type Story } from '../story.ts';

/** Questions, answers, plans, compactions and resumed conversations. */
export const conversation: readonly Story[] = [
  {
    name: '4',
    about: 'a question to the user, answered in another session',
    branch: 'short-links',
    async play(stage) {
      const qwen = stage.speaker('qwen', 'links');
      qwen.start();
      qwen.ask('Short links should survive a rename of the page.');
      qwen.write('models.py', 'a\n');
      qwen.stop('The table is there.');
      qwen.ask('Use a table for it, not redirects in nginx.');
      qwen.write('alias.py', 'a\n');
      qwen.run('pytest -q', 0);
      qwen.stop('The alias table works. What should the alias of a deleted page answer, 404 or 410?');
      await qwen.kill();
      const codex = stage.speaker('codex', 'answer');
      const first = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          /qwen \(S-1\) ended its turn with a question to the user at .*; no answer is recorded\. Branch "short-links", as now\./,
          /^Asked first \(.*\): "Short links should survive a rename of the page\./m,
          /^Asked(?: last)? \(.*\): "Use a table for it, not redirects in nginx\./m,
          /^Commands: "pytest -q" passed .*; no file was changed after it\.$/m,
          /"alias\.py" new, 1 line/,
          /^Said at the end of the turn \(.*\): ".*What should the alias of a deleted page answer, 404 or 410\?"$/m,
          /^Next: the user's answer\.$/m,
        ],
        not: [ADVICE, /cut off/],
      });
      const joined = heard(stage, codex, codex.say('410'), { form: null });
      await codex.kill();
      const claude = stage.speaker('claude', 'next');
      const second = heard(stage, claude, claude.start(), {
        form: START,
        must: [
          /^Answered \(.*\): "410", to the question ".*What should the alias of a deleted page answer, 404 or 410\?"$/m,
          /^Asked first \(.*\): "Short links should survive/m,
          /codex \(S-2\) was cut off in the middle of a turn/,
        ],
        not: [ADVICE, /no answer is recorded/, /^Next: the user's answer/m],
      });
      return { readings: [first, joined, second], runs: [['links', 'answer']] };
    },
  },
  {
    name: '7',
    about: 'compaction inside a turn, in every client that reports one',
    branch: 'webhooks',
    async play(stage) {
      const readings: Reading[] = [];
      const runs: string[][] = [];
      for (const client of ['claude', 'codex', 'qwen', 'gemini', 'copilot', 'opencode'] satisfies Client[]) {
        const id = `webhooks-${client}`;
        const one = stage.speaker(client, id);
        one.start();
        one.ask(`Webhooks of ${client} must be retried for 24 h. Never touch the billing tables.`);
        if (client === 'claude') {
          one.holdfast('note', 'Never touch the billing tables.', '--kind', 'constraint');
          one.holdfast('note', 'One cron job per delivery: too slow.', '--kind', 'dead-end');
          one.holdfast('raise', 'question', 'Should a 410 stop the retries?');
          one.holdfast(
            'decide',
            '--context',
            'Pauses',
            '--decision',
            'Pauses double up to 1 h',
            '--reason',
            'the firewall',
          );
        }
        one.write(`retry-${client}.go`, 'a\n');
        const list = (status: 'pending' | 'in_progress'): Todo[] => [
          { content: 'Store the attempts', status: 'completed' },
          { content: `Admin page of ${client}`, status },
        ];
        one.todos(list('pending'));
        one.stop('The attempts are stored.');
        one.ask('Also show failed deliveries in the admin page.');
        one.write(`admin-${client}.go`, 'a\n');
        one.todos(list('in_progress'));
        one.run('go test ./...', 1);
        const at = one.compact();
        const declared = [
          /^Constraint N-\d+ \(.*\): "Never touch the billing tables\."$/m,
          /^Dead end N-\d+: "One cron job per delivery: too slow\."$/m,
          /^Decided D-\d+: "Pauses double up to 1 h", because "the firewall"\.$/m,
          /^Open: \S+, question to the user since .*: "Should a 410 stop the retries\?"/m,
        ];
        readings.push(
          heard(stage, one, at || one.say('go on'), {
            form: COMPACTED,
            must: [
              /: this session \(S-1\), in a turn since .* Branch "webhooks", as now\./,
              /^Asked first \(.*\): "Webhooks of \w+ must be retried for 24 h/m,
              /^Asked(?: last)? \(.*\): "Also show failed deliveries in the admin page\./m,
              /^Failed: "go test \.\/\.\.\." exit 1 at .*; not run again\./m,
              new RegExp(
                `^Changed, not committed: .*"admin-${client}\\.go" new, 1 line; "retry-${client}\\.go" new, 1 line`,
                'm',
              ),
              new RegExp(`^${done(stage, 1, 2)}.*in progress: "Admin page of ${client}"`, 'm'),
              new RegExp(`^Next: "Admin page of ${client}" is in progress\\.$`, 'm'),
              ...(client === 'claude' && stage.extraTodos === 0 ? declared : []),
            ],
            not: [ADVICE, /Also here|Working now/],
          }),
        );
        runs.push([id]);
        await one.kill();
      }
      return { readings, runs };
    },
  },
  {
    name: '8',
    about: 'the client resumes its conversation after another agent worked on it',
    branch: 'loan-reminders',
    async play(stage) {
      const codex = stage.speaker('codex', 'loans');
      codex.start();
      codex.ask('Remind people of their loans a day before. Deploy it to the test app.');
      codex.write('reminder.ts', 'a\n');
      codex.todos([{ content: 'Deploy to test', status: 'in_progress' }]);
      codex.begin('flyctl deploy --app lending-test');
      await codex.kill();
      const gemini = stage.speaker('gemini', 'friendlier');
      gemini.start();
      const first = heard(stage, gemini, gemini.say('Go on, but make the reminder text friendlier first'), {
        form: JOINED,
        must: [
          /^Uncertain: X-\d+ \(irreversible kind\) "flyctl deploy --app lending-test"/m,
          /^Asked \(.*\): "Remind people of their loans/m,
        ],
        not: [ADVICE],
      });
      gemini.write('reminder.txt', 'a\n');
      stage.git('add', '.');
      stage.git('commit', '--quiet', '-m', 'Friendlier');
      gemini.run('git commit -m Friendlier', 0);
      gemini.stop('Text changed and committed. I did not deploy.');
      await gemini.kill();
      const again = stage.speaker('codex', 'loans');
      const news = heard(stage, again, again.start('resume'), {
        form: RETURNED,
        must: [
          /codex \(S-1\) was cut off in the middle of a turn at .*; the client's process is gone\. Branch "loan-reminders", as now\./,
          /^Meanwhile gemini \(S-2\) was asked \(.*\): "Go on, but make the reminder text friendlier first"$/m,
          /^Uncertain: X-\d+ \(irreversible kind\) "flyctl deploy --app lending-test" began /m,
          /^Committed in 1 commit: .*"reminder\.txt"/m,
          /^Meanwhile gemini \(S-2\) said at the end of its turn \(.*\): ".*I did not deploy\."$/m,
          /^Next: find out whether X-\d+ took effect[.;]/m,
          /`holdfast settle X-\d+ succeeded`/,
        ],
        not: [/Remind people/, /To-do/, ADVICE],
      });
      again.say('Is it deployed?');
      return { readings: [first, news], runs: [['friendlier', 'loans']] };
    },
  },
  {
    name: '13',
    about: 'a question answered in its own conversation, then cut off',
    async play(stage) {
      const claude = stage.speaker('claude', 'recipes');
      claude.start();
      claude.ask('Scale recipes to grams');
      claude.write('scale.ts', 'a\n');
      claude.stop('Scaling works. Should spoons stay as they are?');
      claude.say('Up to three, yes; above that grams.');
      claude.said('Up to three', 'Now I change the spoons.');
      claude.write('spoons.ts', 'a\n');
      await claude.kill();
      const codex = stage.speaker('codex', 'next');
      const told = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          /^Asked(?: first)? \(.*\): "Scale recipes to grams/m,
          /^Answered \(.*\): "Up to three, yes; above that grams\.", to the question ".*Should spoons stay as they are\?"$/m,
          /^Said before it was cut off: ".*Now I change the spoons\."$/m,
          /"spoons\.ts" new, 1 line; "scale\.ts" new, 1 line/,
          /claude \(S-1\) was cut off/,
        ],
        not: [/no answer is recorded/, /the user's answer/, ADVICE],
      });
      return { readings: [told], runs: [['recipes']] };
    },
  },
  {
    name: '21',
    about: 'a plan was shown; in another conversation it was approved',
    async play(stage) {
      const plan =
        '# Read the EXIF rotation before the crop\n\n## Steps\n\n- Rotate first\n- Test all eight orientations';
      const shown = stage.speaker('claude', 'shown');
      shown.start();
      shown.ask('Thumbnails come out rotated');
      shown.show('ExitPlanMode', { plan });
      await shown.kill();
      const gemini = stage.speaker('gemini', 'next');
      gemini.start();
      const waiting = heard(stage, gemini, gemini.say('weiter'), {
        form: JOINED,
        must: [
          /claude \(S-1\) showed a plan to the user at .*; no approval is recorded\./,
          /^Plan shown to the user \(.*\): ".*Read the EXIF rotation before the crop/m,
          /^Asked \(.*\): "Thumbnails come out rotated/m,
        ],
        not: [/To-do|^Plan: /m, /approved/, ADVICE],
      });
      gemini.stop('I will wait for you.');
      await gemini.kill();
      const other = stage.speaker('claude', 'planned');
      other.start();
      other.ask('Sort the albums by their first photo');
      const albums = '# Keep the date of the first photo with its album\n\n- Add the column\n- Sort by it';
      const approve = other.show('ExitPlanMode', { plan: albums });
      approve();
      const cleared = other.clear('cleared');
      cleared.say(`Implement the following plan:\n\n${albums}`);
      cleared.write('albums.ts', 'a\n');
      await cleared.kill();
      const codex = stage.speaker('codex', 'last');
      const approved = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          /^Plan approved by the user \(.*\): ".*Keep the date of the first photo with its album/m,
          /^Asked \(.*\): "Sort the albums by their first photo/m,
          /"albums\.ts" new, 1 line/,
          /was cut off in the middle of a turn/,
        ],
        not: [/To-do|^Plan: /m, /no approval/, ADVICE],
      });
      return {
        readings: [waiting, approved],
        runs: [
          ['shown', 'next'],
          ['planned', 'cleared'],
        ],
      };
    },
  },
];
