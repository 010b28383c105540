import type { MailClass } from '../../../formats/documents/snapshot.ts';
import type { FolderContract, TaskState } from '../../../formats/snap/contract-files.ts';

/** What the rules compare a snapshot with: a folder or the journal. Null or absent means unknown. */
export interface Contract {
  /** The name in messages: `working-session`, `event 12 of run auth`. */
  name: string;
  /** The agent's task by each source. */
  tasks(agent: string): readonly TaskState[];
  mail(agent: string): Readonly<Record<MailClass, readonly string[]>> | null;
  /** The sender and the receiver of a message. */
  sides(id: string): { from: string; to: string } | null;
  /** The states of those of the ids that are known, or null for a state that is not; null without a list of questions. */
  questions(ids: readonly string[]): Promise<ReadonlyMap<string, string | null> | null>;
  file(path: string): FileState;
  /** The measured size of a file. */
  tokens(path: string): number | null;
  /** Whether the file was recorded here, though no commit has it. */
  knows(path: string): boolean;
  /** The words of all decisions. */
  decisions(): readonly string[] | null;
  /** The lines of the worklog that point to snapshots. */
  pointers(): readonly string[] | null;
  /** What the agent has promised and not kept. */
  commitments(agent: string): readonly string[] | null;
  /** Promises as the files list them, of any agent; null where only the journal knows them. */
  promises: FolderContract['commitments'];
  /** What the inbox table counts as unread. */
  inbox(agent: string): string | null;
  /** The agent's sessions; null where none is known. */
  sessions(agent: string): ReadonlySet<string> | null;
  /** Whether work is known that came after a session of the agent. */
  isFollowed(agent: string, session: string | null, endedAt: string | null): boolean;
}

export type FileState = 'present' | 'absent' | 'folder' | 'outside' | 'unknown';

export type SnapshotState = 'current' | 'superseded' | 'duplicate' | 'unknown';
