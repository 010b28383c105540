import { fixed, hexDigits, id, joined, type Line, line, shortened } from '../line.ts';
import { estimateTokens } from '../tokens.ts';
import type { Role } from '../words.ts';
import type { BriefFacts, BriefForm, RunFacts } from './facts.ts';
import { type CountTokens, fill, openScale, QUOTE_CHARS, tokensOf } from './fill.ts';
import { commandSection, uncertainSection } from './sections/commands.ts';
import { fileSection, readingSection } from './sections/files.ts';
import { headerLine } from './sections/header.ts';
import { historyLines } from './sections/history.ts';
import { nextLine } from './sections/next.ts';
import { openSection } from './sections/open.ts';
import { otherSection } from './sections/others.ts';
import { requestSection } from './sections/requests.ts';
import { ruleSection } from './sections/rules.ts';
import { saidSection } from './sections/said.ts';
import type { Section, SectionName } from './sections/section.ts';
import { resumingLine, runLine } from './sections/situation.ts';
import { stepSection } from './sections/steps.ts';
import { valueSection } from './sections/values.ts';

export interface BriefText {
  text: Line;
  usedTokens: number;
  /** How many units were left out to fit the budget, by section. */
  omitted: Record<string, number>;
  parts: readonly { name: PartName; lines: readonly Line[] }[];
}

export type PartName = SectionName | 'header' | 'run' | 'next';

export interface Budget {
  softTokens: number;
  hardTokens: number;
  countTokens?: CountTokens | undefined;
}

/** Clients cut hook output that is longer. */
const LIMIT_CHARS = 9500;

/** The text of a brief: plain lines within a budget. The same facts give the same bytes. */
export function writeBrief(facts: BriefFacts, budget: Budget): BriefText {
  const { softTokens, hardTokens, countTokens = estimateTokens } = budget;
  const scale = openScale(budget.countTokens);
  const sections = facts.run ? sectionsOf(facts, facts.run) : [otherSection(facts.others, facts.now, 100)];
  for (const chars of QUOTE_CHARS) {
    const frame = frameOf(facts, chars);
    const fixedLines = frame.flatMap(({ lines }) => lines);
    const limits = { softTokens, hardTokens, chars: LIMIT_CHARS };
    const isLast = chars === QUOTE_CHARS.at(-1);
    const most = facts.run ? hardTokens * FIXED_SHARE : hardTokens;
    if (!isLast && countTokens(joined(fixedLines, '\n')) > most) continue;
    const lines = fill(sections, fixedLines, orders[facts.role], limits, scale);
    const parts = arranged(
      frame,
      sections.map(({ name }) => ({ name, lines: lines.get(name)?.lines ?? [] })),
    );
    const text = textOf(parts);
    // Our own estimate of a text is the sum of its lines.
    const usedTokens = budget.countTokens ? countTokens(text) : tokensOf(scale(parts.flatMap((part) => part.lines)));
    if (usedTokens > hardTokens || text.length > LIMIT_CHARS) continue;
    const omitted = Object.fromEntries([...lines].flatMap(([name, { left }]) => (left > 0 ? [[name, left]] : [])));
    return { text, usedTokens, omitted, parts };
  }
  return shortest(facts, hardTokens, countTokens);
}

/** The same brief for another kind of reader: what is said of the work stays, the lines around it are those of the form. */
export function inForm(form: BriefForm, facts: BriefFacts, parts: BriefText['parts']): Line {
  const frame = frameOf({ ...facts, form }, QUOTE_CHARS[0]);
  const work = parts.filter(({ name }) => frame.every((part) => part.name !== name));
  return textOf(arranged(frame, work));
}

function textOf(parts: readonly BriefPart[]): Line {
  const lines = parts.flatMap((part) => part.lines);
  return line`${joined(lines, '\n')}\n`;
}

/** While the fixed lines alone take more than this part of the budget, their quotations are cut. */
const FIXED_SHARE = 0.4;

/** The order in which sections take what is left of the budget; only this depends on the role. */
const orders: Readonly<Record<Role, readonly SectionName[]>> = {
  worker: [
    'uncertain',
    'requests',
    'rules',
    'open',
    'commands',
    'files',
    'reading',
    'said',
    'steps',
    'values',
    'others',
  ],
  architect: [
    'uncertain',
    'rules',
    'requests',
    'open',
    'steps',
    'reading',
    'said',
    'commands',
    'files',
    'values',
    'others',
  ],
  orchestrator: [
    'uncertain',
    'open',
    'steps',
    'requests',
    'rules',
    'others',
    'said',
    'commands',
    'files',
    'reading',
    'values',
  ],
  verifier: [
    'uncertain',
    'commands',
    'rules',
    'files',
    'open',
    'requests',
    'reading',
    'said',
    'steps',
    'values',
    'others',
  ],
};

const OTHERS_SHARE = 3;

function sectionsOf({ now, others }: BriefFacts, run: RunFacts): Section[] {
  // The reading list of a planned run takes half its share from each of the first two.
  const reading = run.reading.length > 0 ? 3 : 0;
  const values = (run.values?.length ?? 0) > 0 ? 2 : 0;
  return [
    requestSection(run.requests, now, 19 - reading - values),
    uncertainSection(run.uncertain, now, 18 - reading),
    commandSection(run.commands, now, 12),
    fileSection(run.files, 12),
    readingSection(run.reading, 2 * reading),
    saidSection(run.said, now, 9),
    stepSection(run.steps, 11),
    ruleSection(run.rules, run.moreDecisions, now, 9),
    openSection(run.open, now, 7),
    valueSection(run.values ?? [], now, values),
    otherSection(others, now, OTHERS_SHARE),
  ];
}

type BriefPart = BriefText['parts'][number];

/** The lines that every brief has. */
function frameOf(facts: BriefFacts, chars: number): BriefPart[] {
  const { now, form, run, history } = facts;
  const gone = history ? historyLines(history, now) : [];
  const next = run ? nextLine(run, form, now, chars) : null;
  const acts = actionsOf(facts);
  return [
    {
      name: 'header',
      lines: [headerLine(form, now), ...gone, ...(run?.resuming ? [resumingLine(run.resuming, chars)] : [])],
    },
    { name: 'run', lines: run ? [runLine(run, now, chars)] : [] },
    { name: 'next', lines: [...(next ? [next] : []), ...(acts.length > 0 ? [joined(acts, ' ')] : [])] },
  ];
}

function actionsOf({ form, run }: BriefFacts): Line[] {
  if (!run)
    return form === 'others'
      ? [
          line`If the user's request is about one of them, \`holdfast resume ID\` (tool resume) puts this session there.`,
        ]
      : [];
  const unknown = run.uncertain.find(({ process }) => process.is !== 'in-session');
  return [
    ...(form === 'start'
      ? [
          line`If the user's request is about it, \`holdfast resume ${hexDigits(run.suffix) ?? fixed('RUN')}\` (tool resume) puts this session there.`,
        ]
      : []),
    ...(unknown
      ? [
          line`Once known: \`holdfast settle ${id(unknown.id)} succeeded\` (or failed, cancelled, unknown; tool settle).`,
        ]
      : []),
  ];
}

function arranged(frame: readonly BriefPart[], parts: readonly BriefPart[]): BriefPart[] {
  const [header, run, next] = frame;
  const isOther = (part: BriefPart): boolean => part.name === 'others';
  // Without a run, what to do about the other ones follows their names.
  const all =
    run && run.lines.length > 0
      ? [header, run, ...parts.filter((part) => !isOther(part)), next, ...parts.filter(isOther)]
      : [header, ...parts, next];
  return all.filter((part) => part !== undefined).filter((part) => part.lines.length > 0);
}

/** Only the state and the next action, for a budget that holds no more. */
function shortest({ now, form, run, history }: BriefFacts, hardTokens: number, countTokens: CountTokens): BriefText {
  const next = run ? nextLine(run, form, now, 60) : null;
  const lines = [
    headerLine(form, now),
    ...(history ? historyLines(history, now) : []),
    ...(run ? [run.resuming ? resumingLine(run.resuming, 60) : '', runLine(run, now, 60)] : []),
    next ?? '',
  ];
  const hint = line`The budget of ${hardTokens} tokens is too small for this brief: \`holdfast resume --budget 2000\`.`;
  for (const chars of [300, 150, 80, 40, 20, 0]) {
    const kept = lines.filter((one) => one !== '' && chars > 0).map((one) => shortened(one as Line, chars));
    const text = line`${joined([...kept, hint], '\n')}\n`;
    const usedTokens = countTokens(text);
    if (usedTokens <= hardTokens || chars === 0)
      return { text, usedTokens, omitted: { all: 1 }, parts: [{ name: 'header', lines: [...kept, hint] }] };
  }
  throw new TypeError('a text without lines always ends the loop');
}
