import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportedState, Tool } from '../adapter.ts';
import { unitsOf } from '../adapter.ts';
import type { Step } from '../scenario.ts';

/**
 * A STATE.md as people and agents keep it: read once, kept in memory, and rewritten after every change as an editor's tool
 * does: emptied, then filled. Better than in practice: nothing is ever forgotten.
 */
export const stateFile: Tool = {
  id: 'state-file',
  name: 'a plain state file',
  durability: 'rewritten in place, no fsync',
  isProcess: false,
  packages: [],
  open({ folder, between }) {
    const path = join(folder, 'STATE.md');
    let mind: Mind | null = null;
    const recall = (): Mind => {
      mind ??= existsSync(path) ? parse(readFileSync(path, 'utf8')) : emptyMind();
      return mind;
    };
    const change = async (edit: (mind: Mind) => void): Promise<void> => {
      edit(recall());
      const file = openSync(path, 'w');
      between();
      writeSync(file, render(recall()));
      closeSync(file);
    };
    const stepOf = (key: string) => recall().steps.find((step) => step.key === key);
    return {
      begin: ({ goal, steps }) =>
        change((state) => {
          state.goal = goal;
          state.steps = steps.map(fresh);
        }),
      start: (key) =>
        change(() => {
          const step = stepOf(key);
          if (step) step.mark = '~';
        }),
      checkpoint: ({ step: key, unit, next }) =>
        change(() => {
          const step = stepOf(key);
          if (step) step.more = ` (reached: ${unit}; next: ${next})`;
        }),
      async beginEffect({ effect }) {
        await change(({ effects }) => effects.set(effect, 'began'));
        return 'go';
      },
      endEffect: ({ effect }) => change(({ effects }) => effects.set(effect, 'ended')),
      decide: ({ decision, reason }) => change(({ decisions }) => decisions.push(`${decision} Why: ${reason}`)),
      redecide: ({ replaces, decision, reason }) =>
        change((state) => {
          state.decisions = state.decisions.map((one) =>
            one.startsWith(replaces) ? `${decision} Why: ${reason}` : one,
          );
        }),
      block: ({ step, text }) => change(({ blockers }) => blockers.push(`${step}: ${text}`)),
      changePlan: ({ drop, add }) =>
        change((state) => {
          state.steps = [...state.steps.filter(({ key }) => key !== drop), fresh(add)];
        }),
      complete: (key) =>
        change(() => {
          const step = stepOf(key);
          if (step) Object.assign(step, { mark: 'x', more: '' });
        }),
      async resume() {
        const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
        return { text, calls: 1, state: stateOf(parse(text)) };
      },
      async close() {},
    };
  },
};

interface Mind {
  goal: string;
  steps: { mark: string; key: string; title: string; more: string }[];
  decisions: string[];
  blockers: string[];
  effects: Map<string, string>;
}

function emptyMind(): Mind {
  return { goal: '', steps: [], decisions: [], blockers: [], effects: new Map() };
}

function fresh(step: Step): Mind['steps'][number] {
  const units = unitsOf(step).map(({ unit }) => unit);
  return { mark: ' ', key: step.key, title: `${step.title}: ${units.join(', ')}`, more: '' };
}

function render({ goal, steps, decisions, blockers, effects }: Mind): string {
  const list = (title: string, lines: readonly string[]): string[] => ['', `## ${title}`, '', ...lines];
  return [
    ...['# State', '', `Goal: ${goal}`],
    ...list(
      'Steps',
      steps.map(({ mark, key, title, more }) => `- [${mark}] ${key} ${title}${more}`),
    ),
    ...list(
      'Decisions',
      decisions.map((line) => `- ${line}`),
    ),
    ...list(
      'Blockers',
      blockers.map((line) => `- ${line}`),
    ),
    ...list(
      'Effects',
      [...effects].map(([effect, state]) => `- ${effect} ${state}`),
    ),
    '',
  ].join('\n');
}

function parse(text: string): Mind {
  const mind = emptyMind();
  let section = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3);
    if (line.startsWith('Goal: ')) mind.goal = line.slice(6);
    if (!line.startsWith('- ')) continue;
    const step = /^- \[(.)\] (\S+) (.*?)( \(reached: .*\))?$/.exec(line);
    if (step) mind.steps.push({ mark: step[1] ?? '', key: step[2] ?? '', title: step[3] ?? '', more: step[4] ?? '' });
    if (section === 'Decisions') mind.decisions.push(line.slice(2));
    if (section === 'Blockers') mind.blockers.push(line.slice(2));
    const [effect = '', state = ''] = line.slice(2).split(' ');
    if (section === 'Effects') mind.effects.set(effect, state);
  }
  return mind;
}

function stateOf({ steps, blockers, effects }: Mind): ReportedState {
  const open = steps.filter(({ mark }) => mark !== 'x').sort((a, b) => Number(b.mark === '~') - Number(a.mark === '~'));
  return {
    open: open.map(({ key, more }) => ({ step: key, reached: /reached: (\S+);/.exec(more)?.[1] ?? null })),
    effects: [...effects].map(([effect, state]) => ({ effect, ended: state === 'ended' })),
    blocked: blockers.map((line) => line.split(':')[0] ?? ''),
    changed: [],
  };
}
