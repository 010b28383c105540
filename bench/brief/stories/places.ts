import { join } from 'node:path';
import { ADVICE, heard, JOINED, OTHERS, START, type Story } from '../story.ts';

/** Work on another branch, in another worktree, on another machine. */
export const places: readonly Story[] = [
  {
    name: '6',
    about: 'another session works on it now, and an older run is in another worktree',
    branch: 'tile-cache',
    async play(stage) {
      stage.git('worktree', 'add', '--quiet', 'legend-dark');
      const codex = stage.speaker('codex', 'legend', { folder: join(stage.folder, 'legend-dark') });
      codex.start();
      codex.ask('Dark theme for the legend');
      codex.write('legend.css', 'a\n');
      await codex.kill();
      const claude = stage.speaker('claude', 'tiles');
      claude.start();
      claude.ask('Map tiles eat the disk. Cap the cache at 2 GB, least recently used out first.');
      claude.write('src/evict.ts', 'a\n');
      claude.todos([
        { content: 'Write the eviction', status: 'completed' },
        { content: 'Soak test', status: 'in_progress' },
      ]);
      claude.begin('npm run soak -- 600');
      const qwen = stage.speaker('qwen', 'second');
      const first = heard(stage, qwen, qwen.start(), {
        form: OTHERS,
        must: [/^Working now: claude \(S-1\), "Map tiles eat the disk\.", last sign /m],
        not: [/^Asked/m],
      });
      const second = heard(stage, qwen, qwen.say('go on'), {
        form: JOINED,
        must: [
          /claude \(S-1\) is working on this now, last sign .* ago\. Both sessions record here\. It changed "src\/evict\.ts" in the last 10 min\. Branch "tile-cache", as now\./,
          /^Asked \(.*\): "Map tiles eat the disk\. Cap the cache at 2 GB/m,
          /It runs in session S-1 now\.$/m,
          /^Next: agree with the user who does what; claude has "Soak test"\.$/m,
          /^Also here: \S+ "Dark theme for the legend", cut off .* ago, codex, worktree "legend-dark"\.$/m,
        ],
        not: [/take over/i, /legend\.css/, ADVICE, /was cut off/],
      });
      return { readings: [first, second], runs: [['legend'], ['tiles', 'second']] };
    },
  },
  {
    name: '16',
    about: 'two worktrees with a run each',
    async play(stage) {
      for (const name of ['sauna', 'lockers']) {
        stage.git('worktree', 'add', '--quiet', name);
        const claude = stage.speaker('claude', name, { folder: join(stage.folder, name) });
        claude.start();
        claude.ask(name === 'sauna' ? 'Book the sauna by the hour' : 'Number the lockers');
        claude.write(`${name}.ts`, 'a\n');
        await claude.kill();
      }
      const sauna = stage.speaker('codex', 'sauna-next', { folder: join(stage.folder, 'sauna') });
      const first = heard({ ...stage, folder: join(stage.folder, 'sauna') }, sauna, sauna.start(), {
        form: START,
        must: [
          /^Asked \(.*\): "Book the sauna by the hour/m,
          /"sauna\.ts" new, 1 line/,
          /^Also here: \S+ "Number the lockers", cut off .* ago, claude, worktree "lockers"\.$/m,
        ],
        not: [/Asked.*lockers/, /conflict|missing/i, ADVICE],
      });
      const lockers = stage.speaker('qwen', 'lockers-next', { folder: join(stage.folder, 'lockers') });
      const second = heard({ ...stage, folder: join(stage.folder, 'lockers') }, lockers, lockers.start(), {
        form: START,
        must: [
          /^Asked \(.*\): "Number the lockers/m,
          /^Also here: \S+ "Book the sauna by the hour", cut off .* ago, claude, worktree "sauna"\.$/m,
        ],
        not: [/Asked.*sauna/, /conflict|missing/i, ADVICE],
      });
      const main = stage.speaker('claude', 'main');
      const third = heard(stage, main, main.start(), {
        form: OTHERS,
        must: [
          /^Also here: .*"Number the lockers".*worktree "lockers"/m,
          /^Also here: .*"Book the sauna by the hour".*worktree "sauna"/m,
        ],
        not: [/^Asked|^Next/m],
      });
      const fourth = heard(stage, main, main.say('continue'), {
        form: JOINED,
        must: [
          /The work is in worktree "lockers" on branch "lockers"; files named below are there\./,
          /^Asked \(.*\): "Number the lockers/m,
          /^Changed: "lockers\.ts"/m,
          /^Also here: .*"Book the sauna by the hour"/m,
        ],
        not: [/conflict|missing|deleted/i, ADVICE],
      });
      return { readings: [first, second, third, fourth], runs: [['sauna'], ['lockers', 'main']] };
    },
  },
  {
    name: '17',
    about: 'stashed, and on another branch now',
    branch: 'loyalty-points',
    async play(stage) {
      stage.change('points.md', 'A story.\n');
      stage.git('add', '.');
      stage.git('commit', '--quiet', '-m', 'points');
      const claude = stage.speaker('claude', 'points');
      claude.start();
      claude.ask('Add loyalty points');
      claude.write('points.md', 'A story.\nwith points\n');
      await claude.kill();
      stage.git('stash', '--quiet', '--include-untracked');
      stage.git('checkout', '--quiet', '-b', 'main');
      const codex = stage.speaker('codex', 'next');
      const told = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          /It was on branch "loyalty-points"; this worktree is on "main" now\./,
          /"points\.md" is as before now\./,
        ],
        not: [/not committed/, ADVICE],
      });
      return { readings: [told], runs: [['points']] };
    },
  },
  {
    name: '18',
    about: 'cut off on another machine',
    async play(stage) {
      const claude = stage.speaker('claude', 'migration', { host: 'buildbox' });
      claude.start();
      claude.ask('Migrate the member table');
      claude.write('migrate.sql', 'a\n');
      claude.begin('scripts/migrate.sh --all');
      claude.end('other');
      await claude.kill();
      const codex = stage.speaker('codex', 'next');
      codex.start();
      const told = heard(stage, codex, codex.say('continue'), {
        form: JOINED,
        must: [
          /claude \(S-1\) was cut off in the middle of a turn /,
          /The work is on host "buildbox"; files named below are there and were not checked\./,
          /^Uncertain: X-\d+ "scripts\/migrate\.sh --all" began .* It ran on host "buildbox"; whether it still runs cannot be seen from here\.$/m,
          /^Changed: "migrate\.sql"/m,
        ],
        not: [/no process|process is gone|The client is gone/i, /not committed/, ADVICE],
      });
      return { readings: [told], runs: [['migration', 'next']] };
    },
  },
];
