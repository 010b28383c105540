import { emptyRunModel, type ModelStep } from '../../core/model/run-model.ts';
import { isName } from '../../core/text.ts';
import type { Files, Found, Repaired, Tree } from '../format.ts';
import { splitLines } from '../text/lines.ts';
import { filesOf, folderOf, sortFolder } from './folder.ts';
import { readFolder } from './read.ts';
import { readTask } from './turnfile-model.ts';

/**
 * Repairs a damaged Turnfile: the tasks that are still readable, compared with the last snapshots and the status lines;
 * everything else from the other files.
 */
export function repairFolder(found: Found, tree: Tree): Repaired | null {
  const path = folderOf(found.main);
  const folder = sortFolder([...tree.paths, ...found.files], path);
  const files: Files = new Map(
    filesOf(folder).flatMap((one) => {
      const text = tree.read(one);
      return text === null ? [] : [[one, text] as const];
    }),
  );
  const beside = new Map([...files].filter(([one]) => one !== folder.turnfile));
  const read = readFolder({ ...found, files: [...beside.keys()] }, beside);
  const damaged = folder.turnfile === null ? '' : (files.get(folder.turnfile) ?? '');
  const tasks = tasksIn(damaged);
  const last = [...read.chats.values()].flatMap(({ snapshots }) => snapshots.at(-1) ?? []);
  const inSnapshots = new Map(
    last.flatMap(({ task }) => (task?.step && isName(task.step, '._-', 64) ? [[task.step, task] as const] : [])),
  );
  if (!read.model && tasks.size === 0 && inSnapshots.size === 0) return null;
  const confidence: { step: string; confidence: 'high' | 'medium' | 'low'; from: string }[] = [];
  const steps: ModelStep[] = [];
  for (const [key, fields] of tasks) {
    const step = readTask({ id: key, fields }, new Map([[key, key]]));
    const told = inSnapshots.get(key)?.status ?? null;
    const agrees = told !== null && (told === 'complete') === (step.status === 'completed');
    steps.push(step);
    confidence.push({
      step: key,
      confidence: agrees ? 'high' : fields['status'] === undefined ? 'low' : 'medium',
      from: folder.turnfile ?? found.main,
    });
  }
  for (const [key, task] of inSnapshots) {
    if (tasks.has(key)) continue;
    const status = task.status === 'complete' ? 'completed' : task.status === null ? 'pending' : 'in_progress';
    steps.push({ key, title: key, kind: 'task', status });
    confidence.push({
      step: key,
      confidence: task.status === null ? 'low' : 'medium',
      from: chatOf(read.chats, key) ?? found.main,
    });
  }
  const base = read.model ?? emptyRunModel(path.replace(/\/$/, '').split('/').at(-1) || 'Session');
  const current = steps.find((step) => step.status === 'in_progress')?.key;
  const next = base.next ?? last.findLast(({ task }) => task?.next)?.task?.next ?? undefined;
  return {
    model: {
      ...base,
      steps,
      ...(current === undefined ? {} : { position: { step: current } }),
      ...(next === undefined ? {} : { next }),
    },
    sources: [
      ...(tasks.size > 0 && folder.turnfile !== null ? [folder.turnfile] : []),
      ...read.chats.keys(),
      ...([folder.worklog, folder.mailbox, folder.questions].filter(
        (one) => one !== null && files.has(one),
      ) as string[]),
    ],
    confidence,
  };
}

function chatOf(chats: ReturnType<typeof readFolder>['chats'], step: string): string | undefined {
  return [...chats].find(([, { snapshots }]) => snapshots.at(-1)?.task?.step === step)?.[0];
}

/** Reads tasks by indentation alone, so that damage elsewhere does not matter. */
function tasksIn(text: string): Map<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>();
  let inside = false;
  let current: Record<string, string> | null = null;
  for (const line of splitLines(text)) {
    if (/^[A-Za-z]/.test(line)) inside = false;
    if (/^ {2}tasks:/.test(line)) inside = true;
    const id = /^ {4}"?([\w.-]{1,64})"?:\s*$/.exec(line)?.[1];
    if (inside && id !== undefined && isName(id, '._-', 64)) {
      current = found.get(id) ?? {};
      found.set(id, current);
    }
    const [, name, value] = /^ {6}(description|owner|status):\s*"?([^"\r\n]{1,2000})/.exec(line) ?? [];
    if (inside && current && name && value && value.trim() !== 'null') current[name] ??= value.trim();
  }
  return found;
}
