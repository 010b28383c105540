import { fenceEnd, fenceOpened } from '../text/page.ts';
import {
  fieldsIn,
  type Identity,
  identityOf,
  keyNames,
  keyOf,
  LINE_CHARS,
  type Report,
  readYaml,
} from './front-matter.ts';
import { expandQuestionIds } from './question-ids.ts';
import { digestSnapshot, NO_DIGITS, parseRevision, type Revision, snapshotTopic, unifyLines } from './revision.ts';
import { type MailClass, type SectionName, sectionTitles, type TaskStatus } from './snapshot.ts';
import {
  type BodySection,
  bodySections,
  bothIds,
  type Counted,
  type ListedFile,
  QUESTION_ID,
  readMail,
  readTask,
} from './snapshot-body.ts';

/** A snapshot as found, in any form: missing parts are null, deviations are problems. */
export interface FoundSnapshot extends Identity {
  /** The heading above it. */
  title: string | null;
  /** Its first line, from 1. */
  line: number;
  revision: Revision | null;
  /** The digits that the token should end with. */
  digits: string;
  tokenVerdict: 'valid' | 'changed' | 'placeholder' | 'malformed' | 'missing';
  /** Every key of the front matter as written. */
  keys: ReadonlyMap<string, string>;
  task: { status: TaskStatus | null; step: string | null; next: string | null; text: string } | null;
  mail: Readonly<Record<MailClass, Counted | null>> | null;
  commitments: readonly string[] | null;
  modified: readonly ListedFile[] | null;
  reading: readonly ListedFile[] | null;
  decisions: readonly string[] | null;
  /** Both names of a question are joined: `OQ-001|Q-1`. */
  questions: readonly string[] | null;
  /** The state that each entry in our form gives. */
  questionStates: ReadonlyMap<string, string>;
}

export interface Problem {
  code: string;
  line: number;
  message: string;
}

export interface Parsed {
  value: FoundSnapshot | null;
  problems: Problem[];
}

/** Reads one snapshot; of several the last. */
export function parseSnapshot(text: string): Parsed {
  const last = snapshotsInChat(text).at(-1);
  if (last) return last;
  return { value: null, problems: [{ code: 'no_snapshot', line: 1, message: 'No snapshot was found in it.' }] };
}

/** Every snapshot in a text, in order: a snapshot file has one, a chat file one for each session. */
export function snapshotsInChat(text: string): Parsed[] {
  const lines = unifyLines(text).split('\n');
  return regionsOf(lines).map((region) => readRegion(lines, region));
}

interface Region {
  title: string | null;
  /** The line of the heading or the delimiter, from 0. */
  start: number;
  /** The lines of the front matter, without delimiters; null when there is none. */
  yaml: { from: number; to: number; form: 'front' | 'fenced' | 'ruled' } | null;
  body: number;
  end: number;
}

/** Finds the snapshots in a text. A first- or second-level heading ends one, and so does the next snapshot. */
function regionsOf(lines: readonly string[]): Region[] {
  const regions: Region[] = [];
  const lastComment = lines.findLastIndex((line) => line.includes('-->'));
  let heading: { text: string; line: number } | null = null;
  let open: Region | null = null;
  const close = (end: number): void => {
    if (open && (open.yaml || isTold(lines, open, end))) regions.push({ ...open, end });
    open = null;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? '').slice(0, LINE_CHARS);
    const fence = fenceOpened(line);
    const ruled = fence === null && line === '---' ? rulesAround(lines, index) : null;
    const yaml = ruled ?? (fence ? yamlIn(lines, index, fenceEnd(lines, index, fence.mark)) : null);
    const after = ruled ? ruled.to + 1 : fence ? fenceEnd(lines, index, fence.mark) + 1 : index + 1;
    if (yaml) {
      const start = heading?.line ?? index;
      close(start);
      open = { title: heading?.text ?? null, start, yaml, body: after, end: lines.length };
      heading = null;
    } else if (fence === null && index < lastComment && line.startsWith('<!--')) {
      while (index < lastComment && !lines[index]?.includes('-->')) index++;
      continue;
    } else if (fence === null) {
      const [, marks = '', text = ''] = /^(#{1,6})\s+(.*)$/.exec(line) ?? [];
      if (marks !== '') {
        heading = { text: text.trim(), line: index };
        if (marks.length <= 2) {
          close(index);
          open = { title: heading.text, start: index, yaml: null, body: index + 1, end: lines.length };
        }
      } else if (line.trim() !== '') heading = null;
    } else heading = null;
    index = after - 1;
  }
  close(lines.length);
  return regions;
}

/** Front matter is short; a longer block is something else. */
const YAML_LINES = 200;

/** Front matter between rules, at the beginning of a text or, in real files, anywhere. */
function rulesAround(lines: readonly string[], index: number): Region['yaml'] {
  const limit = Math.min(lines.length, index + YAML_LINES);
  for (let end = index + 1; end < limit; end++) {
    const line = lines[end] ?? '';
    if (line === '---') {
      const range = { from: index + 1, to: end, form: index === 0 ? ('front' as const) : ('ruled' as const) };
      return isIdentity(lines, range) ? range : null;
    }
    if (line.trim() !== '' && !/^\s*(#|[\w-]+\s*:)/.test(line)) return null;
  }
  return null;
}

/** A fenced block, with or without rules inside. */
function yamlIn(lines: readonly string[], open: number, close: number): Region['yaml'] {
  if (close - open > YAML_LINES) return null;
  let from = open + 1;
  let to = close;
  if (lines[from]?.trim() === '---') from++;
  if (to > from && lines[to - 1]?.trim() === '---') to--;
  const range = { from, to, form: 'fenced' as const };
  return isIdentity(lines, range) ? range : null;
}

/** At least two of the keys that identify a snapshot. */
function isIdentity(lines: readonly string[], { from, to }: { from: number; to: number }): boolean {
  const keys = new Set<string>();
  for (const line of lines.slice(from, to)) {
    const key = /^([A-Za-z][\w -]{0,40}?)\s*:/.exec(line)?.[1];
    const known = key === undefined ? undefined : keyNames.get(keyOf(key));
    if (known !== undefined) keys.add(known);
  }
  return keys.has('agent') || keys.has('session') ? keys.has('closeReason') || keys.has('token') : false;
}

/** A section without YAML is a snapshot when its fields name the agent and its title or close reason identifies it. */
function isTold(lines: readonly string[], region: Region, end: number): boolean {
  const fields = fieldsIn(lines, region.body, end);
  if (fields.has('closeReason')) return true;
  return fields.has('session') && /snapshot|closing state|session close/i.test(region.title ?? '');
}

function readRegion(lines: readonly string[], region: Region): Parsed {
  const problems: Problem[] = [];
  const report = (code: string, line: number, message: string): void => {
    problems.push({ code, line, message });
  };
  const at = region.start + 1;
  const { keys, fields } = region.yaml
    ? readYaml(lines, region.yaml, report)
    : { keys: new Map<string, string>(), fields: fieldsIn(lines, region.body, region.end) };
  if (!region.yaml) report('no_front_matter', at, 'There is no front matter; the fields were read from the text.');
  else if (region.yaml.form === 'ruled')
    report('front_matter_inside', at, 'The front matter is not at the top of the file.');
  const value = identityOf(fields, at, report);
  const yaml = region.yaml ? lines.slice(region.yaml.from, region.yaml.to).join('\n') : '';
  const body = lines.slice(region.body, region.end).join('\n');
  const seal = sealOf(value.token, yaml, body, value.agent);
  tellSeal(seal, fields.get('token')?.line ?? at, value.token, report);
  const sections = bodySections(lines.slice(region.body, region.end), region.body, report, region.yaml === null);
  for (const name of Object.keys(sectionTitles) as SectionName[]) {
    if (!sections.has(name)) report('missing_section', at, `There is no section "${sectionTitles[name]}".`);
  }
  const items = (name: SectionName): string[] | null => sections.get(name)?.items.map((item) => item.text) ?? null;
  return {
    value: {
      title: region.title,
      line: at,
      ...value,
      ...seal,
      keys,
      task: readTask(sections.get('task'), report),
      mail: readMail(sections.get('mailbox'), value.agent),
      commitments: items('commitments'),
      modified: sections.get('modified')?.files ?? null,
      reading: sections.get('reading')?.files ?? null,
      decisions: items('decisions'),
      ...questionsIn(sections.get('questions') ?? null),
    },
    problems,
  };
}

type Seal = Pick<FoundSnapshot, 'revision' | 'digits' | 'tokenVerdict'>;

function sealOf(token: string | null, yaml: string, body: string, agent: string | null): Seal {
  const digits = digestSnapshot(yaml, body, token ?? '');
  if (token === null) return { revision: null, digits, tokenVerdict: 'missing' };
  const revision = parseRevision(token);
  if (token.endsWith(`-h${NO_DIGITS}`)) return { revision, digits, tokenVerdict: 'placeholder' };
  const isSnapshot = revision?.topic.startsWith('snapshot-') && revision.part === null;
  const isOwn = agent === null || revision?.topic === snapshotTopic(agent);
  if (!revision || !isSnapshot || !isOwn) return { revision, digits, tokenVerdict: 'malformed' };
  return { revision, digits, tokenVerdict: revision.digits === digits ? 'valid' : 'changed' };
}

function tellSeal({ digits, tokenVerdict }: Seal, line: number, token: string | null, report: Report): void {
  if (tokenVerdict === 'missing') report('no_token', line, 'It has no revision token.');
  else if (tokenVerdict === 'placeholder')
    report('placeholder_token', line, `${token} is a placeholder, not a checksum.`);
  else if (tokenVerdict === 'malformed')
    report('bad_token', line, `${token} is not a token of this agent's snapshots.`);
  else if (tokenVerdict === 'changed')
    report(
      'changed',
      line,
      `The text gives h${digits}: it was changed after ${token} was made, or the token was invented.`,
    );
}

/** Entries in our form name both ids of a question; people write lists and ranges. */
function questionsIn(section: BodySection | null): Pick<FoundSnapshot, 'questions' | 'questionStates'> {
  const questionStates = new Map<string, string>();
  if (section === null) return { questions: null, questionStates };
  const own = section.items.flatMap(({ text }) => {
    const [id] = OWN_QUESTION.test(text) ? bothIds(text.slice(0, 200), QUESTION_ID) : [];
    const state = /\)?\s+(open|resolved|deferred|withdrawn)\b/.exec(text.slice(0, 200))?.[1];
    if (id !== undefined && state !== undefined) questionStates.set(id, state);
    return id === undefined ? [] : [id];
  });
  const isOwn = own.length > 0 && own.length === section.items.filter(({ text }) => !/left out/.test(text)).length;
  return { questions: isOwn ? own : expandQuestionIds(section.text), questionStates };
}

const OWN_QUESTION = new RegExp(
  `^"?${QUESTION_ID}"?(?: \\("?${QUESTION_ID}"?\\))? (?:open|resolved|deferred|withdrawn)\\b`,
);
