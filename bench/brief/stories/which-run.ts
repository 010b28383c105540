import { ADVICE, heard, JOINED, OTHERS, START, type Story } from '../story.ts';

/** Several pieces of work in one folder. */
export const whichRun: readonly Story[] = [
  {
    name: '5',
    about: 'finished and committed; another conversation says continue',
    async play(stage) {
      const claude = stage.speaker('claude', 'umlauts');
      claude.start();
      claude.ask('The contact form loses umlauts in the subject. Fix it and commit.');
      claude.write('src/subject.ts', 'utf8\n');
      claude.write('test/subject.test.ts', 'utf8\n');
      claude.run('npm run build', 0);
      stage.git('add', '.');
      stage.git('commit', '--quiet', '-m', 'Encode the subject');
      claude.run('git commit -m "Encode the subject"', 0);
      claude.stop('Fixed: the subject is encoded as UTF-8 now. Committed.');
      await claude.kill();
      const opencode = stage.speaker('opencode', 'next');
      opencode.start();
      const told = heard(stage, opencode, opencode.say('continue'), {
        form: JOINED,
        must: [
          /claude \(S-1\) finished at .*; nothing was left open\. Nothing is unfinished in this folder; this run was finished last\./,
          /^Asked \(.*\): "The contact form loses umlauts in the subject\. Fix it and commit\./m,
          /^Committed in 1 commit: .*"src\/subject\.ts"/m,
          /^Committed in 1 commit: .*"test\/subject\.test\.ts"/m,
          /^Commands: "npm run build" passed .*; no file was changed after it\.$/m,
          /^Said at the end of the turn \(.*\): ".*Committed\."$/m,
        ],
        not: [ADVICE, /^Next/m, /archive/i, /not committed/],
      });
      return { readings: [told], runs: [['umlauts', 'next']] };
    },
  },
  {
    name: '9',
    about: 'finished work is not mentioned to a new request, nor to the next session',
    async play(stage) {
      const labels = stage.speaker('claude', 'labels');
      const first = heard(stage, labels, labels.start(), { form: null });
      labels.ask('Make bakery price labels');
      labels.todos([{ content: 'Lay out the label', status: 'completed' }]);
      labels.write('labels.ts', 'a\n');
      labels.stop('The labels are done.');
      labels.end();
      await labels.kill();
      const hours = stage.speaker('claude', 'hours');
      const second = heard(stage, hours, `${hours.start()}${hours.ask('Show the opening hours per branch')}`, {
        form: null,
      });
      hours.write('hours.ts', 'a\n');
      await hours.kill();
      const codex = stage.speaker('codex', 'third');
      const third = heard(stage, codex, codex.start(), {
        form: START,
        must: [/^Asked \(.*\): "Show the opening hours per branch/m, /"hours\.ts" new, 1 line/],
        not: [/labels/, /Also here|steps|To-do/, ADVICE],
      });
      return { readings: [first, second, third], runs: [['labels'], ['hours']] };
    },
  },
  {
    name: '10',
    about: 'two requests, both cut off; the third session continues the later one',
    async play(stage) {
      const terms = stage.speaker('claude', 'terms');
      terms.start();
      terms.ask('Write bicycle rental terms');
      terms.todos([{ content: 'Liability', status: 'in_progress' }]);
      terms.write('terms.md', 'a\n');
      await terms.kill();
      const privacy = stage.speaker('claude', 'privacy');
      privacy.start();
      privacy.ask('Write a privacy page');
      privacy.write('privacy.md', 'a\n');
      await privacy.kill();
      const third = stage.speaker('claude', 'third');
      const start = heard(stage, third, third.start(), {
        form: START,
        must: [
          /^Asked \(.*\): "Write a privacy page/m,
          /"privacy\.md" new, 1 line/,
          /^Next: the request is not known to be finished\.$/m,
          /^Also here: \S+ "Write bicycle rental terms", cut off .* ago, claude\.$/m,
        ],
        not: [/Liability|terms\.md|Asked.*bicycle/, ADVICE],
      });
      const prompt = heard(stage, third, third.say('continue'), { form: null });
      return { readings: [start, prompt], runs: [['terms'], ['privacy', 'third']] };
    },
  },
  {
    name: '11',
    about: 'a new request gets the names of other work, and nothing else',
    async play(stage) {
      const terms = stage.speaker('claude', 'terms');
      terms.start();
      terms.ask('Write bicycle rental terms');
      terms.write('terms.md', 'a\n');
      await terms.kill();
      const expected = {
        form: OTHERS,
        must: [/^Also here: \S+ "Write bicycle rental terms", cut off .* ago, claude\.$/m],
        not: [/terms\.md|^Asked|^Next/m],
        mostTokens: 130,
      };
      const gemini = stage.speaker('gemini', 'privacy');
      gemini.start();
      const first = heard(stage, gemini, gemini.ask('Write a privacy page'), expected);
      const opencode = stage.speaker('opencode', 'imprint');
      opencode.start();
      const second = heard(stage, opencode, opencode.ask('Write an imprint'), expected);
      return { readings: [first, second], runs: [['terms'], ['privacy'], ['imprint']] };
    },
  },
  {
    name: '12',
    about: 'the agent finds that its request belongs to an earlier run',
    async play(stage) {
      const lists = stage.speaker('claude', 'lists');
      lists.start();
      lists.ask('Attendance lists as PDF');
      lists.write('lists.ts', 'a\n');
      lists.run('npm test', 0);
      await lists.kill();
      const margins = stage.speaker('claude', 'margins');
      const short = /`holdfast resume ([0-9a-f]{6})`/.exec(margins.start())?.[1] ?? '';
      margins.ask('The margins of the PDF are too narrow');
      margins.write('margins.ts', 'a\n');
      margins.run('npm run build', 0);
      margins.holdfast('resume', short);
      const again = margins.holdfast('resume', short);
      await margins.kill();
      const third = stage.speaker('gemini', 'third');
      third.start();
      const one = (what: string): RegExp => new RegExp(`^(?!(?:[^]*${what}){2})[^]*${what}`);
      const told = heard(stage, third, third.say('continue'), {
        form: JOINED,
        must: [
          /^Asked(?: first)? \(.*\): "Attendance lists as PDF/m,
          /^Asked(?: last)? \(.*\): "The margins of the PDF are too narrow/m,
          one('"lists\\.ts" new, 1 line'),
          one('"margins\\.ts" new, 1 line'),
          one('"npm run build" passed'),
        ],
        not: [/Also here/, ADVICE],
      });
      const moved = { client: 'claude' as const };
      const shown = heard(stage, moved, again, {
        form: JOINED,
        must: [/^Asked(?: first)? \(.*\): "Attendance lists as PDF/m, /"margins\.ts" new, 1 line/],
        not: [/Also here/],
        isPlanned: true,
      });
      return { readings: [told, shown], runs: [['lists', 'margins', 'third']] };
    },
  },
  {
    name: '14',
    about: 'another request in the same conversation, after the first was finished',
    async play(stage) {
      const guests = stage.speaker('claude', 'guests');
      guests.start();
      guests.ask('Sort the guest list by table');
      guests.todos([
        { content: 'Read the tables', status: 'completed' },
        { content: 'Sort the guests', status: 'completed' },
      ]);
      guests.write('guests.ts', 'a\n');
      guests.stop('Sorted.');
      guests.ask('Print seat cards, eight per page');
      guests.write('cards.ts', 'a\n');
      guests.todos([
        { content: 'Lay out a page', status: 'in_progress' },
        { content: 'Print eight of them', status: 'pending' },
      ]);
      await guests.kill();
      const codex = stage.speaker('codex', 'next');
      const told = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          /^Asked(?: last)? \(.*\): "Print seat cards, eight per page/m,
          /^Asked first \(.*\): "Sort the guest list by table/m,
          /"cards\.ts" new, 1 line/,
          /^To-do: 0 of 2 done; in progress: "Lay out a page"; left: "Print eight of them"/m,
          /^Next: "Lay out a page" was in progress\.$/m,
        ],
        not: [/left:.*(?:Read the tables|Sort the guests)/, /Changed.*guests\.ts/, ADVICE],
      });
      const qwen = stage.speaker('qwen', 'title', {});
      const title = heard(stage, qwen, qwen.ask('Number the pages'), {
        form: OTHERS,
        must: [/^Also here: \S+ "Print seat cards, eight per page", cut off /m],
        mostTokens: 130,
      });
      return { readings: [told, title], runs: [['guests'], ['title']] };
    },
  },
];
