import type { Node } from 'jsonc-parser';
import type { Problem } from '../format.ts';
import { shapeOf } from './decisions.ts';
import { momentOf } from './field-values.ts';
import { isNewer, needsMigration } from './migrate.ts';
import type { Reading } from './read.ts';
import { folderOf } from './read.ts';
import { elements, member, members, stringAt } from './state-file.ts';
import type { StepOrigin } from './step-entries.ts';
import { contextOf, stepNumber, stepStatus, WORKFLOW, workflowStep } from './steps.ts';
import { DECISION_KEYS } from './template.ts';

type Say = (code: string, node: Node | undefined, message: string, level?: Problem['level']) => void;

/** Finds every kind of contradiction and drift that occurs in real files, with its line. */
export function checkState(reading: Reading, files: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  const { file, root } = reading;
  const say: Say = (code, node, message, level = 'warning') => {
    problems.push({ code, level, path: file.path, line: file.lineAt(node?.offset ?? root.offset), message });
  };
  checkVersion(reading, say);
  checkIdentity(reading, say);
  if (member(root, 'steps')?.type === 'array')
    say('step_list', member(root, 'steps'), 'steps is a list; the format defines an object by key. It stays a list.');
  for (const origin of reading.steps) if (origin.node.type === 'object') checkStep(origin, say);
  checkOrder(reading, say);
  checkTimes(reading, say);
  checkArtifacts(reading, files, say);
  checkDecisions(reading, say);
  checkFindings(reading, say);
  checkEverywhere(root, say);
  return problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

function checkVersion({ root, version, steps }: Reading, say: Say): void {
  const node = member(root, 'schema_version');
  if (version.name === null)
    say('no_version', root, 'schema_version is missing; the file is read as 1.0 and written as 3.0.');
  else if (isNewer(version))
    say('newer_version', node, `Version ${version.name} is newer than 3.0: the file is read and not written.`, 'error');
  else if (needsMigration(version))
    say('old_version', node, `Version ${version.name} is read; the file is migrated to 3.0 when it is written.`);
  else if (node && node.type !== 'string') say('version_type', node, 'schema_version should be a string.');
  for (const key of ['lock', 'stale_threshold_ms'])
    if (member(root, key)) say('lock_left', member(root, key), `${key} belongs to version 2.0 and is no longer used.`);
  for (const { node: step } of steps)
    if (member(step, 'claim'))
      say('claim_left', member(step, 'claim'), 'claim belongs to version 2.0 and is no longer used.');
}

function checkIdentity({ root, file, model }: Reading, say: Say): void {
  const project = stringAt(root, 'project');
  const { name, path, prefix } = folderOf(file.path);
  if (project === undefined || project === '') say('no_project', member(root, 'project'), 'The file names no project.');
  else if (prefix === '' && name !== '' && /(^|\/)agent-output\/[^/]+$/.test(path) && project !== name)
    say('other_project', member(root, 'project'), `The project is "${project}", but the folder is "${name}".`);
  const top = stringAt(root, 'iac_tool');
  const decided = stringAt(member(root, 'decisions'), 'iac_tool');
  if (top === '' && decided)
    say('iac_tool_disagrees', member(root, 'iac_tool'), `iac_tool is empty, but decisions.iac_tool is "${decided}".`);
  else if (top && decided && top.toLowerCase() !== decided.toLowerCase())
    say(
      'iac_tool_disagrees',
      member(root, 'iac_tool'),
      `iac_tool is "${top}", but decisions.iac_tool is "${decided}".`,
    );
  if (top && !['Bicep', 'Terraform'].includes(top))
    say('iac_tool_spelling', member(root, 'iac_tool'), `iac_tool is "${top}"; Bicep and Terraform are known.`);
  const written = member(root, 'current_step');
  const position = model.position?.step ?? null;
  const expected = position === null ? model.steps.at(-1)?.key : position;
  const number =
    typeof (written?.value as unknown) === 'number'
      ? Math.floor(Number(written?.value))
      : Number.parseInt(String(written?.value), 10);
  const begun = model.steps.some(({ status }) => status !== 'pending');
  if (
    written &&
    expected !== undefined &&
    Number.isFinite(stepNumber(expected)) &&
    number !== Math.floor(stepNumber(expected)) &&
    (begun || number > 1)
  )
    say(
      'current_step_disagrees',
      written,
      `current_step is ${String(written.value)}; by the steps the position is ${position === null ? 'the end' : position}.`,
    );
}

function checkStep({ key, written, node }: StepOrigin, say: Say): void {
  const known = workflowStep(key);
  if (written !== key && written.includes('.'))
    say('step_key_spelling', node, `The step is called "${written}"; since March 2026 it is "${key}".`);
  const status = stringAt(node, 'status');
  const meaning = status === undefined ? null : stepStatus(status);
  if (meaning === null)
    say(
      'unknown_status',
      member(node, 'status') ?? node,
      status === undefined ? `Step ${key} has no status.` : `Step ${key} has the unknown status "${status}".`,
      'error',
    );
  const name = stringAt(node, 'name');
  if (known && name !== undefined && name !== known.name)
    say('step_name', member(node, 'name'), `Step ${key} is called "${name}"; the workflow calls it "${known.name}".`);
  const missing = [
    'name',
    'agent',
    'status',
    'sub_step',
    'started',
    'completed',
    'artifacts',
    'context_files_used',
  ].filter((field) => !member(node, field));
  if (missing.length > 0) say('step_field_missing', node, `Step ${key} lacks ${missing.join(', ')}.`);
  const [started, completed, checkpoint] = [
    stringAt(node, 'started'),
    stringAt(node, 'completed'),
    stringAt(node, 'sub_step'),
  ];
  if (meaning === 'completed' && checkpoint)
    say(
      'checkpoint_on_complete',
      member(node, 'sub_step'),
      `Step ${key} is complete and still has the checkpoint "${checkpoint}".`,
    );
  if (meaning === 'pending' && checkpoint)
    say(
      'checkpoint_on_pending',
      member(node, 'sub_step'),
      `Step ${key} is pending and has the checkpoint "${checkpoint}": it was started.`,
    );
  if (meaning === 'completed' && !started)
    say('no_start_time', member(node, 'started') ?? node, `Step ${key} is complete and was never started.`);
  if (meaning === 'in_progress' && !started)
    say('no_start_time', member(node, 'started') ?? node, `Step ${key} is in progress and has no start time.`);
  if (meaning === 'completed' && !completed)
    say('no_end_time', member(node, 'completed') ?? node, `Step ${key} is complete and has no end time.`);
  if (meaning === 'pending' && completed)
    say('end_time_on_pending', member(node, 'completed'), `Step ${key} is pending and has an end time.`);
  const [from, to] = [momentOf(started), momentOf(completed)];
  if (from !== null && to !== null && to < from)
    say('ends_before_start', member(node, 'completed'), `Step ${key} was completed before it started.`);
  checkBudget(key, node, say);
}

function checkBudget(key: string, node: Node, say: Say): void {
  const known = workflowStep(key);
  const used = member(node, 'context_files_used');
  if (!known || !used) return;
  const allowed = contextOf(known, '');
  const files = elements(used).flatMap((element) =>
    typeof (element.value as unknown) === 'string' ? [String(element.value)] : [],
  );
  if (files.length > allowed.length)
    say('over_budget', used, `Step ${key} loaded ${files.length} files; its limit is ${allowed.length}.`);
  const others = files.filter((path) => !allowed.includes(path.slice(path.lastIndexOf('/') + 1)));
  if (others.length > 0)
    say(
      'outside_budget',
      used,
      `Step ${key} loaded ${others.length === 1 ? `"${others[0]}", which is` : `${others.length} files that are`} not on its list.`,
    );
}

function checkOrder({ root, model, steps }: Reading, say: Say): void {
  const nodes = new Map(steps.map(({ key, node }) => [key, node]));
  const at = (key: string): Node | undefined => nodes.get(key);
  const open: string[] = [];
  for (const { key, status } of model.steps) {
    if (status === 'completed' && open.length > 0 && Number.isFinite(stepNumber(key)))
      say(
        'out_of_order',
        at(key),
        `Step ${key} is complete and ${some(open)} before it ${open.length === 1 ? 'is' : 'are'} not.`,
      );
    if (status !== 'completed' && status !== 'skipped') open.push(key);
  }
  const running = model.steps.filter(({ status }) => status === 'in_progress');
  if (running.length > 1)
    say(
      'several_in_progress',
      at(running[1]?.key ?? ''),
      `Steps ${some(running.map(({ key }) => key))} are in progress at once.`,
    );
  const missing = WORKFLOW.filter(({ key }) => !at(key)).map(({ key }) => key);
  if (missing.length > 0) say('step_missing', member(root, 'steps'), `The file has no step ${missing.join(', ')}.`);
  const spelled = members(member(root, 'steps')).map(([key]) => key);
  if (spelled.includes('3.5') && spelled.includes('3_5'))
    say(
      'step_twice',
      member(member(root, 'steps'), '3.5'),
      'The step exists as 3.5 and as 3_5; the second one counts.',
      'error',
    );
  const design = model.steps.find(({ key }) => key === '3');
  if (design?.status === 'pending' && /^(true|yes)$/i.test(stringAt(member(root, 'decisions'), 'skip_design') ?? ''))
    say('skipped_in_words', at('3'), 'Step 3 is pending and decisions.skip_design says that it was skipped.');
  const idle = model.steps.length > 0 && model.steps.every(({ status }) => status === 'pending');
  if (idle && (model.items.length > 0 || elements(member(root, 'decision_log')).length > 0))
    say('workflow_unused', member(root, 'steps'), 'All steps are pending, but findings or decisions were recorded.');
  const reviews = members(member(root, 'review_audit')).map(([key]) => key);
  if (reviews.includes('step_3.5'))
    say(
      'review_key_spelling',
      member(member(root, 'review_audit'), 'step_3.5'),
      'review_audit says step_3.5; since March 2026 it is step_3_5.',
    );
}

const some = (keys: readonly string[]): string =>
  `${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}`;

function checkTimes({ root, model, steps }: Reading, say: Say): void {
  const updated = member(root, 'updated');
  const moment = momentOf(model.run.updatedAt);
  if (updated && model.run.updatedAt !== undefined && moment === null)
    say('not_a_time', updated, `updated is "${model.run.updatedAt}", which is not a time.`);
  const nodes = steps
    .flatMap(({ node }) => [member(node, 'started'), member(node, 'completed')])
    .filter((node) => typeof (node?.value as unknown) === 'string' && node?.value !== '');
  const moments: number[] = [];
  for (const node of nodes) {
    const time = momentOf(String(node?.value));
    if (time === null) say('not_a_time', node, `"${String(node?.value)}" is not a time.`);
    else moments.push(time);
  }
  const newest = moments.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
  if (moment !== null && moment < newest)
    say('updated_is_old', updated, 'updated is older than the newest time of a step.');
  const round = moments.filter((time) => time % 60_000 === 0).length;
  if (moments.length >= 4 && round / moments.length > 0.8)
    say(
      'round_times',
      nodes[0],
      `${round} of ${moments.length} times of steps are on a whole minute: they were invented.`,
    );
}

function checkArtifacts({ file, model, steps }: Reading, files: readonly string[], say: Say): void {
  const { path: folder, prefix } = folderOf(file.path);
  const base = folder === '' ? '' : `${folder}/`;
  const there = new Set(
    files
      .filter((path) => /^0[1-7]-/.test(path.slice(base.length + prefix.length)))
      .map((path) => path.slice(base.length + prefix.length)),
  );
  const listed = new Set<string>();
  for (const [index, step] of model.steps.entries()) {
    const node = member(steps[index]?.node, 'artifacts') ?? steps[index]?.node;
    const paths = (step.artifacts ?? []).map(({ path }) => path);
    if (step.status === 'completed' && paths.length === 0)
      say('no_artifacts', node, `Step ${step.key} is complete and lists no artifacts.`);
    const styles = new Set(
      paths.map((path) => (/(^|\/)agent-output\//.test(path) ? 'agent-output' : path.includes('/') ? 'other' : 'bare')),
    );
    if (styles.has('bare') && styles.size > 1)
      say(
        'mixed_paths',
        node,
        `The artifacts of step ${step.key} are named in ${styles.size} ways: with their folder and without.`,
      );
    for (const path of paths) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (/\.tmp\b/.test(name)) say('temporary_artifact', node, `"${path}" is a temporary file.`);
      if (/\.(\w+)\.\1$/.test(name)) say('double_suffix', node, `"${path}" has its suffix twice.`);
      if (/^\.{3}$|^…$/.test(path.trim()))
        say('elided', node, `The artifacts of step ${step.key} were elided.`, 'error');
      const own =
        path === name ||
        path.startsWith(`${base}${name}`) ||
        path.endsWith(`/agent-output/${folder.slice(folder.lastIndexOf('/') + 1)}/${name}`);
      if (own) listed.add(name);
      if (own && there.size > 0 && /^0[1-7]-/.test(name) && !there.has(name))
        say('artifact_missing', node, `"${path}" is listed but does not exist.`);
    }
  }
  const unlisted = [...there].filter((name) => !listed.has(name));
  if (unlisted.length > 0)
    say(
      'unlisted_artifacts',
      undefined,
      `${unlisted.length} numbered files beside the state file are listed by no step: ${unlisted.slice(0, 5).join(', ')}${unlisted.length > 5 ? ' …' : ''}.`,
    );
}

function checkDecisions({ root }: Reading, say: Say): void {
  const values = member(root, 'decisions');
  const missing = DECISION_KEYS.filter((key) => key !== 'complexity' && !member(values, key));
  if (missing.length > 0) say('decision_missing', values, `decisions lacks ${missing.join(', ')}.`);
  const complexity = stringAt(values, 'complexity');
  if (complexity && !['simple', 'standard', 'complex'].includes(complexity))
    say(
      'unknown_complexity',
      member(values, 'complexity'),
      `complexity is "${complexity}"; simple, standard and complex are known.`,
    );
  if (stringAt(values, 'review_depth') === '')
    say('empty_review_depth', member(values, 'review_depth'), 'review_depth is empty; default and deep are known.');
  for (const [key, node] of members(values)) {
    if (node.type !== 'string') say('decision_value', node, `decisions.${key} is not text; it is read as JSON.`);
    else if (/^\s*[[{]/.test(String(node.value)) && /[\]}]\s*$/.test(String(node.value)))
      say('json_in_text', node, `decisions.${key} has JSON inside text.`);
  }
  const log = elements(member(root, 'decision_log'));
  const shapes = new Set<string>();
  const ids = new Set<string>();
  let untimed = 0;
  for (const node of log) {
    shapes.add(node.type === 'object' ? shapeOf(node) : 'text');
    const id = stringAt(node, 'id');
    if (id !== undefined && (ids.has(id) || !/^D\d+$/.test(id)))
      say(
        'decision_id',
        member(node, 'id'),
        ids.has(id) ? `Duplicate decision id ${id}.` : `"${id}" is not an id such as D001.`,
      );
    if (id !== undefined) ids.add(id);
    if (!stringAt(node, 'timestamp')) untimed++;
    if (member(node, 'choice') && member(node, 'decision'))
      say('decision_twice', node, 'The entry has both choice and decision; choice counts.');
  }
  if (shapes.size > 1)
    say('decision_shapes', member(root, 'decision_log'), `The decision log has entries in ${shapes.size} shapes.`);
  if (shapes.has('B') || shapes.has('C'))
    say(
      'decision_shape',
      member(root, 'decision_log'),
      'Entries of the decision log have no id, title and choice, which the validator requires.',
    );
  if (untimed > 0) say('decision_untimed', member(root, 'decision_log'), `${untimed} decisions have no timestamp.`);
}

function checkFindings({ root, model, findings }: Reading, say: Say): void {
  const list = member(root, 'open_findings');
  const objects = findings.filter(({ type }) => type === 'object').length;
  if (objects > 0) say('finding_shape', list, `${objects} open findings are objects; the format defines titles.`);
  for (const [index, item] of model.items.entries())
    if (item.status !== 'open')
      say(
        'settled_finding',
        findings[index],
        `The finding "${(item.alias ?? item.text).slice(0, 60)}" is ${item.status} and still listed as open.`,
      );
  if (findings.length >= 15)
    say('findings_as_log', list, `${findings.length} open findings: the list is used as a log.`);
}

/** Finds duplicate keys and elided values. */
function checkEverywhere(root: Node, say: Say): void {
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'object') {
      const keys = new Set<unknown>();
      for (const property of node.children ?? []) {
        const key: unknown = property.children?.[0]?.value;
        if (keys.has(key))
          say('duplicate_key', property, `Duplicate key "${String(key).slice(0, 60)}"; the last one counts.`);
        keys.add(key);
      }
    } else if (
      node.type === 'string' &&
      /^(?:\.{3}|…)$/.test(String(node.value)) &&
      node.parent?.type === 'property' &&
      node.parent.children?.[1] === node
    )
      say('elided', node, 'A value was elided.', 'error');
    for (const child of node.children ?? []) waiting.push(child);
  }
}
