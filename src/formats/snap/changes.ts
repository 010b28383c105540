import { pairBy } from '../../core/model/pair.ts';
import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { nameKey, sameWords } from './names.ts';
import type { AgentView, TaskWord } from './table.ts';
import { listOf } from './turnfile-rules.ts';

/** How a run model differs from what the files said before. */
export interface Changes {
  before: RunModel;
  after: RunModel;
  steps: Pairing<ModelStep>;
  decisions: Pairing<RunModel['decisions'][number]>;
  items: Pairing<RunModel['items'][number]>;
  notes: Pairing<RunModel['notes'][number]>;
  sessions: Pairing<RunModel['sessions'][number]>;
  messages: Pairing<RunModel['messages'][number]>;
  claims: Pairing<RunModel['claims'][number]>;
}

export interface Pairing<T> {
  added: readonly T[];
  kept: readonly { before: T; after: T }[];
  removed: readonly T[];
}

export function changesBetween(before: RunModel, after: RunModel): Changes {
  const own = ({ alias, id }: { alias?: string | undefined; id?: string | undefined }): (string | undefined)[] =>
    [alias ?? id, id ?? alias].map((name) => name?.toLowerCase());
  const day = (at: string | undefined): string => at?.slice(0, 10) ?? '';
  const key = (...parts: (string | undefined)[]): string => parts.join('\n');
  return {
    before,
    after,
    steps: pair(before.steps, after.steps, (step) => [step.key]),
    decisions: pair(before.decisions, after.decisions, ({ decision, by, at, context }) => [
      key(sameWords(decision), nameKey(by), day(at)),
      sameWords(decision),
      // Changed or erased text: the same row, if everything else is equal.
      at && key(nameKey(by), at, context),
    ]),
    items: pair(before.items, after.items, (item) => [...own(item), key(item.kind, sameWords(item.text))]),
    notes: pair(before.notes, after.notes, ({ text, by, at }) => [
      key(sameWords(text), nameKey(by), day(at)),
      sameWords(text),
      at && key(nameKey(by), at),
    ]),
    sessions: pair(before.sessions, after.sessions, (one) => [...own(one), key(nameKey(one.agent), one.endedAt)]),
    messages: pair(before.messages, after.messages, (one) => [
      ...own(one),
      key(nameKey(one.from), nameKey(one.to), sameWords(one.subject), day(one.at)),
    ]),
    claims: pair(before.claims, after.claims, (one) => [...own(one), key(nameKey(one.agent), ...one.files)]),
  };
}

function pair<T extends object>(
  before: readonly T[],
  after: readonly T[],
  identities: (one: T) => readonly (string | undefined)[],
): Pairing<T> {
  const pairs = pairBy(before, after, identities);
  const found = new Set(pairs.values());
  return {
    added: after.filter((one) => !pairs.has(one)),
    kept: [...pairs].map(([one, was]) => ({ before: was, after: one })),
    removed: before.filter((one) => !found.has(one)),
  };
}

/** Blocked is derived from active blockers that name the step. */
export function taskWords({ steps, items }: RunModel): ReadonlyMap<string, TaskWord> {
  const blocked = new Set<string>();
  for (const item of items) {
    if (item.kind !== 'blocker' || item.status !== 'active') continue;
    for (const name of [item.step, ...(item.affects ?? [])]) if (name !== undefined) blocked.add(name);
  }
  return new Map(
    steps.map(({ key, status }): [string, TaskWord] => {
      switch (status) {
        case 'completed':
          return [key, 'done'];
        case 'failed':
          return [key, 'failed'];
        case 'skipped':
          return [key, 'cancelled'];
        case 'pending':
        case 'in_progress':
          return [key, blocked.has(key) ? 'blocked' : status];
        default:
          return status satisfies never;
      }
    }),
  );
}

/** The names of people, whom the files know as the maintainer only. */
export const peopleIn = (kept: RunModel['kept']): string[] => listOf(kept?.['people']).map(nameKey);

export function agentViews(model: RunModel): ReadonlyMap<string, AgentView> {
  const people = new Set(peopleIn(model.kept));
  const words = taskWords(model);
  const views = new Map<string, AgentView>();
  const running = new Map<string, string>();
  const taken = new Set(model.sessions.flatMap((one) => (one.status === 'active' ? (one.workingOn ?? []) : [])));
  for (const { key, status, agents } of model.steps) {
    const owner = nameKey(agents?.[0]);
    if (status === 'in_progress' && owner !== '' && !running.has(owner)) running.set(owner, key);
  }
  for (const session of model.sessions) {
    const id = nameKey(session.agent);
    if (id === '' || session.agent === undefined || people.has(id)) continue;
    // An open session counts more than an ended one listed later.
    const before = views.get(id);
    if (session.status !== 'active' && (before?.status === 'active' || before?.status === 'blocked')) continue;
    const isOpen = ['pending', 'in_progress', 'blocked'].includes(words.get(session.workingOn ?? '') ?? '');
    const task = isOpen ? session.workingOn : running.get(id);
    const isBlocked = words.get(task ?? '') === 'blocked';
    // Work that a session left in progress stays its task until another agent takes it.
    const isLeft = isOpen && words.get(session.workingOn ?? '') !== 'pending' && !taken.has(session.workingOn ?? '');
    const away = session.status === 'timeout' || session.status === 'crashed';
    views.set(id, {
      name: session.agent,
      status: session.status === 'active' ? (isBlocked ? 'blocked' : 'active') : away ? 'offline' : 'idle',
      task: session.status === 'active' ? task : isLeft ? session.workingOn : undefined,
      session: session.alias ?? session.id,
    });
  }
  return views;
}
