import {
  agent,
  at,
  type Fixed,
  fixed,
  id,
  type Line,
  line,
  named,
  quote,
  quoteAll,
  quotePath,
  quoteStart,
  time,
  word,
} from '../../line.ts';
import type { ConflictKind } from '../../views/conflict.ts';
import type { Open } from '../facts.ts';
import { type Leftover, listed, type Section } from './section.ts';

/** What is open, one of each kind in turn: forty messages must not hide the one blocker. */
export function openSection(open: readonly Open[], now: string, share: number): Section {
  const units = inTurn(open);
  const totals = new Map<Open['is'], number>();
  for (const { is } of open) add(totals, is, 1);
  const lines = units.map(
    (one) =>
      (chars: number): Line =>
        openLine(one, now, chars),
  );
  return listed('open', share, lines, (kept) => {
    const left = new Map(totals);
    for (let index = 0; index < kept; index++) add(left, units[index]?.is, -1);
    return kinds.map((kind) => ({ ...nouns[kind], count: left.get(kind) ?? 0 }));
  });
}

function add(counts: Map<Open['is'], number>, kind: Open['is'] | undefined, change: number): void {
  if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + change);
}

const kinds = [
  'offer',
  'error',
  'blocker',
  'question',
  'message',
  'commitment',
  'finding',
  'conflict',
  'session',
] as const satisfies readonly Open['is'][];

const ITEMS = fixed('`holdfast items`');
const nouns: Readonly<Record<Open['is'], Leftover>> = {
  offer: { noun: fixed('offer'), command: fixed('`holdfast handoff list`') },
  error: { noun: fixed('error'), command: ITEMS },
  blocker: { noun: fixed('blocker'), command: ITEMS },
  question: { noun: fixed('question'), command: ITEMS },
  message: { noun: fixed('message'), command: fixed('`holdfast mail inbox`') },
  commitment: { noun: fixed('commitment'), command: ITEMS },
  finding: { noun: fixed('finding'), command: ITEMS },
  conflict: { noun: fixed('conflict'), command: fixed('`holdfast resume --json`') },
  session: { noun: fixed('other session'), command: fixed('`holdfast sessions`') },
};

function inTurn(open: readonly Open[]): Open[] {
  const byKind = new Map(kinds.map((kind) => [kind, [] as Open[]]));
  for (const one of open) byKind.get(one.is)?.push(one);
  const queues = [...byKind.values()];
  const rounds = Math.max(0, ...queues.map((queue) => queue.length));
  return Array.from({ length: rounds }, (_, round) => queues.flatMap((queue) => queue.slice(round, round + 1))).flat();
}

function openLine(open: Open, now: string, chars: number): Line {
  if (open.is === 'conflict')
    return line`Open: ${id(open.id)}, conflict since ${at(open.at, now)}: ${quotePath(open.path)} ${conflictWords[open.kind]}; once checked: \`holdfast accept ${id(open.id)}\`.`;
  if (open.is === 'session') {
    const { who, steps, files } = open;
    const holds = steps.length > 0 ? line`, holds ${several(steps)}` : '';
    const claims = files.length > 0 ? line`, claims ${several(files)}` : '';
    return line`Open: ${id(who.session)}, session of ${agent(who.agent)} since ${at(open.at, now)}${holds}${claims}.`;
  }
  const text = open.text === null ? '' : line`: ${quoteStart(open.text, chars)}`;
  const name = open.is === 'offer' ? id(open.id) : named(open.id, open.alias);
  return line`Open: ${name}, ${kindWords(open)} since ${at(open.at, now)}${text}${afterwards(open, chars)}`;
}

const conflictWords: Readonly<Record<ConflictKind, Line>> = {
  half_changed: line`was left half-changed by an interrupted step`,
  changed_outside: line`changed from outside`,
  gone: line`is gone`,
  renamed: line`was renamed`,
  claimed_absent: line`was claimed and is not there`,
  plan_changed: line`changed: it is the plan`,
  other_branch: line`is on another branch than the work`,
  rebased_away: line`has lost the commit the work was recorded at`,
  built_mismatch: line`is not as it was built`,
  mirror_edited: line`was edited by others`,
};

type Worded = Exclude<Open, { is: 'conflict' | 'session' }>;

function kindWords(open: Worded): Line {
  switch (open.is) {
    case 'offer':
      return line`handoff offered to you by ${agent(open.by)}`;
    case 'error':
      return open.step === null ? line`error` : line`error in step ${quote(open.step, 'name')}`;
    case 'blocker':
      return open.affects.length > 0 ? line`blocker of ${several(open.affects)}` : line`blocker`;
    case 'question':
      return line`question to ${recipient(open.to)}`;
    case 'message': {
      const message =
        open.answers === null
          ? line`message ${open.toReader ? fixed('to you ') : fixed('')}from ${agent(open.from)}`
          : line`answer of ${agent(open.from)} to your message ${quote(open.answers, 'title', MESSAGE_CHARS)}`;
      return line`${word(open.priority)} ${message}${open.late ? line`, overdue,` : ''}`;
    }
    case 'commitment': {
      const due = open.due === null ? '' : line`, due ${time(open.due)},${open.late ? line` overdue,` : ''}`;
      return line`commitment of ${agent(open.by)}${open.to === null ? '' : line` to ${agent(open.to)}`}${due}`;
    }
    case 'finding':
      return open.severity === null ? line`finding` : line`${word(open.severity)} finding`;
    default:
      return open satisfies never;
  }
}

function recipient(to: Extract<Open, { is: 'question' }>['to']): Fixed | Line {
  if (to === 'user') return fixed('the user');
  return to === 'reader' ? fixed('you') : line`${agent(to.name)}`;
}

function afterwards(open: Worded, chars: number): Line | '' {
  if (open.is === 'offer') return line`. \`holdfast handoff accept ${id(open.id)}\` takes it.`;
  if (open.is === 'blocker' && open.workaround !== null)
    return line`. Workaround: ${quoteStart(open.workaround, chars)}`;
  return '';
}

const MESSAGE_CHARS = 60;
const SEVERAL = 4;

function several(names: readonly string[]): Line {
  const more = names.length - SEVERAL;
  return line`${quoteAll(names.slice(0, SEVERAL), 'name')}${more > 0 ? line` and ${more} more` : ''}`;
}
