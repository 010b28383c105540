import { checkpointKey, writesKey } from './keys.ts';
import type { CheckpointDocument } from './stored.ts';
import type { Thread } from './thread.ts';

const AT_ONCE = 200;

/** Removes older checkpoints with their writes, and the channel values that no checkpoint names any more. */
export async function pruneThread(
  thread: Thread,
  documents: readonly CheckpointDocument[],
  keep: number,
): Promise<void> {
  const sorted = [...documents].sort((a, b) => (a.id < b.id ? 1 : -1));
  const kept = new Set<CheckpointDocument>();
  for (const namespace of new Set(documents.map((document) => document.namespace))) {
    for (const document of sorted.filter((one) => one.namespace === namespace).slice(0, keep)) kept.add(document);
  }
  const needed = new Set([...kept].flatMap(({ channels }) => Object.values(channels)));
  const gone = sorted.filter((document) => !kept.has(document));
  const keys = new Set(gone.flatMap(({ channels }) => Object.values(channels)).filter((key) => !needed.has(key)));
  for (const { namespace, id } of gone) {
    const { document } = await thread.writesOf(namespace, id);
    for (const { key } of document.writes) keys.add(key);
    keys.add(writesKey(namespace, id));
    // Removed first, since the list is turned around: a checkpoint that is there is whole.
    keys.add(checkpointKey(namespace, id));
  }
  const all = [...keys].reverse();
  for (let at = 0; at < all.length; at += AT_ONCE) await thread.hf.state.removeAll(all.slice(at, at + AT_ONCE));
}
