import type { Account, AccountStep } from '../../core/account.ts';
import { oneLine, printable } from '../../core/text.ts';
import { stepKey, workflowStep } from './steps.ts';
import { stamp } from './words.ts';
import { isOpenMustFix, standing } from './write.ts';

/** `00-handoff.md`: the page for people beside the state file, and what is left when that is gone. */
export const HEADINGS = [
  'Completed Steps',
  'Key Decisions',
  'Open Challenger Findings (must_fix only)',
  'Context for Next Step',
  'Skill Context',
  'Artifacts',
] as const;
type Heading = (typeof HEADINGS)[number];

/** It must stay under 60 lines, so that it can be read at a glance. */
export const HANDOFF_LIMIT_LINES = 60;

/** A derived sentence begins so; what begins otherwise was written by somebody. */
const DERIVED = 'Next: ';

const UPDATED = /^\s*(?:\*\*)?Updated(?:\*\*)?\s*:/i;

export interface Handoff {
  title: string;
  updated?: string;
  iac?: string;
  branch?: string;
  steps: { key: string; done: boolean; artifact?: string; line: number }[];
  decisions: { name: string; value: string }[];
  findings: string[];
  /** What somebody wrote for the next step. */
  next?: string;
  artifacts: string[];
  /** Which of the six headings are missing. */
  missing: Heading[];
  lines: number;
}

export function parseHandoff(text: string): Handoff {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  const sections = sectionsOf(lines);
  const section = (heading: Heading) => sections.find(({ name }) => sameHeading(name, heading));
  const bullets = (heading: Heading): string[] =>
    (section(heading)?.body ?? []).flatMap((line) => /^\s*[-*+]\s+(.*\S)/.exec(line)?.[1] ?? []);
  const head = lines.find((line) => UPDATED.test(line)) ?? '';
  const field = (name: string): string | undefined =>
    new RegExp(`${name}[^:|]*:\\s*\\**([^|]*[^|\\s*])`, 'i').exec(head)?.[1]?.trim();
  const next = (section('Context for Next Step')?.body ?? []).join('\n').trim();
  const [updated, iac, branch] = [field('Updated'), field('IaC'), field('Branch')];
  return {
    title:
      /^#\s+(.*?)\s*(?:[—–-]+\s*(?:\w+\s+)?Handoff\b.*)?$/.exec(
        lines.find((line) => line.startsWith('# ')) ?? '',
      )?.[1] ?? '',
    ...(updated === undefined ? {} : { updated }),
    ...(iac === undefined ? {} : { iac }),
    ...(branch === undefined ? {} : { branch }),
    steps: lines.flatMap((line, index) => checkLine(line, index + 1)),
    decisions: bullets('Key Decisions').flatMap((bullet) => {
      const [, name, value] = /^\**([^:*]{1,80})\**\s*:\**\s*(.*\S)/.exec(bullet) ?? [];
      return name && value ? [{ name: name.trim(), value }] : [];
    }),
    findings: bullets('Open Challenger Findings (must_fix only)').filter((bullet) => !/^none\b/i.test(bullet)),
    ...(next === '' || next.startsWith(DERIVED) ? {} : { next }),
    artifacts: bullets('Artifacts').map((bullet) => bullet.replace(/^`([^`]+)`.*/, '$1').replace(/\s+\(.*\)$/, '')),
    missing: HEADINGS.filter((heading) => !section(heading)),
    lines: lines.at(-1) === '' ? lines.length - 1 : lines.length,
  };
}

function checkLine(line: string, number: number): Handoff['steps'] {
  const [, mark, words = ''] = /^\s*[-*+]\s+\[([ xX])\]\s+(.*)$/.exec(line) ?? [];
  const [, key, rest = ''] = /^\**Step\s+(\d+(?:[._]\d+)?)\b\**(.*)$/i.exec(words) ?? [];
  if (mark === undefined || key === undefined) return [];
  const artifact = /(?:→|->|:)\s*`?([^\s`]+)/.exec(rest)?.[1];
  return [{ key: stepKey(key), done: mark !== ' ', ...(artifact === undefined ? {} : { artifact }), line: number }];
}

/** A page that was copied from another project names that one's files only. */
export function isAboutAnother(handoff: Handoff, project: string): boolean {
  const named = [...handoff.artifacts, ...handoff.steps.flatMap(({ artifact }) => artifact ?? [])].flatMap(
    (path) => /(?:^|\/)agent-output\/([^/]+)\//.exec(path)?.[1] ?? [],
  );
  return project !== '' && named.length > 0 && !named.includes(project);
}

interface Section {
  name: string;
  body: string[];
}

/** What stands below each heading of the second level; what stands before the first has no name. */
function sectionsOf(lines: readonly string[]): Section[] {
  const sections: Section[] = [{ name: '', body: [] }];
  let fence: string | null = null;
  for (const line of lines) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark) fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
    const name = fence === null ? /^##\s+(.*\S)/.exec(line)?.[1] : undefined;
    if (name === undefined) sections.at(-1)?.body.push(line);
    else sections.push({ name, body: [] });
  }
  return sections;
}

const plainHeading = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\(.*\)/, '')
    .replace(/[^a-z]+/g, ' ')
    .trim();
const sameHeading = (one: string, other: string): boolean => plainHeading(one) === plainHeading(other);

/**
 * The page as it should read now. What somebody wrote and the state does not know (the skill context, sections of their
 * own) is kept; the rest is made from the account, so that it cannot go stale.
 */
export function renderHandoff(
  account: Account,
  place: { folder: string; project: string; tool: string; stateFile: string },
  previous: string | undefined,
  now: string,
): string {
  const eol = previous === undefined ? '\n' : (/\r\n|\n|\r/.exec(previous)?.[0] ?? '\n');
  const there = previous === undefined ? [] : sectionsOf(previous.replace(/^\ufeff/, '').split(/\r\n?|\n/));
  const own = (heading: Heading): string[] => trimmed(there.find(({ name }) => sameHeading(name, heading))?.body ?? []);
  const foreign = there.filter(({ name }) => name !== '' && !HEADINGS.some((heading) => sameHeading(name, heading)));
  const title = previous === undefined ? '' : parseHandoff(previous).title;
  const written = own('Context for Next Step');
  const context =
    account.next !== undefined && account.next !== written.join('\n')
      ? paragraph(account.next)
      : written.length > 0 && (account.next !== undefined || isStillTrue(written, previous, account))
        ? written
        : [nextSentence(account)];
  const bodies: Record<Heading, string[]> = {
    'Completed Steps': account.steps.map((step) => stepLine(step, place.folder)),
    'Key Decisions': decisionLines(account, place.tool),
    'Open Challenger Findings (must_fix only)': orNone(
      account.items.filter(isOpenMustFix).map(({ text }) => `- ${oneLine(text, 160)}`),
    ),
    'Context for Next Step': context,
    'Skill Context': own('Skill Context').length > 0 ? own('Skill Context') : ['None'],
    Artifacts: orNone(
      [...new Set(account.steps.flatMap((step) => step.artifacts ?? []).map(({ path }) => path))].map(
        (path) => `- ${oneLine(path, 300)}`,
      ),
    ),
  };
  const preamble = trimmed((there[0]?.body ?? []).filter((line) => !/^#\s/.test(line) && !UPDATED.test(line)));
  const extra = foreign.flatMap(({ name, body }) => ['', `## ${name}`, '', ...trimmed(body)]);
  shorten(
    bodies,
    HANDOFF_LIMIT_LINES - 1 - extra.length - (preamble.length > 0 ? preamble.length + 1 : 0),
    place.stateFile,
  );
  const lines = [
    `# ${title || oneLine(account.run.title, 120)} — Handoff (${stage(account)})`,
    '',
    `Updated: ${stamp(now)} | IaC: ${place.tool || 'undecided'} | Branch: ${oneLine(account.run.branch ?? 'main')}`,
    ...(preamble.length > 0 ? ['', ...preamble] : []),
    ...HEADINGS.flatMap((heading) => ['', `## ${heading}`, '', ...bodies[heading]]),
    ...extra,
  ];
  return `${previous?.startsWith('\ufeff') ? '\ufeff' : ''}${lines.join(eol)}${eol}`;
}

const trimmed = (lines: readonly string[]): string[] => {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line.trim() !== '') + 1);
};

const orNone = (lines: string[]): string[] => (lines.length > 0 ? lines : ['None']);

/** Words of a person below a heading of ours must not look like one. */
const paragraph = (words: string): string[] =>
  trimmed(printable(words).split('\n')).map((line) => line.replace(/^#/, '\\#'));

/** Somebody's words about the next step hold as long as the page speaks of the place where the account is. */
function isStillTrue(written: readonly string[], previous: string | undefined, account: Account): boolean {
  if (written.join('\n').startsWith(DERIVED)) return false;
  const before = new Map(parseHandoff(previous ?? '').steps.map(({ key, done }) => [key, done]));
  return account.steps.every(
    ({ key, status }) => (before.get(key) ?? false) === (status === 'completed' || status === 'skipped'),
  );
}

const shown = (key: string): string => key.replace('_', '.');

function stage({ steps }: Account): string {
  const active =
    steps.find(({ status }) => status === 'failed') ?? steps.findLast(({ status }) => status === 'in_progress');
  if (active) return `Step ${shown(active.key)} ${active.status === 'failed' ? 'blocked' : 'in progress'}`;
  const last = steps.findLast(({ status }) => status === 'completed');
  return last ? `Step ${shown(last.key)} complete` : 'Step 0 setup complete';
}

function stepLine(step: AccountStep, folder: string): string {
  const done = step.status === 'completed' || step.status === 'skipped';
  const product = workflowStep(step.key)?.products[0];
  const listed = (step.artifacts ?? []).map(({ path }) => path);
  const artifact = listed.find((path) => product?.test(path.slice(path.lastIndexOf('/') + 1))) ?? listed[0];
  const full = artifact === undefined || artifact.includes('/') || folder === '' ? artifact : `${folder}/${artifact}`;
  const state =
    step.status === 'skipped'
      ? ' (skipped)'
      : step.status === 'in_progress'
        ? ` (in progress${step.checkpoint ? `, ${oneLine(step.checkpoint, 60)}` : ''})`
        : '';
  return `- [${done ? 'x' : ' '}] Step ${shown(step.key)} → ${full === undefined ? oneLine(step.title, 80) : oneLine(full, 300)}${state}`;
}

function decisionLines({ decisions }: Account, tool: string): string[] {
  const values = standing(decisions);
  const names = [
    ['Region', 'region'],
    ['Compliance', 'compliance'],
    ['Budget', 'budget'],
    ['IaC tool', 'iac_tool'],
    ['Architecture pattern', 'architecture_pattern'],
  ] as const;
  return names.map(
    ([name, key]) => `- ${name}: ${oneLine(values.get(key) ?? (key === 'iac_tool' ? tool : '')) || 'undecided'}`,
  );
}

function nextSentence({ steps, position }: Account): string {
  const step = steps.find(({ key }) => key === position?.step);
  if (!step) return steps.length > 0 ? `${DERIVED}nothing; all steps are done.` : `${DERIVED}plan the steps.`;
  const name = `Step ${shown(step.key)} (${oneLine(step.title, 80)})`;
  if (step.status === 'pending') return `${DERIVED}start ${name}.`;
  return `${DERIVED}resume ${name}${step.checkpoint ? ` after checkpoint ${oneLine(step.checkpoint, 80)}` : ' from its beginning'}.`;
}

/** Cuts the longest lists until the page is short enough, and says so. */
function shorten(bodies: Record<Heading, string[]>, limitLines: number, stateFile: string): void {
  const fixed = 3 + HEADINGS.length * 3;
  const cuttable: Heading[] = [
    'Artifacts',
    'Open Challenger Findings (must_fix only)',
    'Completed Steps',
    'Skill Context',
    'Context for Next Step',
  ];
  const total = () => fixed + HEADINGS.reduce((sum, heading) => sum + bodies[heading].length, 0);
  for (const heading of cuttable) {
    const over = total() - limitLines;
    if (over <= 0) return;
    const body = bodies[heading];
    const keep = Math.max(heading === 'Artifacts' ? 3 : 6, body.length - over - 1);
    if (keep < body.length - 1)
      bodies[heading] = [...body.slice(0, keep), `- … and ${body.length - keep} more in ${stateFile}`];
  }
}
