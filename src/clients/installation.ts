/** How Holdfast is installed in one client: a description, which the operation carries out. */
export interface ClientInstall {
  /** The commands and, below the home folder, the folders that show that the client is used here. */
  commands: readonly string[];
  folders: readonly string[];
  files(place: Place): WantedFile[];
  /** What only the user can do, in a sentence each. */
  steps(place: Place): string[];
  launch?: ClientLaunch;
}

/** How a client is started on a prompt, and how its own conversation is continued. */
export interface ClientLaunch {
  /** With the prompt as its last word; the person stays in the conversation. */
  start: readonly string[];
  /** Runs to the end without a person. */
  headless: readonly string[];
  /** Continues the conversation with an id; null where the client knows only its last one. */
  resume: readonly string[] | null;
  resumeLast: readonly string[];
}

export interface WantedFile {
  /** Absolute. */
  path: string;
  /** What it is for, in a word or two. */
  holds: string;
  edits: readonly Edit[];
}

/**
 * A change to a file of a client, as data: the manifest of the installation keeps it, so that a later version can undo it.
 * Each edit recognises its own entry in the file.
 */
export type Edit =
  /** Hook entries, one list for each event. */
  | { kind: 'hooks'; events: Readonly<Record<string, object>> }
  /** An entry under our own name. */
  | { kind: 'entry'; path: readonly string[]; value: unknown }
  /** What the client needs to read the file at all; removed if the file had no value there before. */
  | { kind: 'default'; path: readonly string[]; value: unknown }
  /** A name in a list that may also be a single name; a new list gets `others` too. */
  | { kind: 'name'; path: readonly string[]; name: string; others: readonly string[] }
  /** Lines of Markdown between two marks, unless the text has the line `unless`. */
  | { kind: 'block'; lines: readonly string[]; unless?: string }
  /** A table of TOML. */
  | { kind: 'table'; name: string; lines: readonly string[] }
  /** A file that is all ours; one that grows gets another text from us later. */
  | { kind: 'whole'; text: string; grows?: true };

export interface Place {
  scope: 'project' | 'user';
  /** The project's folder; for a user, the home folder. */
  root: string;
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
  platform: string;
  start: Start;
  /** The script that hooks are started through; null where there is no place for one, and for a project. */
  launcher: Launcher | null;
  /** The text of a file that comes with the package. */
  packaged(path: string): string;
  exists(path: string): boolean;
}

/** Where the hook launcher is, and what is filled into it. */
export interface Launcher {
  path: string;
  node: string;
  program: string;
  /** The id of this machine, which begins the names of its reports. */
  machine: string;
  /** The state folder. */
  state: string;
  /** The part of it that plugins inside a client call. */
  writer: string;
}

/** The hook launcher, which writes reports into the inbox; it is ours as a whole. All clients of a user share it. */
export function launcherFiles({ launcher, platform, packaged }: Place): WantedFile[] {
  if (launcher === null) return [];
  const { path, ...values } = launcher;
  const isShell = platform !== 'win32';
  const names: Record<string, string> = {};
  for (const [name, value] of Object.entries(values))
    names[name.toUpperCase()] = isShell ? inShell(value) : JSON.stringify(value).slice(1, -1);
  const script = packaged(isShell ? 'launcher/hook.sh' : 'launcher/inbox-writer.cjs');
  const text = script.replace(/@([A-Z]+)@/g, (mark, name) => names[name] ?? mark);
  return [{ path, holds: 'hook launcher', edits: [{ kind: 'whole', text }] }];
}

/** How the program is started. */
export interface Start {
  words: readonly string[];
  /** What a hook command begins with; the client and the event follow. */
  hook: string;
}

/** Settings in git hold no path of one machine, and start nothing that came with the repository. */
export const projectStart: Start = { words: ['holdfast'], hook: 'holdfast-hook' };

/** Absolute paths, since clients that are started from a desktop have another search path. */
export function userStart(node: string, program: string, platform: string, launcher: Launcher | null): Start {
  const words = [node, program];
  // PowerShell takes a quoted command for a string.
  if (platform === 'win32') return { words, hook: `node "${launcher?.path ?? program}"${launcher ? '' : ' hook'}` };
  return { words, hook: launcher ? `sh ${inShell(launcher.path)}` : `${inShell(node)} ${inShell(program)} hook` };
}

/** A word as a POSIX shell reads it. */
export const inShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The folder of a user's own settings: the one a variable names, else the one below the home folder. */
export function ownFolder({ environment, home }: Place, variable: string, name: string): string {
  return environment[variable] || `${home}/${name}`;
}

/** Our MCP server in the form that most clients read. */
export function mcpEntry({ start }: Pick<Place, 'start'>): { command: string; args: string[] } {
  const [command = '', ...args] = [...start.words, 'mcp'];
  return { command, args };
}

/** One group with one handler for each event; `matchers` limits an event to some tools, null does not. */
export function matchedHooks(
  matchers: Readonly<Record<string, string | null>>,
  handlerOf: (event: string) => object,
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(matchers).map(([event, matcher]) => [
      event,
      { ...(matcher === null ? {} : { matcher }), hooks: [{ type: 'command', ...handlerOf(event) }] },
    ]),
  );
}

/** A handler as Gemini and its descendants read it: with a name that the client shows, and a timeout in milliseconds. */
export function namedHandler(client: string, hook: string, event: string): object {
  return { name: `holdfast-${event}`, command: `${hook} ${client} ${event}`, timeout: 10_000 };
}
