import { Fault, quoted } from '../core/fault.ts';
import type { Command } from '../core/journal/command.ts';
import type { Within } from '../store/journal.ts';
import type { Token, Tokens } from '../store/presence.ts';
import { missingRun } from './drop.ts';
import type { Engine } from './engine.ts';
import type { Maintenance } from './maintenance.ts';

/**
 * The engine for a caller that reaches only a part of the store: a run outside is like one that does not exist.
 * Every method is listed, so that a new one does not compile until it is limited too.
 */
export function limitEngine(engine: Engine, within: Within): Engine {
  const seen = new Set<string>();

  async function mustSee(run: string): Promise<void> {
    if (seen.has(run)) return;
    const [head] = await engine.heads({ ...within, run });
    if (!head) throw await missingRun({ dropped }, run, engine.place);
    seen.add(run);
  }

  const dropped: Engine['dropped'] = (narrower) => engine.dropped(joinWithin(within, narrower));

  async function visible(runs: readonly string[]): Promise<string[]> {
    const heads = await engine.heads(joinWithin(within, { runs }));
    return heads.map(({ run }) => run);
  }

  return {
    place: engine.place,
    now: () => engine.now(),
    tokens: limitTokens(engine.tokens, within),
    identity: () => engine.identity(),
    // Says nothing of an event to a caller that does not know its hash.
    async compareKnown(known) {
      const { heads, ...rest } = await engine.compareKnown(known);
      const seen = new Set(await visible(heads.map(({ run }) => run)));
      return { heads: heads.filter(({ run }) => seen.has(run)), ...rest };
    },
    async execute(run, command, identity) {
      if (command.type === 'run.open') await mayOpen(engine, within, run, command);
      else await mustSee(run);
      return engine.execute(run, command, identity);
    },
    together: (work, options) => engine.together((held) => work(limitEngine(held, within)), options),
    async recall(run, references) {
      await mustSee(run);
      return engine.recall(run, references);
    },
    async rows(run, filter) {
      await mustSee(run);
      return engine.rows(run, filter);
    },
    async savedRows(run, filter) {
      await mustSee(run);
      return engine.savedRows(run, filter);
    },
    async count(run, kind) {
      await mustSee(run);
      return engine.count(run, kind);
    },
    search: async (runs, query, filter) => engine.search(await visible(runs), query, filter),
    feed: (cursor, limit, narrower = {}) => engine.feed(cursor, limit, joinWithin(within, narrower)),
    heads: (filter) => engine.heads({ ...filter, ...joinWithin(within, filter) }),
    async value(run, sha256) {
      await mustSee(run);
      return engine.value(run, sha256);
    },
    dropped,
    async hasRecorded(run, key) {
      await mustSee(run);
      return engine.hasRecorded(run, key);
    },
    async event(run, version) {
      await mustSee(run);
      return engine.event(run, version);
    },
    async *eventPages(run, range) {
      await mustSee(run);
      yield* engine.eventPages(run, range);
    },
    waitForEvents: (ms, known) => engine.waitForEvents(ms, known),
    async load(run, at) {
      await mustSee(run);
      return engine.load(run, at);
    },
    liveness: (state) => engine.liveness(state),
    async watch(run, sessions) {
      await mustSee(run);
      return engine.watch(run, sessions);
    },
    async beat(run, session, at) {
      await mustSee(run);
      return engine.beat(run, session, at);
    },
    // Only runs that this caller was found to reach.
    rewound: (run) => engine.rewound(run).filter((one) => seen.has(one.run)),
    onRewound: (listener) => engine.onRewound((one) => seen.has(one.run) && listener(one)),
    maintenance: async () => limitMaintenance(await engine.maintenance(), mustSee),
  };
}

/** Whether everything a token reaches is within. */
export function isTokenWithin(token: Pick<Token, 'workspaces' | 'runs'>, { workspaces, runs }: Within): boolean {
  const isInside = (wanted: readonly string[] | null, allowed: readonly string[] | undefined): boolean =>
    allowed === undefined || (wanted?.every((one) => allowed.includes(one)) ?? false);
  return isInside(token.workspaces === '*' ? null : token.workspaces, workspaces) && isInside(token.runs, runs);
}

/** What a token reaches. */
export function withinOf({ workspaces, runs }: Pick<Token, 'workspaces' | 'runs'>): Within {
  return { ...(workspaces === '*' ? {} : { workspaces }), ...(runs === null ? {} : { runs }) };
}

/** What is in both. */
export function joinWithin(one: Within, other: Within): Within {
  const both = (a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined =>
    a === undefined || b === undefined ? (a ?? b) : a.filter((item) => b.includes(item));
  return { workspaces: both(one.workspaces, other.workspaces), runs: both(one.runs, other.runs) };
}

async function mayOpen(
  engine: Engine,
  { workspaces, runs }: Within,
  run: string,
  { workspace }: Extract<Command, { type: 'run.open' }>,
): Promise<void> {
  if (runs !== undefined || (workspaces !== undefined && !workspaces.includes(workspace))) {
    throw new Fault('not_allowed', 'The token does not allow opening a run here.', {
      hints: [
        runs === undefined
          ? `It reaches the workspaces ${workspaces?.map(quoted).join(', ') || '(none)'}.`
          : `It reaches only the runs ${runs.map(quoted).join(', ') || '(none)'}.`,
        'Ask a maintainer for a token with this workspace.',
      ],
    });
  }
  // Ids are unique in a store: one that is taken elsewhere cannot be used, and nothing else is said of it.
  const [other = (await engine.dropped({ runs: [run] }))[0]] = await engine.heads({ run });
  if (other && workspaces !== undefined && !workspaces.includes(other.workspace)) {
    throw new Fault('illegal', `The id ${quoted(run)} is taken.`, { hints: ['Choose another id.'], data: { run } });
  }
}

/** Tokens that reach further are neither shown, made nor revoked. */
function limitTokens(tokens: Tokens, within: Within): Tokens {
  return {
    async addToken(token) {
      if (isTokenWithin(token, within)) return tokens.addToken(token);
      throw new Fault('not_allowed', 'A token can only be made for what the token it is made with reaches.', {
        hints: [
          `That is ${within.workspaces ? `the workspaces ${within.workspaces.map(quoted).join(', ')}` : 'every workspace'}${within.runs ? `, the runs ${within.runs.map(quoted).join(', ')}` : ''}.`,
        ],
      });
    },
    findToken: (hash) => tokens.findToken(hash),
    listTokens: async (options) => (await tokens.listTokens(options)).filter((token) => isTokenWithin(token, within)),
    useToken: (name, at) => tokens.useToken(name, at),
    async revokeToken(name, revoked) {
      const known = await tokens.listTokens();
      return known.some((token) => token.name === name && isTokenWithin(token, within))
        ? tokens.revokeToken(name, revoked)
        : false;
    },
  };
}

function limitMaintenance(maintenance: Maintenance, mustSee: (run: string) => Promise<void>): Maintenance {
  return {
    // The database names runs of all workspaces in its problems.
    inspect: async () => [],
    async audit(run) {
      await mustSee(run);
      return maintenance.audit(run);
    },
    async rebuild(run) {
      await mustSee(run);
      return maintenance.rebuild(run);
    },
    async versionsAbout(run, target) {
      await mustSee(run);
      return maintenance.versionsAbout(run, target);
    },
    async findSecrets(run) {
      await mustSee(run);
      return maintenance.findSecrets(run);
    },
    async openImport(run, options) {
      await mustSee(run);
      return maintenance.openImport(run, options);
    },
    async drop(run, by) {
      await mustSee(run);
      return maintenance.drop(run, by);
    },
  };
}
