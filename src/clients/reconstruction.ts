import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import {
  type Spent,
  type TodoChange,
  type ToolCall,
  type ToolResult,
  type TouchedFile,
  tookEffect,
} from './tool-call.ts';

/** What a client's transcript says, in one form for all clients. It records what was written or done; it asks for nothing. */
export type TranscriptEntry = { at?: string | null } & (
  | { kind: 'session'; id?: string | null; cwd?: string | null; branch?: string | null }
  | { kind: 'request'; text: string }
  | { kind: 'message'; text: string }
  | { kind: 'model'; name: string }
  | { kind: 'tool-began'; call: string; toolCall: ToolCall }
  /** `toolCall` is set where the end of a call says more about it than its beginning, `files` where it lists the files. */
  | { kind: 'tool-ended'; call: string; toolCall?: ToolCall; files?: readonly TouchedFile[]; result: ToolResult }
  /** Files that changed, whatever the outcome of the call that changed them. */
  | { kind: 'files'; files: readonly TouchedFile[] }
  | { kind: 'todos'; change: TodoChange }
  | { kind: 'summary'; text: string }
  /** An entry with the id of an earlier one replaces it; a total is that of the whole conversation so far. */
  | { kind: 'usage'; id: string | null; spent: Spent; isTotal?: boolean }
  | { kind: 'error'; text: string }
  | { kind: 'turn-ended' }
  /** The client closed the conversation properly. */
  | { kind: 'closed' }
  /** Something in the transcript that could not be read. */
  | { kind: 'problem'; line: number; message: string }
);

export interface RecoveredCommand {
  call: string;
  command: string;
  /** Null while it is not known to have ended. */
  result: ToolResult | null;
  inBackground: boolean;
  at: string | null;
}

/** What a conversation did according to its transcript. Text is shortened and redacted. */
export interface Reconstruction {
  conversation: string | null;
  cwd: string | null;
  branch: string | null;
  /** The first request. */
  goal: string | null;
  lastRequest: string | null;
  lastMessage: string | null;
  requests: number;
  files: ReadonlyMap<string, TouchedFile>;
  /** The last ones, in the order in which they started. */
  commands: readonly RecoveredCommand[];
  /** Tool calls that started and have no end. */
  running: readonly { call: string; toolCall: ToolCall; at: string | null }[];
  todos: TodoChange | null;
  summary: string | null;
  /** What the summary of a compaction says was decided. */
  decisions: readonly string[];
  spent: Spent | null;
  /** The client's own total, which includes its subagents. */
  isSpentTotal: boolean;
  models: readonly string[];
  errors: readonly string[];
  startedAt: string | null;
  endedAt: string | null;
  isClosed: boolean;
  /** The last turn has no end. */
  isMidTurn: boolean;
  entries: number;
  problems: readonly string[];
}

export interface Recovery {
  add(entry: TranscriptEntry): void;
  result(): Reconstruction;
}

const TEXT_CHARS = 8000;
const FILES_LIMIT = 2000;
const COMMANDS_LIMIT = 200;
const USAGE_IDS_LIMIT = 5000;
const SHORT_LIST = 20;

/** Folds a transcript entry by entry; what it keeps is bounded, whatever the length of the transcript. */
export function createRecovery(): Recovery {
  const seen = emptyResult();
  const files = createFiles();
  const todos = createTodos();
  const usage = createUsage();
  const calls = createCalls();

  const end = ({ call, toolCall, files: more = [], result }: ToolEnd, at: string | null): void => {
    const known = calls.end(call, toolCall, result, at);
    if (!tookEffect(result)) return;
    files.touch(known?.files ?? []);
    files.touch(more);
    if (known?.todos) todos.apply(known.todos);
  };

  return {
    add(entry) {
      const at = instantOf(entry.at);
      note(seen, entry, at);
      switch (entry.kind) {
        case 'tool-began':
          return calls.begin(entry.call, entry.toolCall, at);
        case 'tool-ended':
          return end(entry, at);
        case 'files':
          return files.touch(entry.files);
        case 'todos':
          return todos.apply(entry.change);
        case 'usage':
          return usage.add(entry.id, entry.spent, entry.isTotal === true);
      }
    },
    result: () => ({
      ...seen,
      files: files.result(),
      ...calls.result(),
      todos: todos.result(),
      decisions: seen.summary === null ? [] : statedDecisions(seen.summary),
      spent: usage.total(),
      isSpentTotal: usage.isTotal(),
    }),
  };
}

type ToolEnd = Extract<TranscriptEntry, { kind: 'tool-ended' }>;

function emptyResult() {
  return {
    conversation: null as string | null,
    cwd: null as string | null,
    branch: null as string | null,
    goal: null as string | null,
    lastRequest: null as string | null,
    lastMessage: null as string | null,
    requests: 0,
    summary: null as string | null,
    models: [] as string[],
    errors: [] as string[],
    startedAt: null as string | null,
    endedAt: null as string | null,
    isClosed: false,
    isMidTurn: false,
    entries: 0,
    problems: [] as string[],
  };
}

/** Notes what an entry says about the conversation itself. */
function note(seen: ReturnType<typeof emptyResult>, entry: TranscriptEntry, at: string | null): void {
  if (at !== null) {
    seen.startedAt = seen.startedAt === null || at < seen.startedAt ? at : seen.startedAt;
    seen.endedAt = seen.endedAt === null || at > seen.endedAt ? at : seen.endedAt;
  }
  if (entry.kind !== 'problem') seen.entries += 1;
  switch (entry.kind) {
    case 'session':
      seen.conversation ??= entry.id ?? null;
      seen.cwd ??= entry.cwd ?? null;
      seen.branch = entry.branch ? redact(entry.branch).text : seen.branch;
      seen.isClosed = false;
      return;
    case 'request': {
      const text = clean(entry.text, TEXT_CHARS);
      if (text === null) return;
      seen.goal ??= text;
      seen.lastRequest = text;
      seen.requests += 1;
      seen.isMidTurn = true;
      seen.isClosed = false;
      return;
    }
    case 'message':
      seen.lastMessage = clean(entry.text, TEXT_CHARS) ?? seen.lastMessage;
      seen.isMidTurn = false;
      return;
    case 'model':
      return addOnce(seen.models, entry.name.slice(0, 120));
    case 'tool-began':
    case 'tool-ended':
      seen.isMidTurn = true;
      return;
    case 'summary':
      seen.summary = clean(entry.text, TEXT_CHARS * 4) ?? seen.summary;
      return;
    case 'error':
      seen.errors.push(oneLine(redact(entry.text).text, 400));
      if (seen.errors.length > SHORT_LIST) seen.errors.shift();
      return;
    case 'turn-ended':
      seen.isMidTurn = false;
      return;
    case 'closed':
      seen.isClosed = true;
      seen.isMidTurn = false;
      return;
    case 'problem':
      if (seen.problems.length < SHORT_LIST) seen.problems.push(`Line ${entry.line}: ${entry.message}`);
      return;
    case 'files':
    case 'todos':
    case 'usage':
      return;
    default:
      return entry satisfies never;
  }
}

function createFiles() {
  const files = new Map<string, TouchedFile>();
  return {
    touch(more: readonly TouchedFile[]): void {
      for (const file of more) {
        const before = files.get(file.path);
        if (!before && files.size >= FILES_LIMIT) continue;
        files.set(file.path, mergeTouches(before, file));
      }
    },
    result: (): ReadonlyMap<string, TouchedFile> => files,
  };
}

/** The calls that have no end yet, and the last commands. */
function createCalls() {
  const open = new Map<string, { call: string; toolCall: ToolCall; at: string | null }>();
  const commands = new Map<string, RecoveredCommand>();
  const begin = (call: string, toolCall: ToolCall, at: string | null): void => {
    open.set(call, { call, toolCall, at });
    const command = toolCall.command === null ? null : clean(toolCall.command, 2000);
    if (command === null) return;
    commands.set(call, { call, command, result: null, inBackground: toolCall.inBackground === true, at });
    const [oldest] = commands.size > COMMANDS_LIMIT ? commands.keys() : [];
    if (oldest !== undefined) commands.delete(oldest);
  };
  return {
    begin,
    /** Returns what the call did, as its end or its beginning describes it. */
    end(call: string, given: ToolCall | undefined, result: ToolResult, at: string | null): ToolCall | undefined {
      const toolCall = given ?? open.get(call)?.toolCall;
      if (toolCall?.command && !commands.has(call) && !open.has(call)) begin(call, toolCall, at);
      open.delete(call);
      const command = commands.get(call);
      if (command && command.result === null) commands.set(call, { ...command, result });
      return toolCall;
    },
    result: () => ({ commands: [...commands.values()], running: [...open.values()].slice(-SHORT_LIST) }),
  };
}

/** Shortened afterwards: a cut before could halve a secret, and half of one is not recognised. */
function clean(text: string, limitChars: number): string | null {
  const safe = redact(text).text.trim();
  if (safe === '') return null;
  return safe.length > limitChars ? `${safe.slice(0, limitChars - 1)}…` : safe;
}

/** A time in the form that the journal has; null for any other text. */
function instantOf(at: string | null | undefined): string | null {
  return typeof at === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(at) ? at : null;
}

function addOnce(list: string[], value: string): void {
  if (!list.includes(value) && list.length < SHORT_LIST) list.push(value);
}

/** Writing outweighs reading; a file that was created and changed later counts as created. */
function mergeTouches(before: TouchedFile | undefined, after: TouchedFile): TouchedFile {
  if (!before || before.read) return after.read ? (before ?? after) : after;
  if (after.read) return before;
  return before.change === 'created' && after.change === 'modified' ? before : after;
}

const nothing: Spent = { input: 0, output: 0, cached: 0 };
/** A transcript may claim any figures; only safe integers are recorded. */
const countable = (count: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, count));

const combine = (a: Spent, b: Spent, sign: 1 | -1): Spent => ({
  input: a.input + sign * b.input,
  output: a.output + sign * b.output,
  cached: a.cached + sign * b.cached,
});

/** The sum over messages and the client's own total; after a crash the larger one is closer to the truth. */
function createUsage() {
  const byId = new Map<string, Spent>();
  let sum = nothing;
  let total = nothing;
  return {
    add(id: string | null, spent: Spent, isTotal: boolean): void {
      if (isTotal) {
        total = spent;
        return;
      }
      const before = id === null ? undefined : byId.get(id);
      sum = combine(before ? combine(sum, before, -1) : sum, spent, 1);
      if (id === null) return;
      byId.set(id, spent);
      const [oldest] = byId.size > USAGE_IDS_LIMIT ? byId.keys() : [];
      if (oldest !== undefined) byId.delete(oldest);
    },
    isTotal: (): boolean => total.input + total.output > sum.input + sum.output,
    total(): Spent | null {
      const larger = this.isTotal() ? total : sum;
      if (larger.input + larger.output <= 0) return null;
      return { input: countable(larger.input), output: countable(larger.output), cached: countable(larger.cached) };
    },
  };
}

/** The last state of the list, whether it was written as a whole or entry by entry. */
function createTodos() {
  let whole: TodoChange | null = null;
  const entries = new Map<string, Extract<TodoChange, { kind: 'entries' }>['entries'][number]>();
  return {
    apply(change: TodoChange): void {
      if (change.kind === 'list') {
        whole = change;
        entries.clear();
        return;
      }
      for (const entry of change.entries) {
        const before = entries.get(entry.id);
        entries.set(entry.id, {
          id: entry.id,
          text: entry.text ?? before?.text ?? null,
          status: entry.status ?? before?.status ?? null,
        });
      }
    },
    result: (): TodoChange | null => (entries.size > 0 ? { kind: 'entries', entries: [...entries.values()] } : whole),
  };
}

/** The outcome of a command without an exit code, or in the background, is unknown. */
export function outcomeOf({
  result,
  inBackground,
}: RecoveredCommand): 'running' | 'succeeded' | 'failed' | 'cancelled' | 'unknown' {
  if (result === null) return 'running';
  if (result.isCancelled) return 'cancelled';
  if (result.isFailure) return 'failed';
  return inBackground || result.exitCode === null ? 'unknown' : 'succeeded';
}

const DECISION_CHARS = 600;

/** Bullet points below a heading on decisions, and lines that start with the word. */
export function statedDecisions(summary: string): string[] {
  const found: string[] = [];
  let isInside = false;
  for (const line of summary.split('\n')) {
    const words = line.replace(/\*\*|__/g, '').trim();
    const stated = /^(?:[-*+•]|\d+[.)])?\s*(?:decision|decided)\s*:\s*(.{4,})$/i.exec(words)?.[1];
    const point = /^(?:[-*+•]|\d+[.)])\s+(.{4,})$/.exec(words)?.[1];
    if (isHeading(line)) isInside = /decision/i.test(words);
    else if (stated) addOnce(found, oneLine(stated, DECISION_CHARS));
    else if (isInside && point) addOnce(found, oneLine(point, DECISION_CHARS));
  }
  return found;
}

/** `## Decisions`, `3. Key decisions:`, `**Decisions**`, `<decisions>`; not a bullet point with a sentence. */
function isHeading(line: string): boolean {
  const text = line.trim();
  if (/^#{1,6}\s/.test(text) || /^<\/?[a-z_]+>$/i.test(text)) return true;
  if (/^\s/.test(line) || text.length > 80) return false;
  return /^(?:\d+[.)]\s+)?(?:\*\*|__)?[A-Z][^.!?]{2,60}(?::(?:\*\*|__)?|(?:\*\*|__))$/.test(text);
}
