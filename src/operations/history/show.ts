import * as v from 'valibot';
import { notFound } from '../../core/fault.ts';
import type { RowKind, Rows } from '../../core/fold/touch.ts';
import { oneLine, printable } from '../../core/text.ts';
import { planView } from '../../core/views/plan.ts';
import { currentState, inRun } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, type Pen, typed } from '../operation.ts';

/** What `kind` says decides which fields there are. */
type Shown = {
  [Kind in RowKind]: { run: string; id: string; kind: Kind; status: string | null; fields: Rows[Kind] };
}[RowKind];

const Shown = typed<Shown>(
  v.object({
    run: v.string(),
    id: v.string(),
    kind: v.string(),
    status: v.nullable(v.string()),
    fields: v.record(v.string(), v.unknown()),
  }),
);

export const show = defineOperation({
  name: 'show',
  summary: 'Show anything that has an id: a decision, item, note, effect, message, session or step.',
  scope: 'read',
  words: ['id'],
  examples: ['holdfast show D-3', 'holdfast show p1.2'],
  input: v.object({ id: reference }),
  output: Shown,
  async run(given, { id }) {
    const context = await inRun(given);
    const { run } = context;
    const state = await currentState(context);
    const step = planView(state).byKey.get(id);
    if (step) return { data: { run, id, kind: 'step', status: step.status, fields: step.step } as const };
    const rows = await (await context.engine()).recall(run, [id]);
    const row = rows.find(({ kind }) => kind !== 'result') ?? rows[0];
    if (row) return { data: { run, id, kind: row.kind, status: row.status, fields: row.doc } as Shown };
    const known = [...state.steps.keys(), ...state.items.keys(), ...state.effects.keys(), ...state.messages.keys()];
    throw notFound('step or id', id, known, '`holdfast log` and `holdfast search WORDS` name ids.');
  },
  say,
});

/** Fields that repeat the heading, or that only the program needs. */
const HIDDEN = new Set([
  'id',
  'key',
  'status',
  'kind',
  'version',
  'hash',
  'mark',
  'startedVersion',
  'leaseMs',
  'owner',
]);

function say({ id, kind, status, fields }: Shown, pen: Pen): string {
  const rows = Object.entries(fields).flatMap(([name, value]) => {
    const text = HIDDEN.has(name) || /Version$/.test(name) || value === 0 ? null : valueInWords(value);
    return text === null ? [] : [{ label: labelOf(name), text }];
  });
  const width = Math.max(0, ...rows.map(({ label }) => label.length)) + 2;
  const head = `${pen.bold(id)} ${'kind' in fields && kind !== 'step' ? fields.kind : kind}`;
  return [
    `${head}${status === null ? '' : `, ${status.replaceAll('_', ' ')}`}`,
    ...rows.map(({ label, text }) => `  ${pen.dim(label.padEnd(width))}${text}`),
  ].join('\n');
}

/** `respondBy` is `respond by`. */
const labelOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function valueInWords(value: unknown): string | null {
  if (value === true) return 'yes';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return value === '' ? null : printable(value).replaceAll('\n', '\n    ');
  if (Array.isArray(value)) {
    const parts = value.flatMap((one) => valueInWords(one) ?? []);
    return parts.length > 0 ? parts.map((part) => oneLine(part, 100)).join(', ') : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { name, path, text } = value as Record<string, unknown>;
  return valueInWords(name ?? path ?? text ?? null);
}
