import * as v from 'valibot';
import { evidenceInWords } from '../../core/evidence.ts';
import { isImported } from '../../core/fold/imported.ts';
import type { Event } from '../../core/journal/event.ts';
import { oneLine } from '../../core/text.ts';
import { currentRun } from '../act.ts';
import { limit, version } from '../fields.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { type LogSentence, logSentences } from './parts/log-words.ts';

export const log = defineOperation({
  name: 'log',
  summary: 'Show what happened, the newest last.',
  scope: 'read',
  examples: ['holdfast log -n 50', 'holdfast log --raw', 'holdfast log --at 120 --json'],
  input: v.object({
    at: v.optional(described(version, 'Only up to this version.')),
    after: v.optional(described(version, 'Only after this version.')),
    limit: limit(20),
    raw: v.optional(described(v.boolean(), 'Every event with its fields, instead of sentences.')),
  }),
  output: v.object({
    run: v.string(),
    version: v.number(),
    /** The end of it in words: at most as many as were asked for. */
    sentences: v.optional(v.array(shaped<LogSentence>({ at: v.string(), who: v.string(), what: v.string() }))),
    events: v.array(
      shaped<LogLine & { imported: boolean }>({
        version: v.number(),
        at: v.string(),
        type: v.string(),
        session: v.nullable(v.string()),
        agent: v.nullable(v.string()),
      }),
    ),
  }),
  async run(context, { at, after, limit: wanted = 20, raw }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const [head] = await engine.heads({ run });
    const last = Math.min(at ?? Number.POSITIVE_INFINITY, head?.version ?? 0);
    const from = after ?? Math.max(0, last - wanted);
    const events: Event[] = [];
    for await (const page of engine.eventPages(run, { after: from, upTo: last, limit: wanted })) events.push(...page);
    const state = await engine.load(run);
    const { imported = [] } = state.run ?? {};
    const lines = events.map((event) => ({ ...logLine(event), imported: isImported(event.version, imported) }));
    if (raw) return { data: { run, version: last, events: lines } };
    // Several events make a line, and some make none.
    const early: Event[] = [];
    const start = after ?? Math.max(0, last - wanted * EVENTS_A_LINE);
    const pages = engine.eventPages(run, { after: start, upTo: from, limit: wanted * EVENTS_A_LINE });
    if (start < from) for await (const page of pages) early.push(...page);
    const titles = new Map([...state.steps.values()].map(({ key, title }) => [key, title]));
    const sentences = logSentences([...early, ...events], titles).slice(-wanted);
    return { data: { run, version: last, sentences, events: lines } };
  },
  say: ({ events, sentences }, pen) => (sentences ? sayLog(sentences, pen) : sayRaw(events, pen)),
});

const EVENTS_A_LINE = 5;

/** By day, in the local time of the reader. */
function sayLog(sentences: readonly LogSentence[], pen: Pen): string {
  let day = '';
  const lines = sentences.flatMap(({ at, who, what, tone }) => {
    const when = new Date(at);
    const two = (number: number): string => String(number).padStart(2, '0');
    const date = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
    const text = `${who} ${what}`;
    const line = `  ${pen.dim(`${two(when.getHours())}:${two(when.getMinutes())}`)} ${tone === 'plain' ? text : pen[tone](text)}`;
    const head = date === day ? [] : [pen.bold(date)];
    day = date;
    return [...head, line];
  });
  return lines.join('\n') || 'Nothing has happened yet.';
}

function sayRaw(events: readonly (LogLine & { imported: boolean })[], pen: Pen): string {
  return (
    events
      .map((event) => {
        const body = Object.entries(event.body).filter(
          ([, value]) => typeof value === 'string' || typeof value === 'number',
        );
        const fields = body.map(([name, value]) => `${name}=${oneLine(String(value), 60)}`).join(' ');
        const who = [whoActed(event), event.session].filter(Boolean).join(' ');
        return `${pen.dim(String(event.version).padStart(6))} ${event.at.slice(0, 19)}Z ${pen.bold(event.type)} ${pen.dim(who)} ${fields}`;
      })
      .join('\n') || 'Nothing has happened yet.'
  );
}

/** `codex (agent)`, `ada (person, at a terminal)`. */
function whoActed({ agent, person, evidence, imported }: LogLine & { imported: boolean }): string {
  if (agent !== null) return `${agent} (agent${imported ? ', imported' : ''})`;
  return `${person} (person, ${imported ? 'imported claim' : evidenceInWords(evidence)})`;
}

export type LogLine = ReturnType<typeof logLine>;

export function logLine(event: Event) {
  const { version, at, type, session, actor, evidence, basis, body, hash } = event;
  return {
    version,
    at,
    type,
    session,
    agent: actor.kind === 'agent' ? actor.name : null,
    person: actor.kind === 'person' ? actor.name : null,
    evidence: evidence ?? null,
    basis,
    body,
    hash,
  };
}
