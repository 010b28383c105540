import * as v from 'valibot';
import { isEvidence } from '../../../core/evidence.ts';
import { Fault, quoted } from '../../../core/fault.ts';
import { type Event, eventBodies } from '../../../core/journal/event.ts';
import type { StoredValue } from '../../../core/journal/value.ts';
import { ActorName, Instant, isName, Label } from '../../../core/text.ts';
import { Basis } from '../../../core/words.ts';
import { contentOf } from '../../../engine/values.ts';
import { readLines } from '../../../workspace/read.ts';

/**
 * A run as a file of JSON lines. The first line has the number of events and the hash of the last one, so that a truncated
 * file is noticed; each further line is an event with its whole envelope, or the bytes that the event before it names.
 */
export const JournalHeader = v.object({
  holdfast: v.literal('journal'),
  format: v.number(),
  run: v.pipe(
    v.string(),
    v.check((text) => isName(text, '._-', 200), 'is not a run id'),
  ),
  events: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  hash: v.string(),
});
export type JournalHeader = v.InferOutput<typeof JournalHeader>;

export const JOURNAL_FORMAT = 2;
export const FORMAT_WITHOUT_VALUES = 1;

const Hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'is not a hash'));
const Envelope = v.strictObject({
  run: v.string(),
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  at: Instant,
  type: v.string(),
  actor: v.strictObject({ kind: v.picklist(['agent', 'person']), name: ActorName }),
  evidence: v.optional(v.pipe(v.string(), v.check(isEvidence, 'is not known'))),
  session: v.nullable(Label),
  key: v.nullable(v.string()),
  basis: Basis,
  previous: Hash,
  hash: Hash,
  bodyHash: Hash,
  body: v.unknown(),
});

const ValueLine = v.strictObject({
  value: v.strictObject({
    sha256: Hash,
    encoding: v.picklist(['plain', 'deflate']),
    size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    data: v.string(),
  }),
});

export function valueLine({ data, ...value }: StoredValue): string {
  return JSON.stringify({ value: { ...value, data: Buffer.from(data).toString('base64') } });
}

interface Visitor {
  event(event: Event): void | Promise<void>;
  /** Bytes that the last event names; they have the hash that it gives. */
  value?(value: StoredValue): void | Promise<void>;
}

/** Reads line by line: the file may be larger than memory. */
export async function readJournalFile(file: string, visit: Visitor): Promise<JournalHeader> {
  let header: JournalHeader | undefined;
  let last: Event | undefined;
  let line = 0;
  const parse = async (text: string): Promise<void> => {
    line += 1;
    if (text.trim() === '') return;
    const value = parseLine(file, line, text);
    if (header === undefined) header = parseHeader(file, value);
    else if (isValueLine(value)) await visit.value?.(parseValue(file, line, value, last));
    else {
      last = parseEvent(file, line, value, header);
      await visit.event(last);
    }
  };
  await readLines(file, parse).catch((cause: NodeJS.ErrnoException) => {
    if (cause.syscall !== 'open' && cause.syscall !== 'read') throw cause;
    throw new Fault('not_found', `The file ${quoted(file)} cannot be read: ${cause.message}.`, {
      hints: ['Name a file that `holdfast journal export --out FILE` wrote.'],
      cause,
    });
  });
  if (header === undefined) throw damaged(file, 1, 'it is empty');
  return header;
}

function parseLine(file: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(file, line, 'it is not JSON');
  }
}

function parseHeader(file: string, value: unknown): JournalHeader {
  const parsed = v.safeParse(JournalHeader, value);
  if (!parsed.success) throw damaged(file, 1, 'it does not start like an exported journal');
  if (parsed.output.format > JOURNAL_FORMAT) {
    throw new Fault('newer_schema', `${quoted(file)} was written by a newer Holdfast.`, {
      hints: ['Update Holdfast; nothing was imported.'],
      data: { format: parsed.output.format, known: JOURNAL_FORMAT },
    });
  }
  return parsed.output;
}

const isValueLine = (value: unknown): boolean => typeof value === 'object' && value !== null && 'value' in value;

function parseValue(file: string, line: number, given: unknown, event: Event | undefined): StoredValue {
  const parsed = v.safeParse(ValueLine, given);
  if (!parsed.success) throw damaged(file, line, 'it is not a value');
  const { data, ...rest } = parsed.output.value;
  const value = { ...rest, data: new Uint8Array(Buffer.from(data, 'base64')) };
  const entries = event?.type === 'value.put' ? event.body.entries : [];
  if (!entries.some(({ sha256, bytes }) => sha256 === value.sha256 && bytes === value.size))
    throw damaged(file, line, 'the event before it does not name this value');
  if (contentOf(value) === null) throw damaged(file, line, 'its bytes do not have the recorded hash');
  return value;
}

function parseEvent(file: string, line: number, value: unknown, { run }: JournalHeader): Event {
  const envelope = v.safeParse(Envelope, value);
  if (!envelope.success) {
    throw damaged(file, line, `${v.getDotPath(envelope.issues[0]) ?? 'the event'}: ${envelope.issues[0].message}`);
  }
  const { type, body } = envelope.output;
  if (envelope.output.run !== run) throw damaged(file, line, `it is an event of ${quoted(envelope.output.run)}`);
  if (!Object.hasOwn(eventBodies, type)) {
    throw new Fault('newer_schema', `${quoted(file)}, line ${line}: ${quoted(type)} is an unknown event.`, {
      hints: ['Update Holdfast; nothing was imported.'],
    });
  }
  // Only checked: the body must stay as it is for its hash.
  if (!v.is(eventBodies[type as keyof typeof eventBodies], body)) throw damaged(file, line, `its ${type} is not valid`);
  return value as Event;
}

export function damaged(file: string, line: number, what: string): Fault {
  return new Fault('invalid', `${quoted(file)}, line ${line}: ${what}.`, {
    hints: ['Nothing was imported. Export it again with `holdfast journal export --out FILE`.'],
    data: { file, line },
  });
}
