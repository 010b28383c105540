import type { State } from './state.ts';

/** Raised whenever the shape of folded state changes, so that saved state is rebuilt. */
export const STATE_FORMAT = 26;

export function emptyState(): State {
  return stateWith(
    {
      version: 0,
      run: null,
      counters: {},
      next: null,
      stand: null,
      counted: null,
      asked: [],
      said: null,
      plan: null,
      turn: null,
      requests: { first: null, current: null, latest: null },
      commands: { last: null, failed: null },
      tally: { tools: 0, changed: [], declared: false, sessions: 0 },
      last: { session: null, place: { machine: null, tree: null, branch: null }, conversations: [] },
      totals: { decisions: 0, activeDecisions: 0, notes: 0, sessions: 0, events: 0 },
      lastSnapshot: null,
      worklog: { lines: 0, entries: 0, archives: [] },
    },
    {},
  );
}

/** An independent copy; rows are shared, because they never change. */
export function forkState(state: State): State {
  const { [TABLES]: tables, ...values } = state as LazyState;
  // Tables that were opened so far become sources, which both states copy before they change them.
  for (const [name, table] of Object.entries(tables.opened)) tables.sources[name as TableName] = { table };
  tables.opened = {};
  return stateWith(
    { ...values, counters: { ...values.counters }, totals: { ...values.totals } },
    { ...tables.sources },
  );
}

/** One line for the plain values, then one for each table. The order of rows is kept. */
export function serializeState(state: State): string {
  const { [TABLES]: tables, ...values } = state as LazyState;
  const lines = tableNames.map((name) => {
    const source = tables.sources[name];
    const unread = tables.opened[name] === undefined && source !== undefined && source.table === undefined;
    return unread ? source.text : JSON.stringify([...state[name]]);
  });
  return asciiJson([JSON.stringify(values), ...lines].join('\n'));
}

/** One character beyond Latin-1 makes V8 store the whole text at two bytes each, which doubles the time to read it. */
function asciiJson(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function deserializeState(text: string): State {
  const [values = '', ...lines] = text.split('\n');
  const sources = Object.fromEntries(tableNames.map((name, index) => [name, { text: lines[index] ?? '[]' }]));
  return stateWith(JSON.parse(values) as StateValues, sources);
}

const tableNames = [
  'steps',
  'sessions',
  'claims',
  'items',
  'effects',
  'messages',
  'handoffs',
  'notes',
  'usage',
  'mirrors',
  'acceptedConflicts',
  'lastWork',
  'snapshotSequences',
] as const satisfies readonly (keyof State)[];

type TableName = (typeof tableNames)[number];
type StateValues = Omit<State, TableName>;

/**
 * Most commands need few tables of a state that may be large: each table is parsed, or copied from the state it was forked
 * from, on first use.
 */
interface Tables {
  /** What a table is made from. Sources never change. */
  sources: { [K in TableName]?: Source };
  opened: { [K in TableName]?: Map<string, unknown> };
}
type Source = { text: string; table?: Map<string, unknown> } | { table: Map<string, unknown>; text?: undefined };

const TABLES = Symbol('tables');
type LazyState = State & { [TABLES]: Tables };

const stateWithTables = Object.defineProperties(
  {},
  Object.fromEntries(
    tableNames.map((name) => [
      name,
      {
        get(this: LazyState) {
          const { opened, sources } = this[TABLES];
          opened[name] ??= new Map(rowsOf(sources[name]));
          return opened[name];
        },
      },
    ]),
  ),
);

function rowsOf(source: Source | undefined): Map<string, unknown> | undefined {
  if (source === undefined) return undefined;
  source.table ??= new Map(JSON.parse(source.text as string) as [string, unknown][]);
  return source.table;
}

function stateWith(values: StateValues, sources: Tables['sources']): State {
  const state = Object.assign(Object.create(stateWithTables) as LazyState, values);
  state[TABLES] = { sources, opened: {} };
  return state;
}
