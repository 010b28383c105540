import type { Edit } from '../operations/install/parts/edit.ts';
import type { ClientName } from './conversation.ts';

/** One client: which of its files get what. A description; `apply.ts` does it. */
export interface Client {
  title: string;
  /** The commands and, below the home folder, the folders that tell that it is used here. */
  commands: readonly string[];
  folders: readonly string[];
  files(place: Place): WantedFile[];
  /** What only the user can do, in a sentence each. */
  steps(place: Place): string[];
}

export interface WantedFile {
  /** Absolute. */
  path: string;
  /** What it is for, in a word or two. */
  holds: string;
  edits: readonly Edit[];
}

/** Where it is installed. */
export interface Place {
  scope: 'project' | 'user';
  /** The project's folder; for a user, the home folder. */
  root: string;
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
  platform: string;
  start: Start;
  /** A file that comes with the package. */
  packaged(path: string): string;
}

/**
 * How the program is started. In a project it goes through a launcher below `.holdfast/`, so that settings that are in git
 * work in every clone; `root` is how a client's shells spell the project's folder, null where they stand in it.
 */
export interface Start {
  shell(root: string | null): string;
  words: readonly string[];
}

export const LAUNCHER = '.holdfast/holdfast.cjs';

export function projectStart(): Start {
  return {
    shell: (root) => (root === null ? `node ${LAUNCHER}` : `node "${root}/${LAUNCHER}"`),
    words: ['node', LAUNCHER],
  };
}

/** Whole paths: clients that are started from a desktop have a search path of their own. */
export function userStart(node: string, program: string, platform: string): Start {
  // A quoted command is a mere string to PowerShell.
  const shell = platform === 'win32' ? `node "${program}"` : `${inShell(node)} ${inShell(program)}`;
  return { shell: () => shell, words: [node, program] };
}

const inShell = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The folder of a user's own settings: the one a variable names, or one below the home folder. */
export function ownFolder({ environment, home }: Place, variable: string, name: string): string {
  return environment[variable] || `${home}/${name}`;
}

/** Tells a server of the Model Context Protocol as most clients are told of it. */
export function mcpEntry({ start }: Pick<Place, 'start'>): { command: string; args: string[] } {
  const [command = '', ...args] = [...start.words, 'mcp'];
  return { command, args };
}

export type Clients = Readonly<Record<ClientName, Client>>;
