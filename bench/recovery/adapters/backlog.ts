import { join } from 'node:path';
import type { ReportedState, Tool } from '../adapter.ts';
import { unitsOf } from '../adapter.ts';
import type { Step } from '../scenario.ts';
import { runProgram } from './program.ts';

/**
 * Backlog.md by its own guides: a step is a task, its units are acceptance criteria, progress and effects are notes, a
 * blocker is a label with a comment, a dropped step is archived. It has no field for a decision's reason, so that is in the title.
 */
export const backlog: Tool = {
  id: 'backlog',
  name: 'Backlog.md 1.52.0',
  durability: 'Markdown files, no fsync',
  isProcess: true,
  packages: ['backlog.md@1.52.0'],
  open({ folder, installed }) {
    const program = join(installed, 'node_modules', '.bin', 'backlog');
    const call = (...words: string[]): Promise<string> => runProgram(folder, program, words);
    const create = ({ key, title, ...step }: Step, goal: string): Promise<string> =>
      call(
        ...['task', 'create', `${key} ${title}`, '-d', goal, '--plain'],
        ...unitsOf({ key, title, ...step }).flatMap(({ unit }) => ['--ac', unit]),
      );
    const idOf = async (step: string): Promise<string> =>
      tasksIn(await call('task', 'list', '--plain')).find(({ title }) => title.startsWith(step))?.id ?? '';
    const edit = async (step: string, ...words: string[]): Promise<void> =>
      void (await call('task', 'edit', await idOf(step), ...words, '--plain'));
    return {
      async begin({ goal, steps }) {
        await call('init', 'work', '--defaults', '--no-git', '--integration-mode', 'none');
        for (const step of steps) await create(step, goal);
      },
      start: (step) => edit(step, '-s', 'In Progress'),
      async checkpoint({ step, unit, file, next }) {
        const shown = await call('task', 'view', await idOf(step), '--plain');
        const index = new RegExp(`#(\\d+) ${unit}`).exec(shown)?.[1] ?? '1';
        await edit(step, '--check-ac', index, '--append-notes', `Changed ${file}. ${next}`);
      },
      async beginEffect({ step, effect }) {
        await edit(step, '--append-notes', `Effect ${effect} began`);
        return 'go';
      },
      endEffect: ({ step, effect }) => edit(step, '--append-notes', `Effect ${effect} ended`),
      decide: async ({ decision, reason }) =>
        void (await call('decision', 'create', `${decision}: ${reason}`, '-s', 'accepted', '--plain')),
      block: ({ step, text }) => edit(step, '--add-label', 'blocked', '--comment', text),
      async changePlan({ drop, add }) {
        await call('task', 'archive', await idOf(drop));
        await create(add, '');
      },
      complete: (step) => edit(step, '-s', 'Done'),
      async resume() {
        const list = await call('task', 'list', '--exclude-status', 'Done', '--plain');
        const tasks = tasksIn(list);
        const views: string[] = [];
        for (const { id } of tasks) views.push(await call('task', 'view', id, '--plain'));
        const decisions = await call('decision', 'list', '--plain');
        const state = stateOf(views);
        return { text: [list, ...views, decisions].join('\n'), calls: tasks.length + 2, state };
      },
      async close() {},
    };
  },
};

function tasksIn(list: string): { id: string; title: string }[] {
  return [...list.matchAll(/(TASK-\d+) - (.*)/g)].map(([, id = '', title = '']) => ({ id, title }));
}

function stateOf(views: readonly string[]): ReportedState {
  const steps = views.map((view) => ({
    step: /^Task TASK-\d+ - (\S+)/m.exec(view)?.[1] ?? '',
    isStarted: /Status: .*In Progress/.test(view),
    isBlocked: /^Labels: .*blocked/m.test(view),
    reached: [...view.matchAll(/- \[x\] #\d+ (\S+)/g)].at(-1)?.[1] ?? null,
  }));
  const noted = views.flatMap((view) => [...view.matchAll(/Effect (\S+) (began|ended)/g)]);
  const effects = new Map(noted.map(([, effect = '', state]) => [effect, state === 'ended']));
  return {
    open: steps
      .sort((a, b) => Number(b.isStarted) - Number(a.isStarted))
      .map(({ step, reached }) => ({ step, reached })),
    effects: [...effects].map(([effect, ended]) => ({ effect, ended })),
    blocked: steps.filter(({ isBlocked }) => isBlocked).map(({ step }) => step),
    changed: [],
  };
}
