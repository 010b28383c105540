import { type AcceptanceStory, run, todo, write } from './acceptance.ts';
import { killDuring, killThinking, longCommand } from './scene.ts';

/**
 * A week in one repository: three tasks that have nothing to do with each other, two of them cut off, a question and its
 * answer, and a worktree, over seven sessions of six clients.
 */
export const life: AcceptanceStory = {
  name: 'life: three tasks, two kills, a question and a worktree over seven sessions',
  async play({ scene, by, reads, holds }) {
    const guests = scene.talk(by('claude'), 'Sort the guest list by table.', [
      todo(['Sort the list', 'in_progress'], ['Print seat cards', 'pending']),
      write('guests.txt', 'Ada 1\nGrace 2\n'),
      { hangs: true },
    ]);
    await killThinking(guests, scene);
    await reads(guests, null);

    const privacy = scene.talk(by('gemini'), 'Write a privacy page for the harbour museum.', [
      write('privacy.txt', 'We store nothing.\n'),
      { say: 'The draft is written. Should the page name the hosting company?' },
    ]);
    const others = /^Also here: \S+ "Sort the guest list by table\.", cut off .*, claude(?:, worktree "main")?\.$/m;
    await reads(privacy, [others], [/^Asked/m, /guests\.txt/]);

    const answer = scene.talk(by('codex'), 'yes', [
      write('hosting.txt', 'Quay Hosting\n'),
      run('git add hosting.txt privacy.txt && git commit -qm "Privacy page"'),
      { say: 'The privacy page names the hosting company and is committed.' },
    ]);
    await reads(answer, [
      /: unfinished work in this folder\./,
      /: the work this session continues\./,
      /gemini \(S-1\) ended its turn with a question to the user/,
      /^Said at the end of the turn \(.*\): ".*Should the page name the hosting company\?"$/m,
      /^Asked \(.*\): "Write a privacy page for the harbour museum\."$/m,
      others,
    ]);

    scene.git('worktree', 'add', '-q', '-b', 'hours', '../harbour-hours');
    const hours = scene.talk(
      by('claude'),
      'Show the opening hours of each branch.',
      [write('hours.txt', 'mon 8-18\n'), run(longCommand('publish'))],
      { in: '../harbour-hours' },
    );
    await killDuring(hours, scene, 'publish');
    await reads(hours, [others], [/privacy/i, /^Asked/m], true);

    const back = scene.talk(by('qwen'), 'continue', [
      write('seats.txt', 'eight per page\n'),
      { say: 'The seat cards are ready to print.' },
    ]);
    await reads(
      back,
      [
        /^Asked \(.*\): "Sort the guest list by table\."$/m,
        /^Changed, not committed: "guests\.txt" new, 2 lines\./m,
        /^To-do: 0 of 2 done; in progress: "Sort the list"; left: "Print seat cards"\.$/m,
        /^Also here: \S+ "Show the opening hours of each branch\.", cut off .*, claude, worktree "harbour-hours", X-1 uncertain\.$/m,
      ],
      [/privacy/i],
    );

    const there = scene.talk(by('opencode'), 'Go on, please.', [{ say: 'I see.' }], { in: '../harbour-hours' });
    await reads(
      there,
      [
        /^Asked \(.*\): "Show the opening hours of each branch\."$/m,
        /Branch "hours", as now\./,
        /^Uncertain: X-1 .*publish/m,
        /^Changed, not committed: "hours\.txt" new, 1 line\./m,
        /^Also here: \S+ "Sort the guest list by table\.", open .*, qwen/m,
      ],
      [/privacy/i, /^Asked .*continue/m],
    );

    const last = scene.talk(by('copilot'), 'continue with the seat cards', [{ say: 'I see.' }]);
    await reads(
      last,
      [
        /^Asked \(.*\): "Sort the guest list by table\."$/m,
        /"seats\.txt" new, 1 line/,
        /^Said at the end of the turn \(.*\): "The seat cards are ready to print\."$/m,
      ],
      [/privacy/i],
    );
    const { runs } = scene.holdfast('runs', '--all') as { runs: { title: string }[] };
    holds(`three runs, not ${runs.map(({ title }) => title).join(', ')}`, runs.length === 3);
  },
};
