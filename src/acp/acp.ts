import * as v from 'valibot';
import { clientNames } from '../clients/index.ts';
import type { Moment } from '../clients/moment.ts';
import { asFault, Fault } from '../core/fault.ts';
import type { Owner } from '../core/journal/event.ts';
import { defineOperation, described } from '../operations/operation.ts';
import { ownerOf } from '../workspace/process.ts';
import { startPiped } from '../workspace/program.ts';
import type { Observer } from './observe.ts';
import { type Recording, runProxy } from './proxy.ts';

/** Passed in, because no interface knows another. */
type CreateRecorder = (options: {
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  agent(): string;
  owner: Owner | undefined;
}) => { record(moment: Moment): Promise<string | null> };

export const acpWith = (createRecorder: CreateRecorder) =>
  defineOperation({
    name: 'acp',
    summary:
      'Stand between an editor and an agent that speaks the Agent Client Protocol: record the work, give it the brief.',
    scope: 'write',
    local: true,
    speaks: true,
    words: ['command'],
    examples: ['holdfast acp -- opencode acp', 'holdfast acp -- gemini --experimental-acp'],
    input: v.object({
      command: described(
        v.pipe(v.array(v.string()), v.minLength(1)),
        'The agent, after `--`: the command that the editor would start.',
      ),
    }),
    output: v.object({ exitCode: v.nullable(v.number()) }),
    async run(context, { command }) {
      const outside = context.workspace()?.root ?? context.dir;
      const child = await startPiped(command, context.dir, outside).catch((thrown: Error) => thrown);
      if (child instanceof Error) throw notStarted(command, child);
      const closed = new Promise<number | null>((resolve, reject) => {
        child.on('error', (thrown) => reject(notStarted(command, thrown)));
        child.on('close', (code) => resolve(code));
      });
      closed.catch(() => undefined);
      child.stdin.on('error', () => undefined);
      process.stdout.on('error', () => undefined);
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
      const recordingOf = (observer: Observer): Recording =>
        openRecording(
          createRecorder({
            environment: context.environment ?? {},
            cwd: context.dir,
            agent: () => agentOf(observer.agent(), command),
            owner: child.pid === undefined ? undefined : ownerOf(child.pid),
          }),
        );
      const { stdin, stdout } = process;
      const ends = { fromEditor: stdin, toEditor: stdout, fromAgent: child.stdout, toAgent: child.stdin };
      await Promise.race([runProxy(ends, recordingOf), closed.then(() => new Promise(() => undefined))]);
      return { data: { exitCode: await closed } };
    },
    verdict: ({ exitCode }) => exitCode ?? 1,
    say: () => '',
  });

function notStarted([program = '']: readonly string[], { message }: Error): Fault {
  return new Fault('not_found', `The agent ${program} could not be started: ${message}.`, {
    hints: ['Give the command that your editor would start, after `--`: `holdfast acp -- opencode acp`.'],
  });
}

/** A known client under its own name; any other as it calls itself, or as its command is called. */
function agentOf(named: string | null, command: readonly string[]): string {
  const words = `${named ?? ''} ${command.join(' ')}`.toLowerCase();
  const known = clientNames.find((name) => words.includes(name));
  if (known) return known;
  const last = (named ?? command[0] ?? '').split(/[\\/]/).at(-1) ?? '';
  return (
    last
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40) || 'agent'
  );
}

const BRIEF_MS = 2000;
const FINISH_MS = 3000;
const PAUSE_MS = 1000;

/** One moment after the other; while the store is away, they wait. */
function openRecording({ record }: ReturnType<CreateRecorder>): Recording {
  let last: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const after = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const insist = async (moment: Moment): Promise<void> => {
    for (;;) {
      try {
        await record(moment);
        return;
      } catch (thrown) {
        // What a rule refuses is refused again; it is in the log.
        if (isOver || asFault(thrown).code !== 'unavailable') return;
        await within(PAUSE_MS, new Promise(() => undefined));
      }
    }
  };
  return {
    take: (moment) => void after(() => insist(moment)),
    brief: (moment) =>
      within(
        BRIEF_MS,
        new Promise<string | null>((resolve) => {
          void after(async () => {
            try {
              resolve(await record(moment));
            } catch (thrown) {
              resolve(null);
              if (asFault(thrown).code === 'unavailable') await insist(moment);
            }
          });
        }),
      ),
    async finish() {
      await within(FINISH_MS, last);
      isOver = true;
    },
  };
}

/** Null if it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
