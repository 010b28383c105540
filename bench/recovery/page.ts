export const PAGE = `# What survives a kill

Written by \`npm run bench recovery -- --report\`. Work of several steps is killed with SIGKILL at the same moments for every tool, a recorded
file is changed by someone else, and an agent without judgement continues with nothing but what the tool reports.
The benchmark counts what then goes wrong.

{{results}}

Time is the median of a first resume, relative to the first line of this run; tokens are estimated as in the brief
([tokens.md](tokens.md)).

{{levels}}

## What is counted

- **Resume failed**: the tool answered nothing, or nothing readable, although something had been
  acknowledged. The agent then starts from the first request.
- **Work done twice**: a unit of work whose checkpoint was acknowledged, done again. Work that was not acknowledged does not
  count: no tool could know of it.
- **Effects repeated**: a migration, a deployment, a mailing that happened more than once. This always counts, because a
  tool that knows that an effect began can report that its outcome is unknown, and the agent then checks.
- **Stale actions**: anything done for a step that had been dropped from the plan or that was blocked.
- **Left undone**: planned work that was not done, because the tool reported it as done or did not know of it.
- **Facts lost**: goal, decisions with their reasons, blockers, the next action; each has a made-up word that must be
  in the answer.
- **Conflicts missed**: after the kill someone else changes the file of the last checkpoint; the answer must name it.

- **Shown and over**: of the facts in the answer, those that are no longer in force: a decision that was replaced and its reason, a step that
  was dropped, a next action that was done. The rest of them is the precision of forgetting.
- **False claims**: of the statements that the working tree can prove (a unit is reached, an effect ended, a file was changed), those that
  are not true.
- **Without a fault**: the share of kills after which none of the above went wrong but *shown and over*, with its 95 % interval after Wilson.

The kills are the same for every tool: after every move of the scenario, also between an effect and the recording of its end, and inside every call.
Tools with processes or a server of their own are killed there by time, with the whole process group (a database server keeps running, as it would in
reality). Tools that write in the agent's process are killed where their adapter reports that one system call has ended and the next has not begun; where it
reports none, a kill inside a call is not possible. \`--every N\` tries one in N of the moments, the same ones for every tool. The
data, the protocol for adapters in any language and the form of result files are in \`bench/suite/README.md\`.

## How each tool is used

Tools are used as their documentation says, at their own durability, by an agent that never forgets to record anything,
which is better than in practice. Where a tool has no concept for a thing, it is written as free text, and read back as if
the tool had understood it; a tool is not charged for anything it can hold in any form.

| tool          | steps and units                                                   | effects                                 | decisions, what is next                                       |
| ------------- | ----------------------------------------------------------------- | --------------------------------------- | ------------------------------------------------------------- |
| Holdfast      | steps with checkpoints                                            | effects with a class and a key          | decisions; \`--next\`                                         |
| LangGraph     | values in the state of a thread, \`updateState\` and \`getState\` | the same                                | the same                                                      |
| DBOS          | inputs of workflows that succeeded, listed on resume              | the same                                | the same                                                      |
| memory-keeper | values under keys in a channel                                    | the same                                | the same                                                      |
| Backlog.md    | tasks with acceptance criteria                                    | notes of the task                       | decisions; notes                                              |
| Task Master   | tasks with subtasks, over MCP, with the tools that need no model  | subtasks that are in progress or done   | metadata of the task, which has to be allowed by a variable   |
| GSD           | phases with plans and their summaries                             | free text among the decisions           | \`state add-decision\`; \`state record-session\`              |
| a plain file  | a list with marks                                                 | a list                                  | lists                                                         |

So tools that keep what they are given get full marks for what their users write down. Some things that they do not
promise are not tested either:

- **DBOS** and **LangGraph** own the loop of agents that are written in them. Their own recovery repeats a step that had
  not ended, so an effect in a killed step happens at least once, by design; here they are the memory of an external agent.
- **Only Holdfast** checks the files, so no other tool can see that one was changed: the column shows what is not reported,
  not that a promise was broken. Recorded blockers and effects are not enforced there either; the agent has to read them.
- A process killed by a signal does not test \`fsync\`, which is what a power cut does: see the levels above.

A plan that a tool stores in several calls (Task Master, Backlog.md, memory-keeper) can be half stored when the first
move is killed. The half is then reported as the whole plan: \`left undone\` counts that.

## Where a peer is better

- A tool inside the agent's process answers many times faster than a command line, and so does a server that keeps running.
- A plain file costs fewer tokens as long as it is short. LangGraph reports only what was written, in about as many tokens
  as Holdfast's brief, which also says what to read and what changed.
- An agent that carefully records everything in LangGraph, DBOS, memory-keeper or GSD loses nothing by a kill. What these tools lack is
  the refusal when it does not, and the check against the actual files.

## Run it

\`\`\`sh
npm run bench recovery                        # all tools; peers are installed into ~/.cache/holdfast-bench, once
npm run bench recovery holdfast state-file    # some of them
npm run bench recovery quick                  # at one in eight of the moments
npm run bench recovery -- --scenario replan --every 3 --out result.json
npm run bench recovery -- --verify result.json
npm run bench recovery -- --adapter ./my-tool.mjs
npm run bench recovery -- --report            # writes this page
\`\`\`

## Write an adapter

A module that exports \`tool\`: its name, its durability, whether its calls are processes, and \`open(options)\`, which returns the
functions of \`Adapter\` in \`bench/recovery/adapter.ts\`. Each resolves when the tool has acknowledged the call. With
\`needsDatabase: true\` the options name an empty PostgreSQL database, \`database\`.

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
    async resume() { return { text, calls: 1, state: { open: [], effects: [], blocked: [], changed: [] } }; },
    async close() {},
  }),
};
\`\`\`

\`text\` is everything the tool answered. \`state\` is the same in the benchmark's terms; what it names but the text does not contain
is ignored, so an adapter cannot know more than its tool. The adapter is created again after the kill and keeps nothing.
`;
