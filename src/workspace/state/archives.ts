import type { ClonePlace } from '../clone.ts';
import type { Workspace } from '../workspace.ts';
import { noStateFolder, thisUser } from './folder.ts';

/** What archiving did, or has still to do, to the files of a run: a record that chooses what is moved and removed. */
interface ArchiveRecord<Intent> {
  place: ClonePlace;
  intents: Intent[];
}

/** The id of a clone stands in a file that an agent may write, so the place must match too. */
export function readArchive<Intent>(workspace: Workspace, run: string): Intent[] {
  const { state, place: here } = workspace;
  try {
    const found = JSON.parse(state?.read(fileOf(workspace, run)) ?? 'null') as ArchiveRecord<Intent> | null;
    const isHere = found?.place.path === here.path || found?.place.inode === here.inode;
    return found && isHere ? found.intents : [];
  } catch {
    return [];
  }
}

export function saveArchive<Intent>(workspace: Workspace, run: string, intents: readonly Intent[]): void {
  const { state, place } = workspace;
  if (state === null) throw noStateFolder(thisUser());
  state.replace(fileOf(workspace, run), JSON.stringify({ place, intents }));
}

export function forgetArchive(workspace: Workspace, run: string): void {
  workspace.state?.remove(fileOf(workspace, run));
}

/** The folder of the records of a clone. */
export const archivesOf = ({ clone }: Pick<Workspace, 'clone'>): string => `archives/${clone.clone}`;

const fileOf = (workspace: Workspace, run: string): string =>
  `${archivesOf(workspace)}/${encodeURIComponent(run)}.json`;
