import { expect, it } from 'vitest';
import type { Command } from '../core/journal/command.ts';
import type { Head } from '../store/journal.ts';
import { openMemoryStore } from '../store/memory/store.ts';
import type { HeadColumns } from '../store/projection.ts';
import { createEngine } from './engine.ts';
import type { Identity } from './execute.ts';
import { headOf } from './head-columns.ts';

const agent = (name: string): Identity => ({
  actor: { kind: 'agent', name },
  evidence: 'agent-shell',
  session: null,
  key: null,
});
const checkpoint = (step: string, name: string): Command => ({
  type: 'step.checkpoint',
  step,
  name,
  next: `after ${name}`,
});

/** What a head shows; when a session was seen last is taken from the head's own time. */
function shown({ workspace, title, status, position }: Head | HeadColumns): object {
  const facts = position.facts && {
    ...position.facts,
    sessions: position.facts.sessions.map(({ seenAt: _, ...session }) => session),
  };
  return JSON.parse(JSON.stringify({ workspace, title, status, position: { ...position, facts } })) as object;
}

it('shows what is true after each command, although most checkpoints do not write it', async () => {
  const store = openMemoryStore();
  const append = store.journal.append;
  let written = 0;
  store.journal.append = (batches) => {
    written += batches.filter(({ head }) => head !== undefined).length;
    return append.call(store.journal, batches);
  };
  let seconds = 0;
  const now = () => new Date(Date.UTC(2026, 0, 1) + 1000 * seconds++).toISOString();
  const engine = createEngine({ store, now, probe: () => undefined, random: () => 0 });
  const [bob, eve] = [agent('bob'), agent('eve')];
  const tasks = ['t1', 't2', 't3'].map((key) => ({ key, title: `Task ${key}`, kind: 'task' as const }));
  const story: [Identity, Command][] = [
    [bob, { type: 'run.open', title: 'Heads', workspace: 'w-1' }],
    [bob, { type: 'plan.add', steps: tasks }],
    [bob, { type: 'step.start', step: 't1' }],
    [bob, checkpoint('t1', 'read')],
    [bob, checkpoint('t1', 'drafted')],
    [eve, { type: 'step.start', step: 't2' }],
    [eve, checkpoint('t2', 'read')],
    [bob, checkpoint('t1', 'tested')],
    [bob, { type: 'note.add', kind: 'worklog', text: 'Half of it is done.' }],
    [bob, { type: 'step.complete', step: 't1' }],
    [eve, checkpoint('t2', 'drafted')],
    [eve, checkpoint('t2', 'tested')],
  ];
  for (const [identity, command] of story) {
    const { state } = await engine.execute('work', command, identity);
    const [head] = await store.journal.heads({ run: 'work' });
    expect([command, shown(head as Head)]).toEqual([command, shown(headOf(state))]);
  }
  expect(written).toBeLessThan(story.length - 3);
});
