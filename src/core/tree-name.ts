/** A working tree: the clone it belongs to, and its name among the linked trees of that clone, null for the main one. */
export interface TreeName {
  /** Undefined where it is not known; null for a reader in no clone that was ever recorded in. */
  clone?: string | null | undefined;
  tree?: string | null | undefined;
}

/** Whether something was recorded in the reader's working tree. What earlier versions recorded names no clone and counts as here. */
export function isSameTree(recorded: TreeName, here: TreeName): boolean {
  return isSameClone(recorded, here) && (recorded.tree ?? null) === (here.tree ?? null);
}

export function isSameClone(recorded: TreeName, here: TreeName): boolean {
  return !recorded.clone || here.clone === undefined || recorded.clone === here.clone;
}
