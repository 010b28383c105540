import { textOf } from './names.ts';
import type { Report } from './page.ts';
import type { Entry, Turnfile } from './turnfile.ts';

export const taskStatuses = ['pending', 'claimed', 'in_progress', 'blocked', 'done', 'cancelled'] as const;
const agentStatuses = ['idle', 'active', 'blocked', 'offline'];
const agentRoles = ['agent', 'maintainer', 'observer'];
const maintainerStatuses = ['available', 'away', 'observing'];
const signalWords = ['ready', 'blocked', 'handoff', 'yield', 'request_turn', 'notify'];
const priorities = ['P0', 'P1', 'P2'];

/** The sections of version 0; the minimal profile of version 1 omits the last three. */
const requiredSections = ['turnfile', 'agents', 'maintainer', 'coordination'];
const optionalSections = ['locks', 'turn_queue', 'messages'];

const required: Readonly<Record<string, readonly string[]>> = {
  turnfile: ['version', 'project', 'workspace'],
  maintainer: ['id', 'status'],
  coordination: ['revision', 'active_phase', 'active_step', 'tasks'],
  agent: ['role', 'status'],
  task: ['description', 'owner', 'status', 'priority', 'depends_on', 'created_by', 'created_rev'],
  lock: ['files', 'holder', 'acquired_rev', 'lease_revs', 'reason'],
  turn: ['agent', 'action', 'requested_rev', 'priority'],
  signal: ['id', 'from', 'to', 'signal', 'rev'],
};

/** Reports what the format's own lint and schema check; none of it stops reading. */
export function checkTurnfile(turnfile: Turnfile, report: Report): void {
  if (!turnfile.root) return;
  checkHead(turnfile, report);
  for (const agent of turnfile.agents.values()) checkAgent(turnfile, agent, report);
  for (const task of turnfile.tasks.values()) checkTask(turnfile, task, report);
  for (const lock of turnfile.locks.values()) checkLock(turnfile, lock, report);
  for (const turn of turnfile.queue) needs('turn', 'A claim in the turn queue', turn, report);
  checkSignals(turnfile, report);
}

function checkHead({ sections, header, revision }: Turnfile, report: Report): void {
  for (const name of requiredSections) {
    if (!sections.has(name)) report.error('missing_section', null, `The section ${name} is missing.`);
  }
  const major = /^(\d+)/.exec(textOf(sections.get('turnfile')?.fields['version']) ?? '')?.[1];
  for (const name of optionalSections) {
    if (!sections.has(name) && !(Number(major) >= 1))
      report('missing_section', null, `The section ${name} is missing.`);
  }
  for (const [name, entry] of sections) {
    if (!requiredSections.includes(name) && !optionalSections.includes(name))
      report('unknown_section', entry.line, `${name.slice(0, 80)} is not a section of a Turnfile; it is kept.`);
  }
  for (const name of ['turnfile', 'maintainer', 'coordination']) {
    const entry = sections.get(name);
    if (entry) needs(name, `The section ${name}`, entry, report);
  }
  const version = textOf(sections.get('turnfile')?.fields['version']);
  if (version !== undefined && !/^\d+\.\d+\.\d+(?:[-+].*)?$/.test(version))
    report(
      'version',
      sections.get('turnfile')?.line ?? null,
      `The version ${version.slice(0, 40)} is not of the form 0.1.0.`,
    );
  oneOf('maintainer', sections.get('maintainer'), 'status', maintainerStatuses, report);
  if (!header.revision || !header.by || !header.protocol)
    report('missing_header', 1, 'The header comments for protocol, revision and writer are incomplete.');
  else if (revision !== null && Number(header.revision.text) !== revision)
    report(
      'header_revision',
      header.revision.line,
      `The header says revision ${header.revision.text.slice(0, 20)}, the file is at ${revision}.`,
    );
  if (revision === null && sections.has('coordination'))
    report.error(
      'revision',
      sections.get('coordination')?.line ?? null,
      'coordination.revision is not a whole number.',
    );
}

function checkAgent({ tasks }: Turnfile, agent: Entry, report: Report): void {
  const { fields, id, line } = agent;
  const name = `The agent ${id.slice(0, 80)}`;
  needs('agent', name, agent, report);
  oneOf(name, agent, 'role', agentRoles, report);
  oneOf(name, agent, 'status', agentStatuses, report);
  const current = textOf(fields['current_task']);
  if (current === undefined) return;
  const task = tasks.get(current);
  if (!task) report.error('unknown_task', line, `${name} is on ${current.slice(0, 80)}, which is not a task here.`);
  else if (
    textOf(task.fields['owner']) !== id ||
    !['claimed', 'in_progress'].includes(textOf(task.fields['status']) ?? '')
  )
    report('task_not_held', line, `${name} is on ${current.slice(0, 80)}, which it has not claimed.`);
}

function checkTask({ tasks, agents, revision }: Turnfile, task: Entry, report: Report): void {
  const { fields, id, line } = task;
  const name = `The task ${id.slice(0, 80)}`;
  const status = textOf(fields['status']);
  needs('task', name, task, report);
  oneOf(name, task, 'status', taskStatuses, report);
  oneOf(name, task, 'priority', priorities, report);
  const owner = textOf(fields['owner']);
  if (owner !== undefined && !['maintainer', 'unassigned'].includes(owner) && !agents.has(owner))
    report('unknown_owner', line, `${name} belongs to ${owner.slice(0, 80)}, who is not an agent here.`);
  const isTaken = status === 'claimed' || status === 'in_progress' || status === 'done';
  for (const dependency of listOf(fields['depends_on'])) {
    const before = tasks.get(dependency);
    if (!before)
      report.error(
        'unknown_dependency',
        line,
        `${name} depends on ${dependency.slice(0, 80)}, which is not a task here.`,
      );
    else if (isTaken && before.fields['status'] !== 'done')
      report('dependency_open', line, `${name} was claimed before ${dependency.slice(0, 80)} was done.`);
  }
  const claimed = fields['claim_rev'];
  const completed = fields['completed_rev'];
  if (status === 'done' && typeof completed !== 'number')
    report('no_completed_rev', line, `${name} is done and has no completed_rev.`);
  const order = [claimed, completed, revision].filter((value) => typeof value === 'number');
  if (order.some((value, index) => index > 0 && value < (order[index - 1] as number)))
    report.error('revision_order', line, `The revisions of ${name.toLowerCase()} do not rise.`);
}

function checkLock({ agents, sections, revision }: Turnfile, lock: Entry, report: Report): void {
  const { fields, id, line } = lock;
  const name = `The lock ${id.slice(0, 80)}`;
  const old = 'target' in fields || 'purpose' in fields;
  if (old) report('renamed_key', line, `${name} has target and purpose instead of files and reason.`);
  else needs('lock', name, lock, report);
  const holder = textOf(fields['holder']);
  const maintainer = textOf(sections.get('maintainer')?.fields['id']);
  if (holder !== undefined && !agents.has(holder) && holder !== maintainer && holder !== 'maintainer')
    report.error('unknown_holder', line, `${name} is held by ${holder.slice(0, 80)}, who is not an agent here.`);
  if (isStale(lock, revision)) report('stale_lock', line, `${name} has expired; anyone may remove it.`);
}

/** A lock expires by revisions, not by time. */
export function isStale({ fields }: Pick<Entry, 'fields'>, revision: number | null): boolean {
  const acquired = fields['acquired_rev'];
  const lease = fields['lease_revs'] ?? 2;
  return revision !== null && typeof acquired === 'number' && typeof lease === 'number' && revision - acquired > lease;
}

function checkSignals({ signals, revision }: Turnfile, report: Report): void {
  const seen = new Set<string>();
  let before = Number.POSITIVE_INFINITY;
  let reported = false;
  for (const signal of signals) {
    const name = `The signal ${signal.id.slice(0, 80)}`;
    needs('signal', name, signal, report);
    oneOf(name, signal, 'signal', signalWords, report);
    if (seen.has(signal.id)) report.error('duplicate_signal', signal.line, `Duplicate: ${name}.`);
    seen.add(signal.id);
    const at = signal.fields['rev'];
    if (typeof at !== 'number') continue;
    if (revision !== null && at > revision)
      report.error('signal_revision', signal.line, `${name} has revision ${at}, which is in the future.`);
    if (at > before && !reported) {
      reported = true;
      report('signal_order', signal.line, 'Signals should be newest first; from here on they are not.');
    }
    before = at;
  }
}

function needs(kind: string, name: string, { fields, line }: Entry, report: Report): void {
  // A key with a null value exists, but has no text where the schema requires it.
  const missing = (required[kind] ?? []).filter((key) => fields[key] === undefined || fields[key] === null);
  if (missing.length > 0) report('missing_field', line, `${name} does not say ${missing.join(', ')}.`);
}

function oneOf(name: string, entry: Entry | undefined, key: string, allowed: readonly string[], report: Report): void {
  const value = textOf(entry?.fields[key]);
  if (entry === undefined || value === undefined || allowed.includes(value)) return;
  const code = key === 'status' ? 'unknown_status' : `unknown_${key}`;
  report(code, entry.line, `${name} has the ${key} ${value.slice(0, 80)}, which is not one of ${allowed.join(', ')}.`);
}

export function listOf(value: unknown): string[] {
  const all = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  return all.map(textOf).filter((text) => text !== undefined);
}
