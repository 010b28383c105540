import { join } from 'node:path';
import type { ReportedState, Tool } from '../adapter.ts';
import type { Step } from '../scenario.ts';
import { connectMcp } from './mcp-client.ts';

/**
 * Task Master over MCP, by the tools that need no model and no key: a step is a task, its units and effects are subtasks, an
 * effect that began is a subtask in progress, a blocker is its status, a dropped step is cancelled. Texts for which
 * it has no field (why, what is next) are metadata of the task, which a variable has to allow.
 */
export const taskMaster: Tool = {
  id: 'task-master',
  name: 'Task Master 0.43.1',
  durability: 'a JSON file, no fsync',
  isProcess: true,
  packages: ['task-master-ai@0.43.1'],
  async open({ folder, installed }) {
    const { call, close } = await connectTaskMaster(folder, installed);
    const tasks = async (): Promise<Task[]> => tasksIn(await call('get_tasks', { withSubtasks: true }));
    const idOf = async (step: string): Promise<string> =>
      (await tasks()).find(({ title }) => title.startsWith(step))?.id ?? '';
    const subtaskOf = async (step: string, title: string): Promise<string> => {
      const task = (await tasks()).find((one) => one.title.startsWith(step));
      const subtask = task?.subtasks?.find((one) => one.title === title);
      return `${task?.id}.${subtask?.id}`;
    };
    const mark = async (id: string, status: string): Promise<void> =>
      void (await call('set_task_status', { id, status }));
    const tell = async (id: string, words: object): Promise<void> => {
      const said = await call('update_task', { id, metadata: JSON.stringify(words) });
      if (/"updated": false/.test(said)) throw new Error(said);
    };
    const add = async (step: Step, goal: string): Promise<void> => {
      const said = await call('add_task', { title: `${step.key} ${step.title}`, description: goal || step.title });
      const id = /"taskId": "?(\d+)/.exec(said)?.[1] ?? '';
      for (const item of step.items) await call('add_subtask', { id, title: nameOf(item), skipGenerate: true });
    };
    return {
      async begin({ goal, steps }) {
        for (const step of steps) await add(step, goal);
      },
      start: async (step) => mark(await idOf(step), 'in-progress'),
      async checkpoint({ step, unit, file, next }) {
        // The task closes with its last subtask and cannot be changed then, so the text comes first.
        await tell(await idOf(step), { changed: file, next });
        await mark(await subtaskOf(step, unit), 'done');
      },
      async beginEffect({ step, effect }) {
        await mark(await subtaskOf(step, `Effect ${effect}`), 'in-progress');
        return 'go';
      },
      endEffect: async ({ step, effect }) => mark(await subtaskOf(step, `Effect ${effect}`), 'done'),
      decide: async ({ step, decision, reason }) => tell(await idOf(step), { [decision]: reason }),
      async block({ step, text }) {
        const id = await idOf(step);
        await mark(id, 'blocked');
        await tell(id, { blocker: text });
      },
      async changePlan({ drop, add: added }) {
        await mark(await idOf(drop), 'cancelled');
        await add(added, '');
      },
      complete: async (step) => mark(await idOf(step), 'done'),
      async resume() {
        const text = await call('get_tasks', { withSubtasks: true });
        const found = tasksIn(text);
        return { text: found.length === 0 ? '' : text, calls: 1, state: stateOf(found) };
      },
      close,
    };
  },
};

interface Task {
  id: string;
  title: string;
  status: string;
  subtasks?: { id: string; title: string; status: string }[];
}

/** The server with all of its tools; each call gets the folder of the project. */
export async function connectTaskMaster(folder: string, installed: string) {
  const server = join(installed, 'node_modules', '.bin', 'task-master-mcp');
  const allowed = { TASK_MASTER_TOOLS: 'all', TASK_MASTER_ALLOW_METADATA_UPDATES: 'true' };
  const client = await connectMcp(folder, [server], allowed);
  return {
    call: (name: string, input: object): Promise<string> => client.tool(name, { projectRoot: folder, ...input }),
    close: () => client.close(),
  };
}

function nameOf(item: Step['items'][number]): string {
  return 'unit' in item ? item.unit : `Effect ${item.effect}`;
}

function tasksIn(text: string): Task[] {
  const { data } = JSON.parse(text) as { data: { tasks?: Task[] } };
  return data.tasks ?? [];
}

function stateOf(tasks: readonly Task[]): ReportedState {
  const keyOf = ({ title }: Task): string => title.split(' ')[0] ?? '';
  const open = tasks
    .filter(({ status }) => !['done', 'cancelled'].includes(status))
    .sort((a, b) => Number(b.status === 'in-progress') - Number(a.status === 'in-progress'));
  const isEffect = ({ title }: { title: string }): boolean => title.startsWith('Effect ');
  return {
    open: open.map((task) => ({
      step: keyOf(task),
      reached: task.subtasks?.findLast((one) => one.status === 'done' && !isEffect(one))?.title ?? null,
    })),
    effects: tasks
      .flatMap(({ subtasks = [] }) => subtasks)
      .filter((one) => isEffect(one) && one.status !== 'pending')
      .map(({ title, status }) => ({ effect: title.slice('Effect '.length), ended: status === 'done' })),
    blocked: tasks.filter(({ status }) => status === 'blocked').map(keyOf),
    changed: [],
  };
}
