import * as v from 'valibot';
import { ModelDecision, ModelItem } from '../../core/model/run-model.ts';
import { oneLine } from '../../core/text.ts';
import type { Line, Section } from './body-log.ts';

/**
 * Decisions and items in the log. Maestro's front matter cannot hold them, so each is a heading with its text and a
 * list of its other fields.
 */
interface Field {
  label: string;
  key: string;
  kind: 'text' | 'list' | 'flag';
}

const text = (label: string, key: string): Field => ({ label, key, kind: 'text' });
const list = (label: string, key: string): Field => ({ label, key, kind: 'list' });

export const decisionFields: readonly Field[] = [
  text('Id', 'alias'),
  text('Key', 'key'),
  text('Type', 'type'),
  text('Context', 'context'),
  text('Reason', 'reason'),
  list('Alternatives', 'alternatives'),
  { label: 'Irreversible', key: 'irreversible', kind: 'flag' },
  list('Affects', 'affects'),
  text('Phase', 'step'),
  text('By', 'by'),
  text('At', 'at'),
  text('Status', 'status'),
  text('Supersedes', 'supersedes'),
];

export const itemFields: readonly Field[] = [
  text('Id', 'alias'),
  text('Kind', 'kind'),
  text('Status', 'status'),
  text('Severity', 'severity'),
  text('Type', 'type'),
  list('Affects', 'affects'),
  text('Phase', 'step'),
  text('Workaround', 'workaround'),
  list('Follow-up', 'followUp'),
  text('To', 'to'),
  text('Due', 'due'),
  text('By', 'by'),
  text('Raised', 'raisedAt'),
  text('Settled', 'settledAt'),
  text('Resolution', 'resolution'),
];

export interface BodyEntry<T> {
  value: T;
  /** The range of each field, by its key. */
  places: Map<string, { start: number; end: number }>;
  start: number;
  /** The offset after the heading. */
  head: number;
  end: number;
}

export function readDecisions(section: Section): BodyEntry<ModelDecision>[] {
  const entries = section.entries.map((entry) => readEntry(entry, decisionFields, 'decision'));
  const listed = section.pieces.map((piece) => ({
    fields: { decision: piece.text },
    places: new Map<string, { start: number; end: number }>(),
    start: piece.start,
    head: piece.end,
    end: piece.end,
  }));
  return [...listed, ...entries].flatMap(({ fields, ...places }) => {
    const value = admitted(ModelDecision, fields, ['decision']);
    return value ? [{ ...places, value }] : [];
  });
}

export function readItems(section: Section): BodyEntry<ModelItem>[] {
  return section.entries.flatMap((entry) => {
    const { fields, ...places } = readEntry(entry, itemFields, 'text');
    const value = admitted(
      ModelItem,
      { kind: 'question', status: fields['kind'] === 'blocker' ? 'active' : 'open', ...fields },
      ['text', 'kind', 'status'],
    );
    return value ? [{ ...places, value }] : [];
  });
}

export function emitEntry(value: object, words: string, fields: readonly Field[]): string {
  const row = value as Record<string, unknown>;
  const head = headline(words);
  const lines = [`### ${head}`, ''];
  if (head !== words) lines.push(emitField({ label: 'Text', key: '', kind: 'text' }, words) ?? '');
  for (const field of fields) {
    const line = emitField(field, field.key === 'alias' ? (row['alias'] ?? row['id']) : row[field.key]);
    if (line !== null) lines.push(line);
  }
  return lines.at(-1) === '' ? (lines[0] ?? '') : lines.join('\n');
}

export function headline(words: string): string {
  const head = oneLine(words, 200).replace(/\s*#+$/, '');
  return head === '' ? 'Untitled' : head;
}

/** A field as the log has it; null when it is empty. */
export function emitField(field: Field, value: unknown): string | null {
  if (value === undefined || value === null || value === false) return null;
  if (field.kind === 'flag') return `- ${field.label}: yes`;
  if (field.kind === 'list') {
    const entries = value as readonly string[];
    if (entries.length === 0) return null;
    return [
      `- ${field.label}:`,
      ...entries.map((entry) => `  - ${entry.replace(/\r?\n(?=[^\r\n])/g, '\n      ')}`),
    ].join('\n');
  }
  // Four spaces, so that no line reads as a heading or a fence.
  return `- ${field.label}: ${String(value).replace(/\r?\n(?=[^\r\n])/g, '\n    ')}`;
}

function readEntry(
  entry: { words: string; lines: Line[]; start: number; end: number },
  fields: readonly Field[],
  main: string,
) {
  const row: Record<string, unknown> = { [main]: entry.words };
  const places = new Map<string, { start: number; end: number }>();
  for (const { label, first, rest, start, end } of splitFields(entry.lines)) {
    if (label === 'text') {
      row[main] = unindent([first, ...rest].join('\n'));
      places.set(main, { start, end });
      continue;
    }
    const field = fields.find((one) => one.label.toLowerCase() === label);
    if (!field) continue;
    places.set(field.key, { start, end });
    if (field.kind === 'flag') row[field.key] = /^(?:yes|true)$/i.test(first);
    else if (field.kind === 'text') row[field.key] = unindent([first, ...rest].join('\n'));
    else
      row[field.key] = rest
        .join('\n')
        .split(/(?:^|\n)- /)
        .slice(1)
        .map(unindent);
  }
  const head = entry.lines[0]?.start;
  return {
    fields: row,
    places,
    start: entry.start,
    head: head === undefined ? entry.end : Math.min(head, entry.end),
    end: entry.end,
  };
}

function splitFields(
  lines: readonly Line[],
): { label: string; first: string; rest: string[]; start: number; end: number }[] {
  const found: { label: string; first: string; rest: string[]; start: number; end: number }[] = [];
  let blanks = 0;
  for (const line of lines) {
    const field = /^- ([A-Z][A-Za-z-]*):(?: (.*))?$/.exec(line.words);
    const open = found.at(-1);
    if (field)
      found.push({
        label: (field[1] ?? '').toLowerCase(),
        first: field[2] ?? '',
        rest: [],
        start: line.start,
        end: line.end,
      });
    else if (line.words.trim() === '') {
      blanks++;
      continue;
    } else if (open && /^ {2}/.test(line.words)) {
      open.rest.push(...Array<string>(blanks).fill(''), line.words.slice(2));
      open.end = line.end;
    }
    blanks = 0;
  }
  return found;
}

const unindent = (words: string): string => words.replace(/\n {2,4}/g, '\n');

/** An entry as far as it is valid: invalid fields are omitted, unless nothing is left without them. */
function admitted<S extends v.GenericSchema<unknown, object>>(
  schema: S,
  row: Record<string, unknown>,
  needed: readonly string[],
): v.InferOutput<S> | null {
  const left = { ...row };
  for (;;) {
    const parsed = v.safeParse(schema, left);
    if (parsed.success) return parsed.output;
    const key = parsed.issues[0].path?.[0]?.key;
    if (typeof key !== 'string' || !(key in left) || needed.includes(key)) return null;
    delete left[key];
  }
}
