import * as v from 'valibot';
import { evidenceInWords } from '../../core/evidence.ts';
import { isImported } from '../../core/fold/imported.ts';
import type { Event } from '../../core/journal/event.ts';
import { oneLine } from '../../core/text.ts';
import { currentRun } from '../act.ts';
import { limit, version } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

export const log = defineOperation({
  name: 'log',
  summary: 'Show what happened, the newest last.',
  scope: 'read',
  examples: ['holdfast log --limit 50', 'holdfast log --at 120 --json'],
  input: v.object({
    at: v.optional(described(version, 'Only up to this version.')),
    after: v.optional(described(version, 'Only after this version.')),
    limit: limit(20),
  }),
  output: v.object({
    run: v.string(),
    version: v.number(),
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
  async run(context, { at, after, limit: wanted = 20 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const [head] = await engine.heads({ run });
    const last = Math.min(at ?? Number.POSITIVE_INFINITY, head?.version ?? 0);
    const from = after ?? Math.max(0, last - wanted);
    const events: Event[] = [];
    for await (const page of engine.eventPages(run, { after: from, upTo: last, limit: wanted })) events.push(...page);
    const { imported = [] } = (await engine.load(run)).run ?? {};
    const lines = events.map((event) => ({ ...logLine(event), imported: isImported(event.version, imported) }));
    return { data: { run, version: last, events: lines } };
  },
  say: ({ events }, pen) =>
    events
      .map((event) => {
        const body = Object.entries(event.body).filter(
          ([, value]) => typeof value === 'string' || typeof value === 'number',
        );
        const fields = body.map(([name, value]) => `${name}=${oneLine(String(value), 60)}`).join(' ');
        const who = [whoActed(event), event.session].filter(Boolean).join(' ');
        return `${pen.dim(String(event.version).padStart(6))} ${event.at.slice(0, 19)}Z ${pen.bold(event.type)} ${pen.dim(who)} ${fields}`;
      })
      .join('\n') || 'Nothing has happened yet.',
});

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
