import type { Event, EventBody } from '../../../core/journal/event.ts';
import { oneLine } from '../../../core/text.ts';
import { inWords, msBetween } from '../../../core/time.ts';

/** A line of the log: who did what. */
export interface LogSentence {
  version: number;
  at: string;
  who: string;
  what: string;
  tone: 'plain' | 'good' | 'warn' | 'bad' | 'dim';
}

type Said = Pick<LogSentence, 'what'> & { who?: string; tone?: LogSentence['tone'] };

/** Events as sentences, oldest first. What says nothing to a person is left out, and what belongs together is one line. */
export function logSentences(events: readonly Event[], titles: ReadonlyMap<string, string>): LogSentence[] {
  const ends = new Map<string, Event & { type: 'effect.ended' }>();
  for (const event of events) if (event.type === 'effect.ended') ends.set(event.body.id, event);
  const began = new Set(events.flatMap((event) => (event.type === 'effect.began' ? [event.body.id] : [])));
  const lines: LogSentence[] = [];
  let group = null as Group | null;
  for (const event of events) {
    const many = namesOf(event);
    const key = many === null ? '' : `${event.type} ${event.actor.name} ${many.verb}`;
    if (many !== null && group?.key === key) {
      group.names = [...new Set([...group.names, ...many.names])];
      group.line.what = `${many.verb} ${listed(group.names)}`;
      continue;
    }
    group = null;
    const said = many
      ? { what: `${many.verb} ${listed(many.names)}`, tone: many.tone }
      : say(event, titles, ends, began);
    if (said === null) continue;
    const line: LogSentence = { version: event.version, at: event.at, who: event.actor.name, tone: 'plain', ...said };
    lines.push(line);
    if (many !== null) group = { key, names: [...many.names], line };
  }
  return lines;
}

interface Group {
  key: string;
  names: string[];
  line: LogSentence;
}

/** Events of which several in a row are one sentence. */
function namesOf(event: Event): { verb: string; names: string[]; tone: LogSentence['tone'] } | null {
  if (event.type === 'step.added') return { verb: 'added', names: [event.body.step], tone: 'plain' };
  if (event.type !== 'files.seen') return null;
  const { artifacts, read } = event.body;
  const names = artifacts.map(({ path }) => path);
  if (read) return { verb: 'read', names, tone: 'dim' };
  const gone = artifacts.every(({ change }) => change === 'deleted');
  return { verb: gone ? 'deleted' : 'changed', names, tone: 'plain' };
}

const SHOWN = 4;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map((name) => oneLine(name, 80));
  return names.length > SHOWN ? `${shown.join(', ')} and ${names.length - SHOWN} more` : shown.join(', ');
}

const quoted = (text: string, most = 90): string => `"${oneLine(text, most)}"`;
const behind = (text: string | undefined, most = 80): string => (text === undefined ? '' : `: ${oneLine(text, most)}`);

function say(
  event: Event,
  titles: ReadonlyMap<string, string>,
  ends: ReadonlyMap<string, Event & { type: 'effect.ended' }>,
  began: ReadonlySet<string>,
): Said | null {
  const step = (key: string): string => (titles.has(key) ? `${key} ${oneLine(titles.get(key) ?? '', 60)}` : key);
  switch (event.type) {
    case 'effect.began':
      return ranWords(event, ends.get(event.body.id));
    case 'effect.ended':
      // Beside its beginning it is part of that line.
      return began.has(event.body.id) ? null : { what: `recorded ${event.body.id} as ${event.body.outcome}` };
    case 'turn.began':
      return turnWords(event.body);
    case 'turn.ended':
      return endWords(event.body);
    case 'session.started':
      return { who: event.body.agent, what: `started session ${event.body.id}`, tone: 'dim' };
    case 'session.ended':
      return sessionWords(event.body);
    case 'session.moved':
      return { what: `moved to run ${event.body.to.run}`, tone: 'dim' };
    case 'step.started':
      return { what: `${event.body.takenOverFrom ? 'took over' : 'started'} ${step(event.body.step)}` };
    case 'step.checkpointed':
      return { what: `reached checkpoint ${quoted(event.body.name, 60)} in ${event.body.step}` };
    case 'step.completed':
      return { what: `completed ${step(event.body.step)}${behind(event.body.summary)}`, tone: 'good' };
    case 'step.failed':
      return { what: `failed in ${step(event.body.step)} (${event.body.error})`, tone: 'bad' };
    case 'step.changed':
      return { what: `changed step ${event.body.step}` };
    case 'step.removed':
      return { what: `removed step ${event.body.step}` };
    case 'step.retried':
      return { what: `tries ${step(event.body.step)} again (attempt ${event.body.attempt})` };
    case 'step.skipped':
    case 'step.reopened': {
      const verb = event.type === 'step.skipped' ? 'skipped' : 'reopened';
      return { what: `${verb} ${step(event.body.step)}${behind(event.body.reason)}` };
    }
    case 'step.confirmed':
      return { what: `confirmed ${event.body.step}` };
    case 'step.released':
      return { what: `released ${event.body.step}${behind(event.body.reason)}` };
    case 'step.verified': {
      const isGood = event.body.result === 'pass';
      return { what: `verified ${event.body.step}: ${isGood ? 'holds' : 'fails'}`, tone: isGood ? 'good' : 'bad' };
    }
    case 'files.seen':
    case 'step.added':
      return null;
    default:
      return sayRest(event);
  }
}

type Rest = Exclude<
  Event,
  { type: `step.${string}` | `turn.${string}` | `session.${string}` | `effect.${string}` | 'files.seen' }
>;

function sayRest(event: Rest): Said | null {
  switch (event.type) {
    case 'run.opened':
      return { what: `opened the run ${quoted(event.body.title)}` };
    case 'run.amended':
      return { what: `changed ${Object.keys(event.body).join(', ') || 'nothing'} of the run`, tone: 'dim' };
    case 'run.completed':
      return { what: 'finished the run', tone: 'good' };
    case 'run.reopened':
    case 'run.abandoned':
    case 'run.archived':
      return { what: `${event.type.slice(4)} the run${behind(event.body.reason)}` };
    case 'run.imported':
      return { what: `imported the events up to ${event.body.upTo}` };
    case 'gate.opened':
    case 'gate.closed':
      return { what: `${event.type.slice(5)} the gate before ${event.body.step}` };
    case 'claim.taken':
      return { what: `claimed ${listed(event.body.files)} (${event.body.id})`, tone: 'dim' };
    case 'claim.released':
      return { what: `released ${event.body.id}`, tone: 'dim' };
    case 'decision.made':
      return { what: `decided ${event.body.id} ${quoted(event.body.decision)}${behind(event.body.reason)}` };
    case 'decision.retracted':
      return { what: `retracted ${event.body.id}${behind(event.body.reason)}` };
    case 'item.raised':
      return { what: `raised ${event.body.kind} ${event.body.id}${behind(event.body.text)}`, tone: 'warn' };
    case 'item.settled':
      return { what: `recorded ${event.body.id} as ${event.body.as}${behind(event.body.note)}` };
    case 'item.reopened':
      return { what: `reopened ${event.body.item.id}${behind(event.body.item.text)}`, tone: 'warn' };
    case 'note.added':
      if (event.body.asked) return { who: 'you', what: `asked ${quoted(event.body.text)}` };
      return { what: `noted ${event.body.id} (${event.body.kind.replace('_', ' ')})${behind(event.body.text)}` };
    case 'note.approved':
      return { who: 'you', what: `approved the plan ${event.body.id}` };
    case 'message.sent':
      return { what: `sent ${event.body.id} to ${event.body.to}${behind(event.body.subject)}` };
    case 'message.replied':
      return { what: `replied to ${event.body.id}${behind(event.body.body)}` };
    case 'message.moved':
      return { what: `set ${event.body.id} to ${event.body.to}`, tone: 'dim' };
    case 'message.escalated':
      return { what: `passed ${event.body.id} to the maintainer${behind(event.body.why)}`, tone: 'warn' };
    case 'handoff.offered':
      return { what: `offered the work of ${event.body.from} to ${event.body.to} (${event.body.id})` };
    case 'handoff.accepted':
      return { what: `accepted ${event.body.id}` };
    case 'handoff.clarified':
      return { what: `asked about ${event.body.id}${behind(event.body.question)}` };
    case 'handoff.declined':
    case 'handoff.withdrawn':
      return { what: `${event.type === 'handoff.declined' ? 'declined' : 'withdrew'} ${event.body.id}` };
    case 'conflict.accepted':
      return { what: `accepted conflict ${event.body.id}` };
    case 'mirror.added':
    case 'mirror.removed':
      return {
        what: `${event.type === 'mirror.added' ? 'mirrors' : 'no longer mirrors'} the run in ${oneLine(event.body.path, 80)}`,
      };
    case 'account.read':
      return { what: `read ${event.body.format} from ${oneLine(event.body.path, 80)}` };
    case 'worklog.compacted':
      return { what: `archived ${event.body.entries.length} worklog entries` };
    case 'recovery.made':
      return { what: `recovered from ${oneLine(event.body.from, 80)}` };
    case 'text.erased':
      return { what: `erased the text of ${event.body.versions.length} events${behind(event.body.reason)}` };
    case 'value.put':
      return {
        what: `stored ${event.body.entries.map(({ key }) => oneLine(key, 60)).join(', ')}${behind(event.body.reached)}`,
      };
    case 'value.removed':
      return { what: `removed ${event.body.keys.map((key) => oneLine(key, 60)).join(', ')}` };
    case 'usage.added':
    case 'snapshot.taken':
    case 'handoff.finished':
    case 'message.heard':
      return null;
    default:
      // Another version may record what this one does not know.
      return { what: (event satisfies never as Event).type, tone: 'dim' };
  }
}

function ranWords(
  { body, at }: Event & { type: 'effect.began' },
  end: (Event & { type: 'effect.ended' }) | undefined,
): Said {
  if (body.asks) return { what: body.asks === 'plan' ? 'showed a plan' : `asked you ${quoted(body.name)}` };
  const name = oneLine(body.name, 90);
  if (end === undefined) return { what: `ran ${name} (${body.id}): no end recorded`, tone: 'warn' };
  const { outcome, exitCode } = end.body;
  const how = exitCode === undefined || exitCode === null ? outcome : `exit ${exitCode}`;
  const took = inWords(msBetween(at, end.at));
  const tone = outcome === 'failed' || outcome === 'unknown' ? 'bad' : 'plain';
  return { what: `ran ${name}: ${how}, ${took}`, tone };
}

function turnWords({ kind, request }: EventBody<'turn.began'>): Said | null {
  if (kind === 'unknown' && request === undefined) return null;
  if (request === undefined) return { who: 'you', what: kind === 'answer' ? 'answered' : 'said to continue' };
  const verb = kind === 'answer' ? 'answered' : kind === 'command' ? 'typed' : 'asked';
  return { who: 'you', what: `${verb} ${quoted(request)}` };
}

function endWords({ outcome, said, asks, failure }: EventBody<'turn.ended'>): Said {
  const words = said === undefined ? '' : `: ${quoted(said)}`;
  if (outcome === 'failed') return { what: `was stopped${behind(failure?.message) || words}`, tone: 'bad' };
  if (outcome === 'interrupted') return { what: `was interrupted${words}`, tone: 'warn' };
  return asks ? { what: `asks you${words}`, tone: 'warn' } : { what: `stopped${words}`, tone: 'dim' };
}

function sessionWords({ id, reason, evidence }: EventBody<'session.ended'>): Said {
  if (reason === 'crashed') return { what: `was cut off in ${id}${behind(evidence?.[0])}`, tone: 'bad' };
  if (reason === 'superseded') return { what: `handed over session ${id}`, tone: 'dim' };
  return { what: `ended session ${id}${reason === 'completed' ? '' : ` (${reason})`}`, tone: 'dim' };
}
