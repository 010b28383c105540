export const PAGE = `# Beside what people use today

Written by \`npm run bench peers -- --report\`. The same work by all of them in one run, in turns, as ratios to Holdfast: less
than 1× is faster or smaller than Holdfast. No time of a machine stands here.

## Writing and reading

A small change of the state (200 characters), acknowledged; the median over rounds.

{{times}}

Levels differ, and a level costs: Holdfast waits for the disk before it acknowledges (\`synchronous=FULL\`) and in the same
transaction checks the version, the lease and the rules, and chains a hash. LangGraph's saver and memory-keeper use WAL at
their driver's default, without a version check. A file that is only appended to waits for nothing. Against the bare driver
at the same level see [performance.md](performance.md). Reading: Holdfast answers a whole status, the others the value.

## Ten writers at once

Ten processes change one thing at the same moment. An acknowledged write that is not there afterwards is lost.

{{parallel}}

## A long history

One thousand entries of 2 KB, written one after the other in one process; disk with side files. Tokens are what whoever
resumes has to read by the tool's own way of reading.

{{growth}}

## The cost of the tools

{{tools}}

## Where a peer is better

- A plain file and LangGraph's saver write and read faster in one process: they check nothing and wait for less.
- A plain file takes less disk, and fewer tokens as long as the history is short.
- LangGraph's full copies make every earlier state readable at once, which a journal has to fold for.

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
