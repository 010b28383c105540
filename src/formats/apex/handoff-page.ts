import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { oneLine, printable } from '../../core/text.ts';
import { stamp } from '../text/values.ts';
import {
  checkLine,
  DERIVED,
  HANDOFF_LIMIT_LINES,
  HEADINGS,
  type Heading,
  parseHandoff,
  type Section,
  sameHeading,
  sectionsOf,
  UPDATED,
} from './handoff.ts';
import { type News, newsOf } from './handoff-news.ts';
import { derivePosition, workflowStep } from './steps.ts';
import { activeValues } from './table.ts';
import { isOpenMustFix } from './write.ts';

export interface Place {
  /** Where the project's files are. */
  folder: string;
  tool: string;
  stateFile: string;
}

/**
 * The page as it should read now. An existing page is edited only where `before`, what the state file said, is no
 * longer true; every other line stays as it was written. Without `before` the whole page is compared with the run
 * model.
 */
export function renderHandoff(
  model: RunModel,
  place: Place,
  previous: string | undefined,
  now: string,
  before: RunModel | null = null,
): string {
  const text = previous?.replace(/^\ufeff/, '') ?? '';
  const news = newsOf(model, text.trim() === '' ? null : before, parseHandoff(text));
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const sections = sectionsOf(text === '' ? [] : text.replace(/(?:\r\n?|\n)$/, '').split(/\r\n?|\n/));
  const [opening = { name: '', line: '', body: [] }] = sections;
  for (const heading of HEADINGS) {
    if (!isNews(heading, news) || sections.some(({ name }) => sameHeading(name, heading))) continue;
    if (sections.at(-1)?.body.at(-1)?.trim() !== '') sections.at(-1)?.body.push('');
    sections.push({ name: heading, line: `## ${heading}`, body: ['', ''] });
  }
  if (isNews('Context for Next Step', news)) keepContext(sections, model, text, before);
  const parts = new Map<Section, Part>();
  for (const section of sections) {
    const heading = HEADINGS.find((name) => sameHeading(section.name, name));
    const first = section.body.findIndex((line) => line.trim() !== '');
    const end = section.body.findLastIndex((line) => line.trim() !== '') + 1;
    const [above, content, after] =
      first < 0
        ? [[''], [], section.body.length > 1 ? [''] : []]
        : [section.body.slice(0, first), section.body.slice(first, end), section.body.slice(end)];
    parts.set(section, {
      heading,
      before: above,
      content: heading && isNews(heading, news) ? contentOf(heading, content, model, news, place, text) : content,
      after,
      least: news.whole ? 0 : content.length,
    });
  }
  const head = openingLines(opening.body, model, before, place, text, now);
  parts.set(opening, { before: [], content: head, after: [], least: head.length });
  shorten([...parts.values()], place.stateFile);
  const lines = sections.flatMap((section) => {
    const { before: above, content, after } = parts.get(section) as Part;
    return [...(section === opening ? [] : [section.line]), ...above, ...content, ...after];
  });
  const end = text === '' ? eol : (/\s*$/.exec(text)?.[0] ?? '');
  return `${previous?.startsWith('\ufeff') ? '\ufeff' : ''}${lines.join(eol).trimEnd()}${end}`;
}

interface Part {
  heading?: Heading | undefined;
  before: readonly string[];
  content: readonly string[];
  after: readonly string[];
  /** The number of lines written by people or agents; these are not cut. */
  least: number;
}

function isNews(heading: Heading, news: News): boolean {
  if (news.whole) return true;
  switch (heading) {
    case 'Completed Steps':
      return news.steps.length > 0;
    case 'Key Decisions':
      return KEY_DECISIONS.some(({ key }) => news.decisions.has(key));
    case 'Open Challenger Findings (must_fix only)':
      return news.findings.length > 0;
    case 'Context for Next Step':
      return news.moved;
    case 'Skill Context':
      return false;
    case 'Artifacts':
      return news.artifacts.length > 0;
    default:
      return heading satisfies never;
  }
}

function openingLines(
  body: readonly string[],
  model: RunModel,
  before: RunModel | null,
  place: Place,
  text: string,
  now: string,
): string[] {
  const title = `# ${parseHandoff(text).title || oneLine(model.run.title, 120)} — Handoff (${stage(model)})`;
  const branch = oneLine(model.run.branch ?? 'main');
  const updated = `Updated: ${stamp(now)} | IaC: ${place.tool || 'undecided'} | Branch: ${branch}`;
  if (body.every((line) => line.trim() === '')) return [title, '', updated, ''];
  const heading = body.findIndex((line) => /^#\s/.test(line));
  const moved = !before || stage(before) !== stage(model);
  const lines =
    heading < 0
      ? [title, '', ...body]
      : body.map((line, index) => (index === heading && moved ? retitled(line, model) : line));
  const at = lines.findIndex((line) => UPDATED.test(line));
  if (at < 0) return lines.flatMap((line, index) => (index === Math.max(0, heading) ? [line, '', updated] : [line]));
  let line = (lines[at] ?? '').replace(/(:\s*\**\s*)[^|*]*?(\**\s*(?:\||$))/, `$1${stamp(now)}$2`);
  const chosen = activeValues(model.decisions).get('iac_tool');
  if (place.tool !== '' && (!before || activeValues(before.decisions).get('iac_tool') !== chosen))
    line = withField(line, 'IaC', place.tool);
  if (model.run.branch !== undefined && model.run.branch !== before?.run.branch)
    line = withField(line, 'Branch', branch);
  return lines.map((one, index) => (index === at ? line : one));
}

/** The position in the title is in brackets; the text before it is not ours. */
function retitled(line: string, model: RunModel): string {
  const [, words = line, brackets] = /^(.*?)(\s*\([^()]*\))?\s*$/.exec(line) ?? [];
  if (brackets === undefined && !/\bhandoff\b/i.test(words)) return `${words} — Handoff (${stage(model)})`;
  return `${words} (${stage(model)})`;
}

/** A field of the line below the title that differs gets the new value; a missing field stays missing. */
function withField(line: string, name: string, value: string): string {
  return line.replace(
    new RegExp(`(\\b${name}[^:|]*:\\s*\\**\\s*)([^|]*?)(\\**\\s*(?:\\||$))`, 'i'),
    (whole: string, head: string, said: string, tail: string) =>
      said.toLowerCase() === value.toLowerCase() ? whole : `${head}${value}${tail}`,
  );
}

function contentOf(
  heading: Heading,
  there: readonly string[],
  model: RunModel,
  news: News,
  place: Place,
  text: string,
): readonly string[] {
  switch (heading) {
    case 'Completed Steps':
      return stepLines(there, there.length === 0 ? model.steps : news.steps, place.folder);
    case 'Key Decisions':
      return decisionLines(there, news, place.tool);
    case 'Open Challenger Findings (must_fix only)':
      return findingLines(there, news.findings);
    case 'Context for Next Step':
      return contextLines(there, model, text);
    case 'Skill Context':
      return there.length > 0 ? there : ['None'];
    case 'Artifacts':
      return artifactLines(there, news.artifacts, place.folder);
    default:
      return heading satisfies never;
  }
}

const isDone = ({ status }: Pick<ModelStep, 'status'>): boolean => status === 'completed' || status === 'skipped';
const shown = (key: string): string => key.replace('_', '.');
/** The lines with content: not the ones for "none" or for what was cut. */
const withoutNone = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !/^\s*(?:[-*+]\s+)?none\b[.\s]*$/i.test(line) && !/^- … and \d+ more in /.test(line));

function stepLines(there: readonly string[], steps: readonly ModelStep[], folder: string): string[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const kept = withoutNone(there).map((line) => {
    const [named] = checkLine(line, 0);
    const step = named ? byKey.get(named.key) : undefined;
    if (!named || !step) return line;
    byKey.delete(named.key);
    const plain = line.replace(/ \(in progress[^)]*\)\s*$/, '');
    // A line of ours that had no file to name yet is made again.
    const [, what] = /→\s*(.*?)\s*$/.exec(plain) ?? [];
    const own = (step.artifacts ?? []).map(({ path }) => inFolder(path, folder));
    if (what === step.title || what === SKIPPED || own.includes(what ?? '')) return stepLine(step, folder);
    return plain.replace(/\[[ xX]\]/, isDone(step) ? '[x]' : '[ ]') + runningWords(step);
  });
  const added = [...byKey.values()].filter((step) => there.length === 0 || step.status !== 'pending');
  const lines = [...kept, ...added.map((step) => stepLine(step, folder))];
  return lines.length > 0 ? lines : ['None'];
}

const SKIPPED = '(skipped)';

function stepLine(step: ModelStep, folder: string): string {
  const product = workflowStep(step.key)?.products[0];
  const listed = (step.artifacts ?? []).map(({ path }) => path);
  const artifact = listed.find((path) => product?.test(path.slice(path.lastIndexOf('/') + 1))) ?? listed[0];
  const isSkipped = step.status === 'skipped';
  const what = isSkipped ? SKIPPED : artifact === undefined ? step.title : inFolder(artifact, folder);
  return `- [${isDone(step) ? 'x' : ' '}] Step ${shown(step.key)} → ${oneLine(what, 300)}${runningWords(step)}`;
}

function runningWords({ status, checkpoint }: ModelStep): string {
  if (status !== 'in_progress') return '';
  return checkpoint ? ` (in progress, ${oneLine(checkpoint, 60).replaceAll(')', '')})` : ' (in progress)';
}

/** Some files name their neighbours without the folder; the page gives full paths. */
const inFolder = (path: string, folder: string): string =>
  path.includes('/') || folder === '' ? path : `${folder}/${path}`;

const KEY_DECISIONS = [
  { name: 'Region', key: 'region', also: /^(default )?region$/i },
  { name: 'Compliance', key: 'compliance', also: /^compliance$/i },
  { name: 'Budget', key: 'budget', also: /^budget$/i },
  { name: 'IaC tool', key: 'iac_tool', also: /^iac( tool)?$/i },
  { name: 'Architecture pattern', key: 'architecture_pattern', also: /^(architecture )?pattern$/i },
];

function decisionLines(there: readonly string[], { decisions, whole }: News, tool: string): string[] {
  const value = (key: string): string => oneLine(decisions.get(key) ?? (whole && key === 'iac_tool' ? tool : ''));
  const left = new Set(KEY_DECISIONS.filter(({ key }) => whole || decisions.has(key)));
  const kept = withoutNone(there).map((line) => {
    const [, name = '', said = ''] = /^\s*[-*+]\s+\**([^:*]{1,80})\**\s*:\**\s*(.*)$/.exec(line) ?? [];
    const known = KEY_DECISIONS.find(({ also }) => also.test(name.trim()));
    if (!known || !left.delete(known)) return line;
    const now = value(known.key);
    // A line that contains the value, perhaps with more text, is still true.
    return now === '' || contains(said, now) ? line : line.slice(0, line.length - said.length) + now;
  });
  return [...kept, ...[...left].map(({ name, key }) => `- ${name}: ${value(key) || 'undecided'}`)];
}

const contains = (words: string, part: string): boolean =>
  words.trim() !== '' &&
  (words.toLowerCase().includes(part.toLowerCase()) || part.toLowerCase().includes(words.trim().toLowerCase()));

/** A finding that only the page has stays; a settled one is removed. */
function findingLines(there: readonly string[], findings: readonly ModelItem[]): string[] {
  const texts = (items: readonly ModelItem[]): string[] => items.map(({ text }) => oneLine(text, 160));
  const left = new Set(texts(findings.filter(isOpenMustFix)));
  const settled = texts(findings.filter((item) => !isOpenMustFix(item)));
  const kept = withoutNone(there).filter((line) => {
    const words = /^\s*[-*+]\s+(.*\S)/.exec(line)?.[1];
    const match = words === undefined ? undefined : [...left].find((text) => contains(words, text));
    if (match !== undefined) return left.delete(match);
    return words === undefined || !settled.some((text) => contains(words, text));
  });
  const lines = [...kept, ...[...left].map((text) => `- ${text}`)];
  return lines.length > 0 ? lines : [there.find((line) => /^\s*(?:[-*+]\s+)?none\b/i.test(line)) ?? 'None'];
}

function contextLines(there: readonly string[], model: RunModel, text: string): readonly string[] {
  const written = there.join('\n');
  if (model.next !== undefined) return model.next === written.trim() ? there : quoted(model.next);
  return there.length > 0 && !written.startsWith(DERIVED) && isStillTrue(text, model) ? there : [nextSentence(model)];
}

/** The section that keeps a replaced next step that is recorded nowhere else. */
const EARLIER = 'Earlier Context';

/**
 * The next step of an out-of-date page was never recorded. Before it is replaced it moves, word for word, to its own
 * section.
 */
function keepContext(sections: Section[], model: RunModel, text: string, before: RunModel | null): void {
  const section = sections.find(({ name }) => sameHeading(name, 'Context for Next Step'));
  const there = (section?.body ?? []).join('\n').trim();
  if (there === '' || there.startsWith(DERIVED) || /^(?:[-*+]\s+)?none\b[.\s]*$/i.test(there)) return;
  if (there === before?.next?.trim() || there === model.next?.trim()) return;
  if (contextLines(there.split('\n'), model, text).join('\n') === there) return;
  const earlier = sections.find(({ name }) => sameHeading(name, EARLIER));
  if (sections.at(-1)?.body.at(-1)?.trim() !== '') sections.at(-1)?.body.push('');
  if (earlier) earlier.body.push(...there.split('\n'), '');
  else sections.push({ name: EARLIER, line: `## ${EARLIER}`, body: ['', ...there.split('\n'), ''] });
}

/** A person's text below one of our headings must not look like a heading. */
const quoted = (words: string): string[] =>
  printable(words)
    .trim()
    .split('\n')
    .map((line) => line.replace(/^#/, '\\#'));

/** A next step written by hand holds as long as the page names the position the run model has. */
function isStillTrue(text: string, model: RunModel): boolean {
  const before = new Map(parseHandoff(text).steps.map(({ key, done }) => [key, done]));
  return model.steps.every((step) => (before.get(step.key) ?? false) === isDone(step));
}

function artifactLines(there: readonly string[], listed: readonly string[], folder: string): string[] {
  const kept = withoutNone(there);
  const mentioned = new Set(kept.flatMap((line) => line.split(/[\s`()]+/)));
  const paths = [...new Set(listed.map((path) => inFolder(path, folder)))];
  const lines = [...kept, ...paths.filter((path) => !mentioned.has(path)).map((path) => `- ${oneLine(path, 300)}`)];
  return lines.length > 0 ? lines : ['None'];
}

function stage({ steps }: RunModel): string {
  const failed = steps.find(({ status }) => status === 'failed');
  const active = failed ?? steps.findLast(({ status }) => status === 'in_progress');
  if (active) return `Step ${shown(active.key)} ${failed ? 'blocked' : 'in progress'}`;
  const last = steps.findLast(({ status }) => status === 'completed');
  return last ? `Step ${shown(last.key)} complete` : 'Step 0 setup complete';
}

function nextSentence({ steps }: RunModel): string {
  const position = derivePosition(steps);
  const step = steps.find(({ key }) => key === position);
  if (!step)
    return steps.length > 0 && steps.every(isDone)
      ? `${DERIVED}nothing; all steps are done.`
      : `${DERIVED}see the state file.`;
  const name = `Step ${shown(step.key)} (${oneLine(step.title, 80)})`;
  if (step.status === 'pending') return `${DERIVED}start ${name}.`;
  return `${DERIVED}resume ${name}${step.checkpoint ? ` after checkpoint ${oneLine(step.checkpoint, 80)}` : ' from its beginning'}.`;
}

/** The lists that may be cut, and how much of each stays. */
const CUTTABLE: readonly [Heading, number][] = [
  ['Artifacts', 3],
  ['Open Challenger Findings (must_fix only)', 5],
  ['Key Decisions', 8],
  ['Completed Steps', 8],
  ['Context for Next Step', 6],
  ['Skill Context', 6],
];

/** Cuts the lists one after the other until the page is short enough, and notes it on the page. */
function shorten(parts: readonly Part[], stateFile: string): void {
  const headings = parts.length - 1;
  const total = () =>
    headings +
    parts.reduce((sum, { before, content, after }) => sum + before.length + content.length + after.length, 0);
  for (const [heading, least] of CUTTABLE) {
    const over = total() - (HANDOFF_LIMIT_LINES - 1);
    if (over <= 0) return;
    const part = parts.find((candidate) => candidate.heading === heading);
    const keep = Math.max(least, part?.least ?? 0, (part?.content.length ?? 0) - over - 1);
    if (part && keep < part.content.length - 1)
      part.content = [...part.content.slice(0, keep), `- … and ${part.content.length - keep} more in ${stateFile}`];
  }
}
