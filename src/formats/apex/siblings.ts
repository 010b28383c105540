import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Found, Problem } from '../format.ts';
import { parseJson } from '../text/json.ts';
import { stringAt } from '../text/node.ts';
import { momentOf } from '../text/values.ts';
import { HANDOFF_LIMIT_LINES, isAboutAnother, parseHandoff } from './handoff.ts';
import { folderOf } from './read.ts';
import { HANDOFF_FILE } from './steps.ts';

/** What is beside a readable state file: its page for people, its backup, an unfinished write. */
export function checkSiblings(model: RunModel, found: Found, files: Files): Problem[] {
  const problems: Problem[] = [];
  const warn = (code: string, path: string, line: number | null, message: string): void => {
    problems.push({ code, level: 'warning', path, line, message });
  };
  const project = projectOf(files.get(found.main));
  const backup = files.get(`${found.main}.bak`);
  if (backup !== undefined) {
    const other = projectOf(backup);
    if (other === undefined) warn('backup_damaged', `${found.main}.bak`, 1, 'The backup cannot be read.');
    else if (other !== project)
      warn('other_project', `${found.main}.bak`, 1, `The backup belongs to project "${other}".`);
  }
  if (files.has(`${found.main}.tmp`))
    warn('unfinished_write', `${found.main}.tmp`, 1, 'A write was not finished: the temporary file is still there.');
  const path = handoffPath(found);
  const text = files.get(path);
  if (text === undefined) return problems;
  const handoff = parseHandoff(text);
  if (handoff.missing.length > 0)
    warn('handoff_heading', path, 1, `The handoff lacks ${handoff.missing.map((name) => `"${name}"`).join(', ')}.`);
  if (handoff.lines > HANDOFF_LIMIT_LINES)
    warn(
      'handoff_long',
      path,
      HANDOFF_LIMIT_LINES + 1,
      `The handoff has ${handoff.lines} lines; its limit is ${HANDOFF_LIMIT_LINES}.`,
    );
  if (project !== undefined && isAboutAnother(handoff, project))
    warn(
      'other_project',
      path,
      1,
      'The handoff only names files of another project and is not written. Remove it to get one for this project.',
    );
  const statuses = new Map(model.steps.map(({ key, status }) => [key, status]));
  const behind = handoff.steps.find(({ key, done }) => {
    const status = statuses.get(key);
    return status !== undefined && done !== (status === 'completed' || status === 'skipped');
  });
  const [said, updated] = [momentOf(handoff.updated), momentOf(model.run.updatedAt)];
  if (behind)
    warn(
      'stale_handoff',
      path,
      behind.line,
      `The handoff has step ${behind.key} as ${behind.done ? 'done' : 'not done'}, the state file does not.`,
    );
  else if (said !== null && updated !== null && said < updated)
    warn('stale_handoff', path, 3, 'The handoff is older than the state file.');
  return problems;
}

/** A next step written on the page by hand, if the page is up to date. */
export function addNext(model: RunModel, found: Found, files: Files): void {
  const text = files.get(handoffPath(found));
  if (text === undefined) return;
  const handoff = parseHandoff(text);
  const [said, updated] = [momentOf(handoff.updated), momentOf(model.run.updatedAt)];
  if (isAboutAnother(handoff, projectOf(files.get(found.main)) ?? '')) return;
  const isCurrent = said !== null && updated !== null && said >= updated;
  // One note for each sentence: a brief cuts long ones.
  const context =
    handoff.next !== undefined && isCurrent && !isAction(handoff.next)
      ? handoff.next.split(/(?<=[.!?])\s+(?=[A-Z])/)
      : [];
  model.notes.push(...[...context, ...handoff.rules].map((text) => ({ kind: 'constraint' as const, text })));
  if (handoff.next !== undefined && isCurrent && isAction(handoff.next)) model.next = handoff.next;
}

function handoffPath({ main }: Found): string {
  const { path, prefix } = folderOf(main);
  return `${path === '' ? '' : `${path}/`}${prefix}${HANDOFF_FILE}`;
}

function projectOf(text: string | undefined): string | undefined {
  const file = text === undefined ? null : parseJson(text);
  return file && !file.damaged ? stringAt(file.root, 'project') : undefined;
}

/** The section is called "context": some pages describe the project there (`Nordic Foods — a static web app …`). */
const isAction = (text: string): boolean => !/^(?:[A-Z][\w-]*\s+){2,8}[—–]\s/.test(text);
