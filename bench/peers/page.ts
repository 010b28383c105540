export const PAGE = `# Beside what people use today

Written by \`npm run bench peers -- --report\`. The same work by all of them in one run, in turns, as ratios to Holdfast: less
than 1× is faster or smaller than Holdfast. No time of a machine stands here.

## Writing and reading

A small change of the state (200 characters), acknowledged; the median over rounds. The upper lines are against Holdfast's
checkpoint on SQLite, those on PostgreSQL against Holdfast on the same server.

{{times}}

Levels differ, and a level costs. \`fsync\` is one wait for the disk before the acknowledgement (SQLite with
\`synchronous=FULL\`); with \`synchronous=NORMAL\`, and where a file is only written, a power cut can take back what was
acknowledged. So compare within a level: LangGraph's saver stands there twice, as it comes and made to wait. In its
transaction Holdfast checks the version, the lease and the rules and chains a hash, and writes \`RESUME.md\` after it; a note
also goes into the search index and into \`WORKLOG.md\`. The others check nothing. Against the bare driver at the same level see
[performance.md](performance.md).

What is called: Holdfast \`checkpoint\`, \`note\` and \`status\`; LangGraph \`updateState\` and \`getState\`; DBOS a workflow whose
input is the entry, and \`listWorkflows\`; memory-keeper \`context_save\` and \`context_get\`, Task Master \`add_subtask\` and
\`get_tasks\`, both over MCP to a server that stays up; Backlog.md \`task edit --append-notes\` and \`task view\`; GSD
\`state add-decision\` and \`state-snapshot\`; Task Master's program \`add-subtask\` and \`list\`. A file is appended to and read
whole; as a process it is read, changed and written back.

## Ten writers at once

Ten processes change one thing at the same moment. An acknowledged write that is not there afterwards is lost; one that is
refused has to be tried again by whoever made it, and knows it. There is no conflict to tell in this work: every entry could
be kept.

{{parallel}}

LangGraph keeps each of the ten as a checkpoint of its own beside the others, so they can be found in the thread's history; the
state that whoever resumes reads is the last of them, and has one.

## A long history

Entries of 2 KB, one after the other, a thousand of them or as many as the tool writes in its time; disk with side files, and
on PostgreSQL what the database grew by, without the server's log. Tokens are what whoever resumes has to read by the tool's
own way of reading. This is not quite like with like: the entries are notes, which Holdfast's brief leaves to \`search\` and
\`log\`, while the others hand out all they keep; what a brief must tell is measured by [recall](../recall.md). memory-keeper
cuts its answer off and says so.

{{growth}}

## The cost of the tools

From the start of the server's process to the answer of \`tools/list\`, against Holdfast; and what the answer costs every
session before any tool is called.

{{tools}}

## Where a peer is better

- A plain file is faster at nearly everything and takes a third of the disk, and while it is short costs few tokens. It waits
  for nothing and checks nothing. Task Master's, Backlog.md's and GSD's files are as small.
- LangGraph's SQLite saver at its lower level writes in one process as fast as Holdfast or faster, from run to run; made to
  wait for the disk it is mostly slower than Holdfast's checkpoint and faster than its note.
- memory-keeper, at the same level and with a server in between, writes a little faster than Holdfast: it checks nothing.
- On PostgreSQL DBOS takes less disk for the same entries: they are not made searchable.
- GSD's MCP server starts faster and has three small tools; Task Master's core tools are a little smaller than Holdfast's.

## Not measured

What needs a model or a key (Task Master's updates in words, GSD's agents). DBOS's and LangGraph's loops, of which an agent
outside can be no part. Tools that do not install from npm alone.

## Run it

\`\`\`sh
npm run bench peers                     # all; peers are installed into ~/.cache/holdfast-bench, once
npm run bench peers quick holdfast gsd  # some, on less
npm run bench peers -- --report         # writes this page
\`\`\`
`;
