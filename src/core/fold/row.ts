import type { Event } from '../journal/event.ts';
import { plainName } from '../names.ts';
import type { RowKind, Rows, Touch } from './touch.ts';
import { hasBytes } from './value.ts';

/** A row of the searchable projection. */
export interface ProjectedRow {
  kind: string;
  id: string;
  alias: string | null;
  status: string;
  /** The version of the event that touched it last. */
  version: number;
  at: string;
  /** What it can be found by, apart from its text: `affects:p1`, `key:auth`, `irreversible`. */
  tags: readonly string[];
  /** The text that a search looks in; null for a row that is not searched. */
  text: string | null;
  doc: unknown;
}

/** The rows that a batch of events touched, each as it is after the last event. */
export function rowsOf(touched: readonly { event: Event; touches: readonly Touch[] }[]): ProjectedRow[] {
  const rows = new Map<string, ProjectedRow>();
  for (const { event, touches } of touched) {
    for (const touch of touches) {
      const after = touch.after ?? (touch.before ? { ...touch.before, status: 'removed' } : null);
      if (after === null) continue;
      const key = `${touch.kind}:${touch.id}`;
      const { status, tags, text } = facetsOf(touch.kind, after, touch.id);
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

/** A row that was removed keeps its shape, with the status `removed`. */
function facetsOf(kind: RowKind, row: object, id: string): Facets {
  return (facets[kind] as (row: object, id: string) => Facets)(row, id);
}

const facets: { readonly [K in RowKind]: (row: Rows[K], id: string) => Facets } = {
  run: ({ status, title, goal }) => ({ status, tags: [], text: words(title, goal) }),
  step: ({ status, title }) => ({ status, tags: [], text: title }),
  result: ({ summary, built }) => ({ status: 'final', tags: [], text: words(summary, ...built) }),
  session: ({ status, agent, notes, issues, client, archive }) => ({
    status,
    tags: [
      `agent:${agent}`,
      ...(client ? [`client:${client.id}`] : []),
      ...(status === 'active' ? [] : [worklogTag(archive)]),
    ],
    text: words(...notes, ...issues),
  }),
  turn: ({ kind, outcome, session, request, said }) => ({
    status: outcome ?? 'open',
    tags: [`session:${session}`, `kind:${kind}`],
    text: words(request, said),
  }),
  claim: ({ status, files }) => ({ status, tags: [], text: words(...files) }),
  decision: ({ status, context, decision, reason, alternatives, key, irreversible, affects, step }) => ({
    status,
    tags: [...(key ? [`key:${key}`] : []), ...(irreversible ? ['irreversible'] : []), ...affectsTags(affects, step)],
    text: words(context, decision, reason, ...(alternatives ?? [])),
  }),
  item: ({ status, kind, text, affects, step, workaround, resolution }) => ({
    status,
    tags: [`kind:${kind}`, ...affectsTags(affects, step)],
    text: words(text, workaround, resolution),
  }),
  note: ({ kind, text, archive }) => ({ status: kind, tags: [worklogTag(archive)], text }),
  effect: ({ status, name, key }) => ({ status, tags: key ? [`key:${key}`] : [], text: name }),
  // Values are not searched: they are stored as given, secrets included.
  value: (value) => ({
    status: value.status,
    tags: hasBytes(value) ? [`sha256:${value.sha256}`, `key:${value.key}`] : [],
    text: null,
  }),
  message: ({ status, from, to, subject, body, replies }) => ({
    status,
    tags: [`from:${plainName(from)}`, `to:${plainName(to)}`],
    text: words(subject, body, ...replies.map((reply) => reply.body)),
  }),
  handoff: ({ status, to, message }) => ({ status, tags: [`to:${plainName(to)}`], text: words(message) }),
  snapshot: ({ agent, next, why }) => ({ status: 'taken', tags: [`agent:${agent}`], text: words(next, why) }),
  file: ({ change, step, read }, id) => ({
    status: read ? 'read' : (change ?? 'recorded'),
    tags: [...(step ? [`step:${step}`] : []), ...(read ? [] : ['written'])],
    text: id,
  }),
  usage: () => ({ status: 'counted', tags: [], text: null }),
  mirror: (row, id) => ({ status: 'status' in row ? 'removed' : 'kept', tags: [], text: id }),
  conflict: () => ({ status: 'accepted', tags: [], text: null }),
  // Its words are found in the file itself (`operations/files/parts/search-files.ts`).
  foreign: () => ({ status: 'kept', tags: [], text: null }),
  recovery: ({ from, findings }) => ({ status: 'made', tags: [], text: words(from, ...findings) }),
  erasure: ({ reason }) => ({ status: 'erased', tags: [], text: reason }),
};

const affectsTags = (affects: readonly string[] = [], step: string | undefined): string[] => [
  ...new Set([...affects, ...(step ? [step] : [])].map((target) => `affects:${target.slice(0, 200)}`)),
];

/** A worklog entry is in the worklog itself or in one of its archives. */
const worklogTag = (archive: number | undefined): string => (archive === undefined ? 'worklog' : `archive:${archive}`);

function words(...parts: readonly (string | null | undefined)[]): string | null {
  return parts.filter((part) => part).join('\n') || null;
}
