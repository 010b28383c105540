/** What a system tells of its processes. What it does not tell stays unknown; then only the lease of a session decides. */
export interface ProcessPort {
  /** One look at the processes, for questions about several of them. */
  look(): ProcessLook;
  /** When a process started, in a form of this system; `ended` for one that its parent has not looked at; null if not known. */
  start(pid: number): string | null;
}

export interface ProcessLook {
  read(pid: number): { name: string; parent: number } | null;
  /** The words it was started with; empty if they cannot be read. */
  words(pid: number): readonly string[];
  start(pid: number): string | null;
}
