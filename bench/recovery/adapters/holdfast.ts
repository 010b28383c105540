import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdapterOptions, ReportedState, Tool } from '../adapter.ts';
import { unitsOf } from '../adapter.ts';
import { runProgram } from './program.ts';

const PROGRAM = join(process.cwd(), 'dist', 'bin', 'holdfast.cjs');

/** The command line as an agent calls it: every call is a process. A person's commands name no agent. */
export const holdfast: Tool = {
  id: 'holdfast',
  name: 'Holdfast',
  durability: 'fsync before every acknowledgement',
  isProcess: true,
  packages: [],
  open(options) {
    const call = (...words: string[]): Promise<Reply> => run(options, words, true);
    const asPerson = (...words: string[]): Promise<Reply> => run(options, words, false);
    const effects = new Map<string, string>();
    const decisions = new Map<string, string>();
    return {
      async begin({ goal, steps }) {
        // JSON is YAML.
        const plan = steps.map((step) => ({
          key: step.key,
          title: step.title,
          checkpoints: unitsOf(step).map(({ unit }) => unit),
        }));
        writeFileSync(join(options.folder, 'plan.yaml'), JSON.stringify({ steps: plan }));
        await asPerson('init', '--title', goal, '--goal', goal, '--plan', 'plan.yaml');
        await call('session', 'start');
      },
      start: async (step) => void (await call('start', step)),
      checkpoint: async ({ step, unit, file, next }) =>
        void (await call('checkpoint', unit, '--step', step, '--artifact', file, '--next', next)),
      async beginEffect({ effect, class: kind }) {
        const { data, fault } = await call('effect', 'begin', effect, '--class', kind, '--key', effect).catch(refusal);
        effects.set(effect, String(data['id'] ?? fault?.data['effect']));
        if (fault === undefined) return 'go';
        return fault.data['endedAt'] === undefined ? 'look' : 'done';
      },
      async endEffect({ effect }) {
        const id = effects.get(effect) ?? (await uncertainIds(call)).get(effect) ?? '';
        await call('effect', 'end', id, '--outcome', 'succeeded');
      },
      async decide(made) {
        const { data } = await call(...decideWords(made));
        decisions.set(made.decision, String(data['id']));
      },
      redecide: async ({ replaces, ...made }) =>
        void (await call(...decideWords(made), '--supersedes', decisions.get(replaces) ?? '')),
      block: async ({ step, text }) => void (await call('raise', 'blocker', text, '--affects', step)),
      async changePlan({ drop, add }) {
        await asPerson('plan', 'remove', drop);
        const points = unitsOf(add).flatMap(({ unit }) => ['--checkpoint', unit]);
        await asPerson('plan', 'add', add.key, add.title, ...points);
      },
      complete: async (step) => void (await call('complete', step)),
      async resume() {
        const { data } = await call('resume');
        return { text: String(data['text']), calls: 1, state: stateOf(data as unknown as Brief) };
      },
      async close() {},
    };
  },
};

const decideWords = ({ step, decision, reason }: { step: string; decision: string; reason: string }): string[] => [
  ...['decide', '--context', step, '--decision', decision, '--reason', reason, '--affects', step],
];

interface Reply {
  data: Record<string, unknown>;
  fault?: { code: string; message: string; data: Record<string, unknown> };
}

async function run({ folder, agent }: AdapterOptions, words: readonly string[], asAgent: boolean): Promise<Reply> {
  const more = asAgent ? { HOLDFAST_AGENT: agent, HOLDFAST_PID: String(process.pid) } : {};
  const out = await runProgram(folder, process.execPath, [PROGRAM, ...words, '--json'], more);
  const reply = JSON.parse(out) as Reply;
  if (reply.fault) throw Object.assign(new Error(reply.fault.message), { reply });
  return reply;
}

/** A refusal by a rule is an answer too. */
function refusal(error: unknown): Reply {
  const reply = (error as { reply?: Reply }).reply;
  if (reply?.fault?.code !== 'illegal') throw error;
  return { data: {}, fault: reply.fault };
}

async function uncertainIds(call: (...words: string[]) => Promise<Reply>): Promise<Map<string, string>> {
  const { uncertain } = (await call('resume')).data as unknown as Brief;
  return new Map(uncertain.map(({ name, id }) => [name, id]));
}

interface Brief {
  uncertain: { id: string; name: string }[];
  conflicts: { path?: string | null }[];
  position: { step: string | null; checkpoint: string | null; interrupted: string[]; ready: string[] };
  blockers: { status: string; affects: string[] }[];
}

function stateOf({ uncertain, conflicts, position, blockers }: Brief): ReportedState {
  const place = position.step === null ? [] : [position.step];
  const steps = [...new Set([...place, ...position.interrupted, ...position.ready])];
  return {
    open: steps.map((step) => ({ step, reached: step === position.step ? position.checkpoint : null })),
    effects: uncertain.map(({ name }) => ({ effect: name, ended: false })),
    blocked: blockers.filter(({ status }) => status === 'active').flatMap(({ affects }) => affects),
    changed: conflicts.flatMap(({ path }) => path ?? []),
  };
}
