export const PAGE = `# Compared with other tools

Written by \`npm run bench peers -- --report\`. All tools do the same work in one run, in turns; the figures are ratios to Holdfast: less
than 1× is faster or smaller than Holdfast. There are no absolute times.

## Writing and reading

A small change of the state (200 characters), acknowledged; the median over rounds. The upper rows are relative to Holdfast's
checkpoint on SQLite, those on PostgreSQL to Holdfast on the same server.

{{times}}

Durability levels differ, and a higher level costs more. \`fsync\` is one wait for the disk before the acknowledgement (SQLite with
\`synchronous=FULL\`); with \`synchronous=NORMAL\`, and where a file is only written, a power cut can undo what was
acknowledged. So compare within a level: LangGraph's saver is listed twice, with its default and with \`synchronous=FULL\`. In its
transaction Holdfast checks the version, the lease and the rules and chains a hash, and writes \`RESUME.md\` after it; a note
also goes into the search index and into \`WORKLOG.md\`. The others check nothing. For the bare driver at the same level see
[performance.md](performance.md).

What is called: Holdfast \`checkpoint\`, \`note\` and \`status\`; LangGraph \`updateState\` and \`getState\`; DBOS a workflow whose
input is the entry, and \`listWorkflows\`; memory-keeper \`context_save\` and \`context_get\`, Task Master \`add_subtask\` and
\`get_tasks\`, both over MCP to a server that keeps running; Backlog.md \`task edit --append-notes\` and \`task view\`; GSD
\`state add-decision\` and \`state-snapshot\`; Task Master's program \`add-subtask\` and \`list\`. A file is appended to and read
whole; as a process it is read, changed and written back.

## Ten writers at once

Ten processes change one thing at the same moment. An acknowledged write that is missing afterwards is lost; a refused one
can be tried again by its writer. The writes do not conflict: every entry could
be kept.

{{parallel}}

LangGraph keeps each of the ten as a separate checkpoint, so they can be found in the thread's history; the
state that a resuming agent reads is the last checkpoint, which has one of them.

## A long history

Entries of 2 KB, one after the other, a thousand of them or as many as the tool writes in its share of time; disk includes side files, and
on PostgreSQL it is the growth of the database, without the server's log. Tokens are what a resuming agent has to read in the tool's
own way. The comparison is not quite even: the entries are notes, which Holdfast's brief leaves to \`search\` and
\`log\`, while the others return everything they keep; [recall](recall.md) measures what a brief must contain. memory-keeper
truncates its answer and says so.

{{growth}}

## The cost of the tools

From the start of the server's process to the answer of \`tools/list\`, relative to Holdfast; and what the answer costs every
session before any tool is called.

{{tools}}

## Where a peer is better

- A plain file is faster at nearly everything, takes a third of the disk, and costs few tokens while it is short. It waits
  for nothing and checks nothing. The files of Task Master, Backlog.md and GSD are as small.
- LangGraph's SQLite saver at its lower level writes in one process as fast as Holdfast or faster, depending on the run; when it
  waits for the disk it is mostly slower than Holdfast's checkpoint and faster than its note.
- memory-keeper, at the same level and with a server in between, writes a little faster than Holdfast: it checks nothing.
- On PostgreSQL DBOS takes less disk for the same entries: they are not indexed for search.
- GSD's MCP server starts faster and has three small tools; Task Master's core tools are a little smaller than Holdfast's.

## Not measured

Whatever needs a model or a key (Task Master's updates in natural language, GSD's agents). The loops of DBOS and LangGraph, which an
external agent cannot use. Tools that do not install from npm alone.

## Run it

\`\`\`sh
npm run bench peers                     # all; peers are installed into ~/.cache/holdfast-bench, once
npm run bench peers quick holdfast gsd  # some, with less data
npm run bench peers -- --report         # writes this page
\`\`\`
`;
