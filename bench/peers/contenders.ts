import type { Peer } from './contender.ts';
import { holdfast, holdfastNote, langgraph, langgraphFull, memoryKeeper, stateFile } from './embedded.ts';
import { backlog, gsd, gsdCore, taskMaster } from './programs.ts';
import { dbos, holdfastPostgres, langgraphPostgres } from './servers.ts';

/** The tools, in groups; each is compared with the first of its group, which is Holdfast. */
export const groups: readonly (readonly Peer[])[] = [
  [holdfast, holdfastNote, stateFile, langgraph, langgraphFull, memoryKeeper, taskMaster, backlog, gsd, gsdCore],
  [holdfastPostgres, langgraphPostgres, dbos],
];

export function findPeer(id: string): Peer | undefined {
  return groups.flat().find((peer) => peer.id === id);
}
