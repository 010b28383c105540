import type { Problem } from '../format.ts';
import { lineFinder } from '../text/lines.ts';
import { at, itemsOf, type Node, pairsOf, plain, stringAt } from '../text/node.ts';
import { asText, momentOf } from '../text/values.ts';
import { folderOf, type Reading, shapeOf } from './read.ts';
import type { StepOrigin } from './step-entries.ts';
import { contextOf, stepNumber, stepStatus, WORKFLOW, workflowStep } from './steps.ts';
import { DECISION_KEYS } from './template.ts';
import { isNewer, needsMigration } from './version.ts';

type Say = (code: string, node: Node | null | undefined, message: string, level?: Problem['level']) => void;

/** Finds every kind of contradiction and drift that occurs in real files, with its line. */
export function checkState(reading: Reading, files: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  const { file, root } = reading;
  const lineAt = lineFinder(file.text);
  const say: Say = (code, node, message, level = 'warning') => {
    problems.push({ code, level, path: reading.path, line: lineAt(node?.start ?? root.start), message });
  };
  checkVersion(reading, say);
  checkIdentity(reading, say);
  if (at(root, 'steps')?.type === 'list')
    say('step_list', at(root, 'steps'), 'steps is a list; the format defines an object by key. It stays a list.');
  for (const origin of reading.steps) if (origin.node.type === 'map') checkStep(origin, say);
  checkOrder(reading, say);
  checkTimes(reading, say);
  checkArtifacts(reading, files, say);
  checkDecisions(reading, say);
  checkFindings(reading, say);
  checkEverywhere(root, say);
  return problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

function checkVersion({ root, version, steps }: Reading, say: Say): void {
  const node = at(root, 'schema_version');
  if (version.name === null)
    say('no_version', root, 'schema_version is missing; the file is read as 1.0 and written as 3.0.');
  else if (isNewer(version))
    say('newer_version', node, `Version ${version.name} is newer than 3.0: the file is read and not written.`, 'error');
  else if (needsMigration(version))
    say('old_version', node, `Version ${version.name} is read; the file is migrated to 3.0 when it is written.`);
  else if (node && typeof plain(node) !== 'string') say('version_type', node, 'schema_version should be a string.');
  for (const key of ['lock', 'stale_threshold_ms'])
    if (at(root, key)) say('lock_left', at(root, key), `${key} belongs to version 2.0 and is no longer used.`);
  for (const { node: step } of steps)
    if (at(step, 'claim')) say('claim_left', at(step, 'claim'), 'claim belongs to version 2.0 and is no longer used.');
}

function checkIdentity({ root, path: main, model }: Reading, say: Say): void {
  const project = stringAt(root, 'project');
  const { name, path, prefix } = folderOf(main);
  if (project === undefined || project === '') say('no_project', at(root, 'project'), 'The file names no project.');
  else if (prefix === '' && name !== '' && /(^|\/)agent-output\/[^/]+$/.test(path) && project !== name)
    say('other_project', at(root, 'project'), `The project is "${project}", but the folder is "${name}".`);
  const top = stringAt(root, 'iac_tool');
  const decided = stringAt(at(root, 'decisions'), 'iac_tool');
  if (top === '' && decided)
    say('iac_tool_disagrees', at(root, 'iac_tool'), `iac_tool is empty, but decisions.iac_tool is "${decided}".`);
  else if (top && decided && top.toLowerCase() !== decided.toLowerCase())
    say('iac_tool_disagrees', at(root, 'iac_tool'), `iac_tool is "${top}", but decisions.iac_tool is "${decided}".`);
  if (top && !['Bicep', 'Terraform'].includes(top))
    say('iac_tool_spelling', at(root, 'iac_tool'), `iac_tool is "${top}"; Bicep and Terraform are known.`);
  const written = at(root, 'current_step');
  const said = plain(written);
  const position = model.position?.step ?? null;
  const expected = position === null ? model.steps.at(-1)?.key : position;
  const number = typeof said === 'number' ? Math.floor(said) : Number.parseInt(asText(said), 10);
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
      `current_step is ${asText(said)}; by the steps the position is ${position === null ? 'the end' : position}.`,
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
      at(node, 'status') ?? node,
      status === undefined ? `Step ${key} has no status.` : `Step ${key} has the unknown status "${status}".`,
      'error',
    );
  const name = stringAt(node, 'name');
  if (known && name !== undefined && name !== known.name)
    say('step_name', at(node, 'name'), `Step ${key} is called "${name}"; the workflow calls it "${known.name}".`);
  const missing = [
    'name',
    'agent',
    'status',
    'sub_step',
    'started',
    'completed',
    'artifacts',
    'context_files_used',
  ].filter((field) => !at(node, field));
  if (missing.length > 0) say('step_field_missing', node, `Step ${key} lacks ${missing.join(', ')}.`);
  const [started, completed, checkpoint] = [
    stringAt(node, 'started'),
    stringAt(node, 'completed'),
    stringAt(node, 'sub_step'),
  ];
  if (meaning === 'completed' && checkpoint)
    say(
      'checkpoint_on_complete',
      at(node, 'sub_step'),
      `Step ${key} is complete and still has the checkpoint "${checkpoint}".`,
    );
  if (meaning === 'pending' && checkpoint)
    say(
      'checkpoint_on_pending',
      at(node, 'sub_step'),
      `Step ${key} is pending and has the checkpoint "${checkpoint}": it was started.`,
    );
  if (meaning === 'completed' && !started)
    say('no_start_time', at(node, 'started') ?? node, `Step ${key} is complete and was never started.`);
  if (meaning === 'in_progress' && !started)
    say('no_start_time', at(node, 'started') ?? node, `Step ${key} is in progress and has no start time.`);
  if (meaning === 'completed' && !completed)
    say('no_end_time', at(node, 'completed') ?? node, `Step ${key} is complete and has no end time.`);
  if (meaning === 'pending' && completed)
    say('end_time_on_pending', at(node, 'completed'), `Step ${key} is pending and has an end time.`);
  const [from, to] = [momentOf(started), momentOf(completed)];
  if (from !== null && to !== null && to < from)
    say('ends_before_start', at(node, 'completed'), `Step ${key} was completed before it started.`);
  checkBudget(key, node, say);
}

function checkBudget(key: string, node: Node, say: Say): void {
  const known = workflowStep(key);
  const used = at(node, 'context_files_used');
  if (!known || !used) return;
  const allowed = contextOf(known, '');
  const files = itemsOf(used).flatMap((element) => {
    const path = plain(element);
    return typeof path === 'string' ? [path] : [];
  });
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
  const open: string[] = [];
  for (const { key, status } of model.steps) {
    if (status === 'completed' && open.length > 0 && Number.isFinite(stepNumber(key)))
      say(
        'out_of_order',
        nodes.get(key),
        `Step ${key} is complete and ${some(open)} before it ${open.length === 1 ? 'is' : 'are'} not.`,
      );
    if (status !== 'completed' && status !== 'skipped') open.push(key);
  }
  const running = model.steps.filter(({ status }) => status === 'in_progress');
  if (running.length > 1)
    say(
      'several_in_progress',
      nodes.get(running[1]?.key ?? ''),
      `Steps ${some(running.map(({ key }) => key))} are in progress at once.`,
    );
  const missing = WORKFLOW.filter(({ key }) => !nodes.has(key)).map(({ key }) => key);
  if (missing.length > 0) say('step_missing', at(root, 'steps'), `The file has no step ${missing.join(', ')}.`);
  const spelled = pairsOf(at(root, 'steps')).map(({ key }) => key);
  if (spelled.includes('3.5') && spelled.includes('3_5'))
    say(
      'step_twice',
      at(at(root, 'steps'), '3.5'),
      'The step exists as 3.5 and as 3_5; the second one counts.',
      'error',
    );
  const design = model.steps.find(({ key }) => key === '3');
  if (design?.status === 'pending' && /^(true|yes)$/i.test(stringAt(at(root, 'decisions'), 'skip_design') ?? ''))
    say('skipped_in_words', nodes.get('3'), 'Step 3 is pending and decisions.skip_design says that it was skipped.');
  const idle = model.steps.length > 0 && model.steps.every(({ status }) => status === 'pending');
  if (idle && (model.items.length > 0 || itemsOf(at(root, 'decision_log')).length > 0))
    say('workflow_unused', at(root, 'steps'), 'All steps are pending, but findings or decisions were recorded.');
  const reviews = pairsOf(at(root, 'review_audit')).map(({ key }) => key);
  if (reviews.includes('step_3.5'))
    say(
      'review_key_spelling',
      at(at(root, 'review_audit'), 'step_3.5'),
      'review_audit says step_3.5; since March 2026 it is step_3_5.',
    );
}

const some = (keys: readonly string[]): string =>
  `${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}`;

function checkTimes({ root, model, steps }: Reading, say: Say): void {
  const updated = at(root, 'updated');
  const moment = momentOf(model.run.updatedAt);
  if (updated && model.run.updatedAt !== undefined && moment === null)
    say('not_a_time', updated, `updated is "${model.run.updatedAt}", which is not a time.`);
  const nodes = steps
    .flatMap(({ node }) => [at(node, 'started'), at(node, 'completed')])
    .filter((node) => typeof plain(node) === 'string' && plain(node) !== '');
  const moments: number[] = [];
  for (const node of nodes) {
    const time = momentOf(asText(plain(node)));
    if (time === null) say('not_a_time', node, `"${asText(plain(node))}" is not a time.`);
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

function checkArtifacts({ path: main, model, steps }: Reading, files: readonly string[], say: Say): void {
  const { path: folder, prefix } = folderOf(main);
  const base = folder === '' ? '' : `${folder}/`;
  const there = new Set(
    files
      .filter((path) => /^0[1-7]-/.test(path.slice(base.length + prefix.length)))
      .map((path) => path.slice(base.length + prefix.length)),
  );
  const listed = new Set<string>();
  for (const [index, step] of model.steps.entries()) {
    const node = at(steps[index]?.node, 'artifacts') ?? steps[index]?.node;
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
  const values = at(root, 'decisions');
  const missing = DECISION_KEYS.filter((key) => key !== 'complexity' && !at(values, key));
  if (missing.length > 0) say('decision_missing', values, `decisions lacks ${missing.join(', ')}.`);
  const complexity = stringAt(values, 'complexity');
  if (complexity && !['simple', 'standard', 'complex'].includes(complexity))
    say(
      'unknown_complexity',
      at(values, 'complexity'),
      `complexity is "${complexity}"; simple, standard and complex are known.`,
    );
  if (stringAt(values, 'review_depth') === '')
    say('empty_review_depth', at(values, 'review_depth'), 'review_depth is empty; default and deep are known.');
  for (const { key, value: node } of pairsOf(values)) {
    const value = plain(node);
    if (typeof value !== 'string') say('decision_value', node, `decisions.${key} is not text; it is read as JSON.`);
    else if (/^\s*[[{]/.test(value) && /[\]}]\s*$/.test(value))
      say('json_in_text', node, `decisions.${key} has JSON inside text.`);
  }
  const log = itemsOf(at(root, 'decision_log'));
  const shapes = new Set<string>();
  const ids = new Set<string>();
  let untimed = 0;
  for (const node of log) {
    shapes.add(node.type === 'map' ? shapeOf(node) : 'text');
    const id = stringAt(node, 'id');
    if (id !== undefined && (ids.has(id) || !/^D\d+$/.test(id)))
      say(
        'decision_id',
        at(node, 'id'),
        ids.has(id) ? `Duplicate decision id ${id}.` : `"${id}" is not an id such as D001.`,
      );
    if (id !== undefined) ids.add(id);
    if (!stringAt(node, 'timestamp')) untimed++;
    if (at(node, 'choice') && at(node, 'decision'))
      say('decision_twice', node, 'The entry has both choice and decision; choice counts.');
  }
  if (shapes.size > 1)
    say('decision_shapes', at(root, 'decision_log'), `The decision log has entries in ${shapes.size} shapes.`);
  if (shapes.has('B') || shapes.has('C'))
    say(
      'decision_shape',
      at(root, 'decision_log'),
      'Entries of the decision log have no id, title and choice, which the validator requires.',
    );
  if (untimed > 0) say('decision_untimed', at(root, 'decision_log'), `${untimed} decisions have no timestamp.`);
}

function checkFindings({ root, model, findings }: Reading, say: Say): void {
  const list = at(root, 'open_findings');
  const nodes = [...findings.values()];
  const objects = nodes.filter(({ type }) => type === 'map').length;
  if (objects > 0) say('finding_shape', list, `${objects} open findings are objects; the format defines titles.`);
  for (const [index, item] of model.items.entries())
    if (item.status !== 'open')
      say(
        'settled_finding',
        nodes[index],
        `The finding "${(item.alias ?? item.text).slice(0, 60)}" is ${item.status} and still listed as open.`,
      );
  if (nodes.length >= 15) say('findings_as_log', list, `${nodes.length} open findings: the list is used as a log.`);
}

/** Finds duplicate keys and elided values. */
function checkEverywhere(root: Node, say: Say): void {
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'list') waiting.push(...node.items);
    if (node.type !== 'map') continue;
    for (const { key, start } of node.shadowed ?? []) {
      const again = node.pairs.find((pair) => pair.key === key && pair.start > start);
      if (again)
        say(
          'duplicate_key',
          { ...again.value, start: again.start },
          `Duplicate key "${key.slice(0, 60)}"; the last one counts.`,
        );
    }
    for (const { value } of node.pairs) {
      if (value.type === 'scalar' && /^(?:\.{3}|…)$/.test(value.words))
        say('elided', value, 'A value was elided.', 'error');
      else waiting.push(value);
    }
  }
}
