import type { ClientHomes } from '../clients/transcripts.ts';
import type { Engine } from '../engine/engine.ts';
import type { Identity } from '../engine/execute.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** What an operation is given: who calls, where, and the way to the journal. Made by whoever opens the product. */
export interface Context {
  identity: Identity;
  /** The run that was named, if one was. */
  run: string | undefined;
  /** `run` is known to exist: an earlier part of the same command looked it up. */
  isRunKnown?: boolean | undefined;
  /** The folder the caller stands in; paths are meant from there. */
  dir: string;
  /** The workspace around `dir`; null when there is none. */
  workspace(): Workspace | null;
  /** Makes the workspace if there is none, in `dir` or the folder given; null where the caller works without a folder. */
  createWorkspace(folder?: string): Workspace | null;
  /** The environment of a caller at this machine's command line; nobody else's. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The file that the journal is in, or is to be in; null where it is in none. */
  journalFile(): string | null;
  now(): string;
  /** Opens the journal on first use. */
  engine(): Promise<Engine>;
  /** The agents' clients on this machine; null where the caller does not say. */
  clients(): Promise<Clients | null>;
  /** Something went wrong that does not undo what was recorded. */
  warn(message: string): void;
  /** How far a command is that goes through many things, where somebody looks on. */
  progress?: ((progress: Progress) => void) | undefined;
  /** Waits until something may have been recorded, at most so long, unless the caller goes away first. See `Engine.news`. */
  news(ms: number, seen?: number): Promise<number>;
  /** The same, opened anew, for a door that stays while folders and journals come and go; whoever asks closes it. */
  anew(): Context & { close(): Promise<void> };
}

export interface Progress {
  /** `Reading`. */
  doing: string;
  done: number;
  total: number;
  /** The one that is at hand. */
  at: string;
}

export interface Clients {
  homes: ClientHomes;
  /** The client's ids of conversations that the caller is part of. */
  current: readonly string[];
}
