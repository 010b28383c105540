/**
 * What is allowed: a table for each noun with the moves that leave each state, the state they lead to, and who may make
 * them. The rules read these tables, and so do the documentation and the test that walks every pair.
 */

export type Who = 'anyone' | 'holder' | 'person' | 'receiver' | 'sender';

export interface Move {
  to: string;
  who: Who;
}

type Table = Readonly<Record<string, Readonly<Record<string, Move>>>>;

const move = (to: string, who: Who = 'anyone'): Move => ({ to, who });

export const lifecycles = {
  run: {
    active: { complete: move('completed'), abandon: move('abandoned', 'person') },
    completed: { reopen: move('active'), archive: move('archived') },
    abandoned: { archive: move('archived') },
    archived: { unarchive: move('active') },
  },
  step: {
    pending: { start: move('in_progress'), skip: move('skipped', 'person') },
    in_progress: {
      start: move('in_progress'),
      checkpoint: move('in_progress', 'holder'),
      complete: move('completed', 'holder'),
      fail: move('failed', 'holder'),
      release: move('pending', 'holder'),
    },
    failed: { retry: move('in_progress'), skip: move('skipped', 'person') },
    completed: { reopen: move('in_progress') },
    skipped: { reopen: move('in_progress') },
  },
  session: {
    active: {
      complete: move('completed'),
      exhaust: move('context-exhausted'),
      expire: move('timeout'),
      direct: move('maintainer-directed'),
      crash: move('crashed'),
      supersede: move('superseded'),
    },
    completed: {},
    'context-exhausted': {},
    timeout: {},
    'maintainer-directed': {},
    crashed: {},
    superseded: {},
  },
  blocker: {
    active: { bypass: move('bypassed'), resolve: move('resolved') },
    bypassed: { resolve: move('resolved'), reactivate: move('active') },
    resolved: {},
  },
  item: {
    open: { resolve: move('resolved'), defer: move('deferred'), withdraw: move('withdrawn') },
    resolved: { reopen: move('open') },
    deferred: { reopen: move('open'), resolve: move('resolved'), withdraw: move('withdrawn') },
    withdrawn: { reopen: move('open') },
  },
  message: {
    unread: {
      acknowledge: move('acknowledged', 'receiver'),
      action: move('actioned', 'receiver'),
      close: move('closed', 'sender'),
    },
    acknowledged: {
      action: move('actioned', 'receiver'),
      block: move('blocked', 'receiver'),
      close: move('closed', 'sender'),
    },
    blocked: {
      acknowledge: move('acknowledged', 'receiver'),
      action: move('actioned', 'receiver'),
      close: move('closed', 'sender'),
    },
    actioned: { close: move('closed', 'sender') },
    closed: {},
  },
  effect: {
    began: { end: move('ended') },
    ended: {},
  },
  claim: {
    held: { release: move('released', 'holder') },
    released: {},
  },
  decision: {
    active: { retract: move('retracted'), supersede: move('superseded') },
    retracted: {},
    superseded: { retract: move('retracted') },
  },
  handoff: {
    offered: {
      accept: move('accepted', 'receiver'),
      clarify: move('clarifying', 'receiver'),
      decline: move('declined', 'receiver'),
      withdraw: move('withdrawn', 'sender'),
    },
    clarifying: {
      accept: move('accepted', 'receiver'),
      decline: move('declined', 'receiver'),
      withdraw: move('withdrawn', 'sender'),
    },
    accepted: { finish: move('finished', 'receiver') },
    declined: {},
    withdrawn: {},
    finished: {},
  },
} as const satisfies Record<string, Table>;

export type Noun = keyof typeof lifecycles;

export function moveOf(noun: Noun, from: string, name: string): Move | undefined {
  return (lifecycles[noun] as Table)[from]?.[name];
}

/** The names of the moves that leave a state. */
export function movesFrom(noun: Noun, from: string): string[] {
  return Object.keys((lifecycles[noun] as Table)[from] ?? {});
}

export function moveBetween(noun: Noun, from: string, to: string): Move | undefined {
  return Object.values((lifecycles[noun] as Table)[from] ?? {}).find((candidate) => candidate.to === to);
}
