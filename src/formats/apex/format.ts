import type { GoneRule } from '../../core/model/merge.ts';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Format, Found, Parsed, Problem } from '../format.ts';
import { losesOf } from '../losses.ts';
import { parseJson } from '../text/json.ts';
import { lineFinder } from '../text/lines.ts';
import { at, plain, stringAt } from '../text/node.ts';
import { checkState } from './check.ts';
import { detectRuns } from './detect.ts';
import { isAboutAnother, parseHandoff } from './handoff.ts';
import { renderHandoff } from './handoff-page.ts';
import { projectName } from './preset.ts';
import { folderOf, readState } from './read.ts';
import { repairRun } from './repair.ts';
import { addNext, checkSiblings } from './siblings.ts';
import { HANDOFF_FILE, STATE_FILE } from './steps.ts';
import { activeValues, createdRow, findingRows, logRows, runRows, stampOf, stampRow, stepRows } from './table.ts';
import { isNewer, versionOf } from './version.ts';
import { newState, rewriteState } from './write.ts';

/** A finding that is no longer listed is resolved; a value taken out of `decisions` is taken back. */
const gone: GoneRule = (list, entry) => {
  if (list === 'items') return 'resolved';
  if (list === 'decisions') return 'key' in entry && entry.key !== undefined ? 'retracted' : 'hidden';
  return list === 'steps' ? 'ask' : 'hidden';
};

/** The session state of the APEX workflow: `agent-output/PROJECT/00-session-state.json` and its handoff. */
export const apex: Format = {
  name: 'apex',
  detect: detectRuns,
  parse,
  render,
  home,
  loses: losesOf(
    { run: [...runRows, stampRow, createdRow], steps: stepRows, decisions: logRows, items: findingRows },
    // Beside the table: the key of a step, its gate, what a finding is, and what only settled findings have.
    ['steps.key', 'steps.gate', 'items.kind', 'items.status', 'items.severity', 'items.settledAt', 'items.resolution'],
    [
      ...['steps.artifacts.change', 'steps.artifacts.note', 'steps.gate.name', 'position.words'],
      ...['blocker', 'question', 'commitment', 'error'].map((kind) => `items[kind=${kind}]`),
      ...['should_fix', 'suggestion', ''].map((severity) => `items[severity=${severity}]`),
      ...['resolved', 'deferred', 'withdrawn'].map((status) => `items[status=${status}]`),
    ],
  ),
  writes: ['**/*00-session-state.json', '**/*00-handoff.md'],
  backupOf: (main) => `${main}.bak`,
  gone,
  noWork,
  repair: repairRun,
};

function parse(found: Found, files: Files): Parsed {
  const text = files.get(found.main);
  if (text === undefined) {
    const message = 'The state file is missing; the run can be repaired from the files around it.';
    return { model: null, version: null, writable: true, problems: [errorIn(found, 'no_state_file', null, message)] };
  }
  const file = parseJson(text);
  const lineAt = lineFinder(text);
  const problems = file.found.map(
    ({ offset, ...one }): Problem => ({ ...one, path: found.main, line: lineAt(offset) }),
  );
  const reading = file.damaged ? null : readState(found.main, text, file);
  if (!reading) {
    const message = 'This is not a session state: it has neither steps nor a project.';
    const shape = file.damaged ? [] : [errorIn(found, 'other_shape', 1, message)];
    return { model: null, version: null, writable: false, problems: [...problems, ...shape] };
  }
  const { model, version } = reading;
  addNext(model, found, files);
  problems.push(...checkState(reading, found.files), ...checkSiblings(model, found, files));
  return { model, version: version.name, writable: !isNewer(version), problems };
}

/** The document asks for it: a file of a version that is not known is migrated first, by a tool that knows it. */
function noWork(text: string): string | null {
  const version = versionOf({ schema_version: plain(at(parseJson(text).root, 'schema_version')) ?? undefined });
  return isNewer(version) ? `version ${version.name} is newer than 3.0: no step work` : null;
}

function errorIn({ main }: Found, code: string, line: number | null, message: string): Problem {
  return { code, level: 'error', path: main, line, message };
}

function render(model: RunModel, place: Found, previous: Files, now: string): Files {
  const written = new Map<string, string>();
  const folder = folderOf(place.main);
  const before = previous.get(place.main);
  const project = folder.prefix === '' && folder.name !== '' ? folder.name : projectName(model.run.title);
  const file = before === undefined ? null : parseJson(before);
  const reading = file && !file.damaged ? readState(place.main, file.text, file) : null;
  // A file that cannot be read, or has a newer version, is never overwritten.
  if (before !== undefined && (!reading || isNewer(reading.version))) return written;
  if (reading) addNext(reading.model, place, previous);
  const { text, progressed } = reading
    ? rewriteState(reading, model, now)
    : { text: newState(model, project, now), progressed: true };
  if (text !== before) written.set(place.main, text);
  if (!progressed && (model.next === undefined || model.next === reading?.model.next)) return written;
  const handoff = `${folder.path === '' ? '' : `${folder.path}/`}${folder.prefix}${HANDOFF_FILE}`;
  const named = (reading && stringAt(reading.root, 'project')) || project;
  // A handoff copied from another project says nothing about this one and is not overwritten.
  if (isAboutAnother(parseHandoff(previous.get(handoff) ?? ''), named)) return written;
  const tool =
    (reading ? stringAt(reading.root, 'iac_tool') : undefined) ||
    activeValues(model.decisions).get('iac_tool') ||
    keptTool(model.kept?.['apex']);
  const page = renderHandoff(
    model,
    {
      folder: folder.path,
      tool,
      stateFile: STATE_FILE,
    },
    previous.get(handoff),
    stampOf(model, reading?.model ?? null, now),
    reading?.model,
  );
  if (page !== previous.get(handoff)) written.set(handoff, page);
  return written;
}

function home(model: RunModel): Found {
  const folder = `agent-output/${projectName(model.run.alias ?? model.run.title)}`;
  return {
    format: 'apex',
    main: `${folder}/${STATE_FILE}`,
    files: [`${folder}/${STATE_FILE}`, `${folder}/${HANDOFF_FILE}`],
  };
}

function keptTool(kept: unknown): string {
  const tool = (kept as { top?: { iac_tool?: unknown } } | undefined)?.top?.iac_tool;
  return typeof tool === 'string' ? tool : '';
}
