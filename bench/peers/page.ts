export const PAGE = `# Beside what people use today

Written by \`npm run bench peers -- --report\`. The same work by all of them in one run, in turns, as ratios to Holdfast: less
than 1× is faster or smaller than Holdfast. No time of a machine stands here.

## Writing and reading

A small change of the state (200 characters), acknowledged; the median over rounds.

{{times}}

Levels differ, and a level costs: Holdfast waits for the disk before it acknowledges (\`synchronous=FULL\`) and in the same
transaction checks the version, the lease and the rules, and chains a hash. memory-keeper waits for the disk too and checks
nothing. LangGraph's saver uses WAL with \`synchronous=NORMAL\`: a power cut can take back what it acknowledged. A file that is
only appended to waits for nothing. Against the bare driver at the same level see [performance.md](performance.md). Reading:
Holdfast answers \`status\`, LangGraph \`getState\`, memory-keeper \`context_get\` over MCP, the file is read whole.

## Ten writers at once

Ten processes change one thing at the same moment. An acknowledged write that is not there afterwards is lost; one that is
refused has to be tried again by whoever made it, and knows it.

{{parallel}}

## A long history

One thousand entries of 2 KB, written one after the other in one process; disk with side files. Tokens are what whoever
resumes has to read by the tool's own way of reading. This is not quite like with like: the entries are notes, which
Holdfast's brief leaves to \`search\` and \`log\`, while the others hand out all they keep; what a brief must tell is measured
by [recall](../recall.md). memory-keeper cuts its answer off and says so.

{{growth}}

## The cost of the tools

{{tools}}

A server that does not start is left out: Holdfast's line is there where the build has \`holdfast mcp\`.

## Where a peer is better

- A plain file is faster at everything, takes a third of the disk, and while it is short costs few tokens. It waits for
  nothing and checks nothing.
- LangGraph's saver writes faster in one process, at its lower level; memory-keeper too, at the same level and over MCP.
- GSD 1.32 is the quicker program for one write alone, and loses writes when there are ten.
- The MCP servers of GSD and of Task Master (with its core tools) are small; Holdfast's limit is 2,500 tokens.

## Not measured

LangGraph's PostgreSQL saver and DBOS (a server in common would be needed for like and like; Holdfast on PostgreSQL stands
against the bare server in [performance.md](performance.md)); Task Master's files (a call takes seconds, and its tasks have
no field that ten writers would change).

## Run it

\`\`\`sh
npm run bench peers                     # all; peers are installed into ~/.cache/holdfast-bench, once
npm run bench peers quick holdfast gsd  # some, on less
npm run bench peers -- --report         # writes this page
\`\`\`
`;
