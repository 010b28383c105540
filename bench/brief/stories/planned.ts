import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADVICE, heard, START, type Story } from '../story.ts';

/** What is shown and what is only counted must be all there is. */
function uncounted(text: string, noun: string, shown: RegExp, total: number): string[] {
  const found = text.match(shown)?.length ?? 0;
  const more = Number(new RegExp(`And (\\d+) ${noun}: `).exec(text)?.[1] ?? 0);
  return found > 0 && found + more === total ? [] : [`${found} and ${more} of ${total} ${noun}`];
}

/** Runs with a plan. */
export const planned: readonly Story[] = [
  {
    name: '22',
    about: 'a plan whose steps are not done in their order; then other work beside it',
    async play(stage) {
      const steps = [
        'Draw the map',
        'Number the seats',
        'Price the seats',
        'Sell one seat',
        'Sell a row',
        'Print a seat',
      ];
      writeFileSync(join(stage.folder, 'plan.md'), `# Seats\n\n${steps.map((step) => `- [ ] ${step}`).join('\n')}\n`);
      await stage.library(async (hf) => {
        await hf.init({ title: 'Seat plan', plan: 'plan.md' });
        const { steps: shown } = await hf.plan.show();
        const keys = steps.map((title) => shown.find((step) => step.title === title)?.key ?? '');
        await hf.skip({ key: keys[1] ?? '', reason: 'seats have names' });
        for (const index of [2, 3]) {
          await hf.start({ key: keys[index] ?? '' });
          await hf.complete({ key: keys[index] ?? '' });
        }
        await hf.session.end({ reason: 'completed' });
      });
      const qwen = stage.speaker('qwen', 'next');
      const start = heard(stage, qwen, qwen.start(), {
        form: /^Holdfast record of \S+ \S+ UTC: the run chosen for this worktree; this session records in it\./,
        must: [
          /^Resuming from (?:Phase 1, )?Task: "Sell a row" \(not started\)$/m,
          /^Next: "Sell a row" is ready \(step ".*"\)\.$/m,
        ],
        not: [/Next:.*(?:Draw the map|Number the seats)/, ADVICE],
        isPlanned: true,
      });
      const joined = heard(stage, qwen, qwen.say('Do the next one'), { form: null, isPlanned: true });
      await qwen.kill();
      const claude = stage.speaker('claude', 'font');
      claude.start();
      claude.ask('Use a larger font for the header');
      const moved = heard(stage, claude, claude.holdfast('resume', 'new'), {
        form: /the work this session continues/,
        must: [/^Asked \(.*\): "Use a larger font for the header/m],
        not: [/Sell a row/, ADVICE],
      });
      claude.write('header.css', 'a\n');
      return { readings: [start, joined, moved], runs: [['next'], ['font']] };
    },
  },
  {
    name: '24',
    about: 'more in every section than a brief holds',
    async play(stage) {
      const many = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
      await stage.library(async (hf) => {
        await hf.init({ title: 'Move the archive', id: 'archive' });
        for (const index of many(8)) await hf.plan.add({ key: `p${index}`, title: `Move shelf ${index}` });
        for (const index of many(40))
          await hf.mail.send({ to: 'codex', type: 'notify', subject: `News ${index}`, body: 'text', priority: 'P1' });
        for (const index of many(25)) await hf.raise({ kind: 'question', text: `Question ${index}?` });
        for (const index of many(30)) {
          const irreversible = index === 3 || index === 9;
          await hf.decide({ context: 'c', decision: `Choice ${index}`, reason: `because ${index}`, irreversible });
        }
        for (const index of many(3)) await hf.note({ text: `Never touch shelf ${index}.`, kind: 'constraint' });
        await hf.use({ clear: true });
      });
      const claude = stage.speaker('claude', 'shelves');
      claude.start();
      claude.say('Continue with the archive: move the second shelf');
      claude.holdfast('start', 'p2');
      claude.write(
        many(40).map((index) => `shelf/box-${index}.txt`),
        'x\n',
      );
      claude.write(
        many(20).map((index) => `shelf/crate-${index}.txt`),
        'x\n',
      );
      claude.run('npm test', 1);
      claude.said('Continue', 'The boxes are moved. Now the upload.');
      claude.begin('scripts/upload.sh --all');
      await claude.kill();
      const codex = stage.speaker('codex', 'next');
      const told = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          /^Resuming from Task: "Move shelf 2" \(no checkpoint yet\)$/m,
          /^Run "archive" "Move the archive": claude \(S-\d+\) was cut off/m,
          /^Asked \(.*\): "Continue with the archive/m,
          /^Uncertain: X-\d+ "scripts\/upload\.sh --all" began /m,
          /^Failed: "npm test"/m,
          /^Changed, not committed: "shelf\/.*And 5\d files: /m,
          /^Said before it was cut off: ".*Now the upload\."$/m,
          /^Plan: 0 of 8 done; in progress: step "p2" "Move shelf 2"; left: step "p1"/m,
          ...many(3).map((index) => new RegExp(`^Constraint N-\\d+ \\(.*\\): "Never touch shelf ${index}\\."$`, 'm')),
          /^Decided D-\d+ \(irreversible\): "Choice 3", because "because 3"\.$/m,
          /^Decided D-\d+ \(irreversible\): "Choice 9", because "because 9"\.$/m,
          /^Open: /m,
          /And \d+ messages: `holdfast mail inbox`\./,
          /And \d+ questions: `[a-z -]+`\./,
          /^Next: find out whether X-\d+ took effect; "Move shelf 2" was in progress\.$/m,
        ],
        not: [ADVICE],
        isPlanned: true,
      });
      const untrue = [
        ...uncounted(told.text, 'decisions', /^Decided /gm, 30),
        ...uncounted(told.text, 'questions', /^Open: Q-/gm, 25),
        ...uncounted(told.text, 'messages', /^Open: M-/gm, 40),
        ...uncounted(told.text, 'files', /" new, 1 line/g, 60),
      ];
      return { readings: [{ ...told, untrue: [...told.untrue, ...untrue] }], runs: [['shelves']] };
    },
  },
  {
    name: '25',
    about: 'a plan with phases, plans and tasks; cut off after a checkpoint',
    branch: 'login',
    async play(stage) {
      mkdirSync(join(stage.folder, 'src'));
      stage.change('src/refresh.ts', 'old\n');
      stage.git('add', '.');
      stage.git('commit', '--quiet', '-m', 'before');
      await stage.library(async (hf) => {
        await hf.init({ title: 'Login that survives a stolen token', id: '2026-11-12-login' });
        await hf.plan.add({ key: '2', title: 'Tokens', kind: 'phase' });
        await hf.plan.add({ key: '2-3', title: 'Refresh', kind: 'plan', parent: '2' });
        for (const [number, title] of ['Issue tokens', 'Rotate refresh tokens', 'Revoke the family'].entries())
          await hf.plan.add({
            key: `2-3.${number + 1}`,
            title,
            parent: '2-3',
            ...(number === 1
              ? { checkpoints: ['endpoint_drafted', 'router_wired'], context: [stage.padding.path('src/refresh.ts')] }
              : {}),
          });
        await hf.note({ text: 'Old tokens stay valid for 60 s.', kind: 'constraint' });
        await hf.decide({ context: 'c', decision: 'httpOnly cookie', reason: 'scripts cannot read it' });
        await hf.start({ key: '2-3.1' });
        await hf.complete({ key: '2-3.1' });
        await hf.session.end({ reason: 'completed' });
        await hf.use({ clear: true });
      });
      const claude = stage.speaker('claude', 'login');
      claude.start();
      claude.say('Continue: login, the next step of the plan.');
      claude.holdfast('start', '2-3.2');
      claude.write('src/refresh.ts', 'old\nnew\nnewer\n');
      claude.holdfast('checkpoint', 'endpoint_drafted', '--next', 'wire the router');
      await claude.kill();
      const codex = stage.speaker('codex', 'next');
      const headline =
        'Resuming from Phase 2, Plan 3, Task: "Rotate refresh tokens" (checkpoint: "endpoint_drafted", next: "router_wired")';
      const told = heard(stage, codex, codex.start(), {
        form: START,
        must: [
          new RegExp(`^[^\\n]*\\n${headline.replace(/[()]/g, '\\$&')}\\n`),
          /^Run "2026-11-12-login" "Login that survives a stolen token": claude \(S-\d+\) was cut off .* Branch "login", as now\.$/m,
          /^Asked \(.*\): "Continue: login, the next step of the plan\."$/m,
          /^Changed, not committed: "src\/refresh\.ts" \+2 -0[.;]/m,
          /^Read: .*"src\/refresh\.ts" ~\d+ tokens/m,
          /^Plan: 1 of 3 done: "Issue tokens"; in progress: step "2-3\.2" "Rotate refresh tokens"; left: step "2-3\.3" "Revoke the family"\.$/m,
          /^Constraint N-\d+ \(.*\): "Old tokens stay valid for 60 s\."$/m,
          /^Decided D-\d+: "httpOnly cookie", because "scripts cannot read it"\.$/m,
          /^Next, as claude wrote \(.*\): "wire the router"$/m,
          /`holdfast resume [0-9a-f]{6}`/,
        ],
        not: [/Phase (?!2)|Plan (?![3:])\d/, ADVICE],
        isPlanned: true,
      });
      const { data } = JSON.parse(codex.holdfast('resume', '--run', '2026-11-12-login', '--json'));
      const untrue = data.headline === headline ? [] : [`the headline ${data.headline}`];
      return { readings: [{ ...told, untrue: [...told.untrue, ...untrue] }], runs: [['login']] };
    },
  },
];
