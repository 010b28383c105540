import type { Event } from '../journal/event.ts';
import type { State } from './state.ts';

const CHANGED_NAMES = 20;

/** Counts what tells real work from a run in which hardly anything happened. */
export function countWork(state: State, event: Event): void {
  const { tally } = state;
  switch (event.type) {
    case 'session.started':
      if (event.body.parent === undefined) state.tally = { ...tally, sessions: tally.sessions + 1 };
      return;
    case 'effect.began':
      state.tally = { ...tally, tools: tally.tools + 1 };
      return;
    case 'files.seen': {
      const tools = tally.tools + 1;
      if (event.body.read) {
        state.tally = { ...tally, tools };
        return;
      }
      const names = event.body.artifacts.map(({ path }) => path.split('/').at(-1) ?? path);
      const changed = [...tally.changed.filter((name) => !names.includes(name)), ...names].slice(-CHANGED_NAMES);
      state.tally = { ...tally, tools, changed };
      return;
    }
    case 'note.added':
      if (event.body.asked || event.body.kind === 'worklog') return;
      state.tally = { ...tally, declared: true };
      return;
    case 'decision.made':
    case 'item.raised':
    case 'message.sent':
    case 'handoff.offered':
    case 'claim.taken':
    case 'step.checkpointed':
      state.tally = { ...tally, declared: true };
      return;
    default:
      return;
  }
}
