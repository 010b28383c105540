export const PAGE = `# What is left after a kill

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
with processes or a server of its own at moments swept over its length, with the whole process group (a database server
lives on, as it would); inside the write of a tool that writes in the agent's process where its adapter says that one system
call has ended and another has not begun. The moments are taken in an order that is spread evenly over the work, as many as
fit into the tool's share of the time; \`--every 1\` takes them all. The more were taken, the larger the counts may be:
compare them with the number of kills beside them.

## How each tool is used

Tools are used by their own documentation, at their own durability, and nothing is ever forgotten by the agent that uses
them, which is kinder than life. Where a tool has no word for a thing, its users' free text is written, and read back as if
the tool had understood it; nothing is counted against a tool that could be told in any way at all.

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

So tools that keep whatever they are given get full marks for what their users write down. Some things that they do not
promise are not asked for either:

- **DBOS** and **LangGraph** own the loop of agents that are written in them. Their own recovery runs a step again that had
  not ended, so an effect in a killed step happens at least once, by design; here they are the memory of an agent outside.
- **None but Holdfast** looks at the files, so nobody else can see that one was changed: the column says what is not told,
  not that a promise was broken. Nor does a recorded blocker or effect bind anybody there; the agent has to read it.
- A process killed by a signal does not test \`fsync\`, which is what a power cut does: see the levels above.

A plan that a tool takes in several calls (Task Master, Backlog.md, memory-keeper) can be half there when the first of all
moves is killed. The half is then told as the whole plan: that is what \`left undone\` counts there.

## Where a peer is better

- A tool inside of the agent's process answers many times faster than a command line, and so does a server that stays up.
- A plain file costs fewer tokens as long as it is short. LangGraph tells no more than was written, in about as many tokens
  as Holdfast's brief, which says besides what to read and what changed.
- Everybody who writes with care into LangGraph, DBOS, memory-keeper or GSD loses nothing by a kill. What they lack is the
  refusal when nobody takes care, and the look at reality.

## Run it

\`\`\`sh
npm run bench recovery                        # all tools; peers are installed into ~/.cache/holdfast-bench, once
npm run bench recovery holdfast state-file    # some of them
npm run bench recovery quick                  # in two minutes instead of ten
npm run bench recovery -- --minutes 30        # more moments
npm run bench recovery -- --scenario replan --sweeps 10 --every 1
npm run bench recovery -- --adapter ./my-tool.mjs
npm run bench recovery -- --report            # writes this page
\`\`\`

## Write an adapter

A module that exports \`tool\`: its name, its durability, whether its calls are processes, and \`open(seat)\`, which gives the
functions of \`Adapter\` in \`bench/recovery/adapter.ts\`. Each resolves when the tool has acknowledged it. With
\`needsDatabase: true\` the seat has an empty PostgreSQL database, \`database\`.

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
