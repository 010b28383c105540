import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';

const CHARS = 200;

/** Where a graph is, without any of its values: `step 3 (loop): agent, tools`. */
export function reachedBy(metadata: CheckpointMetadata, before: Checkpoint | null, after: Checkpoint): string {
  const nodes = nodesBetween(before, after);
  const text = `step ${metadata.step} (${metadata.source})${nodes.length > 0 ? `: ${nodes.join(', ')}` : ''}`;
  const line = text.replace(/[\p{C}\s]+/gu, ' ');
  return line.length > CHARS ? `${line.slice(0, CHARS - 1)}…` : line;
}

/** The nodes that have seen more since: those that ran. Names in double underscores are LangGraph's own. */
function nodesBetween(before: Checkpoint | null, { versions_seen: seen }: Checkpoint): string[] {
  const earlier = before?.versions_seen ?? {};
  return Object.entries(seen)
    .filter(([node, versions]) => !/^__.*__$/.test(node) && JSON.stringify(earlier[node]) !== JSON.stringify(versions))
    .map(([node]) => node)
    .sort();
}
