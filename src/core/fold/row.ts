import type { Event } from '../journal/event.ts';
import type { Rows, Touch } from './touch.ts';

/** A row of the searchable projection. */
export interface ProjectedRow {
  kind: string;
  id: string;
  alias: string | null;
  status: string;
  /** Of the event that touched it last. */
  version: number;
  at: string;
  /** What it can be found by besides its words: `affects:p1`, `key:auth`, `irreversible`. */
  tags: readonly string[];
  /** What a search looks in; null for a record that is not searched. */
  text: string | null;
  doc: unknown;
}

/** What a batch of events did to named things, the last word on each. */
export function rowsOf(touched: readonly { event: Event; touches: readonly Touch[] }[]): ProjectedRow[] {
  const rows = new Map<string, ProjectedRow>();
  for (const { event, touches } of touched) {
    for (const touch of touches) {
      const after = touch.after ?? (touch.before ? { ...touch.before, status: 'removed' } : null);
      if (after === null) continue;
      const key = `${touch.kind}:${touch.id}`;
      const { status, tags, text } = facets({ ...touch, after } as Touch);
      const alias = 'alias' in after && typeof after.alias === 'string' ? after.alias : null;
      rows.delete(key);
      rows.set(key, {
        kind: touch.kind,
        id: touch.id,
        alias,
        status,
        version: event.version,
        at: event.at,
        tags,
        text,
        doc: after,
      });
    }
  }
  return [...rows.values()];
}

interface Facets {
  status: string;
  tags: string[];
  text: string | null;
}

function facets(touch: Touch): Facets {
  const row = touch.after as Rows[typeof touch.kind];
  switch (touch.kind) {
    case 'run': {
      const { status, title, goal } = row as Rows['run'];
      return { status, tags: [], text: words(title, goal) };
    }
    case 'step': {
      const { status, title } = row as Rows['step'];
      return { status, tags: [], text: title };
    }
    case 'result': {
      const { summary, built } = row as Rows['result'];
      return { status: 'final', tags: [], text: words(summary, ...built) };
    }
    case 'session': {
      const { status, agent, notes, issues, client, archive } = row as Rows['session'];
      return {
        status,
        tags: [
          `agent:${agent}`,
          ...(client ? [`client:${client.id}`] : []),
          ...(status === 'active' ? [] : [worklogTag(archive)]),
        ],
        text: words(...notes, ...issues),
      };
    }
    case 'claim': {
      const { status, files } = row as Rows['claim'];
      return { status, tags: [], text: words(...files) };
    }
    case 'decision': {
      const { status, context, decision, reason, alternatives, key, irreversible, affects, step } =
        row as Rows['decision'];
      const tags = [
        ...(key ? [`key:${key}`] : []),
        ...(irreversible ? ['irreversible'] : []),
        ...new Set([...(affects ?? []), ...(step ? [step] : [])].map((target) => `affects:${target.slice(0, 200)}`)),
      ];
      return { status, tags, text: words(context, decision, reason, ...(alternatives ?? [])) };
    }
    case 'item': {
      const { status, kind, text, affects, step, workaround, resolution } = row as Rows['item'];
      const targets = new Set([...(affects ?? []), ...(step ? [step] : [])]);
      return {
        status,
        tags: [`kind:${kind}`, ...[...targets].map((target) => `affects:${target.slice(0, 200)}`)],
        text: words(text, workaround, resolution),
      };
    }
    case 'note': {
      const { kind, text, archive } = row as Rows['note'];
      return { status: kind, tags: [worklogTag(archive)], text };
    }
    case 'effect': {
      const { status, name, key } = row as Rows['effect'];
      return { status, tags: key ? [`key:${key}`] : [], text: name };
    }
    case 'message': {
      const { status, from, to, subject, body, replies } = row as Rows['message'];
      return {
        status,
        tags: [`from:${from}`, `to:${to}`],
        text: words(subject, body, ...replies.map((reply) => reply.body)),
      };
    }
    case 'handoff': {
      const { status, to, message } = row as Rows['handoff'];
      return { status, tags: [`to:${to}`], text: words(message) };
    }
    case 'snapshot': {
      const { agent, next, why } = row as Rows['snapshot'];
      return { status: 'taken', tags: [`agent:${agent}`], text: words(next, why) };
    }
    case 'file': {
      const { change, step, read } = row as Rows['file'];
      const tags = [...(step ? [`step:${step}`] : []), ...(read ? [] : ['written'])];
      return { status: read ? 'read' : (change ?? 'recorded'), tags, text: touch.id };
    }
    case 'usage':
      return { status: 'counted', tags: [], text: null };
    case 'mirror':
      return { status: 'status' in row ? 'removed' : 'kept', tags: [], text: touch.id };
    case 'conflict':
      return { status: 'accepted', tags: [], text: null };
    case 'foreign':
      return { status: 'kept', tags: [], text: null };
    case 'recovery': {
      const { from, findings } = row as Rows['recovery'];
      return { status: 'made', tags: [], text: words(from, ...findings) };
    }
    case 'erasure': {
      const { reason } = row as Rows['erasure'];
      return { status: 'erased', tags: [], text: reason };
    }
    default:
      return touch satisfies never;
  }
}

/** An entry of the worklog stands in it, or in one of its archives. */
const worklogTag = (archive: number | undefined): string => (archive === undefined ? 'worklog' : `archive:${archive}`);

function words(...parts: readonly (string | null | undefined)[]): string | null {
  const present = parts.filter((part) => part);
  return present.length > 0 ? present.join('\n') : null;
}
