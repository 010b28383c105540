import type { ClientHomes } from '../clients/transcripts.ts';
import type { Here } from '../core/journal/located.ts';
import type { Tally } from '../core/recorded.ts';
import type { Engine } from '../engine/engine.ts';
import type { Done, Identity } from '../engine/execute.ts';
import type { Token } from '../store/presence.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** What an operation is given: the identity, the folder, and access to the journal. */
export interface Context {
  identity: Identity;
  /** The token that the caller came with, where there is one. */
  token?: Token | undefined;
  /** The run that was named, if one was. */
  run: string | undefined;
  /** `run` is the whole id of a run: no other run is meant by a part of it. */
  isRunExact?: boolean | undefined;
  /** `run` is known to exist: an earlier part of the same command looked it up. */
  isRunKnown?: boolean | undefined;
  /** Text is recorded as it was given, even where it looks like a secret. */
  isVerbatim?: boolean | undefined;
  /** The largest value of a program's state; 8 MiB when left out. */
  maxValueBytes?: number | undefined;
  /** The command only looks: no file in the working tree is written. */
  leavesTree?: boolean | undefined;
  /** Nothing is recorded: a part of a run's title is enough to name it. */
  onlyReads?: boolean | undefined;
  /** What is recorded happened a while ago: the working tree may be another one now. */
  isLate?: boolean | undefined;
  /** The current folder; paths are relative to it. */
  dir: string;
  /** The workspace around `dir`; null when there is none. */
  workspace(): Workspace | null;
  /** The machine and the clone this process is on; null where they are not known. */
  here(): Here;
  /** Creates the workspace if there is none, in `dir` or the folder given; null with a store and no folder. */
  createWorkspace(folder?: string, how?: { outside?: boolean }): Workspace | null;
  /** Set only for the command line of this machine. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The journal's file, whether it exists yet or not; null for a store that is not a file. */
  journalFile(): string | null;
  now(): string;
  /** Opens the journal on first use. */
  engine(): Promise<Engine>;
  /** The agents' clients on this machine; null where they are not known. */
  clients(): Promise<Clients | null>;
  /** Set where many commands are recorded together: takes what a command recorded, and the files are written at the end. */
  following?: ((run: string, done: Done) => void) | undefined;
  /** Counts what this command recorded, where the interface reports it with a fault. */
  tally?: Tally | undefined;
  /** Shows a text and asks a question at the terminal; absent where nobody can be asked. */
  ask?: ((text: string, question: string) => Promise<boolean>) | undefined;
  /** Reports a problem that does not undo what was recorded. */
  warn(message: string): void;
  /** Reports the progress of a long command, where it is shown. */
  progress?: ((progress: Progress) => void) | undefined;
  /** Records what hooks left, so that what follows sees it. Never rejects: what cannot be recorded waits, with a warning. */
  takeReports(): Promise<void>;
  /** Waits until something may have been recorded, for at most `ms`. Rejects when the caller disconnects. See `Engine.waitForEvents`. */
  news(ms: number, seen?: number): Promise<number>;
  /** Opens the same again, for an interface that outlives folders and journals. The caller closes it. */
  reopen(): Context & { close(): Promise<void> };
}

export interface Progress {
  /** `Reading`. */
  doing: string;
  done: number;
  total: number;
  /** The one being processed. */
  at: string;
}

export interface Clients {
  homes: ClientHomes;
  /** The client's ids of the conversations this call comes from. */
  current: readonly string[];
}
