import { stepKey } from './steps.ts';

/** `00-handoff.md`: the page for people beside the state file. It is what is left when the state file is lost. */
export const HEADINGS = [
  'Completed Steps',
  'Key Decisions',
  'Open Challenger Findings (must_fix only)',
  'Context for Next Step',
  'Skill Context',
  'Artifacts',
] as const;
export type Heading = (typeof HEADINGS)[number];

/** Kept under 60 lines so that it can be read at a glance. */
export const HANDOFF_LIMIT_LINES = 60;

/** Generated sentences begin with this; any other sentence was written by hand. */
export const DERIVED = 'Next: ';

export const UPDATED = /^\s*(?:\*\*)?Updated(?:\*\*)?\s*:/i;

export interface Handoff {
  title: string;
  updated?: string;
  iac?: string;
  branch?: string;
  steps: { key: string; done: boolean; skipped: boolean; artifact?: string; line: number }[];
  decisions: { name: string; value: string }[];
  findings: string[];
  /** A next step written by hand. */
  next?: string;
  artifacts: string[];
  /** What the tool's own skills told the sessions to keep to. */
  rules: string[];
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
    rules: (sections.find(({ name }) => sameHeading(name, 'Skill Context'))?.body ?? []).flatMap(
      (line) => /^\s*[-*+]\s+(.*\S)/.exec(line)?.[1] ?? [],
    ),
    missing: HEADINGS.filter((heading) => !section(heading)),
    lines: lines.at(-1) === '' ? lines.length - 1 : lines.length,
  };
}

export function checkLine(line: string, number: number): Handoff['steps'] {
  const [, mark, words = ''] = /^\s*[-*+]\s+\[([ xX])\]\s+(.*)$/.exec(line) ?? [];
  const [, key, rest = ''] = /^\**Step\s+(\d+(?:[._]\d+)?)\b\**(.*)$/i.exec(words) ?? [];
  if (mark === undefined || key === undefined) return [];
  const skipped = /\(skipped\)/i.test(rest);
  const artifact = skipped ? undefined : /(?:→|->|:)\s*`?([^\s`]+)/.exec(rest)?.[1];
  const named = artifact === undefined ? {} : { artifact };
  return [{ key: stepKey(key), done: mark !== ' ', skipped, ...named, line: number }];
}

/** A page copied from another project names only that project's files. */
export function isAboutAnother(handoff: Handoff, project: string): boolean {
  const named = [...handoff.artifacts, ...handoff.steps.flatMap(({ artifact }) => artifact ?? [])].flatMap(
    (path) => /(?:^|\/)agent-output\/([^/]+)\//.exec(path)?.[1] ?? [],
  );
  return project !== '' && named.length > 0 && !named.includes(project);
}

export interface Section {
  name: string;
  /** The heading as written. */
  line: string;
  body: string[];
}

/** The text below each second-level heading; the text before the first has no name. */
export function sectionsOf(lines: readonly string[]): Section[] {
  const sections: Section[] = [{ name: '', line: '', body: [] }];
  let fence: string | null = null;
  for (const line of lines) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark) fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
    const name = fence === null ? /^##\s+(.*\S)/.exec(line)?.[1] : undefined;
    if (name === undefined) sections.at(-1)?.body.push(line);
    else sections.push({ name, line, body: [] });
  }
  return sections;
}

const plainHeading = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\(.*\)/, '')
    .replace(/[^a-z]+/g, ' ')
    .trim();
export const sameHeading = (one: string, other: string): boolean => plainHeading(one) === plainHeading(other);
