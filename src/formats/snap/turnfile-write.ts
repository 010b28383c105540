import type { ModelClaim, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { ERASED } from '../../core/text.ts';
import { isObject } from '../is-object.ts';
import { type AgentView, agentViews, type Changes, type TaskWord, taskWords } from './changes.ts';
import { flat, sameWords, slug } from './names.ts';
import { type Entry, type Turnfile, textOf } from './turnfile.ts';
import {
  addSection,
  applySplices,
  type Fields,
  key,
  type MapChange,
  renderEntry,
  type Splice,
  scalar,
  setEntries,
  setFields,
} from './turnfile-edit.ts';
import { CANCELLED, FAILED, NO_STEP, taskKeys } from './turnfile-model.ts';
import { isStale, listOf } from './turnfile-rules.ts';

/** A new Turnfile with only what was kept from an earlier one. */
export function newTurnfile({ run }: RunModel, workspace: string, kept: unknown): string {
  const old = isObject(kept) ? kept : {};
  const head = isObject(old['turnfile']) ? old['turnfile'] : {};
  const coordination: Record<string, unknown> = isObject(old['coordination']) ? { ...old['coordination'] } : {};
  const revision = typeof coordination['revision'] === 'number' ? coordination['revision'] : 0;
  const value: Record<string, unknown> = {
    turnfile: { ...head, version: textOf(head['version']) ?? '0.1.0', project: run.title, workspace },
    agents: old['agents'] ?? {},
    maintainer: {
      ...{ id: 'maintainer', status: 'available' },
      ...(isObject(old['maintainer']) ? old['maintainer'] : {}),
    },
    coordination: {
      revision,
      active_phase: textOf(coordination['active_phase']) ?? 'phase-1',
      active_step: textOf(coordination['active_step']) ?? NO_STEP,
      ...(coordination['conflict'] === undefined ? {} : { conflict: coordination['conflict'] }),
      tasks: coordination['tasks'] ?? {},
    },
    locks: old['locks'] ?? {},
    turn_queue: old['turn_queue'] ?? [],
    messages: old['messages'] ?? [],
  };
  return [
    '# TURNFILE.yaml — SNAP Coordination State',
    '# Protocol: Turnfile v0.1',
    `# Project: ${run.title.replace(/\s+/g, ' ')}`,
    `# Last modified revision: ${revision}`,
    '# Modified by: maintainer',
    ...Object.entries(value).flatMap(([name, section]) => ['', ...renderBlock('', name, section)]),
    '',
  ].join('\n');
}

/**
 * The text after the changes, with the next revision; null when nothing concerns the Turnfile. Every write of the
 * folder counts, so a write of other files alone also raises the revision.
 */
export function changeTurnfile(turnfile: Turnfile, changes: Changes, othersChanged: boolean): string | null {
  if (!turnfile.root || !turnfile.sound) return null;
  const revision = (turnfile.revision ?? 0) + 1;
  const splices = [
    ...titleSplices(turnfile, changes),
    ...agentSplices(turnfile, changes),
    ...taskSplices(turnfile, changes, revision),
    ...lockSplices(turnfile, changes, revision),
    ...positionSplices(turnfile, changes),
  ];
  if (splices.length === 0 && !othersChanged) return null;
  const all = [...splices, ...revisionSplices(turnfile, changes, revision)];
  return turnfile.bom + applySplices(turnfile.text, all);
}

/** Raises the revision in the field and in the header, and renews the locks of active agents. */
function revisionSplices(turnfile: Turnfile, changes: Changes, revision: number): Splice[] {
  const { claims } = changes;
  const { header, sections } = turnfile;
  const coordination = sections.get('coordination');
  const splices = coordination ? setFields(turnfile, coordination, { revision }) : [];
  if (header.revision) splices.push({ ...header.revision, text: String(revision) });
  if (header.by) splices.push({ ...header.by, text: writerOf(changes) });
  const held = new Set(claims.kept.map(({ before }) => before.alias));
  for (const lock of turnfile.locks.values()) {
    if (held.has(lock.id) && !isStale(lock, turnfile.revision) && isStale(lock, revision))
      splices.push(...setFields(turnfile, lock, { acquired_rev: revision }));
  }
  return splices;
}

/** The author of the change: the agent named by what is new, else the active one. */
function writerOf({ after: { sessions }, decisions, items, notes, messages }: Changes): string {
  const named = [decisions, items, notes].flatMap(({ added }) => added.map(({ by }) => by)).findLast(Boolean);
  const session = sessions.findLast(({ status }) => status === 'active') ?? sessions.at(-1);
  return (named ?? messages.added.at(-1)?.from ?? session?.agent ?? 'maintainer').replace(/\s+/g, ' ');
}

function titleSplices(turnfile: Turnfile, { before, after }: Changes): Splice[] {
  const section = turnfile.sections.get('turnfile');
  if (!section || before.run.title === after.run.title) return [];
  if (textOf(section.fields['project']) === after.run.title) return [];
  return setFields(turnfile, section, { project: after.run.title });
}

function agentSplices(turnfile: Turnfile, { before, after }: Changes): Splice[] {
  const was = agentViews(before);
  const entries = new Map([...turnfile.agents.values()].map((entry) => [slug(entry.id), entry]));
  const maintainer = turnfile.sections.get('maintainer');
  const ids = idsOf(turnfile);
  // A person who took a claim, for example to compact the worklog, has a session too.
  const people = new Set(listOf(after.kept?.['people']).map(slug));
  const change: MapChange = { add: [], change: [], remove: [] };
  const splices: Splice[] = [];
  for (const [id, view] of agentViews(after)) {
    const fields = viewFields(view, was.get(id), ids);
    if (Object.keys(fields).length === 0) continue;
    const entry = entries.get(id);
    if (entry) (change.change as { entry: Entry; fields: Fields }[]).push({ entry, fields });
    else if (maintainer && (slug(textOf(maintainer.fields['id'])) === id || id === 'maintainer')) {
      if (view.session !== null) splices.push(...setFields(turnfile, maintainer, { last_seen: view.session }));
    } else
      (change.add as { id: string; fields: Fields }[]).push({
        id: view.name,
        fields: { role: people.has(id) ? 'maintainer' : 'agent', ...viewFields(view, undefined, ids) },
      });
  }
  return [...splices, ...sectionSplices(turnfile, turnfile.root, 'agents', turnfile.agents, change)];
}

function viewFields(view: AgentView, was: AgentView | undefined, ids: ReadonlyMap<string, string>): Fields {
  return {
    ...(view.status === was?.status ? {} : { status: view.status }),
    ...(was && view.task === was.task
      ? {}
      : { current_task: view.task === null ? null : (ids.get(view.task) ?? view.task) }),
    ...(was && view.session === was.session ? {} : { last_seen: view.session, session_id: view.session }),
  };
}

/** Task ids by step key. */
function idsOf(turnfile: Turnfile): ReadonlyMap<string, string> {
  return new Map([...taskKeys(turnfile)].map(([id, one]) => [one, id]));
}

function taskSplices(turnfile: Turnfile, changes: Changes, revision: number): Splice[] {
  const ids = idsOf(turnfile);
  const words = { before: taskWords(changes.before), after: taskWords(changes.after) };
  const byId = (list: readonly string[]): string[] => list.map((one) => ids.get(one) ?? one);
  const entryOf = (step: ModelStep): Entry | undefined => turnfile.tasks.get(ids.get(step.key) ?? step.key);
  const change = changes.steps.kept.flatMap(({ before, after }) => {
    const entry = entryOf(after);
    const word = words.after.get(after.key) as TaskWord;
    if (!entry) return [];
    const was = words.before.get(before.key) as TaskWord;
    const moved = word === was ? {} : wordFields(word, after, entry.fields, revision);
    const isTold = [word, was].some((one) => one === 'failed' || one === 'cancelled') && word !== was;
    const isNew = after.summary !== undefined && !sameWords(before.summary ?? '').includes(sameWords(after.summary));
    const notes = isTold || isNew ? (notesOf(isNew ? withNotes(after, before) : after, word) ?? null) : undefined;
    const owner = after.agents?.[0];
    const order = after.after ?? [];
    const fields: Fields = {
      ...(after.title === before.title ? {} : { description: after.title }),
      ...(owner === undefined || slug(owner) === slug(before.agents?.[0]) ? {} : { owner }),
      ...(after.after === undefined || order.join('\n') === (before.after ?? []).join('\n')
        ? {}
        : { depends_on: byId(order) }),
      ...moved,
      ...(notes === undefined ? {} : { notes: notes ?? '' }),
    };
    return Object.keys(fields).length === 0 ? [] : [{ entry, fields }];
  });
  const creator = textOf(turnfile.sections.get('maintainer')?.fields['id']) === undefined ? 'unassigned' : 'maintainer';
  const add = changes.steps.added
    .filter((step) => !entryOf(step))
    .map((step) => {
      const word = words.after.get(step.key) as TaskWord;
      const base = { priority: 'P1', depends_on: byId(step.after ?? []), created_by: creator, created_rev: revision };
      const { status, claim_rev = null, completed_rev = null } = wordFields(word, step, {}, revision);
      const notes = notesOf(step, word);
      return {
        id: step.key,
        fields: {
          description: step.title,
          owner: step.agents?.[0] ?? 'unassigned',
          status,
          ...base,
          claim_rev,
          completed_rev,
          ...(notes === undefined ? {} : { notes }),
        },
      };
    });
  const remove = changes.steps.removed.flatMap((step) => entryOf(step) ?? []);
  return sectionSplices(turnfile, turnfile.sections.get('coordination'), 'tasks', turnfile.tasks, {
    add,
    change,
    remove,
  });
}

/** A status and the revisions that go with it. */
function wordFields(word: TaskWord, step: ModelStep, had: Fields, revision: number): Record<string, unknown> {
  const isClaimed = typeof had['claim_rev'] === 'number';
  const claim = isClaimed ? {} : { claim_rev: revision };
  switch (word) {
    case 'pending':
      return { status: 'pending', claim_rev: null, completed_rev: null };
    case 'in_progress':
      return { status: 'in_progress', ...claim, completed_rev: null };
    case 'blocked':
      return {
        status: 'blocked',
        ...(step.status === 'pending' ? { claim_rev: null } : claim),
        completed_rev: null,
      };
    case 'failed':
      return { status: 'blocked', ...claim, completed_rev: null };
    case 'done':
    case 'cancelled':
      return { status: 'done', ...(isClaimed ? {} : { claim_rev: null }), completed_rev: revision };
    default:
      return word satisfies never;
  }
}

/** The notes of a task are mostly advice from its start: a summary follows them, unless text was erased. */
function withNotes(after: ModelStep, { summary: notes }: ModelStep): ModelStep {
  const summary = after.summary ?? '';
  return notes === undefined || summary.includes(ERASED) || sameWords(summary).includes(sameWords(notes))
    ? after
    : { ...after, summary: `${notes} — ${summary}` };
}

function notesOf({ summary, reason }: ModelStep, word: TaskWord): string | undefined {
  const prefix = word === 'failed' ? FAILED : word === 'cancelled' ? CANCELLED : null;
  return prefix === null ? summary : [`${prefix} ${flat(reason ?? '')}`.trim(), summary ?? ''].join('\n').trim();
}

function lockSplices(turnfile: Turnfile, { claims }: Changes, revision: number): Splice[] {
  const entryOf = (claim: ModelClaim): Entry | undefined => turnfile.locks.get(claim.alias ?? claim.id ?? '');
  const taken = new Set(turnfile.locks.keys());
  const add = claims.added.map((claim) => {
    const id = claim.alias ?? claim.id ?? nextLock(claim, taken);
    taken.add(id);
    return {
      id,
      fields: {
        files: claim.files,
        holder: claim.agent,
        acquired_rev: revision,
        lease_revs: 2,
        reason: claim.reason ?? 'Work in progress',
      },
    };
  });
  const change = claims.kept.flatMap(({ before, after }) => {
    const entry = entryOf(before);
    const fields: Fields = {
      ...(after.files.join('\n') === before.files.join('\n') ? {} : { files: after.files }),
      ...(slug(after.agent) === slug(before.agent) ? {} : { holder: after.agent, acquired_rev: revision }),
      ...(after.reason === undefined || after.reason === before.reason ? {} : { reason: after.reason }),
    };
    return entry && Object.keys(fields).length > 0 ? [{ entry, fields }] : [];
  });
  const remove = claims.removed.flatMap((claim) => entryOf(claim) ?? []);
  return sectionSplices(turnfile, turnfile.root, 'locks', turnfile.locks, { add, change, remove });
}

function nextLock({ agent }: ModelClaim, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) if (!taken.has(`${slug(agent)}-${number}`)) return `${slug(agent)}-${number}`;
}

/** A step in the maintainer's words stays; one that names a task follows the work. */
function positionSplices(turnfile: Turnfile, { before, after }: Changes): Splice[] {
  const coordination = turnfile.sections.get('coordination');
  const above = new Set(after.steps.map((step) => step.parent));
  const running = after.steps.find((step) => step.status === 'in_progress' && !above.has(step.key))?.key;
  const now = after.position?.step ?? (after.position === undefined ? running : undefined);
  const was = before.position?.step ?? undefined;
  if (!coordination || now === was) return [];
  const named = textOf(coordination.fields['active_step']);
  const isOurs = named === undefined || named === NO_STEP || turnfile.tasks.has(named);
  if (!isOurs || (now === undefined && named === NO_STEP)) return [];
  const parents = new Map(after.steps.map((step) => [step.key, step.parent]));
  let phase = now;
  for (let depth = 0; phase !== undefined && parents.get(phase) !== undefined && depth < 20; depth++)
    phase = parents.get(phase);
  const isFirst = before.steps.length === 0 && phase !== undefined && phase !== now;
  return setFields(turnfile, coordination, {
    ...(isFirst ? { active_phase: phase } : {}),
    active_step: now === undefined ? NO_STEP : (idsOf(turnfile).get(now) ?? now),
  });
}

function sectionSplices(
  turnfile: Turnfile,
  within: Entry | null | undefined,
  name: string,
  entries: ReadonlyMap<string, Entry>,
  change: MapChange,
): Splice[] {
  if (change.add.length + change.change.length + change.remove.length === 0) return [];
  const section = name === 'tasks' ? turnfile.coordination.get(name) : turnfile.sections.get(name);
  if (section) return setEntries(turnfile, section, entries, change);
  const pad = name === 'tasks' ? '    ' : '  ';
  const lines = change.add.flatMap(({ id, fields }) => renderEntry(pad, id, fields));
  return within ? addSection(turnfile, within, name, lines) : [];
}

function renderBlock(pad: string, name: string, value: unknown): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every(isObject)) return [`${pad}${key(name)}: ${scalar(listOf(value))}`];
    const items = value.flatMap((item) =>
      Object.entries(item).map(
        ([field, one], index) => `${pad}  ${index === 0 ? '- ' : '  '}${key(field)}: ${scalar(one)}`,
      ),
    );
    return [`${pad}${key(name)}:`, ...items];
  }
  if (!isObject(value)) return [`${pad}${key(name)}: ${scalar(value)}`];
  const pairs = Object.entries(value);
  if (pairs.length === 0) return [`${pad}${key(name)}: {}`];
  return [`${pad}${key(name)}:`, ...pairs.flatMap(([field, one]) => renderBlock(`${pad}  `, field, one))];
}
