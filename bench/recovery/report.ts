import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from './adapter.ts';
import type { Kill } from './run.ts';
import type { Score } from './score.ts';

export interface Result {
  tool: Tool;
  kills: readonly Kill[];
  /** At how many moments it could be killed. */
  moments: number;
  /** Why the tool was left out, or null. */
  left: string | null;
}

export type Total = Score & { tokensMost: number };

/** The sums over all kills, but for tokens, calls and time, of which it is the median. */
export function totalOf(kills: readonly Kill[]): Total {
  const sum = (name: keyof Score): number => kills.reduce((total, { score }) => total + score[name], 0);
  // A resume that failed tells nothing cheaply.
  const told = kills.filter(({ score }) => score.failed === 0);
  const middle = (name: keyof Score): number => medianOf(told.map(({ score }) => score[name]));
  return {
    failed: sum('failed'),
    workTwice: sum('workTwice'),
    effectsRepeated: sum('effectsRepeated'),
    staleActions: sum('staleActions'),
    leftUndone: sum('leftUndone'),
    factsLost: sum('factsLost'),
    conflictsMissed: sum('conflictsMissed'),
    facts: sum('facts'),
    conflicts: sum('conflicts'),
    tokens: middle('tokens'),
    tokensMost: Math.max(0, ...told.map(({ score }) => score.tokens)),
    calls: middle('calls'),
    took: middle('took'),
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const HEAD = [
  ...['tool', 'kills (between calls + inside)', 'resume failed', 'work done twice', 'effects repeated'],
  ...['stale actions', 'left undone', 'facts lost', 'conflicts missed', 'tokens to resume (most)', 'calls', 'time'],
];

export function renderRecovery(results: readonly Result[]): string {
  const first = results.find(({ kills }) => kills.length > 0);
  const unit = first ? totalOf(first.kills).took : 1;
  const rows = results.map(({ tool, kills, left }) => {
    if (left !== null) return [tool.name, `left out: ${left}`, ...HEAD.slice(2).map(() => '')];
    const total = totalOf(kills);
    const between = kills.filter(({ kind }) => kind === 'between').length;
    return [
      tool.name,
      `${between} + ${kills.length - between}`,
      String(total.failed),
      String(total.workTwice),
      String(total.effectsRepeated),
      String(total.staleActions),
      String(total.leftUndone),
      `${total.factsLost} of ${total.facts}`,
      `${total.conflictsMissed} of ${total.conflicts}`,
      `${total.tokens} (${total.tokensMost})`,
      String(total.calls),
      total.took === 0 ? '' : times(total.took / unit),
    ];
  });
  return renderLines(HEAD, rows);
}

/** A ratio with two figures that mean something. */
export function times(ratio: number): string {
  return `${ratio >= 100 ? ratio.toFixed(0) : ratio.toPrecision(2)}×`;
}

export function renderLines(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Puts the table and the levels into the page, which has a place for them. */
export function writeRecoveryReport(results: readonly Result[], sweeps: number): void {
  const levels = results.map(({ tool, kills, moments }) => [
    tool.name,
    tool.durability,
    tool.isProcess ? `yes, ${sweeps} times` : 'no',
    `${kills.length} of ${moments}`,
  ]);
  const head = ['tool', 'what an acknowledged write survives', 'killed inside calls', 'moments taken'];
  writePage('recovery.md', PAGE, { results: renderRecovery(results), levels: renderLines(head, levels) });
}

export function writePage(name: string, page: string, parts: Record<string, string>): void {
  const folder = join(process.cwd(), 'docs', 'proof');
  mkdirSync(folder, { recursive: true });
  const text = Object.entries(parts).reduce((whole, [key, part]) => whole.replace(`{{${key}}}`, () => part), page);
  writeFileSync(join(folder, name), text);
}

const PAGE = `# What is left after a kill

Written by \`npm run bench recovery -- --report\`. Work of several steps is killed with SIGKILL at every write, somebody
changes a file that the tool was told of, and an agent without judgement goes on with nothing but what the tool tells it.
What then goes wrong is counted.

{{results}}

Time is the median of a first resume against the first line, in this run; tokens are estimated as the brief does
([tokens.md](../tokens.md)).

{{levels}}

## What is counted

- **Resume failed**: the tool answered nothing, or nothing that could be read, though something had been
  acknowledged. The agent then begins at the first request.
- **Work done twice**: a unit of work whose checkpoint was acknowledged, done again. What was not acknowledged does not
  count: nobody could know.
- **Effects repeated**: a migration, a deployment, a mailing that happened more than once. Here it always counts, for a
  tool that was told that an effect begins can say that its end is unknown, and the agent then looks.
- **Stale actions**: anything done for a step that had been dropped from the plan or that was blocked.
- **Left undone**: what the plan asks for and nobody did, because the tool said it was done or did not know of it.
- **Facts lost**: goal, decisions with their reasons, blockers, the next action; each has a made-up word that must stand
  in the answer.
- **Conflicts missed**: after the kill somebody else changes the file of the last checkpoint; the answer must name it.

The kill comes after every move of the scenario, also between an effect and the record of its end; inside a call of a tool
with processes of its own at moments swept over its length, with the whole process group; inside the write of a tool that
writes in the agent's process where its adapter says that one system call has ended and another has not begun.

## Fairness

Tools are used by their own documentation, at their own durability, and nothing is ever forgotten by the agent that uses
them, which is kinder than life. Where a tool has no word for an effect or a blocker its users' free text is written, and
read back as if the tool had understood it. So LangGraph, memory-keeper and Backlog.md get full marks for what their users
write down; a process killed by a signal does not test \`fsync\` either, which is what a power cut does.

Where a peer is better: a tool inside the agent's process answers many times faster than any command line, and a plain
file costs fewer tokens as long as it is short. Nobody but Holdfast looks at the files, so nobody else sees that one was
changed; a recorded blocker or effect binds nobody there, the agent has to read it.

Not scripted: Task Master (1.4 GB, seconds for each call, a task list without a word for effects), GSD (its state tools keep
position, decisions and blockers, and leave progress inside a plan to the agent's own edits of Markdown, which is the plain
file above), DBOS (owns the loop: a coding agent outside cannot be one of its workflows; its steps run at least once, so an
effect in a killed step is repeated by design).

## Run it

\`\`\`sh
npm run bench recovery                        # all tools; peers are installed into ~/.cache/holdfast-bench
npm run bench recovery holdfast state-file    # some of them
npm run bench recovery -- --scenario replan --sweeps 10 --every 1
npm run bench recovery -- --adapter ./my-tool.mjs
npm run bench recovery -- --report            # writes this page
\`\`\`

## Write an adapter

A module that exports \`tool\`: its name, its durability, whether its calls are processes, and \`open(seat)\`, which gives the
functions of \`Adapter\` in \`bench/recovery/adapter.ts\`. Each resolves when the tool has acknowledged it.

\`\`\`js
export const tool = {
  name: 'my tool', durability: 'fsync', isProcess: true, packages: [],
  open: ({ folder, agent }) => ({
    async begin({ goal, steps }) {},
    async start(step) {},
    async checkpoint({ step, unit, file, next }) {},
    async beginEffect({ step, effect, class: kind }) { return 'go'; },   // or 'done', or 'look'
    async endEffect({ step, effect }) {},
    async decide({ step, decision, reason }) {},
    async block({ step, text }) {},
    async changePlan({ drop, add }) {},
    async complete(step) {},
    async resume() { return { text, calls: 1, standing: { open: [], effects: [], blocked: [], changed: [] } }; },
    async close() {},
  }),
};
\`\`\`

\`text\` is all that the tool answered. \`standing\` is the same in the benchmark's words; whatever it names that does not stand
in the text is ignored, so an adapter cannot know more than its tool. It is made anew after the kill and keeps nothing.
`;
